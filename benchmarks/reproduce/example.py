"""The COMPAS example with two concepts and its segment table (the paper's Figure 2)."""

import json

import numpy as np

from benchmarks.journal import Records, Run
from benchmarks.methods import commod
from benchmarks.paper import starting_model
from fairpatch.base import BaseModel
from fairpatch.commod.problem import Grid
from fairpatch.explain import concepts, segments
from fairpatch.measure import accuracy, change_rate, p_rule
from fairpatch.measure.counts import Counts

LEVEL = 0.78
"""The paper's example has a test P-Rule of 0.78, accuracy 0.62, changes 0.08."""


def runs() -> list[Run]:
    """One model."""
    return [{"experiment": "example", "dataset": "compas"}]


def work(run: Run) -> Records:
    """The sparsest model near the paper's P-Rule; its concepts and segments on the test set."""
    split = starting_model(run["dataset"])
    f_logit = BaseModel(split.f).logits(split.X_test)
    grid = Grid.of(np.geomspace(0.3, 10, 30), (0.3, 1.0), (0.06, 0.1), (0,))
    candidates = commod(split, "demographic_parity", grid, 2)
    best = None
    for m, decided in enumerate(candidates.decide(split.X_test, f_logit)):
        counts = Counts.from_arrays(
            decision=f_logit > 0,
            new_decision=decided,
            y=split.y_test,
            sensitive_features=split.s_test,
        )
        away = round(abs((p_rule(counts).value or 0) - LEVEL), 2)
        columns = int((candidates.ratios.W[m] != 0).sum())
        if best is None or (away, columns) < best[0]:
            best = (away, columns), m, counts
    assert best is not None  # noqa: S101 - the grid is not empty
    _, m, counts = best
    patch = candidates.patch(m)
    changed = patch.decide(split.X_test, f_logit) != (f_logit > 0)
    views = concepts(patch, split.X_test, changed)
    found: Records = [
        {
            "part": "model",
            "p_rule": p_rule(counts).value,
            "accuracy": accuracy(counts).value,
            "change_rate": change_rate(counts).value,
            "columns": len(patch.columns),
        }
    ]
    for view in views:
        leading = [(i.column, round(i.effect, 3), i.towards_change) for i in view.ingredients[:6]]
        found.append(
            {"part": "concept", "concept": view.name, "name": view.plain_name,
             "weight": view.weight, "share": view.share_of_changes,
             "ingredients": json.dumps(leading)}
        )  # fmt: skip
    for segment in segments(patch, split.X_test, changed):
        found.append(
            {"part": "segment", "concept": segment.concept, "name": str(segment),
             "towards_change": segment.towards_change, "people": segment.people,
             "inside": segment.inside.value, "outside": segment.outside.value}
        )  # fmt: skip
    return found
