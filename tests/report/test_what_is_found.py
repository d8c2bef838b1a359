"""Findings: each is raised by what it is about, and not without."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, PatchedModel, Target, review
from fairpatch.inputs.base import BaseModel
from fairpatch.inputs.vocabulary import is_protected
from fairpatch.measure.intervals import Estimate
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight
from fairpatch.report.figures import Figure, Finding, figure
from fairpatch.report.findings.groups import _apart, accuracy
from fairpatch.report.findings.groups import target as judged_target
from fairpatch.report.findings.signing import _stability
from fairpatch.report.proxy_section import StabilitySection
from fairpatch.report.signed import About, Earlier
from fairpatch.report.verdict_section import CertificateSection, Certified


def flags(found):
    return {f.name: f for f in reversed(found.summary.findings)}  # the gravest of each name


def people(n=2_000, seed=0):
    random = np.random.default_rng(seed)
    s = np.where(np.arange(n) % 2, "a", "b")
    X = pd.DataFrame({"score": random.random(n), "age": random.integers(18, 80, n),
                      "x": random.normal(size=n)})  # fmt: skip
    return X, (random.random(n) < X["score"]).astype(int).to_numpy(), s


def card(column, below, **options):
    part = RangesWeight(column=column, ranges=[Range(below=below, weight=100.0)])
    return Patch(
        columns=[Column(name=column, kind="number")],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, ranges=[part])],
        card=CardScale(approve_at=50),
        direction="promote_only",
        **options,
    )


def reviewed(patch, X, y, s, **options):
    model = PatchedModel(BaseModel("score"), patch)
    asked = options.pop("target", Target(p_rule=0.8))
    return review(model, X, y, sensitive_features={"s": s}, target=asked, refits=0, **options)


def test_a_target_that_is_missed():
    X, y, s = people()
    X["score"] = np.where(s == "a", X["score"] * 0.6, X["score"])
    found = flags(reviewed(card("x", -2.0), X, y, s))
    assert found["target"].level == "stop"
    assert "P-Rule by s is not met on these people" in found["target"].text
    X, y, s = people()
    assert flags(reviewed(card("x", -2.0), X, y, s))["target"].level == "fine"


def test_promoted_who_turn_out_worse():
    X, y, s = people()
    assert flags(reviewed(card("x", 0.0), X, y, s))["outcome of the promoted"].level != "stop"
    worse = np.where(X["x"] < 0, 0, y)  # who is promoted never turns out well
    found = flags(reviewed(card("x", 0.0), X, worse, s))["outcome of the promoted"]
    assert found.level == "stop"
    assert found.text.startswith("Among ")
    assert (
        "the newly approved have the good outcome less often than those still denied" in found.text
    )


def test_groups_are_not_mixed_when_outcomes_are_compared():
    """One group has fewer good outcomes and is promoted more: within each, the best change."""
    X, _, s = people()
    X["x"] = np.where(s == "a", -1.0, X["x"])
    good = np.where(s == "a", 0.1, 0.6)
    y = (np.random.default_rng(1).random(len(s)) < good).astype(int)
    moved = (X["x"] < 0) & (X["score"] <= 0.5)
    left = ~moved & (X["score"] <= 0.5)
    assert y[moved].mean() < y[left].mean()
    assert flags(reviewed(card("x", 0.0), X, y, s))["outcome of the promoted"].level != "stop"


def test_an_order_that_is_turned_round():
    X, y, s = people()
    X["x"] = X["score"] + np.random.default_rng(0).normal(0, 0.05, len(X))  # f likes more of it
    found = flags(reviewed(card("x", 0.2), X, y, s))["order turned round"]
    assert found.level == "stop"
    assert found.text.startswith("x turns the base model's order round")
    X["x"] = -X["x"]
    assert "order turned round" not in flags(reviewed(card("x", -0.3), X, y, s))


def test_far_calls_many_changes_and_odd_values():
    X, y, s = people()
    found = flags(reviewed(card("x", 9.0), X, y, s))  # everybody is approved
    assert found["many changes"].level == "look"
    assert found["many changes"].text == "More than 20% of all decisions change"
    behind = X.assign(score=np.where(s == "a", 0.6 * X["score"], X["score"]))
    found = flags(reviewed(card("x", 9.0), behind, y, s))["many changes"]
    assert found.level == "stop"  # many, and far more than need be
    assert "another model rather than a patch" in found.text
    X["score"] = X["score"] ** 3
    found = flags(reviewed(card("x", 0.0), X, y, s))["far from the threshold"]
    assert "have a score below 0.1" in found.text
    assert "impossible values" not in flags(reviewed(card("age", 30.0), X, y, s))
    odd = X.assign(age=np.where(np.arange(len(X)) < 5, -68, X["age"]))
    found = flags(reviewed(card("age", 30.0), odd, y, s))["impossible values"]
    assert found.text == "A few values of age are negative: are they mistakes?"


def test_outcomes_of_few_are_withheld_and_never_called_fine():
    X, y, s = people()
    few = X["x"].where(X["score"] < 0.5).nsmallest(6).max()
    found = flags(reviewed(card("x", float(few)), X, y, s))["outcome of the promoted"]
    assert found.level == "not judged"
    assert "is withheld to protect small groups" in found.text


def test_a_gain_through_one_intersection_only():
    X, y, s = people(4_000)
    X["score"] = np.where(s == "a", X["score"] * 0.7, X["score"])
    other = np.where(np.random.default_rng(1).random(len(s)) < 0.5, "one", "two")
    target = Target(p_rule=0.3)

    def found(gains):
        X["x"] = np.where((s == "a") & gains, -1.0, 1.0)
        model = PatchedModel(BaseModel("score"), card("x", 0.0))
        features = {"s": s, "other": other}
        return flags(review(model, X, y, sensitive_features=features, target=target, refits=0))

    text = found(other == "one")["one intersection"].text
    assert text == (
        "By s, a gain through one (other): the share approved hardly rises among a and two"
    )
    assert "one intersection" not in found(np.arange(len(s)) % 3 == 0)


def test_the_newly_approved_are_noted_where_they_turn_out_worse_than_those_before():
    X, y, s = people()
    found = reviewed(card("x", 0.0), X, y, s)
    note = flags(found)["outcome of the newly approved"]
    assert note.level == "note"
    assert "among a (s), b (s)" in note.text
    assert not note.open
    assert note.text not in str(found)
    alike = np.random.default_rng(2).integers(0, 2, len(y))
    assert "outcome of the newly approved" not in flags(reviewed(card("x", 0.0), X, alike, s))


def test_a_group_that_overtakes_among_people_alike():
    X, y, s = people()
    X["score"] = np.where(s == "a", X["score"] * 0.9, X["score"])
    X["x"] = np.where(s == "a", -1.0, 1.0)  # everybody of a is promoted
    found = flags(reviewed(card("x", 0.0), X, y, s))["order of the groups among people alike"]
    assert found.level == "note"
    assert "a were less often approved than b, and are more often now: 100" in found.text
    X["x"] = 1.0
    name = "order of the groups among people alike"
    assert name not in flags(reviewed(card("x", 0.0), X, y, s))


def test_people_who_alone_would_not_show_it_are_noted():
    X, y, s = people()
    X["score"] = np.where(s == "a", X["score"] * 0.86, X["score"])
    measured = reviewed(card("x", 0.0), X, y, s).summary.effect.requirements[0].after.value
    just = Target(p_rule=round(measured - 0.005, 3))
    effect = reviewed(card("x", 0.0), X, y, s, target=just).summary.effect
    (asked,) = [r for r in effect.requirements if r.limit is not None]
    assert asked.met
    assert asked.after.low < asked.limit
    levels = [next(judged_target(effect, None, own_rows=own)).level for own in (True, False)]
    assert levels == ["fine", "note"]


def test_a_fit_reviewed_on_other_people_says_so():
    """A certificate of many people does not speak for the few who are reviewed."""
    from fairpatch.datasets import Population

    population = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
    many, few = (population.sample(n, seed=n).to_pandas() for n in (8_000, 1_400))
    g = FairPatch("score", Target(p_rule=0.8))
    g = g.fit(many.drop(columns="id"), "y", sensitive_features=["group"])
    found = g.review(few.drop(columns="id"), "y", sensitive_features=["group"], refits=0)
    own = flags(found)["target"]
    assert own.level in ("note", "look", "stop")  # these few miss it, or do not show it


def test_points_that_are_never_enough_are_noted():
    X, y, s = people()
    name = "points that are never enough"
    assert name not in flags(reviewed(card("x", 0.0), X, y, s))
    ranges = [Range(below=0.0, weight=100.0), Range(at_least=1.0, weight=40.0)]
    more = [
        RangesWeight(column="x", ranges=ranges),
        RangesWeight(column="age", ranges=[Range(at_least=60, weight=-5.0)]),
    ]
    patch = Patch(
        columns=[Column(name="x", kind="number"), Column(name="age", kind="number")],
        concepts=[
            Concept(name=part.column, weight=1.0, intercept=0.0, ranges=[part]) for part in more
        ],
        card=CardScale(approve_at=50),
        direction="promote_only",
    )
    found = flags(reviewed(patch, X, y, s))[name]
    assert found.text.startswith("x 1 and above: ")  # not the -5, which keeps some denied


def test_few_refits_tell_little():
    X, y, s = people()
    effect = reviewed(card("x", -2.0), X, y, s).summary.effect
    again = StabilitySection(refits=2, of_changed=0.9, firm=0.9, better=0, chance=0.6, reached=[])
    levels = [
        next(_stability(again.model_copy(update=told), effect)).level
        for told in ({}, {"refits": 5}, {"of_changed": 0.2})
    ]
    assert levels == ["note", "fine", "look"]


def test_refits_that_miss_the_target():
    figure = {"value": None, "low": None, "high": None, "reason": None, "groups": "",
              "between": None}  # fmt: skip
    again = StabilitySection(
        refits=3, of_changed=0.9, firm=0.9, better=0, chance=0.6,
        reached=[Figure(at_least=a, at_most=b, **figure) for a, b in
                 ((0.70, 0.79), (0.78, 0.82), (0.81, 0.9))],
    )  # fmt: skip
    X, y, s = people()
    effect = reviewed(card("x", -2.0), X, y, s).summary.effect
    found = {flag.name: flag for flag in _stability(again, effect)}
    assert found["refits that miss the target"].text.startswith("1 of 3 bootstrap refits")
    low = again.model_copy(update={"reached": again.reached[1:]})
    assert "refits that miss the target" not in {flag.name for flag in _stability(low, effect)}


def test_demoted_who_turn_out_better():
    X, y, s = people()
    part = RangesWeight(column="x", ranges=[Range(below=0.0, weight=-100.0)])
    patch = Patch(
        columns=[Column(name="x", kind="number")],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, ranges=[part])],
        card=CardScale(approve_at=50),
        direction="demote_only",
    )
    better = np.where((X["x"] < 0) & (X["score"] > 0.5), 1, y)
    found = flags(reviewed(patch, X, better, s))["outcome of the demoted"]
    assert found.level == "stop"
    assert (
        "those still approved have the good outcome less often than the newly denied" in found.text
    )
    worse = np.where((X["x"] < 0) & (X["score"] > 0.5), 0, y)
    found = flags(reviewed(patch, X, worse, s))
    assert found["outcome of the demoted"].level == "fine"
    assert "outcome of the promoted" not in found


@pytest.mark.parametrize(
    ("column", "protected"),
    [
        ("age", True), ("Age", True), ("AGE", True), ("age_group", True), ("driverAge", True),
        ("marital.status", True), ("MaritalStatus", True), ("zip_code", True), ("race", True),
        ("nationality", True), ("mileage", False), ("wages", False), ("usage", False),
        ("income", False), ("trace", False), ("balance", False), ("average_pay", False),
    ],
)  # fmt: skip
def test_protected_names(column, protected):
    assert is_protected(column) == protected


def test_a_line_on_a_protected_column_or_a_proxy():
    X, y, s = people()
    found = flags(reviewed(card("age", 30.0), X, y, s))["protected or proxy"]
    assert found.level == "look"
    assert "age is protected or closely related" in found.text
    proxy = X.assign(x=X["x"] + 3 * (s == "a"))
    found = flags(reviewed(card("x", 0.0), proxy, y, s))["protected or proxy"]
    assert "x is a proxy for s (AUC" in found.text
    assert flags(reviewed(card("x", 0.0), X, y, s))["protected or proxy"].level == "fine"
    own = About(protected=("x",))  # a list that users extend
    found = flags(reviewed(card("x", 0.0), X, y, s, about=own))["protected or proxy"]
    assert found.level == "look"


def test_a_group_whose_accuracy_falls():
    X, y, s = people()
    harmed = np.where((X["x"] < 0) & (s == "a"), 0, y)
    patch = card("x", 0.0)
    found = [f for f in reviewed(patch, X, harmed, s).summary.findings
             if f.name == "accuracy of a group"]  # fmt: skip
    assert [f.level for f in found] == ["stop"]  # by far more than it may
    assert "Accuracy falls among a (s)" in found[0].text
    some = About(accuracy_drop=0.1)
    assert flags(reviewed(patch, X, harmed, s, about=some))["accuracy of a group"].level == "look"
    calm = About(accuracy_drop=1.0)
    found = flags(reviewed(patch, X, harmed, s, about=calm))["accuracy of a group"]
    assert found.level == "fine"


def test_a_binding_group_of_very_few():
    X, y, s = people(3_000)
    s = np.where(np.arange(3_000) < 40, "c", s)
    X.loc[:39, "score"] *= 0.8
    found = reviewed(card("x", -1.5), X, y, s)
    texts = [f.text for f in found.summary.findings if f.name == "small group"]
    if "c against" in found.summary.effect.requirements[0].after.groups:
        assert any("depends on c" in text for text in texts)
    else:
        pytest.fail("the small group should bind")


@pytest.mark.slow
def test_refits_that_disagree_and_scores_that_moved():
    X, y, s = people(1_500)
    noise = X.assign(**{f"n{i}": np.random.default_rng(i).normal(size=1_500) for i in range(8)})
    noise["score"] = np.where(s == "a", noise["score"] * 0.85, noise["score"])
    g = FairPatch("score", Target(p_rule=0.9)).fit(noise, y, sensitive_features={"s": s})
    found = g.review(noise, y, sensitive_features={"s": s})
    stable = found.summary.stability.of_changed
    level = flags(found)["stability"].level
    assert (level == "look") == (stable < 0.8)
    assert stable < 0.8  # nothing but noise tells the groups apart
    assert flags(found)["other model or people"].level == "fine"
    moved = noise.assign(score=noise["score"] ** 1.6)
    found = g.review(moved, y, sensitive_features={"s": s}, refits=0, if_unlike="ignore")
    assert flags(found)["other model or people"].level != "fine"


def test_what_is_hidden_is_not_called_fine():
    """A yes or no that tells the group is not told beside hidden counts; the flag says so."""
    random = np.random.default_rng(0)
    s = np.repeat(["a", "b"], [1_000, 60])
    X = pd.DataFrame({"score": random.uniform(0, 0.49, 1_060), "yes": (s == "b").astype(float)})
    X.loc[:99, "score"] = 0.9
    X.loc[1_000:1_002, "score"] = 0.8  # three of b: a hidden count
    X.loc[1_055:, "yes"] = 0.0
    y = (random.random(1_060) < X["score"]).astype(int)
    part = RangesWeight(column="yes", ranges=[Range(at_least=0.5, weight=100.0)])
    patch = Patch(
        columns=[Column(name="yes", kind="number")],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, ranges=[part])],
        card=CardScale(approve_at=50),
        direction="promote_only",
    )
    found = reviewed(patch, X, y, s)
    names = {f.name: f for f in found.summary.findings}
    assert "protected or proxy" not in names
    assert names["proxy not measured"].level == "not judged"


def test_parts_of_what_changes_do_not_narrow_what_is_told():
    """A line's ten must not show that more people change than the table says for certain."""
    X, y, s = people(2_000)
    few = np.where(np.arange(2_000) < 30, "c", s)  # of thirty, fewer than ten change
    X.loc[:29, "x"] = np.where(np.arange(30) < 4, -3.0, 3.0)
    found = reviewed(card("x", -1.4), X, y, few)
    table = {r.group: r for r in found.summary.groups["s"].rows}
    for line in found.summary.patch.card.lines:
        for own in line.by_group:
            told = table[own.group].promoted
            kept = table[own.group].people
            least = told if isinstance(told, int) else told.at_least
            most = kept if isinstance(kept, int) else kept.at_least
            assert (own.approves if isinstance(own.approves, int) else own.approves.at_least) <= (
                least + most
            )


