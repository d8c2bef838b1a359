"""Lemma 4.1 of the paper and its two corrections on small tables; the derivative of Result 2."""

from itertools import product

import numpy as np
import pytest

TABLES = [np.array(n).reshape(2, 2) for n in product(range(4), repeat=4) if min(
    n[0] + n[1], n[2] + n[3]) > 0]  # fmt: skip
"""People by f's decision and g's, both decisions of f occurring."""


def shares(n):
    """P(change), FNR and FPR of g given f's decision, P(f denies), P(g approves)."""
    total = n.sum()
    fnr, fpr = n[1, 0] / n[1].sum(), n[0, 1] / n[0].sum()
    return (n[0, 1] + n[1, 0]) / total, fnr, fpr, n[0].sum() / total, n[:, 1].sum() / total


def balanced(fnr, fpr, c):
    return (1 - c) * fnr + c * fpr


@pytest.mark.parametrize("n", TABLES[::5], ids=str)
def test_both_corrections_of_the_changes_lemma_hold(n):
    change, fnr, fpr, denied, _ = shares(n)
    assert balanced(fnr, fpr, denied) == pytest.approx(change)
    approved = 1 - denied
    unbalanced = approved * 0.5 * fnr + (1 - approved) * 0.5 * fpr
    assert 2 * unbalanced == pytest.approx(change)


def test_as_printed_the_lemma_is_wrong_in_most_tables():
    wrong = 0
    for n in TABLES:
        change, fnr, fpr, _, g_approves = shares(n)
        wrong += abs(balanced(fnr, fpr, g_approves) - change) > 1e-9
    assert wrong > len(TABLES) / 2


@pytest.mark.parametrize(("ours", "other", "k"), [(10, 40, 5), (10, 40, 35), (3, 9, 2)])
def test_the_derivative_of_result_two(ours, other, k):
    """P-Rule up to a factor; its slope has the sign of other - k - ours."""

    def p_rule(a):
        return (ours + a) / (other - (k - a))

    slope = (p_rule(1.001) - p_rule(1.0)) / 0.001
    assert np.sign(slope) == np.sign(other - k - ours)
    assert np.sign(slope) != np.sign(ours - k - other) or other - k - ours < 0
