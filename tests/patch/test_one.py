"""One person at a time: as numpy decides, and for the reasons that an engine gives."""

import numpy as np
import pandas as pd
import pytest

from attack.engines import in_numpy
from attack.test_every_engine import PATCHES, problem
from fairpatch.patch import Column, Concept, NumberWeight, Patch
from fairpatch.patch.apply import DECISION, POINTS, RATIO, REASON, apply
from fairpatch.patch.row_scorer import RowScorer


@pytest.mark.parametrize("number", range(PATCHES))
def test_decisions_points_and_reasons_of_hostile_rows_are_those_of_a_table(number):
    patch, table = problem(number)
    rows, one = table.to_pylist(), RowScorer(patch)
    found = [one.decide(row, np.nan if row["p"] is None else row["p"]) for row in rows]
    assert [d.decision for d in found] == in_numpy(patch, table).tolist()
    by_table = apply(patch, table.to_pandas(), "p", with_reason=True)
    reasons = [None if pd.isna(text) else text for text in by_table[REASON]]
    assert [d.reason for d in found] == reasons
    assert np.array_equal([d.points for d in found], patch.points(table.to_pandas()))
    valid = np.array([d.decision is not None for d in found])
    assert np.allclose(np.array([d.ratio for d in found])[valid], by_table[RATIO][valid])
    assert POINTS in by_table or patch.card is None


def number_patch(**more):
    numbers = [NumberWeight(column="a", coefficient=-1.0, missing=0.5)]
    concept = Concept(name="c", weight=1.0, intercept=0.0, numbers=numbers)
    return Patch(columns=[Column(name="a", kind="number", **more)], concepts=[concept])


def test_an_array_a_gap_and_a_numpy_number():
    one = RowScorer(number_patch(position=1))
    assert one.decide([7.0, 2.0], 0.3).changed
    assert one.decide(np.array([7.0, 2.0]), np.float32(0.3)).changed
    for gap in (None, np.nan, pd.NA):
        assert one.decide({"a": gap}, 0.3).points == 0.5
    assert one.decide({"a": True}, 0.3).points == -1.0


def test_an_r_of_zero_changes_an_approval_alone():
    patch, frame = number_patch(), pd.DataFrame({"a": [1.0, 1.0, 1.0], "p": [0.9, 0.1, 0.5]})
    found = [RowScorer(patch).decide({"a": 1.0}, p) for p in frame["p"]]
    assert [d.changed for d in found] == [True, False, False]
    assert [d.decision for d in found] == apply(patch, frame, "p")[DECISION].tolist()


def test_what_is_wrong_is_said():
    one = RowScorer(number_patch())
    with pytest.raises(KeyError, match="no column 'a'"):
        one.decide({"b": 1.0}, 0.3)
    with pytest.raises(TypeError, match="column 'a' must be a number for this patch; got 'x'"):
        one.decide({"a": "x"}, 0.3)
    with pytest.raises(TypeError, match="give a dictionary"):
        one.decide([1.0], 0.3)
