"""The fewest changes that reach each fairness quartile, S known: a line in every panel."""

from collections.abc import Sequence

from benchmarks.journal import Records, Run
from benchmarks.paper import starting_model
from benchmarks.quartiles import FAIRNESS_EDGES, OTHER_EDGES
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import MISTREATMENT, P_RULE


def runs(datasets: Sequence[str]) -> list[Run]:
    """One run a data set and fairness."""
    return [
        {"experiment": "least", "dataset": d, "fairness": fairness}
        for d in datasets
        for fairness in ("demographic_parity", "equalized_odds")
    ]


def work(run: Run) -> Records:
    """On the test set, for the edge at which each quartile begins; the first needs no change."""
    split = starting_model(run["dataset"])
    counts = Counts.from_arrays(
        decision=BaseModel(split.f).decisions(split.X_test),
        y=split.y_test,
        sensitive_features=split.s_test,
    )
    given_y = run["fairness"] == "equalized_odds"
    metric = MISTREATMENT if given_y else P_RULE
    definitions = {"definition 1": FAIRNESS_EDGES[run["dataset"], run["fairness"]]}
    if run["dataset"] == "law_school" and not given_y:
        definitions |= {name: edges for name, (edges, _) in OTHER_EDGES.items()}
    found: Records = []
    for definition, edges in definitions.items():
        for quartile, edge in enumerate(edges, start=2):
            bound = metric.fewest(counts, edge)
            found.append(
                {"definition": definition, "quartile": quartile, "edge": edge,
                 "known": None if bound is None else bound.change_rate}
            )  # fmt: skip
    return found
