"""A patched model and months of people for it, made once."""

import numpy as np
import pytest

from fairpatch import FairPatch, Target
from fairpatch.datasets import Population

POPULATION = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
TARGET = Target(p_rule=0.75, equal_opportunity_difference=0.2, safety_margin=1)


def month(seed, n=2_000):
    """People with the model's score, and a retrained one's beside it."""
    frame = POPULATION.sample(n, seed=seed).to_pandas().astype({"group": str})
    noise = np.random.default_rng(seed).normal(size=n)
    logit = np.log(frame["score"] / (1 - frame["score"]))
    return frame.assign(new_score=1 / (1 + np.exp(-(1.05 * logit + 0.2 * noise))))


@pytest.fixture(scope="session")
def patched():
    """A model with its patch."""
    rows = month(900, 6_000).drop(columns=["id", "new_score"])
    return FairPatch("score", TARGET).fit(rows, "y", sensitive_features=["group"]).patched_
