"""COMMOD's column of the paper's Table 1, on its exact splits and printed segments."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch.base import BaseModel
from fairpatch.bench.paper import Split, starting_model
from fairpatch.bench.segments import CONCEPTS, PAPER, quartiles
from fairpatch.choose.candidates import Candidates, train_candidates
from fairpatch.choose.rows import Rows
from fairpatch.learn.problem import Direction, Fairness, Grid, Settings
from fairpatch.measure import accuracy, change_rate, disparate_mistreatment, p_rule
from fairpatch.measure.counts import Counts
from fairpatch.measure.show import Table

Floats = NDArray[np.float64]
METRICS = {"demographic_parity": p_rule, "equalized_odds": disparate_mistreatment}


def grid(seeds: int = 4) -> Grid:
    """270 models a seed: finer than the default, so that every segment is met."""
    return Grid.of(
        np.geomspace(0.1, 10, 30), (0.3, 1.0, 2.0), (0.01, 0.03, 0.06), seeds=range(seeds)
    )


@dataclass(frozen=True, eq=False)
class Scores:
    """Each model on the test set, as the paper scores them."""

    fairness: Floats
    accuracy: Floats
    change_rate: Floats


def score(split: Split, candidates: Candidates, f_logit: Floats, fairness: Fairness) -> Scores:
    """Count every model's decisions on the test set."""
    columns: list[tuple[float, float, float]] = []
    for decided in candidates.decide(split.X_test, f_logit):
        counts = Counts.from_arrays(
            decision=f_logit > 0,
            new_decision=decided,
            y=split.y_test,
            sensitive_features=split.s_test,
        )
        unfair = METRICS[fairness](counts)
        value = np.nan if unfair.value is None else unfair.value
        columns.append((value, float(accuracy(counts)), float(change_rate(counts))))
    return Scores(*(np.array(column) for column in zip(*columns, strict=True)))


def run(
    dataset: str,
    fairness: Fairness = "demographic_parity",
    direction: Direction = "both",
    seeds: int = 4,
) -> dict[str, Any]:
    """Train the grid and average the share of changed decisions over the models of each cell."""
    split = starting_model(dataset)
    f = BaseModel(split.f)
    rows = Rows(split.X_train, split.y_train, split.s_train)
    settings = Settings(fairness=fairness, direction=direction, n_concepts=CONCEPTS[dataset])
    start = time.perf_counter()
    candidates = train_candidates(rows, f.logits(split.X_train), grid(seeds), settings)
    seconds = time.perf_counter() - start
    scores = score(split, candidates, f.logits(split.X_test), fairness)
    q_fair, q_acc = quartiles(dataset, fairness, scores.fairness, scores.accuracy)
    cells = []
    for i in range(1, 5):
        for j in range(1, 5):
            here = (q_fair == i) & (q_acc == j)
            changes = scores.change_rate[here]
            cells.append(
                {
                    "fairness": i,
                    "accuracy": j,
                    "models": int(here.sum()),
                    "change_rate": float(changes.mean()) if len(changes) else None,
                    "least": float(changes.min()) if len(changes) else None,
                    "paper": PAPER[dataset].get((i, j))
                    if fairness == "demographic_parity"
                    else None,
                }
            )
    return {
        "dataset": dataset,
        "fairness": fairness,
        "direction": direction,
        "models": len(candidates),
        "seconds": seconds,
        "cells": cells,
    }


def show(result: dict[str, Any]) -> str:
    """The cells that some model or the paper reached."""
    rows = []
    for cell in result["cells"]:
        ours, paper = cell["change_rate"], cell["paper"]
        if ours is None and paper is None:
            continue
        rows.append(
            [
                f"Q{cell['fairness']}, Q{cell['accuracy']}",
                "-" if paper is None else f"{paper:.2f}",
                "-" if ours is None else f"{ours:.3f}",
                "-" if ours is None else f"{cell['least']:.3f}",
                str(cell["models"]),
                "" if paper is None or ours is None else ("yes" if ours <= paper else "no"),
            ]
        )
    reached = [r[-1] for r in rows if r[-1]]
    notes = [f"{result['models']} models in {result['seconds']:.1f} s, test set, mean over a cell"]
    if reached:
        notes.append(f"at or below the paper in {reached.count('yes')} of {len(reached)} cells")
    return Table(
        f"{result['dataset']}, {result['fairness']}, direction {result['direction']}",
        ["fairness, accuracy", "paper", "ours", "least", "models", "at or below"],
        rows,
        notes,
    ).text()
