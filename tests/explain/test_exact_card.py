"""The exact small card, against trying every one."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairpatch.data.rows import Rows
from fairpatch.explain import exact_card as module
from fairpatch.explain.exact_card import exact_card
from fairpatch.measure.metric import P_RULE, RATE_DIFFERENCE, TPR_GAP
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight, ScoreBand

BANDS = tuple(
    ScoreBand(at_least=low, below=high, points=points)
    for low, high, points in ((0.0, 0.1, 90), (0.1, 0.2, 60), (0.2, 0.35, 30), (0.35, 0.5, 0))
)


def card(**options):
    return Patch(
        columns=[Column(name=c, kind="number") for c in "ab"],
        concepts=[
            Concept(
                name=c,
                weight=1.0,
                intercept=0.0,
                ranges=[RangesWeight(column=c, ranges=[Range(at_least=0.0, weight=30.0)])],
            )
            for c in "ab"
        ],
        card=CardScale(approve_at=20, confidence=BANDS),
        **options,
    )


def people(seed, n=120):
    random = np.random.default_rng(seed)
    s = np.arange(n) % 2
    X = pd.DataFrame({"a": random.normal(size=n) + s, "b": random.normal(size=n)})
    f = random.normal(size=n) - 1.2 * s
    return Rows.of(X, (random.random(n) < 0.5).astype(int), {"s": s.astype(str)}, f)


def every_card(rows, met):
    """The fewest promotions of all cards, one by one."""
    a, b = (rows.X[c].to_numpy() >= 0 for c in "ab")
    step = np.minimum(np.floor(card().confidence(rows.f) / 25), 3)
    s, best = rows.s.of_feature("s"), None
    span = range(-module.HEAVIEST, module.HEAVIEST + 1)
    for v, w, u, t in product(span, span, range(module.HEAVIEST + 1), (1, 2, 3, 5, 10)):
        up = (rows.f <= 0) & (v * a + w * b - u * step - t >= 0)
        after = (rows.f > 0) | up
        rates = [after[s == g].mean() for g in (0, 1)]
        if met(min(rates), max(rates)) and (best is None or up.sum() < best):
            best = int(up.sum())
    return best


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_fewest_of_all_cards(seed):
    rows = people(seed)
    found = exact_card(card(), rows, P_RULE, 0.7)
    assert found.promoted == found.bound == every_card(rows, lambda low, high: low >= 0.7 * high)
    found = exact_card(card(), rows, RATE_DIFFERENCE, 0.15)
    assert found.promoted == found.bound == every_card(rows, lambda low, high: high - low <= 0.15)


def test_where_it_says_nothing():
    rows = people(0)
    assert exact_card(card(), rows, TPR_GAP, 0.1) is None
    assert exact_card(card(direction="demote_only"), rows, P_RULE, 0.7) is None
    nobody = exact_card(card(), rows.take(np.flatnonzero(rows.f > 0)), P_RULE, 0.999999)
    assert nobody is None or nobody.promoted is None or nobody.promoted == 0