@pytest.mark.parametrize(
    "column",
    ["disability", "disabled_since", "religion", "religious_affiliation", "pregnancy", "isPregnant",
     "immigration_status", "immigrant", "ethnicity", "marital-status", "nationality",
     "political_party", "citizenship", "foreign_worker", "healthScore", "age", "sex", "zip_code"],
)  # fmt: skip
def test_words_of_protected_columns_are_known_by_how_they_begin(column):
    assert is_protected(column)


@pytest.mark.parametrize(
    "column", ["mileage", "wages", "sextant_model", "usage", "income", "tenure", "balance"]
)
def test_words_that_only_look_like_it_are_not(column):
    assert not is_protected(column)


def test_a_group_that_was_behind_and_is_now_ahead_is_flagged():
    X, y, s = people()
    X["score"] = np.where(s == "b", X["score"] * 0.8, X["score"])
    X["x"] = np.where(s == "b", -1.0, 1.0)  # all denied of b are approved
    found = flags(reviewed(card("x", 0.0), X, y, s))
    assert found["order of the groups"].level == "look"
    assert "a was ahead and is now behind b" in found["order of the groups"].text
    X["x"] = 1.0  # nobody changes: a stays ahead
    assert "order of the groups" not in flags(reviewed(card("x", 0.0), X, y, s))


