"""C.4: the new scores against the old ones, for COMMOD and for AdvDebias at similar fairness."""

from benchmarks.journal import Records, Run
from benchmarks.methods import sweep
from benchmarks.paper import starting_model
from benchmarks.reproduce.readability import LEVEL, nearest, samples
from benchmarks.reproduce.sweeps import grid


def runs(*, quick: bool) -> list[Run]:
    """Two methods on Law School."""
    return [
        {"experiment": "calibration", "method": method, "quick": quick}
        for method in ("COMMOD", "AdvDebias")
    ]


def work(run: Run) -> Records:
    """Old and new score of every person of the test set; no other column."""
    split = starting_model("law_school")
    _, test = samples(split)
    models = list(
        sweep(
            run["method"], split, "demographic_parity", 0, grid=grid(0, quick=run["quick"]),
            n_concepts=2,
        )
    )  # fmt: skip
    model, figures = nearest(models, test, LEVEL["law_school"])
    if model.score is None:
        raise TypeError(f"{run['method']} has no scores")
    pairs = zip(test.f_score, model.score(test), strict=True)
    return [{"before": float(b), "after": float(a), **figures} for b, a in pairs]
