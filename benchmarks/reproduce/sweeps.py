"""Experiment 1: every method's models (Table 1, Figure 1, the plots of C.2).

The paper leaves open how many models a method gets; ours are the values of each method's dial. On
the paper's own split, which the figures show, stochastic methods have several seeds. Table 1 is
also over other splits: settings were frozen before anything was run on those.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.journal import Records, Run
from benchmarks.methods import METHODS, sweep
from benchmarks.paper import starting_model
from benchmarks.quartiles import CONCEPTS
from benchmarks.sample import Sample
from benchmarks.score import score
from fairpatch.commod.problem import Grid
from fairpatch.inputs.base import BaseModel

STOCHASTIC = ("COMMOD", "AdvDebias", "FRAPPE")


def runs(datasets: Sequence[str], seeds: int, splits: int, *, quick: bool) -> list[Run]:
    """Data sets x fairness x methods, by seeds on the paper's split and once on each other."""
    return [
        {"experiment": "sweep", "dataset": d, "fairness": fairness, "method": m, "split": split,
         "seed": seed, "quick": quick}
        for d in datasets
        for fairness in ("demographic_parity", "equalized_odds")
        for m in METHODS
        for split, seed in [
            *((0, seed) for seed in range(seeds if m in STOCHASTIC else 1)),
            *((k, k) for k in range(1, splits + 1)),
        ]
    ]  # fmt: skip


def grid(seed: int, *, quick: bool) -> Grid:
    """270 models a seed: finer than the default, so that every segment is met."""
    if quick:
        return Grid.of(np.geomspace(0.1, 10, 10), (0.3, 1.0), (0.01,), (seed,))
    return Grid.of(np.geomspace(0.1, 10, 30), (0.3, 1.0, 2.0), (0.01, 0.03, 0.06), (seed,))


def work(run: Run) -> Records:
    """All models of one method and seed, on the test set, as the paper scores them."""
    split = starting_model(run["dataset"], run["split"])
    test = Sample(split.X_test, split.y_test, split.s_test, BaseModel(split.f))
    models = sweep(
        run["method"],
        split,
        run["fairness"],
        run["seed"],
        grid=grid(run["seed"], quick=run["quick"]),
        n_concepts=CONCEPTS[run["dataset"]],
    )
    return [{**model.settings, **score(model, test)} for model in models]
