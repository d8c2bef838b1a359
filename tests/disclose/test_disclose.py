"""What is told of counts: nobody hidden follows from it, by trying every table there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairpatch.disclose.protected import of_pair, protect
from fairpatch.disclose.suppress import Program, PublishedCount, Secret
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.rates import selection_rate


def counts(**groups):
    """People by group: approved and denied."""
    s = np.repeat(list(groups), [sum(own) for own in groups.values()])
    decided = np.concatenate([np.repeat([1, 0], own) for own in groups.values()])
    return Counts.from_arrays(decision=decided, sensitive_features={"s": s})


def test_nine_people_are_hidden_ten_are_not():
    for people, shown in ((9, False), (10, True)):
        table = protect(counts(a=(40, 40), b=(people, 60)), [selection_rate()], [("s",)])
        assert table.number(selection_rate().hits, "s", group=1).exact == shown
        assert (table.rate(selection_rate(), "s", group=1).value is not None) == shown
        assert table.whole == shown
    small = protect(counts(a=(40, 40), b=(5, 4)), [selection_rate()], [("s",)])
    assert small.hidden("s") == [False, True]


def test_a_rate_is_never_wrong():
    """0.173 was once printed as 0.15: what is told holds the truth, and rates hang together."""
    table = protect(counts(a=(90, 430), b=(7, 80), c=(3, 1)), [selection_rate()], [("s",)])
    for group, truth in ((0, 90 / 520), (1, 7 / 87)):
        low, high = table.rate(selection_rate(), "s", group=group).ends
        assert low - 1e-9 <= truth <= high + 1e-9
    low, high = table.metric(P_RULE, "s").ends
    assert low <= (7 / 87) / (90 / 520) <= high


@given(
    cells=st.lists(st.integers(0, 14), min_size=4, max_size=4),
)
@settings(max_examples=60)
def test_every_end_of_every_secret_is_possible(cells):
    """A 2 x 2 table with its margins: all tables that agree with what is told, one by one."""
    table = np.array(cells)
    sets = {
        "all": [0, 1, 2, 3], "first": [0, 1], "second": [2, 3], "left": [0, 2], "right": [1, 3],
        **{f"cell {i}": [i] for i in range(4)},
    }  # fmt: skip
    program = Program(table)
    masks = {name: np.isin(np.arange(4), own) for name, own in sets.items()}
    for name, mask in masks.items():
        program.publish(name, mask)
    secrets = {n: m for n, m in masks.items() if 0 < table[m].sum() < 10}
    program.protect([Secret(m, 1, 9) for m in secrets.values()])
    told = {
        name: (t.low, np.inf if t.high is None else t.high) for name, t in program.published.items()
    }
    assert all(told[n][0] <= table[m].sum() <= told[n][1] for n, m in masks.items())
    tops = [int(min(told[f"cell {i}"][1], 40)) for i in range(4)]
    reached = {name: set() for name in secrets}
    for other in product(*(range(told[f"cell {i}"][0], tops[i] + 1) for i in range(4))):
        sums = {n: sum(other[i] for i in own) for n, own in sets.items()}
        if all(told[n][0] <= s <= told[n][1] for n, s in sums.items()):
            for name in secrets:
                reached[name].add(sums[name])
    for name in secrets:
        assert min(reached[name]) <= 1
        assert max(reached[name]) >= 9


def test_without_secrets_everything_is_told():
    program = Program(np.array([30, 40]))
    program.publish("a", np.array([True, False]))
    program.protect([])
    assert program.published == {"a": PublishedCount(30, 30)}


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.1731, 0.1749, "0.17"), (0.104, 0.251, "0.10 to 0.26"), (0.001, 0.004, "0.00 to 0.01")],
)
def test_figures_are_rounded_to_what_they_can_carry(low, high, text):
    assert str(Estimate.from_range(low, high)) == text


def test_weighted_rates_have_two_digits_beside_suppressed_counts():
    """A weight is nobody's count, but many digits of a weighted rate would reveal who has it."""
    s = np.repeat(["a", "b", "c"], [400, 300, 4])
    decision = (np.arange(704) % 3 == 0).astype(int)
    weight = 1 + (np.arange(704) % 7) / 10
    counts = Counts.from_arrays(
        decision=decision, sensitive_features={"s": s}, sample_weight=weight
    )
    table = protect(counts, [selection_rate()], [("s",)])
    assert not table.whole
    shown = table.rate(selection_rate(), "s", group=0)
    exact = np.average(decision[:400], weights=weight[:400])
    assert shown.value == round(exact, 2) != exact
    assert shown.low is None
    open_ = protect(counts, [selection_rate()], [("s",)], show_small=True)
    assert open_.rate(selection_rate(), "s", group=0).value == pytest.approx(exact)


def test_of_nine_people_only_that_they_are_few_is_told():
    counts = Counts.from_arrays(
        decision=[1, 0, 1, 0, 1, 0, 1, 0, 0], sensitive_features=list("aabbaabba")
    )
    table = protect(counts, [selection_rate("f")], [("sensitive",)])
    assert all(table.hidden("sensitive"))
    assert str(table.people()) == "below 20"
    assert str(table.number(selection_rate("f").hits)) == "below 10"


def test_a_comparison_of_two_is_told_where_enough_are_approved_and_enough_are_not():
    told = Estimate(0.913, 0.9, 0.95)
    for approved, shown in ((80, True), (5, False), (95, False)):
        pair = counts(a=(approved, 100 - approved), b=(60, 40))
        assert (of_pair(P_RULE, pair, told).value is not None) == shown
