"""What stacking saves: 100 models in one stack against one model alone, in the same run."""

import time
from typing import Any

import numpy as np

from benchmarks.paper import starting_model
from benchmarks.quartiles import CONCEPTS
from fairpatch.commod.adversarial import train_candidates
from fairpatch.commod.problem import Grid, Training
from fairpatch.data.rows import Rows
from fairpatch.inputs.base import BaseModel


def run(dataset: str = "law_school", models: int = 100, repeats: int = 3) -> dict[str, Any]:
    """Best of several, alternating, on the paper's training rows; one thread at this size."""
    split = starting_model(dataset)
    rows = Rows.of(split.X_train, split.y_train, split.s_train).scored(BaseModel(split.f))
    training = Training(n_concepts=CONCEPTS[dataset])
    best = {1: np.inf, models: np.inf}
    for _ in range(repeats):
        for size in (1, models):
            grid = Grid.of(np.geomspace(0.1, 10, size), (1.0,), (0.01,))
            start = time.perf_counter()
            train_candidates(rows, grid, training)
            best[size] = min(best[size], time.perf_counter() - start)
    return {
        "dataset": dataset,
        "models": models,
        "seconds_alone": best[1],
        "seconds_stack": best[models],
        "times_one_alone": best[models] / best[1],
        "seconds_per_model": best[models] / models,
    }


def show(result: dict[str, Any]) -> str:
    """One line."""
    return (
        f"{result['dataset']}: {result['models']} stacked models {result['seconds_stack']:.2f} s, "
        f"one alone {result['seconds_alone']:.2f} s: {result['times_one_alone']:.1f} times, "
        f"{result['seconds_per_model'] * 1000:.0f} ms a model"
    )
