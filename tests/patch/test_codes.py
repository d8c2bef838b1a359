"""A number that is no quantity has a line and a reason of its own, in every engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairpatch import Decision
from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight, edit
from fairpatch.patch.apply import apply
from fairpatch.patch.batch import apply_to_places
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


def test_codes_for_reasons_add_to_those_that_are_there():
    first, second = (line.name for line in CARD.lines[:2])
    both = CARD.with_reason_codes({first: "R01"}).with_reason_codes({second: "R02"})
    assert both.reason_codes == {first: "R01", second: "R02"}
    assert both.with_reason_codes({first: "R03"}).reason_codes[first] == "R03"


@pytest.mark.parametrize(("good", "scores"), [(1, [0.4, 0.3, 0.2, 0.1]), (0, [0.6, 0.7, 0.8, 0.9])])
def test_the_last_places_go_to_whom_the_model_likes_better(good, scores):
    """Of four denied people with the same points, whichever side of the score is the good one."""
    patch = CARD.model_copy(update={"decision": Decision(favourable=good, threshold=0.5)})
    people = pd.DataFrame({"id": [1, 2, 3, 4], "util": 50.0, "p": scores})
    decided = apply_to_places(patch, people, "p", approvals=2, key="id")["fairpatch_decision"]
    assert (decided == bool(good)).tolist() == [True, True, False, False]
