"""What a table seems to be is noticed, with its evidence, and asked for; a clean one is not."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.inputs.notice import Seen, UnsaidError, questions_of, special_codes
from fairpatch.inputs.vocabulary import group_word, is_person, is_protected, is_unknown

N = 4_000
RANDOM = np.random.default_rng(5)


def people(seed=0):
    """A lender's clean table: nothing about it has to be said."""
    r = np.random.default_rng(seed)
    sex = r.choice(["female", "male"], N)
    part = np.where(r.random(N) < np.where(sex == "female", 0.45, 0.1), "part", "full")
    income = np.round(r.normal(40, 10, N) - 4 * (part == "part"), 1)
    z = (income - 36) / 8 + r.normal(0, 0.5, N)
    return pd.DataFrame(
        {
            "income": income, "work": part, "tenure": r.integers(0, 20, N), "sex": sex,
            "region": r.choice(list("abcdef"), N), "score": 1 / (1 + np.exp(-z)),
            "paid": (r.random(N) < 1 / (1 + np.exp(-z))).astype(int),
        }
    )  # fmt: skip


CLEAN = people()
APPROVED = (CLEAN["score"] > 0.5).to_numpy()
MONTHS = (2024 + RANDOM.integers(0, 24, N) // 12) * 100 + RANDOM.integers(1, 13, N)
LATE = np.where(APPROVED, RANDOM.choice([0, 30, 60], N), np.nan)
WHO = np.repeat(np.arange(N // 4), 4)
INITIAL = CLEAN["sex"].str[0].str.upper()
STATUS = np.where(APPROVED, RANDOM.choice(["hired", "onsite"], N), "rejected")
DAYS = pd.Timestamp("2025-01-01") + pd.to_timedelta(RANDOM.integers(0, 300, N), "D")

# what is wrong with the table: the column, how it is said, and what a fit then does
CASES = {
    "decline to state": (
        CLEAN.assign(sex=CLEAN["sex"].where(RANDOM.random(N) > 0.2, "Decline to state")),
        "unknown", Roles(unknown=["Decline to state"]),
    ),
    "keine Angabe": (
        CLEAN.assign(sex=CLEAN["sex"].where(RANDOM.random(N) > 0.2, "keine Angabe")),
        "unknown", Roles(unknown={"sex": ["keine Angabe"]}),
    ),
    "a group like any other": (
        CLEAN.assign(sex=CLEAN["sex"].where(RANDOM.random(N) > 0.2, "unknown")),
        "unknown", Roles(unknown={"sex": []}),
    ),
    "female and F": (
        CLEAN.assign(sex=CLEAN["sex"].where(RANDOM.random(N) > 0.3, INITIAL)),
        "spellings", Roles(spellings={"sex": {"female": ["F"], "male": ["M"]}}),
    ),
    "months": (CLEAN.assign(app_month=MONTHS), "date", Roles(date="app_month")),
    "months to leave out": (CLEAN.assign(app_month=MONTHS), "date", Roles(exclude=["app_month"])),
    "known of the approved": (CLEAN.assign(dpd_max=LATE), "known", Roles(exclude=["dpd_max"])),
    "tells the decision": (CLEAN.assign(stage=STATUS), "known", Roles(exclude=["stage"])),
    "was known before": (CLEAN.assign(stage=STATUS), "known", Roles(known=["stage"])),
    "the decision itself": (
        CLEAN.assign(final_decision=np.where(APPROVED, "A", "D")), "known",
        Roles(decided={"final_decision": "A"}),
    ),
    "several rows of one": (
        pd.concat([CLEAN.iloc[: N // 4]] * 4).sort_index().reset_index(drop=True)
        .assign(candidate_id=WHO + 100_000, tenure=RANDOM.integers(0, 20, N)),
        "person", Roles(person="candidate_id"),
    ),
}  # fmt: skip


def asked(table, roles=None):
    """The roles that a fit asks for."""
    g = FairPatch("score", Target(p_rule=0.7), roles=roles)
    try:
        g.fit(table, "paid", sensitive_features=["sex"])
    except UnsaidError as error:
        return [q.role for q in error.questions]
    return []


def test_a_clean_table_is_not_asked_about():
    assert asked(CLEAN) == []
    audit(CLEAN, "paid", sensitive_features=["sex"], estimator="score")


@pytest.mark.parametrize(("table", "role", "said"), CASES.values(), ids=CASES)
def test_what_is_wrong_is_asked_about_and_once_said_it_goes_on(table, role, said):
    assert asked(table) == [role]
    assert asked(table, said) == []


@pytest.mark.parametrize("name", ["decline to state", "female and F", "several rows of one"])
def test_an_audit_and_a_certificate_ask_too(name):
    table, role, _ = CASES[name]
    with pytest.raises(UnsaidError) as error:
        audit(table, "paid", sensitive_features=["sex"], estimator="score")
    assert error.value.questions[0].role == role
    g = FairPatch("score", Target(p_rule=0.7)).fit(CLEAN, "paid", sensitive_features=["sex"])
    with pytest.raises(UnsaidError):
        g.certify(table, "paid", sensitive_features=["sex"], if_unlike="ignore")


def test_scores_of_exactly_the_threshold_are_asked_about():
    table = CLEAN.assign(score=CLEAN["score"].round(1))
    assert asked(table) == ["at_least"]
    rates = []
    for at_least in (True, False):
        own = Decision(at_least=at_least)
        found = audit(table, "paid", sensitive_features=["sex"], estimator="score", decision=own)
        rates.append(found.selection_rate.value)
    ties = float((table["score"] == 0.5).mean())
    assert rates[0] - rates[1] == pytest.approx(ties)


def test_outcomes_of_the_approved_tell_how_the_threshold_is_decided():
    table = CLEAN.assign(score=CLEAN["score"].round(1))
    table["paid"] = table["paid"].where(table["score"] > 0.5)
    assert asked(table, Roles(outcomes="approved")) == []


def test_every_question_says_what_was_seen_and_how_to_answer_in_both_languages():
    for table, _, _ in CASES.values():
        groups = {"sex": table["sex"].to_numpy(object)}
        seen = Seen.of(table.drop(columns=["sex", "score", "paid"]), groups, approved=APPROVED)
        for q in questions_of(seen, Roles()):
            assert "Roles(" in q.python
            assert "columns:" in q.yaml
            assert repr(q.column) in q.evidence


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (np.r_[np.arange(300.0), [-1] * 40], [-1]),
        (np.r_[np.arange(100.0), [999] * 40, [-1] * 40], [-1, 999]),
        (np.r_[np.arange(80.0), [9999] * 40], [9999]),
        (np.r_[RANDOM.normal(0, 1, 400)], []),  # below zero where others are, too
        (np.r_[np.arange(100.0), [99] * 40], []),  # nines among the others
        (np.r_[np.arange(-5.0, 50), [-5] * 40], []),
        (np.r_[np.arange(300.0), [-1] * 3], []),  # of three people
        (np.array([0.0, 1.0] * 50), []),
    ],
)
def test_codes_stand_apart_from_quantities(values, codes):
    assert special_codes(values) == codes


@pytest.mark.parametrize(
    ("word", "yes", "no"),
    [
        (is_protected,
         ["male", "MaritalStatus", "pa_inc_flg", "num_dependents", "Geschlecht", "RAC1P", "AGEP",
          "preferred_language", "cbsa", "famille_enfants", "nationalité"],
         ["income", "mileage", "wages", "stage", "package", "job_family", "sextant",
          "account_age"]),
        (is_unknown,
         ["Decline to state", "Sex Not Available", "k.A.", "non renseigné", "Unknown"],
         ["other", "X", "diverse", "Joint", "two or more"]),
        (is_person, ["candidate_id", "Kundennummer", "customer no", "applicantId", "id"],
         ["req_id", "product_code", "number_of_loans", "customers"]),
    ],
)  # fmt: skip
def test_names_in_several_languages(word, yes, no):
    assert [name for name in yes if not word(name)] == []
    assert [name for name in no if word(name)] == []


def test_one_word_for_one_group():
    assert len({group_word(v) for v in ("Female", "female", " F", "Woman", "Frau", "mujer")}) == 1
    assert group_word("M") != group_word("F")


def test_a_number_that_was_filled_later_and_is_no_copy_of_the_score_is_asked_about():
    r = np.random.default_rng(0)
    score = r.random(2_000)
    days = np.where(score > 0.5, r.integers(1, 60, 2_000), r.integers(61, 200, 2_000))
    frame = pd.DataFrame({"handling_days": days, "copy": (1_000 * score).round(3)})
    seen = Seen.of(frame, {}, approved=score > 0.5, score=score)
    asked = {q.column: q.evidence for q in questions_of(seen, Roles())}
    assert "tells what was decided for 100.0%" in asked["handling_days"]
    assert "copy" not in asked
