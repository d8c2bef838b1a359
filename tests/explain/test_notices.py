"""Notices: everybody who is declined has reasons that are true, and nobody else has any."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import PatchedModel
from fairpatch.explain import notices, reasons
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight


def model(direction="both"):
    part = RangesWeight(
        column="x", ranges=[Range(below=-1, weight=60.0), Range(at_least=1, weight=-60.0)]
    )
    patch = Patch(
        columns=[Column(name="x", kind="number")],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, ranges=[part])],
        card=CardScale(approve_at=50),
        direction=direction,
    )
    return PatchedModel(BaseModel("score"), patch)


def people(n=400):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=n), "score": random.random(n)})
    return frame.assign(why=[f"R{i % 3}" for i in range(n)])


def test_who_is_declined_has_the_reasons_of_who_declined():
    X, g = people(), model()
    before, after = X["score"].to_numpy() > 0.5, g.decide(X)
    found = {notice.row: notice for notice in notices(g, X, "why")}
    assert set(found) == set(np.flatnonzero(~after))
    for row, notice in found.items():
        if before[row]:
            assert (notice.decided_by, notice.reasons) == ("patch", ("x 1 and above",))
        else:
            assert (notice.decided_by, notice.reasons) == ("base model", (X["why"][row],))
    assert any(before[row] for row in found)


def test_reasons_of_the_base_model_may_be_computed():
    X, g = people(), model("promote_only")
    by_call = notices(g, X, lambda rows: [["too short", w] for w in rows["why"]])
    assert {n.decided_by for n in by_call} == {"base model"}
    assert by_call[0].reasons[0] == "too short"
    with pytest.raises(ValueError, match="one entry for each of 400 rows"):
        notices(g, X, ["R1"])


def test_a_customer_reads_what_counted_less_and_no_reward():
    X, g = people(), model()
    up, down = (
        next(r for r in reasons(g, X) if r.direction == way) for way in ("promotion", "demotion")
    )
    assert up.to_customer() == "What counted less against you: x below -1."
    assert down.to_customer() == "What counted less in your favour: x 1 and above."


def test_who_is_held_back_is_told_by_what():
    """The base model declined them, and a line that takes points is why the patch let it stand."""
    up = RangesWeight(column="x", ranges=[Range(below=0, weight=60.0)])
    down = RangesWeight(column="debt", ranges=[Range(at_least=40, weight=-30.0)])
    patch = Patch(
        columns=[Column(name="x", kind="number"), Column(name="debt", kind="number")],
        concepts=[
            Concept(name=part.column, weight=1.0, intercept=0.0, ranges=[part])
            for part in (up, down)
        ],
        card=CardScale(approve_at=50),
        direction="promote_only",
    )
    X = people().assign(debt=np.random.default_rng(1).uniform(0, 60, 400))
    g = PatchedModel(BaseModel("score"), patch)
    before = X["score"].to_numpy() > 0.5
    held = ~before & (X["x"] < 0) & (X["debt"] >= 40)
    found = {notice.row: notice.held_back_by for notice in notices(g, X, "why")}
    assert {row for row, by in found.items() if by} == set(np.flatnonzero(held))
    assert {by for by in found.values() if by} == {("debt",)}
    assert "held back by debt" in str(notices(g, X, "why")[list(found).index(np.argmax(held))])
