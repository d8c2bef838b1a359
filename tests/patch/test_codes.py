"""A number that is no quantity has a line and a reason of its own, in every engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight, edit
from fairpatch.patch.apply import apply
from fairpatch.patch.row_scorer import RowScorer

PART = RangesWeight(
    column="util",
    ranges=(
        Range(below=20, weight=30), Range(at_least=20, below=80, weight=0),
        Range(at_least=80, weight=-10), Range(code=-1, words="no file", weight=50),
        Range(code=999, weight=0),
    ),
    missing=5,
)  # fmt: skip
CARD = Patch(
    columns=[Column(name="util", kind="number")],
    concepts=[Concept(name="util", weight=1.0, intercept=0.0, ranges=(PART,))],
    card=CardScale(approve_at=40),
)
VALUES = [-1.0, np.nextafter(-1, 0), np.nextafter(-1, -2), 0.0, 19.9, 20.0, 80.0, 998.0, 999.0,
          np.nextafter(999, 0), 1000.0, np.nan, -2.0]  # fmt: skip
POINTS = [50, 30, 30, 30, 30, 0, -10, -10, 0, -10, -10, 5, 30]


def test_every_engine_gives_a_code_its_own_points():
    frame = pd.DataFrame({"util": VALUES, "p": 0.3})
    assert CARD.points(frame).tolist() == POINTS
    wanted = [points >= 40 for points in POINTS]
    one = RowScorer(CARD)
    assert [one.decide({"util": v}, 0.3).decision for v in VALUES] == wanted
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        made = apply(CARD, table, "p", with_reason=True)
        found = [bool(d) for d in np.array(made["fairpatch_decision"])]
        assert found == wanted
    reason = pd.DataFrame(apply(CARD, frame, "p", with_reason=True))["fairpatch_reason"]
    assert reason[0] == "util is -1 (no file) (+50)"
    text = sql(CARD, "p", table="frame")
    assert duckdb.sql(text).df()["fairpatch_decision"].tolist() == wanted
    found = run_graph(patch_graph(CARD).SerializeToString(), frame, score="p")
    assert found["fairpatch_decision"].tolist() == wanted


def test_a_line_beside_a_code_does_not_hold_for_it():
    lines = {line.name: line for line in CARD.lines}
    assert list(lines) == [
        "util below 20", "util 80 and above", "util is -1 (no file)", "util missing",
    ]  # fmt: skip
    frame = pd.DataFrame({"util": [-1.0, 10.0, 999.0]})
    alone = CARD.model_copy(update={"concepts": (lines["util below 20"].part,)})
    assert alone.points(frame).tolist() == [0, 30, 0]
    struck = edit(CARD, strike=["util is -1 (no file)"])
    assert struck.points(frame).tolist() == [0, 30, 0]


def test_a_card_with_codes_comes_back_from_its_file_and_one_without_is_written_as_ever():
    assert Patch.model_validate_json(CARD.model_dump_json()) == CARD
    plain = Range(at_least=1, weight=2)
    assert plain.model_dump() == {"at_least": 1.0, "below": None, "weight": 2.0}


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ([{"code": -1, "at_least": 0, "weight": 1}], "a code is one number"),
        ([{"code": -1, "weight": 1}, {"code": -1, "weight": 2}], "has two weights"),
        ([{"at_least": 0, "words": "file", "weight": 1}], "words say what a code means"),
    ],
)
def test_what_is_no_code_is_refused(ranges, message):
    with pytest.raises(ValueError, match=message):
        RangesWeight(column="util", ranges=[Range(**r) for r in ranges])
