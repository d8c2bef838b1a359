"""The choice among candidates: what is preferred, against every strength of every dial."""

from dataclasses import replace
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from fairpatch import FairPatch, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import certify
from fairpatch.choose.fit import certify_in_sequence
from fairpatch.choose.frontier import cross_fit, fewest
from fairpatch.commod import Adversarial, Training
from fairpatch.commod.problem import Grid
from fairpatch.measure import Counts
from fairpatch.measure.bounds import Bound
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP


@pytest.fixture(scope="module")
def underrated():
    """f rates the second group too low, so that promoting it beyond the target is more accurate."""
    random = np.random.default_rng(0)
    n = 8_000
    s = random.integers(0, 2, n)
    proxy, skill = s + random.normal(0, 0.5, n), random.normal(size=n)
    p = 1 / (1 + np.exp(-1.5 * skill))
    y = (random.random(n) < 1 / (1 + np.exp(-1.5 * (skill + 1.5 * s)))).astype(int)
    return np.column_stack([proxy, skill, p * (1 - 0.6 * s)]), y, s


def fit(underrated, target, **options):
    X, y, s = underrated
    grid = Grid.of((3.0, 10.0), (0.3,), (0.01,))
    learner = Adversarial(grid, Training(n_steps=100))
    options = {"learner": learner, "splits": (0.5, 0.5, 0.0)} | options
    return FairPatch(lambda X: X[:, 2], target, **options).fit(X, y, sensitive_features=s)


def reachable(g, target):
    """(changes, accuracy) of every candidate at every strength that meets the target."""
    for m, dials in enumerate(g.frontier_.dials):
        dial = dials["sensitive"]
        for k in np.flatnonzero(g.frontier_.met(m, target.requirements)):
            yield float(dial.change_rate[k]), float(dial.accuracy[k])


def test_preferring_accuracy_looks_at_every_strength(underrated):
    target = Target(p_rule=0.7, price_per_change=0.0)
    g = fit(underrated, target)
    best = max(accuracy for _, accuracy in reachable(g, target))
    assert g.choice_.accuracy == best
    few = fit(underrated, target.replace(price_per_change=inf))
    assert few.choice_.change_rate == min(changes for changes, _ in reachable(few, target))
    assert g.choice_.accuracy > few.choice_.accuracy + 0.01
    assert g.choice_.change_rate > few.choice_.change_rate


def test_the_bound_for_several_requirements_is_the_largest_of_theirs():
    counts = Counts.from_arrays(
        decision=[1] * 60 + [0] * 40 + [1] * 20 + [0] * 80,
        sensitive_features=["a"] * 100 + ["b"] * 100,
    )
    target = Target(p_rule=0.8, demographic_parity_difference=0.3)
    each = [P_RULE.fewest(counts, 0.8).changes, RATE_DIFFERENCE.fewest(counts, 0.3).changes]
    q, decided = np.repeat([0.1, 0.9], 100), np.tile(np.arange(100) < 40, 2)
    known, blind = fewest(target, {"s": counts}, {"s": q}, decided)
    assert min(each) < max(each) == known.changes
    by_metric = [
        P_RULE.fewest_blind(q, decided, 0.8),
        RATE_DIFFERENCE.fewest_blind(q, decided, 0.3),
    ]
    assert blind == max(*by_metric, known.change_rate)


def test_candidates_that_none_beats_are_those_of_the_definition(quick_fit):
    g, *_ = quick_fit
    records = g.frontier_.records()
    points = [(r.worst(P_RULE), r.accuracy, -r.change_rate) for r in records]
    for i, (own, kept) in enumerate(zip(points, g.frontier_.pareto(), strict=True)):
        beaten = any(
            all(a >= b for a, b in zip(other, own, strict=True)) and other != own
            for other in points
        )
        assert kept == (not beaten and own not in points[:i])
    assert 1 < g.frontier_.pareto().sum() < len(records)


def test_a_record_is_what_the_candidate_does_as_trained(quick_fit):
    g, *_ = quick_fit
    for record in g.frontier_.records()[3::40]:
        m = record.model
        turned = 1 + record.strength * (g.frontier_.ratios[m] - 1)
        changed = np.sum(turned[_may(g, m)] < 0)
        assert record.change_rate == pytest.approx(changed / g.frontier_.dials[m]["group"].people)


def _may(g, m):
    approved = g.frontier_.f_logit > 0
    direction = g.frontier_.candidates.directions[m]
    return {"both": approved | ~approved, "promote_only": ~approved, "demote_only": approved}[
        direction
    ]


