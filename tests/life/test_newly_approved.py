"""What becomes of the newly approved is held against what was expected of them."""

import duckdb
import numpy as np
import pytest

from fairpatch import Decision, FairPatch, Target
from fairpatch.datasets import load_loans
from fairpatch.inputs.roles import Roles
from fairpatch.life.history import History
from fairpatch.life.history_page import history_page
from fairpatch.life.monitor import monitor
from fairpatch.life.newly_approved import evidence_of_worse, matured_of

TARGET = Target(p_rule=0.75)


@pytest.fixture(scope="module")
def bank():
    people = load_loans().drop(columns=["id", "age"])
    labelled = people.assign(repaid=people["repaid"].where(people["score"] > 0.8))
    g = FairPatch(
        "score", TARGET, decision=Decision(threshold=0.8), roles=Roles(outcomes="approved")
    ).fit(labelled[:12_000], "repaid", sensitive_features="sex")
    return g.patched_, people


def month(bank, seed, *, worse=0.0, told=1.0, n=4_000):
    """A month of the bank as it is now: outcomes of those whom the patch approves."""
    model, people = bank
    random = np.random.default_rng(seed)
    some = people.iloc[random.integers(0, len(people), n)].reset_index(drop=True)
    after = model.decide(some.drop(columns=["repaid", "sex"]))
    new = after & (some["score"] <= 0.8)
    y = some["repaid"].where(~(new & (random.random(n) < worse)), 0).astype(float)
    return some.assign(repaid=y.where(after & (random.random(n) < told)))


def watched(bank, tmp_path, months):
    model, _ = bank
    history = History(tmp_path / "history.jsonl")
    for i, rows in enumerate(months):
        found = monitor(
            model, rows, "repaid", sensitive_features=["sex"], target=TARGET,
            period=f"2026-{i + 1:02d}", history=history,
        )  # fmt: skip
    return found, history


def test_memory_and_engine_count_and_expect_alike(bank):
    rows = month(bank, 1, told=0.95)
    table = duckdb.from_df(rows)
    inside = matured_of(bank[0], table, "repaid", ["sex"])
    outside = matured_of(bank[0], rows, "repaid", ["sex"])
    assert [m.model_dump(exclude={"expected"}) for m in inside] == [
        m.model_dump(exclude={"expected"}) for m in outside
    ]
    assert [m.expected for m in inside] == pytest.approx([m.expected for m in outside], abs=1e-5)
    everybody = next(m for m in outside if m.feature == "everybody")
    by_sex = [m for m in outside if m.feature == "sex"]
    assert everybody.people == sum(m.people for m in by_sex)
    assert 0 < everybody.bad < everybody.known < everybody.people
    # the decisions as they were made, where they are there
    made = rows.assign(made=bank[0].decide(rows.drop(columns=["repaid", "sex"])))
    of_made = matured_of(bank[0], made, "repaid", ["sex"], "made")
    assert [m.people for m in of_made] == [m.people for m in outside]


def test_months_as_expected_raise_no_alarm_and_worse_ones_do(bank, tmp_path):
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    good, history = watched(bank, tmp_path / "good", [month(bank, s) for s in range(6)])
    assert good.newly_approved[0].alarm is None
    assert "were expected: no more than chance explains" in good.newly_approved[0].text("y = 0")
    page = history_page(history, TARGET, watched=good)
    assert "What became of the newly approved" in page
    assert "<polyline" in page
    bad, _ = watched(bank, tmp_path / "bad", [month(bank, s, worse=0.4) for s in range(6)])
    assert bad.newly_approved[0].alarm is not None
    assert bad.verdict == "shown not to hold"
    assert "worse than expected, shown since 2026-" in bad.newly_approved[0].text("y = 0")
    assert any(c.name == "newly_approved" and c.verdict == "shown not to hold" for c in bad.checks)


def test_a_month_waits_until_nine_of_ten_have_an_outcome(bank, tmp_path):
    """Defaults show first: counting them alone would cry wolf."""
    early = month(bank, 3)
    new = early["score"] <= 0.8
    early["repaid"] = early["repaid"].where(~new | (early["repaid"] == 0))  # only bad ones so far
    found, history = watched(bank, tmp_path, [early])
    first = found.newly_approved[0]
    assert not first.periods
    assert first.waiting > 0
    again = monitor(
        bank[0], month(bank, 3), "repaid", sensitive_features=["sex"], target=TARGET,
        period="2026-01", history=history,
    )  # fmt: skip
    assert again.newly_approved[0].periods == ("2026-01",)
    assert again.newly_approved[0].alarm is None


def test_the_evidence_is_right_on_average_where_the_claim_just_holds():
    """Its expectation is at most 1, by enumeration of one month and simulation of many."""
    from scipy.stats import binom

    n, q = 30, 0.2
    k = np.arange(n + 1)
    e = np.array([np.exp(evidence_of_worse(*np.array([[n], [b], [n * q]], float))[-1]) for b in k])
    assert binom.pmf(k, n, q) @ e <= 1 + 1e-9
    assert binom.pmf(k, n, q / 2) @ e <= 1 + 1e-9
    random, over = np.random.default_rng(0), 0
    for _ in range(400):
        chance = random.uniform(0, 0.5, (24, 40))
        bad = (random.random((24, 40)) < chance).sum(1).astype(float)
        found = evidence_of_worse(np.full(24, 40.0), bad, chance.sum(1))
        over += found.max() >= np.log(20)
    assert over <= 20


def test_few_people_are_not_told(bank, tmp_path):
    found, _ = watched(bank, tmp_path, [month(bank, 5, n=200)])
    first = found.newly_approved[0]
    assert first.shown is None
    assert "too few outcomes to show" in first.text("y = 0")
