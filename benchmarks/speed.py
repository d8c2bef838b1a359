"""Seconds on one thread: a fit to a target, the paper's 100 models, and one fit of each baseline.

The fit to a target is everything but the certificate: learn, cross-fit, dial, choose, bounds.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from benchmarks.baselines import AdvDebias, Frappe, Lpp, Oxon, Reductions
from benchmarks.datasets import load
from benchmarks.methods import commod
from benchmarks.paper import Split, starting_model
from benchmarks.quartiles import CONCEPTS
from fairpatch._tools.tables import Table
from fairpatch.commod.problem import Grid
from fairpatch.front import FairPatch
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

MODELS = 100


def run(
    datasets: tuple[str, ...] = ("law_school", "compas", "adult"), repeats: int = 3
) -> dict[str, Any]:
    """Best of several, taking turns."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return {"seconds": {name: _one(name, repeats) for name in datasets}}
    finally:
        torch.set_num_threads(before)


def _one(name: str, repeats: int) -> dict[str, float]:
    split = starting_model(name) if name in CONCEPTS else _adult()
    train = (split.X_train, split.y_train)
    s: dict[str, Any] = {"sensitive_features": split.s_train}
    grid = Grid.of(np.geomspace(0.1, 10, MODELS), (1.0,), (0.01,))
    asked: dict[str, Any] = {"target": Target(p_rule=0.8), "splits": (0.6, 0.4, 0.0)}
    jobs: dict[str, Callable[[], Any]] = {
        "fairpatch, a fit to a target": lambda: FairPatch(split.f, **asked).fit(*train, **s),
        f"COMMOD, {MODELS} models": lambda: commod(
            split, "demographic_parity", grid, CONCEPTS.get(name, 3)
        ),
        "ExponentiatedGradient, 1 model": lambda: Reductions(0.1).fit(*train, **s),
        "AdvDebias, 1 model": lambda: AdvDebias().fit(*train, **s),
        "FRAPPE, 1 model": lambda: Frappe(split.f).fit(*train, **s),
        "LPP, 1 program": lambda: Lpp(split.f).fit(*train, **s),
        "OxonFair, 1 model": lambda: Oxon(split.f).fit(*train, **s),
    }
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(repeats):
        for job, work in jobs.items():
            start = time.perf_counter()
            work()
            best[job] = min(best[job], time.perf_counter() - start)
    return best


def _adult() -> Split:
    """Adult as the other two: f on the rows that everything learns from."""
    data = load("adult")
    X = data.X.drop(columns=data.also_in_x)
    s = (data.sensitive["sex"] == "Male").to_numpy(np.int64)
    parts = train_test_split(X, data.y, s, test_size=0.3, random_state=0)
    X_train, X_test, y_train, y_test, s_train, s_test = parts
    encoder = Encoder.fit(X_train)
    model = LogisticRegression(max_iter=1_000)
    f = make_pipeline(FunctionTransformer(encoder.transform), model).fit(X_train, y_train)
    return Split(X_train, X_test, y_train, y_test, s_train, s_test, f)


def show(result: dict[str, Any]) -> str:
    """Seconds by data set, and as multiples of one ExponentiatedGradient fit."""
    rows = []
    names = list(result["seconds"])
    for job in result["seconds"][names[0]]:
        row = [job]
        for name in names:
            own = result["seconds"][name]
            row += [f"{own[job]:.2f}", f"{own[job] / own['ExponentiatedGradient, 1 model']:.2f}"]
        rows.append(row)
    header = [h for name in names for h in (f"{name}, s", "per ExpGradient")]
    return Table("Seconds to fit, one thread, best of several", ["", *header], rows).text()
