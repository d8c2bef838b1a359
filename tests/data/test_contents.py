"""The order of rows, and the kind of frame, make no difference to a patch."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch import FairPatch, Target
from fairpatch.data.contents import contents, in_own_order
from fairpatch.data.rows import Rows
from fairpatch.datasets import Population


def people(n=6_000):
    groups = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups).sample(n, seed=0)
    return found.to_pandas().drop(columns="id")


def test_rows_in_another_order_give_the_same_patch():
    table, r = people(), np.random.default_rng(0)
    noise = {f"x_{k}": table["num_0"] + r.normal(0, 2, len(table)).round(1) for k in range(30)}
    table = table.assign(**noise)  # columns that are all alike
    shuffled = table.iloc[r.permutation(len(table))]
    fits = [
        FairPatch("score", Target(p_rule=0.75)).fit(rows, "y", sensitive_features=["group"])
        for rows in (table, shuffled, shuffled.reset_index(drop=True), pl.from_pandas(shuffled))
    ]
    assert len({str(g.patch_) for g in fits}) == 1
    assert len({str(g.certificate_) for g in fits}) == 1


AWKWARD = pd.DataFrame(
    {
        "number": [0.0, -0.0, np.nan, 1.0, 1.0],
        "text": ["a", "a", None, "a", "1"],
        "mixed": ["x", "x", 2, None, True],
        "lists": [[1], [1], [2], [], [1]],
        "day": pd.to_datetime(["2026-01-01", "2026-01-01", None, "2026-01-02", "2026-01-01"]),
    }
)


def test_equal_rows_have_one_number_and_others_have_another():
    number = contents(Rows.of(AWKWARD, np.array([1, 1, 0, 1, 1])))
    assert number[0] == number[1]
    assert len(set(number.tolist())) == 4
    assert contents(Rows.of(AWKWARD, np.array([1, 0, 0, 1, 1])))[1] != number[1]
    gaps = Rows.of(AWKWARD, np.array([1, 1, 0, 1, 1]), {"s": ["a", "a", None, "a", "b"]})
    assert contents(gaps)[0] == contents(gaps)[1] != number[0]


@pytest.mark.parametrize(
    "as_another",
    [
        lambda t: t.assign(whole=t["whole"].astype("float64")),
        lambda t: t.assign(text=t["text"].astype("category")),
        lambda t: t[["text", "yes", "whole"]],
        lambda t: t.assign(whole=t["whole"].astype(object)),
        pl.from_pandas,
    ],
)
def test_the_type_of_a_column_makes_no_difference(as_another):
    table = pd.DataFrame({"whole": [1, 2, 3], "text": ["a", "b", None], "yes": [True, False, True]})
    y = np.array([1, 0, 1])
    one, other = contents(Rows.of(table, y)), contents(Rows.of(as_another(table), y))
    assert one.tolist() == other.tolist()


def test_rows_that_f_was_trained_on_move_with_the_others():
    rows = Rows.of(pd.DataFrame({"x": [3.0, 1.0, 2.0, 1.0]}), np.array([0, 1, 0, 1]))
    seen = np.array([False, True, False, False])
    sorted_rows, moved = in_own_order(rows, seen)
    assert moved.sum() == 1
    assert sorted_rows.X["x"][moved].tolist() == [1.0]
    assert (sorted_rows.y == (sorted_rows.X["x"] == 1.0)).all()
