"""Promises over time: verdicts and intervals from tables of counts."""

import numpy as np
import pytest

from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import CHANGES, METRICS, MISTREATMENT, P_RULE, TPR_GAP
from fairpatch.measure.over_time import DOUBT, attention, claims_of, over_time
from fairpatch.measure.recounted import NotKnownError, evenly_known


def month(rng, rates, n=900, known=1.0):
    """People of groups with given rates of decision 1; y agrees with it in seven of ten."""
    groups = rng.integers(0, len(rates), n)
    d = rng.random(n) < np.array(rates)[groups]
    y = np.where(rng.random(n) < 0.7, d, ~d)
    s = np.array(["a", "b", "c", "d"], object)[groups]
    s[rng.random(n) >= known] = None
    return Counts.from_arrays(
        decision=d, new_decision=d, y=y.astype(int), sensitive_features={"s": s}
    )


def exactly(rates, n):
    """So many people of each group, exactly so many of them with decision 1."""
    table = np.zeros((len(rates), 1, 3, 2, 2), int)
    for g, rate in enumerate(rates):
        table[g, 0, 2, 1, 1] = round(rate * n)
        table[g, 0, 2, 0, 0] = n - round(rate * n)
    groups = tuple((name,) for name in "abcd"[: len(rates)])
    return Counts(("s",), groups, table, table.astype(float), table.astype(float))


@pytest.mark.quick
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.5, 0.5, 0.5)])
def test_equal_groups_hold_every_promise(rates):
    rng = np.random.default_rng(0)
    months = [month(rng, rates) for _ in range(36)]
    for metric in METRICS:
        limit = 0.75 if metric.at_least else 0.3
        assert over_time(months, metric, limit).verdict() == "certified", metric.name
    assert over_time(months, CHANGES, 0.05).verdict() == "certified"


def test_the_pair_that_breaks_a_promise_is_named():
    rng = np.random.default_rng(1)
    found = over_time([month(rng, (0.5, 0.5, 0.3)) for _ in range(24)], P_RULE, 0.8)
    assert found.verdict() == "shown not to hold"
    assert found.pair[0] == "c"
    assert found.verdict(0) == "inconclusive"
    assert found.refuted_at > 0
    tpr = over_time([month(rng, (0.6, 0.3)) for _ in range(24)], TPR_GAP, 0.1)
    assert tpr.verdict() == "shown not to hold"


def test_the_interval_covers_the_truth_in_every_month():
    rng, missed = np.random.default_rng(2), 0
    for _ in range(40):
        found = over_time([month(rng, (0.5, 0.4), n=400) for _ in range(12)], P_RULE, 0.5)
        some = ~np.isnan(found.low)
        missed += bool(((found.low > 0.8) | (found.high < 0.8))[some].any())
    assert missed <= 6  # each end is a limit at 95 %, over all months together
    assert found.high[-1] - found.low[-1] < 0.5


def test_before_lets_the_first_month_count():
    rng = np.random.default_rng(3)
    past, now = month(rng, (0.5, 0.45), n=5_000), month(rng, (0.6, 0.2), n=5_000)
    assert over_time([now], P_RULE, 0.8).verdict() == "inconclusive"
    assert over_time([now], P_RULE, 0.8, before=past).verdict() == "shown not to hold"


def test_months_that_tell_nothing_and_no_months():
    rng = np.random.default_rng(4)
    months = [month(rng, (0.5, 0.3)) for _ in range(8)]
    gaps = [x for m in months for x in (None, m)]
    assert len(over_time(gaps, P_RULE, 0.8).against) == 16
    assert over_time(gaps, P_RULE, 0.8).verdict() == "shown not to hold"
    assert over_time([], P_RULE, 0.8).verdict() == "inconclusive"
    assert over_time([None], P_RULE, 0.8).verdict() == "inconclusive"


def test_a_group_that_comes_later_changes_no_weight_and_is_watched():
    rng = np.random.default_rng(5)
    early = [month(rng, (0.5, 0.5)) for _ in range(6)]
    late = [month(rng, (0.5, 0.5, 0.1)) for _ in range(12)]
    found = over_time([*early, *late], P_RULE, 0.8)
    assert np.allclose(found.against[:6], over_time(early, P_RULE, 0.8).against, atol=0.06)
    assert found.verdict() == "shown not to hold"
    assert found.pair[0] == "c"


def test_weights_of_claims_sum_to_less_than_one():
    from fairpatch.measure.over_time import _people

    rng = np.random.default_rng(6)
    tables = [month(rng, (0.5, 0.5)), month(rng, (0.5, 0.5, 0.4, 0.3))]
    for metric in (P_RULE, MISTREATMENT):
        k, n = _people(tables, metric, list("abcd"))
        nobody = np.zeros(k.shape[1])
        weight = attention(claims_of(metric, 4, np.array(0.8)), k, n, nobody, nobody)
        assert 0 < weight.sum() < 1
        assert (weight > 0).all()


