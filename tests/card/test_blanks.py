"""Nobody gains by leaving a field empty, least of all one that nobody has left empty."""

import numpy as np
import pytest

from fairpatch import FairPatch, Target
from fairpatch.datasets import load_loans


@pytest.mark.filterwarnings("ignore")
def test_a_blank_buys_nothing():
    loans = load_loans(8_000)
    g = FairPatch("score", Target(p_rule=0.8, reads=["amount", "income"]))
    g.fit(loans.drop(columns=["id", "age"]), "repaid", sensitive_features=["sex"])
    for card in (g.patch_, g.pick("in order").patch_):
        for column in {c.name for c in card.columns}:
            blank = loans.assign(**{column: np.nan})
            assert (card.points(blank) <= card.points(loans)).all(), column
            was, now = (g.base_.logits(loans), g.base_.logits(loans))
            gains = ~card.decide(loans, was) & card.decide(blank, now)
            assert not gains.any(), column
