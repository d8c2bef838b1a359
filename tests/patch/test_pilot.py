"""A careful start: the card acts for a share of people, the same ones everywhere."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairpatch import BaseModel, PatchedModel
from fairpatch.engines.onnx import patch_graph
from fairpatch.engines.sql import sql
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight
from fairpatch.patch.apply import apply
from fairpatch.patch.row_scorer import RowScorer

CARD = Patch(
    columns=[Column(name="debt", kind="number")],
    concepts=[Concept(name="debt", weight=1, intercept=0, ranges=[
        RangesWeight(column="debt", ranges=[Range(below=20, weight=30)])])],
    card=CardScale(approve_at=30), direction="promote_only",
)  # fmt: skip


def people(n=20_000):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {"score": random.random(n), "debt": random.uniform(0, 40, n),
         "id": random.choice(2**40, n, replace=False) - 2**39}
    )  # fmt: skip


@pytest.mark.parametrize("share", [0.05, 0.2, 1.0])
def test_the_same_people_are_in_a_pilot_everywhere(share):
    frame, patch = people(), CARD.with_pilot(share, "id", seed=3)
    model, whole = (PatchedModel(BaseModel("score"), p) for p in (patch, CARD))
    decided = model.decide(frame)
    changed, all_changed = (d != (frame["score"] > 0.5) for d in (decided, whole.decide(frame)))
    assert not (changed & ~all_changed).any()
    error = np.sqrt(share * (1 - share) / all_changed.sum())
    assert abs(changed.sum() / all_changed.sum() - share) <= 4 * error + 1e-12
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = apply(patch, table, "score")["fairpatch_decision"]
        assert (
            np.array(found.to_pylist() if isinstance(table, pa.Table) else found) == decided
        ).all()
    by_sql = duckdb.sql(sql(patch, "score", table="frame")).df()["fairpatch_decision"]
    assert (by_sql == decided).all()
    one = RowScorer(patch)
    rows = frame[:500].to_dict("records")
    assert [one.decide(row, row["score"]).decision for row in rows] == decided[:500].tolist()


def test_another_seed_draws_others_and_no_key_is_out():
    frame = people(4_000).assign(score=0.4, debt=1.0)
    one, two = (apply(CARD.with_pilot(0.3, "id", seed=s), frame, "score") for s in (0, 1))
    both = (one["fairpatch_decision"] & two["fairpatch_decision"]).mean()
    assert both == pytest.approx(0.09, abs=0.02)
    gone = frame.assign(id=frame["id"].astype("Float64").mask(frame.index < 100))
    table = pl.from_pandas(gone)
    found = apply(CARD.with_pilot(1.0, "id"), table, "score")["fairpatch_decision"].to_numpy()
    assert not found[:100].any()
    assert found[100:].all()


def test_what_cannot_draw_says_so():
    patch = CARD.with_pilot(0.2, "id")
    with pytest.raises(ValueError, match="a pilot is drawn by a key, which a graph does not read"):
        patch_graph(patch)
    with pytest.raises(TypeError, match="drawn by whole numbers"):
        apply(patch, people(100).assign(id=[f"C{i}" for i in range(100)]), "score")
    with pytest.raises(ValueError, match="only a scorecard"):
        Patch(columns=[], concepts=[]).with_pilot(0.2, "id")
    assert "A pilot: it acts for 20% of people, drawn by 'id'" in str(patch)