def test_people_are_known_equally_often_whatever_was_decided():
    """S asked of the denied more often: the raw ratio is wrong, that of an even share is not."""
    rng, n = np.random.default_rng(7), 60_000
    s = rng.integers(0, 2, n)
    d = rng.random(n) < np.where(s == 0, 0.5, 0.4)
    asked = rng.random(n) < np.where(d, 0.1, 0.4)
    group = np.where(asked, np.array(["a", "b"], object)[s], None)
    counts = Counts.from_arrays(decision=d, sensitive_features={"s": group})
    raw, weighed = (
        P_RULE.of(table).value for table in (counts.known(), evenly_known(counts, with_label=False))
    )
    assert abs(weighed - 0.8) < 0.04 < abs(raw - 0.8)


def test_labels_of_the_approved_alone_are_refused():
    """Who was denied never shows whether he would have paid: no weight mends that."""
    rng, n = np.random.default_rng(8), 2_000
    d = rng.random(n) < 0.5
    y = np.where(d, (rng.random(n) < 0.7).astype(float), np.nan)
    s = np.array(["a", "b"])[rng.integers(0, 2, n)]
    counts = Counts.from_arrays(decision=d, y=y, sensitive_features={"s": s})
    with pytest.raises(NotKnownError, match="decision 0 before and 0 after.*label is known"):
        evenly_known(counts, with_label=True)
    assert evenly_known(counts, with_label=False).total == n


def test_everybody_known_stays_exact():
    counts = month(np.random.default_rng(9), (0.5, 0.4))
    assert evenly_known(counts, with_label=True) == counts
    weighed = Counts(counts.features, counts.groups, counts.n, counts.n * 2.0, counts.n * 4.0)
    with pytest.raises(NotKnownError, match="not from weights"):
        evenly_known(weighed, with_label=False)


def test_sampled_labels_call_no_broken_promise_kept_and_no_kept_one_broken():
    """Twenty labels of the denied, all of the approved: a TPR gap of 0.12 against 0.1, and 0.08."""
    rng, n = np.random.default_rng(10), 3_000
    words = []
    for gap in (0.16, 0.05):
        for _ in range(6):
            months = []
            for _ in range(12):
                s, y = rng.integers(0, 2, n), rng.random(n) < 0.5
                d = rng.random(n) < np.where(y, 0.7 - gap * s, 0.3)
                asked = d | (rng.random(n) < 0.1)
                labels = np.where(asked, y.astype(float), np.nan)
                counts = Counts.from_arrays(decision=d, y=labels, sensitive_features={"s": s})
                months.append(evenly_known(counts, with_label=True))
            words.append(over_time(months, TPR_GAP, 0.1).verdict())
    assert "certified" not in words[:6]
    assert "shown not to hold" not in words[6:]


def test_broken_in_every_month_by_another_group_is_not_called_kept():
    rng = np.random.default_rng(11)
    rates = [(0.5, 0.5, 0.38), (0.5, 0.38, 0.5), (0.38, 0.5, 0.5)]
    months = [month(rng, rates[t % 3], n=6_000) for t in range(18)]
    found = over_time(months, P_RULE, 0.8)
    assert found.verdict() != "certified"
    assert found.low[-1] <= 0.8


def test_the_interval_is_rounded_outwards_and_a_person_of_a_new_group_takes_nothing_back():
    months = [exactly((0.5, 0.40125), 20_000_000) for _ in range(6)]
    found = over_time(months, P_RULE, 0.7)
    assert found.low[-1] <= 0.8025 <= found.high[-1]  # narrower than the grid
    assert found.high[-1] - found.low[-1] < 0.011
    typo = Counts.from_arrays(decision=[1], y=[1], sensitive_features={"s": ["x"]})
    again = over_time([*months, months[0] + typo], P_RULE, 0.7)
    assert again.verdict() == "certified"
    assert again.pair[0] != "x"


def test_what_held_for_years_is_not_certified_while_the_last_months_speak_against_it():
    """Evidence of two against it is enough to say nothing, however much spoke for it before."""
    good = [exactly((0.5, 0.5), 600)] * 12
    assert over_time(good, P_RULE, 0.8).verdict() == "certified"
    doubtful = over_time([*good, *[exactly((0.5, 0.32), 600)] * 2], P_RULE, 0.8)
    assert doubtful.hold[-1] >= doubtful.enough  # all periods together still speak for it
    assert np.log(DOUBT) < doubtful.against[-1] < doubtful.enough
    assert doubtful.verdict() == "inconclusive"
    assert doubtful.verdict(11) == "certified"
