"""Bands of f's confidence: fine where a card has few columns, as few as decide alike when shown."""

import numpy as np
import pytest

from fairpatch import FairPatch, Target
from fairpatch.card.confidence import FEW, closed, opened
from fairpatch.datasets import Population


def people(seed):
    frame = Population(p_rule=0.6, accuracy=0.8, proxy=2.0).sample(6_000, seed=seed).to_pandas()
    return frame.drop(columns="id")


@pytest.fixture(scope="module")
def few():
    g = FairPatch("score", Target(p_rule=0.8, max_columns=1))
    g.fit(people(1), "y", sensitive_features=["group"])
    assert 1 <= len(g.patch_.concepts) <= FEW
    return g


def test_merged_bands_decide_as_fine_ones_do(few):
    X = people(2)
    f = few.base_.logits(X)
    fine = opened(few.patch_, f)
    assert len(fine.card.confidence) > 3 * len(few.patch_.card.confidence)
    changed = []
    for needed in range(5, 100, 6):
        card = fine.card.model_copy(update={"approve_at": float(needed)})
        patch = fine.model_copy(update={"card": card})
        merged = closed(patch)
        assert len(merged.card.confidence) < len(fine.card.confidence)
        after = patch.decide(X, f)
        assert (merged.decide(X, f) == after).all()
        changed.append(np.mean(after != (f > 0)))
    assert len(set(changed)) > 4


def test_a_card_of_one_column_can_still_be_turned(few):
    """Merged at its own points needed, its bands would decide alike at nearly all others."""
    found = {}
    for goal in (0.7, 0.75, 0.8):
        model, _ = few.patched_.retune(
            people(3), "y", sensitive_features=["group"], target=Target(p_rule=goal)
        )
        f = few.base_.logits(people(4))
        found[goal] = np.mean(model.patch.decide(people(4), f) != (f > 0))
    assert 0 < found[0.7] < found[0.75] < found[0.8]


def test_a_card_that_is_retuned_keeps_to_close_calls(few):
    """Opened for another strength, it has bands for the scores that a target allows alone."""
    target = Target(p_rule=0.6, only_between=(0.25, 0.75))
    model, _ = few.patched_.retune(people(3), "y", sensitive_features=["group"], target=target)
    f = few.base_.logits(people(4))
    changed = model.patch.decide(people(4), f) != (f > 0)
    score = people(4)["score"].to_numpy()
    assert changed.any()
    assert ((score[changed] >= 0.25) & (score[changed] <= 0.75)).all()
