"""Seconds on one thread: COMMOD's frontier of 100 models against one fit of each rival."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from fairpatch.bench.methods import commod
from fairpatch.bench.paper import starting_model
from fairpatch.bench.quartiles import CONCEPTS
from fairpatch.learn.problem import Grid
from fairpatch.measure.show import Table
from fairpatch.rivals import AdvDebias, Frappe, Lpp, Oxon, Reductions

MODELS = 100


def run(datasets: tuple[str, ...] = ("law_school", "compas"), repeats: int = 3) -> dict[str, Any]:
    """Best of several, taking turns."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return {"seconds": {name: _one(name, repeats) for name in datasets}}
    finally:
        torch.set_num_threads(before)


def _one(name: str, repeats: int) -> dict[str, float]:
    split = starting_model(name)
    train = (split.X_train, split.y_train)
    s = {"sensitive_features": split.s_train}
    grid = Grid.of(np.geomspace(0.1, 10, MODELS), (1.0,), (0.01,))
    jobs: dict[str, Callable[[], Any]] = {
        f"COMMOD, {MODELS} models": lambda: commod(
            split, "demographic_parity", grid, CONCEPTS[name]
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
