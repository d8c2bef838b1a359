"""Worked cases and the committee's record: sums that add up, nothing of few, what is open."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from fairpatch import FairPatch, PatchedModel, Target, review
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight, ScoreBand
from fairpatch.report.signed import About


def people(n=4_000, seed=0):
    random = np.random.default_rng(seed)
    s = np.where(random.random(n) < 0.4, "f", "m")
    X = pd.DataFrame(
        {
            "score": np.clip(random.random(n) * np.where(s == "f", 0.7, 1.0), 0.01, 0.99),
            "years": random.integers(0, 30, n).astype(float),
            "loan": random.integers(1, 50, n) * 100.0,
        }
    )
    return X, (random.random(n) < X["score"]).astype(int).to_numpy(), s


def card(**options):
    part = RangesWeight(
        column="years",
        ranges=[Range(below=10, weight=60.0), Range(at_least=10, below=20, weight=20.0)],
        missing=5.0,
    )
    bands = [ScoreBand(at_least=0.4, below=0.5, points=5), ScoreBand(below=0.4, points=30)]
    return Patch(
        columns=[Column(name="years", kind="number")],
        concepts=[Concept(name="years", weight=1.0, intercept=0.0, ranges=[part])],
        card=CardScale(approve_at=50, confidence=bands),
        direction="promote_only",
        **options,
    )


def reviewed(X, y, s, patch=None, **options):
    model = PatchedModel(BaseModel("score"), patch or card())
    target = Target(p_rule=0.8)
    return review(model, X, y, sensitive_features={"s": s}, target=target, refits=0, **options)


def test_a_worked_case_adds_up_and_is_decided_so():
    found = reviewed(*people()).summary.worked
    assert {case.group for case in found} == {"f", "m"}
    for case in found:
        assert (case.direction, case.needed) == ("promoted", 50)
        for example in (case.changes, case.stays):
            assert sum(float(line.shown) for line in example.lines) == example.points
            assert example.short == max(0, case.needed - example.points)
        assert case.changes.short == 0
        assert case.stays.short > 0
        assert case.changes.lines[0].value == "below 10"
        # with a similar score
        assert case.stays.lines[-1].value == case.changes.lines[-1].value == "0.4 to below 0.5"


def test_the_example_of_a_fit_is_what_the_patch_decides():
    """An example's points are those of people who have just these values."""
    X, y, s = people(6_000)
    X["sector"] = np.where(np.arange(6_000) % 3 == 0, "a", np.where(s == "f", "b", "c"))
    g = FairPatch("score", Target(p_rule=0.8)).fit(X, y, sensitive_features=s)
    found = g.review(X, y, sensitive_features=s, refits=0).summary.worked
    assert found
    points, f = g.patch_.points(X), g.base_.logits(X)
    gain, _ = g.patch_.needed
    net = points - g.patch_.confidence(f)
    for case in found:
        assert case.needed == gain
        assert case.changes.points in np.round(net[(net >= gain) & (f <= 0)])
        if case.stays is not None:
            assert case.stays.points in np.round(net[(net < gain) & (f <= 0)])


def test_a_group_of_few_movers_has_no_case():
    X, y, s = people()
    few = np.flatnonzero((s == "f") & (X["years"] < 10) & (X["score"].between(0.4, 0.5)))
    X.loc[few[12:], "years"] = 25.0
    assert [case.group for case in reviewed(X, y, s).summary.worked] == ["m"]


def test_what_nobody_has_said_is_open_and_what_was_said_is_shown():
    X, y, s = people()
    empty = reviewed(X, y, s).summary.committee
    assert empty.open == len(empty.items) + 1
    about = About(
        record={"legal basis": "Opinion of <b>Legal</b>", "monitoring plan": "monthly"},
        business_reasons={"years": "time with the bank"},
    )
    found = reviewed(X, y, s, about=about)
    assert found.summary.committee.open == empty.open - 3
    page = found.html()
    assert "Opinion of &lt;b&gt;Legal" in page
    assert "time with the bank" in page
    assert "To be filled by the business owner" in page
    with pytest.raises(ValidationError, match="Did you mean 'legal basis'"):
        About(record={"legal bases": "x"})


def test_the_credit_impact_is_of_the_amounts():
    X, y, s = people()
    found = reviewed(X, y, s, amount="loan").summary.committee.amounts
    before = X["score"].to_numpy() > 0.5
    after = PatchedModel(BaseModel("score"), card()).decide(X)
    for name, who in (
        ("approved_before", before), ("approved_after", after),
        ("lost_before", before & (y == 0)), ("lost_after", after & (y == 0)),
    ):  # fmt: skip
        assert getattr(found, name) == pytest.approx(X["loan"][who].sum(), rel=0.05)
    assert reviewed(X, y, s).summary.committee.amounts is None
    with pytest.raises(ValueError, match="one number for each of the 4000 rows"):
        reviewed(X, y, s, amount=[1.0, 2.0])


def test_missing_values_of_the_card_are_said():
    X, y, s = people()
    X.loc[::4, "years"] = np.nan
    items = {i.name: i for i in reviewed(X, y, s).summary.committee.items}
    assert items["data quality"].measured == ["years: about 25% missing."]


def test_a_column_with_a_name_for_people_is_the_same_column():
    X, y, s = people()
    named = card().model_copy(
        update={"columns": (Column(name="years", kind="number", words="years with us"),)}
    )
    about = About(business_reasons={"years": "time with the bank"})
    (found,) = reviewed(X, y, s, named, about=about).summary.committee.soundness
    (plain,) = reviewed(X, y, s, about=about).summary.committee.soundness
    assert found.column == "years with us"
    assert (found.proxy, found.reason) == (plain.proxy, plain.reason)
    assert found.proxy is not None
    assert found.reason == "time with the bank"