@pytest.mark.parametrize(
    ("target", "side"), [({"p_rule": 0.8}, "at least"),
                         ({"demographic_parity_difference": 0.3}, "at most")]
)  # fmt: skip
def test_the_light_names_the_end_of_the_interval_that_the_test_looks_at(target, side):
    X, y, s = people()
    g = FairPatch("score", Target(**target)).fit(X, y, sensitive_features={"s": s})
    light = g.review(X, y, sensitive_features={"s": s}, refits=0).summary.headline.light
    (result,) = g.certificate_.results
    estimate = result.estimate
    end = estimate.low if side == "at least" else estimate.high
    assert f"measured, {side} {end:.3f}" in light.text


def test_a_certificate_that_this_review_contradicts():
    X, y, s = people(4_000)
    X["score"] = np.where(s == "a", 0.8 * X["score"], X["score"])
    found = reviewed(card("x", -2.0), X, y, s, target=Target(p_rule=0.5))
    effect = found.summary.effect
    (met,) = [r for r in effect.requirements if r.limit is not None]

    def flagged(value):
        figure = met.after.model_copy(update={"value": value, "low": None, "high": None})
        result = Certified(
            requirement="P-Rule at least 0.5", feature="s", verdict="certified", at_least=True,
            estimate=figure, people=100, people_needed=None,
        )  # fmt: skip
        judged = CertificateSection(
            verdict="certified", confidence=0.95, warning=None, results=[result]
        )
        return "certificate and review disagree" in {f.name for f in judged_target(effect, judged)}

    assert flagged(0.99)
    assert not flagged(met.after.value)


