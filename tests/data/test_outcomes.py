"""A lender's own table: outcomes of the people it approved, and of nobody else."""

import duckdb
import numpy as np
import pytest

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.data.outcomes import expected_of, outlook_of, overlap, stands_for
from fairpatch.data.rows import Rows
from fairpatch.datasets import load_loans
from fairpatch.measure import Counts
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.labels import KnownLabels

LOANS = {"target": Target(p_rule=0.8), "decision": Decision(threshold=0.8)}
APPROVED = Roles(outcomes="approved")


def bank(share=0.0, seed=0):
    """README's bank: of the denied so many have an outcome; and what everybody's would be."""
    people = load_loans()
    true = people["repaid"].to_numpy()
    known = (people["score"] > 0.8) | (np.random.default_rng(seed).random(len(people)) < share)
    labelled = people.assign(repaid=np.where(known, true, np.nan))
    return labelled.drop(columns=["id", "age"]), true


@pytest.fixture(scope="module")
def fits():
    """The same fit with everybody's outcomes, and with those of the approved."""
    people, true = bank()
    full = FairPatch("score", **LOANS).fit(
        people.assign(repaid=true), "repaid", sensitive_features="sex"
    )
    some = FairPatch("score", roles=APPROVED, **LOANS).fit(
        people, "repaid", sensitive_features="sex"
    )
    return full, some, people, true


def test_a_patch_for_approval_rates_is_the_same_without_outcomes_of_the_denied(fits):
    full, some, people, _ = fits
    X = people.drop(columns=["repaid", "sex"])
    changed = [g.patched_.decide(X) != (X["score"] > 0.8) for g in (full, some)]
    assert (changed[0] & changed[1]).sum() > 0.8 * (changed[0] | changed[1]).sum()
    assert some.certificate_.verdict == full.certificate_.verdict == "certified"
    assert some.certificate_.results[0].estimate.value == pytest.approx(
        full.certificate_.results[0].estimate.value, abs=0.02
    )


def test_rows_are_split_without_regard_to_labels(fits):
    _, some, people, _ = fits
    fresh = some.fitted_.fresh_rows()
    assert np.mean(fresh.y == UNKNOWN) == pytest.approx(people["repaid"].isna().mean(), abs=0.01)
    assert some.certificate_.results[0].people == pytest.approx(len(people) / 2, rel=0.01)


def test_the_true_outcome_of_the_newly_approved_lies_in_the_range_that_is_shown(fits):
    _, some, people, true = fits
    X = people.drop(columns=["repaid", "sex"])
    up = some.patched_.decide(X) & ~(X["score"] > 0.8).to_numpy()
    said = expected_of(some.patched_.rows(X, None, people["sex"]), some.patch_, up)
    assert said.observed == 0
    assert said.low <= true[up].mean() <= said.high
    assert said.low < said.value < said.high


def test_what_is_said_of_the_choice_is_marked_as_expected(fits):
    full, some, *_ = fits
    assert "Accuracy" in str(full.choice_)
    assert "are expected to have" not in str(full.choice_)
    assert "Accuracy" not in str(some.choice_)
    assert "nobody has seen what became of them" in str(some.choice_)


def test_a_review_shows_no_figure_of_the_approved_alone_as_everybodys(fits):
    full, some, people, true = fits
    X, s = people.drop(columns=["repaid", "sex"]), people["sex"]
    review = some.review(X, people["repaid"], sensitive_features=s)
    summary = review.summary
    assert not summary.outcomes.observed
    assert summary.effect.accuracy.after.value is None
    promoted = next(move for move in summary.swap if move.what == "promoted")
    assert promoted.outcome_rate.value is None
    assert "newly approved" in summary.outcomes.sentences[1]
    assert "none has been observed" in summary.outcomes.sentences[1]
    page = review.html()
    assert "<td>accuracy</td>" not in page
    whole = full.review(X, true, sensitive_features=s)
    assert whole.summary.outcomes.observed
    assert "<td>accuracy</td>" in whole.html()


