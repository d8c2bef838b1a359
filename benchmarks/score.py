"""What a model does on some rows: the figures that every experiment compares."""

import numpy as np

from benchmarks.methods import Model
from benchmarks.sample import Sample
from fairpatch.measure import accuracy, change_rate, disparate_mistreatment, p_rule
from fairpatch.measure.counts import Counts
from fairpatch.measure.scores import displacement, rank_inversions


def score(model: Model, sample: Sample) -> dict[str, float | None]:
    """P-Rule, DM, accuracy, changes and their direction, and how far scores move."""
    before, after = sample.f_logit > 0, model.decide(sample)
    counts = Counts.from_arrays(
        decision=before, new_decision=after, y=sample.y, sensitive_features=sample.s
    )
    found = {
        "p_rule": p_rule(counts).value,
        "dm": disparate_mistreatment(counts).value,
        "accuracy": accuracy(counts).value,
        "change_rate": change_rate(counts).value,
        "promoted": float(np.mean(~before & after)),
        "demoted": float(np.mean(before & ~after)),
        "displacement": None,
        "rank_inversions": None,
    }
    if model.score is not None:
        new = model.score(sample)
        found["displacement"] = displacement(sample.f_score, new)
        found["rank_inversions"] = rank_inversions(sample.f_score, new)
    return found