def test_another_verdict_than_that_of_the_review_before():
    X, y, s = people()
    found = reviewed(card("x", -2.0), X, y, s)
    before = Earlier(date=None, people=100, verdict="certified", findings=[])
    judged = found.summary.model_copy(update={"certificate": None})
    assert (
        found.replace(certificate=None).with_earlier([before]).summary.findings == judged.findings
    )
    section = CertificateSection(verdict="inconclusive", confidence=0.95, warning=None, results=[])
    again = found.replace(certificate=section).with_earlier([before])
    assert "another verdict than before" in flags(again)
    assert again.summary.identity.earlier == [before]
    many = sum(f.open for f in again.summary.findings)
    assert again.summary.headline.findings.startswith(f"{many} open finding")


def test_no_finding_is_lost_in_silence():
    """What an earlier review of the patch found is on the next page, found again or not."""
    X, y, s = people()
    found = reviewed(card("x", -2.0), X, y, s)
    stop = Finding(name="a line for one group", level="stop", text="x stands for a (s)")
    again = next(f for f in found.summary.findings if f.open)
    before = Earlier(date="2026-05-01", people=100, verdict=None, findings=[stop, again])
    names = {f.name: f for f in found.with_earlier([before]).summary.findings}
    assert names["found before: a line for one group"].level == "look"
    assert "On 2026-05-01 (stop): x stands for a (s). Not found" in (
        names["found before: a line for one group"].text
    )
    assert f"found before: {again.name}" not in names
    third = Earlier(date=None, people=1, verdict=None, findings=[names.popitem()[1]])
    assert sum("found before: found" in f.name
               for f in found.with_earlier([third]).summary.findings) == 0  # fmt: skip