def test_labels_missing_by_decision_are_asked_about_and_never_assumed():
    people, _ = bank()
    with pytest.raises(ValueError, match="all of the approved and none of the denied") as refused:
        FairPatch("score", **LOANS).fit(people, "repaid", sensitive_features="sex")
    assert "Roles(outcomes='approved')" in str(refused.value)
    people, _ = bank(share=0.3)
    with pytest.raises(ValueError, match=r"Roles\(outcomes='sample'\)"):
        FairPatch("score", **LOANS).fit(people, "repaid", sensitive_features="sex")


def test_labels_that_are_too_young_are_no_question():
    people, true = bank()
    young = np.random.default_rng(1).random(len(people)) < 0.2
    people = people.assign(repaid=np.where(young, np.nan, true))
    g = FairPatch("score", **LOANS).fit(people, "repaid", sensitive_features="sex")
    assert g.certificate_.counts.outcomes == "everybody"
    assert g.certificate_.results[0].people == pytest.approx(len(people) / 2, rel=0.01)


@pytest.mark.parametrize("metric", ["equal_opportunity_difference", "disparate_mistreatment"])
def test_a_target_by_outcome_is_refused_where_those_of_the_denied_are_missing(metric):
    people, _ = bank()
    target = Target(**{metric: 0.05})
    with pytest.raises(ValueError, match="of the denied nobody can say"):
        FairPatch("score", target, decision=LOANS["decision"], roles=APPROVED).fit(
            people, "repaid", sensitive_features="sex"
        )


def test_a_certificate_by_outcome_is_refused_too_and_says_what_a_sample_rests_on(fits):
    _, some, people, _ = fits
    X, s = people.drop(columns=["repaid", "sex"]), people["sex"]
    target = Target(equal_opportunity_difference=0.1)
    with pytest.raises(ValueError, match="cannot be certified"):
        some.certify(X, people["repaid"], sensitive_features=s, target=target)
    sample, _ = bank(share=0.3)
    roles = Roles(outcomes="sample")
    g = FairPatch("score", Target(p_rule=0.8), decision=LOANS["decision"], roles=roles).fit(
        sample, "repaid", sensitive_features="sex"
    )
    judged = g.certify(X, sample["repaid"], sensitive_features=s, target=target)
    assert "stand for the others" in judged.assumption
    assert g.certificate_.assumption is None  # rates of everybody rest on nothing


def test_no_outcomes_at_all_are_enough_for_rates():
    people, _ = bank()
    people = people.drop(columns="repaid")
    g = FairPatch("score", **LOANS).fit(people, None, sensitive_features="sex")
    assert g.certificate_.verdict == "certified"
    X = people.drop(columns="sex")
    assert g.certify(X, None, sensitive_features=people["sex"]).verdict == "certified"
    review = g.review(X, None, sensitive_features=people["sex"])
    assert review.summary.outcomes.known == "nobody"
    assert "There are no outcomes" in review.summary.outcomes.sentences[0]
    with pytest.raises(ValueError, match="there are no outcomes"):
        FairPatch("score", Target(disparate_mistreatment=0.1)).fit(
            people, None, sensitive_features="sex"
        )


def test_an_engine_and_memory_count_the_same_people():
    """Rates are of everybody, outcomes of the approved, wherever the table is."""
    people, _ = bank()
    table = duckdb.from_df(people.assign(id=np.arange(len(people))))
    roles, decision = APPROVED.replace(key="id"), Decision(threshold=0.8)
    g = FairPatch("score", Target(p_rule=0.8), decision=decision, roles=roles).fit(
        table, "repaid", sensitive_features="sex"
    )
    assert g.certificate_.verdict == "certified"
    X = people.assign(id=np.arange(len(people)))
    inside = g.patched_.count(table, "repaid", sensitive_features=["sex"])
    outside = g.patched_.count(
        X.drop(columns=["repaid", "sex"]), people["repaid"], sensitive_features=people[["sex"]]
    )
    assert inside.outcomes == outside.outcomes == "approved"
    assert inside == outside or (inside.n == outside.n).all()
    with pytest.raises(ValueError, match="more than chance explains"):
        FairPatch("score", Target(p_rule=0.8), decision=decision, roles=Roles(key="id")).fit(
            table, "repaid", sensitive_features="sex"
        )