def test_nobodys_group_probability_comes_from_a_model_that_has_seen_them():
    """Sixty columns of noise: a model that knew the rows would tell the groups apart."""
    random = np.random.default_rng(0)
    Z, s = random.normal(size=(150, 60)), random.integers(0, 2, 150)
    q = cross_fit(Z, s, np.empty((0, 60)), np.empty(0, np.int64))
    wins = np.mean(q[s == 1][:, None] > q[s == 0][None])
    assert wins < 0.65
    missing = np.where(np.arange(150) < 20, -1, s)
    assert np.isfinite(cross_fit(Z, missing, np.empty((0, 60)), np.empty(0, np.int64))).all()


def test_a_target_says_what_it_takes():
    assert repr(Target(p_rule=0.8, max_columns=3)) == "Target(p_rule=0.8, max_columns=3)"
    assert Target(p_rule=0.8) == Target(p_rule=0.8).replace(p_rule=0.8)
    assert hash(Target(p_rule=0.8)) == hash(Target(p_rule=0.8))
    assert Target(p_rule=0.8) != Target(p_rule=0.7)
    assert Target(p_rule=0.8).max_changes is None
    with pytest.raises(AttributeError, match="no attribute 'p_rul'"):
        _ = Target(p_rule=0.8).p_rul


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "up"}, "direction must be one of both, promote_only, demote_only; got 'up'"),
        ({"max_churn": -1}, "max_churn must be a number from 0 to 1; got -1"),
        ({"max_churn": "little"}, "max_churn must be a number"),
        ({"exclude": ["age"]}, "a target takes"),
        ({"max_columns": 2.5}, "max_columns must be a whole number"),
        ({"max_changes": float("nan")}, "max_changes must be a number from 0 to 1"),
        ({"p_rule": True}, "p_rule must be a number"),
        ({"confidence": "high"}, "confidence must be above 0.5"),
        ({"prefer": "changes"}, "got 'prefer'. Here it is price_per_change: 0 for accuracy"),
        ({"price_per_change": -1}, "price_per_change must be a number, at least 0"),
        ({"safety_margin": "much"}, "safety_margin must be a number"),
        ({"p_rul": 0.8}, "Did you mean 'p_rule'"),
    ],
)
def test_a_target_refuses_what_it_cannot_read(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Target(**{"p_rule": 0.8} | options)


def test_what_is_learned_for_follows_from_what_is_asked():
    assert Target(p_rule=0.8).fairness == "demographic_parity"
    assert Target(disparate_mistreatment=0.1).fairness == "equalized_odds"
    assert Target(p_rule=0.8, equal_opportunity_difference=0.1).fairness == "demographic_parity"
    both = Target(demographic_parity_difference=0.1, predictive_equality_difference=0.1)
    assert both.fairness == "equalized_odds"


def test_what_is_undefined_for_a_candidate_is_left_blank():
    """A group without anybody of label 1 has no TPR."""
    random = np.random.default_rng(0)
    s = random.integers(0, 2, 600)
    X = random.normal(size=(600, 2)) + s[:, None]
    y = np.where(s == 0, 0, random.integers(0, 2, 600))
    grid = Grid.of((1.0, 10.0), (0.3,), (0.01,))
    g = FairPatch(
        lambda X: 1 / (1 + np.exp(-X[:, 0])), Target(p_rule=0.1), splits=(0.5, 0.5, 0.0),
        learner=Adversarial(grid, Training(n_steps=40)),
    ).fit(X, y, sensitive_features=s)  # fmt: skip
    record = g.frontier_.records()[0]
    assert record.metrics["sensitive"]["equal_opportunity_difference"] is None
    assert np.isnan(record.worst(TPR_GAP))
    assert g.frontier_.pareto().any()


def test_worst_is_worst_in_whatever_order(quick_fit):
    g, *_ = quick_fit
    record = g.frontier_.records()[0]
    for order in (("a", "b"), ("b", "a")):
        values = {"a": {"p_rule": 0.5}, "b": {"p_rule": None}}
        mixed = replace(record, metrics={name: values[name] for name in order})
        assert np.isnan(mixed.worst(P_RULE))
    low = replace(record, metrics={"a": {"p_rule": 0.5}, "b": {"p_rule": 0.4}})
    assert low.worst(P_RULE) == 0.4


def test_under_a_ceiling_less_is_better(quick_fit):
    frontier = replace(quick_fit[0].frontier_, asked=(MISTREATMENT,))
    points = [(-r.worst(MISTREATMENT), r.accuracy, -r.change_rate) for r in frontier.records()]
    for i, (own, kept) in enumerate(zip(points, frontier.pareto(), strict=True)):
        beaten = any(
            all(a >= b for a, b in zip(other, own, strict=True)) and other != own
            for other in points
        )
        assert kept == (not beaten and own not in points[:i])


def test_a_frontier_in_words_and_as_a_frame(quick_fit):
    g, *_ = quick_fit
    frontier, kept = g.frontier_, int(g.frontier_.pareto().sum())
    many = len(frontier.records())
    assert str(frontier) == f"Frontier of {many} candidates, {kept} of them beaten by none"
    frame = frontier.frame()
    assert frame["pareto"].sum() == kept
    assert frame["number"].tolist() == list(range(many))
    own = [r.metrics["group"]["p_rule"] for r in frontier.records()]
    assert frame["p_rule group"].tolist() == own


def test_a_certificate_in_words():
    counts = Counts.from_arrays(
        decision=[1] * 45 + [0] * 55 + [1] * 50 + [0] * 50, y=[0, 1] * 100,
        sensitive_features={"sex": ["a"] * 100 + ["b"] * 100},
    )  # fmt: skip
    target = Target(p_rule=0.8, max_changes=0.1)
    found = certify(counts, target)
    assert tuple(v.requirement for v in found.results) == target.requirements
    low, high = found.results[0].estimate.low, found.results[0].estimate.high
    assert low == pytest.approx(0.703, abs=0.01)  # what the verdict's own test would certify
    assert str(found).splitlines() == [
        "Certificate at 95%: inconclusive; 0.0% of decisions change, the approval rate stays at "
        "47.5%",
        "  requirement                              feature       verdict     measured [limits]  "
        "people  people needed",
        f"  P-Rule at least 0.8            sex (a against b)  inconclusive  0.900 [{low:.3f}, "
        f"{high:.3f}]     200          {found.results[0].people_needed_about:,}",
        "  changed decisions at most 0.1          everybody     certified  0.000 [0.000, 0.015]  "
        "   200",
    ]
    assert "<strong>Certificate at 95%: inconclusive; 0.0% of" in found._repr_html_()


def test_a_choice_in_words(quick_fit):
    choice = replace(
        quick_fit[0].choice_, metrics={"sex": {"p_rule": 0.81}, "race": {"p_rule": 0.9}},
        change_rate=0.034, accuracy=0.9, displacement=0.05, blind=None,
        bound=Bound(2, 100, (2, 0), (0, 0)), promoted_outcome=0.29, denied_outcome=0.19,
        expected={"sex": {"p_rule": Estimate(0.81, 0.75, 0.87)}},
        expected_from="selection rows", approvals=(0.45, 0.491), stops=(),
    )  # fmt: skip
    assert str(choice) == (
        "sex: P-Rule 0.810; race: P-Rule 0.900. 3.4% of decisions change; the minimum for any "
        "method is 2.0%. The share approved goes from 45.0% to 49.1%. Accuracy 0.900, displacement "
        "0.050. Of the promoted 29% have y = 1, of those still denied 19%. Expected on new people "
        "(95 %, selection rows): sex: P-Rule 0.75 to 0.87."
    )
    choice = replace(choice, promoted_outcome=None, expected={})
    assert str(replace(choice, bound=None, blind=0.03)) == (
        "sex: P-Rule 0.810; race: P-Rule 0.900. 3.4% of decisions change; the estimated minimum "
        "without using the sensitive features is 3.0%. The share approved goes from 45.0% to "
        "49.1%. Accuracy 0.900, displacement 0.050."
    )
    assert choice._repr_html_() == f"<p>{choice}</p>"


def test_after_the_sequence_has_failed_nothing_is_certified():
    """The safest rung violates the target, the preferred one passes by luck: that is no proof."""
    people = {"sensitive_features": np.repeat(["a", "b"], 4_000)}
    f = np.concatenate([np.arange(4_000) < 2_000, np.arange(4_000) < 1_000])

    def table(approved):
        b = np.arange(4_000) < approved
        g = np.concatenate([np.arange(4_000) < 2_000, b])
        return Counts.from_arrays(decision=f, new_decision=g, **people)

    tables = {1.2: table(1_500), 1.1: table(1_500), 1.0: table(1_950)}
    ladder = [SimpleNamespace(model=0, strength=s, change_rate=0.1) for s in tables]
    pool = SimpleNamespace(patch=lambda _, strength: strength)
    fresh = SimpleNamespace(count=lambda patches, _: [tables[s] for s in patches])
    target = Target(p_rule=0.8)
    assert certify(tables[1.0], target).verdict is Verdict.CERTIFIED
    found = certify_in_sequence(ladder, pool, target, fresh)
    assert found.choice is ladder[-1]
    assert found.certificate.verdict is Verdict.INCONCLUSIVE
    assert found.of_preferred.verdict is Verdict.INCONCLUSIVE
    turned = certify_in_sequence(ladder[::-1], pool, target, fresh)
    assert turned.certificate.verdict is Verdict.CERTIFIED
    assert turned.choice is ladder[-1]