def test_a_proxy_is_judged_before_it_is_rounded():
    """The same patch on other rows is a tick or a finding by an interval, not by a digit."""
    X, y, s = people(2_400)
    levels, told = set(), set()
    for shift in np.linspace(0, 1, 21):
        moved = X.assign(x=X["x"] + shift * (s == "a"))
        summary = reviewed(card("x", 0.0), moved, y, s).summary
        (proxy,) = [p for p in summary.proxies if p.what == "x"]
        finding = next(f for f in summary.findings if f.name == "protected or proxy")
        assert (finding.level == "look") == proxy.may_reveal
        assert proxy.may_reveal == (proxy.auc.high > 0.649) or proxy.auc.high == 0.65
        levels.add(finding.level)
        told.add(round(proxy.auc.value, 2) == proxy.auc.value)
    assert levels == {"look", "fine"}
    assert told == {True}


def test_certificate_and_review_disagree_only_beyond_chance():
    """Both are measured: that one lies outside of the other's interval is no contradiction yet."""

    def figure(value, low, high):
        return Figure(value=value, low=low, high=high, at_least=None, at_most=None, reason=None,
                      groups="", between=None)  # fmt: skip

    certified = figure(0.832, 0.800, 0.866)
    assert not _apart(certified, figure(0.785, 0.751, 0.820))
    assert _apart(certified, figure(0.70, 0.665, 0.735))
    assert _apart(certified, figure(0.791, 0.790, 0.792))