def test_an_audit_notices_and_leaves_out_what_nobody_knows():
    people, true = bank()
    X, s = people.drop(columns=["repaid", "sex"]), people["sex"]
    about = {"sensitive_features": s, "estimator": "score", "decision": LOANS["decision"]}
    seen = audit(X, people["repaid"], **about)
    text = str(seen)
    assert "All of the approved and none of the denied have an outcome" in text
    assert "TPR" not in text.replace("TPR gap, FPR gap and DM are left out", "")
    assert "accuracy  " not in text
    assert seen.to_dict()["outcomes"] == {"known": "approved", "approved": 1.0, "denied": 0.0}
    whole = audit(X, true, **about)
    assert whole.selection_rate == seen.selection_rate
    assert "accuracy  " in str(whole)


def test_each_of_a_sample_stands_for_the_denied_with_such_scores():
    random = np.random.default_rng(3)
    f = np.sort(random.normal(-1.0, 1.0, 5_000))
    y = np.where((f > 0) | (random.random(5_000) < 0.2), random.integers(0, 2, 5_000), UNKNOWN)
    rows = Rows(np.zeros((5_000, 1)), y, None, f_logit=f, outcomes="sample")
    counts = stands_for(rows)
    denied, known = f <= 0, y != UNKNOWN
    assert counts[denied & known].sum() == pytest.approx(denied.sum(), rel=1e-9)
    assert (counts[~denied] == 1).all()
    assert overlap(rows) == 1.0
    no_one = Rows(np.zeros((5_000, 1)), np.where(denied, UNKNOWN, y), None, f_logit=f)
    assert overlap(no_one) == 0.0


def test_expectations_are_calibrated_on_people_whose_outcome_is_known():
    """A score that is half as sure as it should be is found to be so."""
    random = np.random.default_rng(4)
    z = random.normal(0.0, 1.5, 20_000)
    good = random.random(20_000) < 1 / (1 + np.exp(-(0.5 + 2.0 * z)))
    y = np.where(z > 0, good, UNKNOWN)
    rows = Rows(np.zeros((20_000, 1)), y, None, f_logit=z, outcomes="approved")
    a, b = outlook_of(rows, Decision()).by_score
    assert a == pytest.approx(0.5, abs=0.15)
    assert b == pytest.approx(2.0, abs=0.2)


def test_chance_alone_is_no_decision():
    """A label in five is missing, whoever it is: one table in a thousand may be asked about."""
    random = np.random.default_rng(5)
    asked = 0
    for _ in range(1_000):
        approved = random.random(400) < 0.6
        told = random.random(400) < 0.8
        asked += KnownLabels(
            (~approved).sum(), approved.sum(), (told & ~approved).sum(), (told & approved).sum()
        ).by_decision
    assert asked <= 1


def test_rates_that_need_the_denied_are_refused_wherever_counts_come_from():
    random = np.random.default_rng(6)
    approved, s = random.random(2_000) < 0.5, random.choice(["a", "b"], 2_000)
    y = np.where(approved, random.integers(0, 2, 2_000), np.nan)
    counts = Counts.from_arrays(decision=approved, y=y, sensitive_features=s)
    assert counts.outcomes == "approved"
    part = counts.where([group == ("a",) for group in counts.groups])
    assert part.outcomes == "approved"
    assert (part + counts).outcomes == "approved"