def test_a_target_that_the_base_model_meets_is_no_gap():
    """Whether chance explains a gap is said only where there is one."""
    X, y, s = people(4_000)
    met = reviewed(card("x", -2.0), X, y, s, target=Target(p_rule=0.9)).summary
    (asked,) = [r for r in met.effect.requirements if r.limit is not None]
    assert asked.before.value > 0.9
    assert "before, " not in met.headline.gains
    X["score"] = np.where(s == "a", 0.7 * X["score"], X["score"])
    missed = reviewed(card("x", -2.0), X, y, s, target=Target(p_rule=0.9)).summary
    assert "before, it was missed by more than chance explains" in missed.headline.gains


def test_groups_that_nobody_named_are_not_counted_beside_weights():
    """Their rates count people: beside tables that weigh them they would be others' figures."""
    from fairpatch.data.rows import Rows
    from fairpatch.report.review import review_rows

    X, y, s = people()
    model = PatchedModel(BaseModel("score"), card("x", -1.0))
    rows = Rows.of(X, y, {"s": s}).scored(model.base)
    weighed = Rows.of(X, y, {"s": s}, None, np.linspace(0.5, 1.5, len(X))).scored(model.base)
    found = [review_rows(model, some, refits=0).summary.others for some in (rows, weighed)]
    assert [[o.column for o in others] for others in found] == [["age"], []]


@pytest.mark.parametrize("turned", [False, True])
def test_one_group_that_loses_far_too_much_is_grave_whoever_comes_after(turned):
    def row(group, before, after):
        told = [figure(Estimate(share, share, share)) for share in (before, after)]
        pair = SimpleNamespace(before=told[0], after=told[1])
        return SimpleNamespace(group=group, accuracy=pair, bad_approved=None)

    rows = [row("a", 0.9, 0.7), row("b", 0.9, 0.87)]
    section = SimpleNamespace(features=("s",), rows=rows[::-1] if turned else rows)
    (found,) = accuracy([section], 0.02, SimpleNamespace(bad_outcome="", approved=""))
    assert found.level == "stop"
