"""The order of rows, and the kind of frame, make no difference to a patch."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch import FairPatch, Target
from fairpatch.data.rows import Rows, contents
from fairpatch.datasets import Population
from fairpatch.measure.groups import Groups


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
    number = contents(AWKWARD)
    assert number[0] == number[1]
    assert len(set(number.tolist())) == 4
    gaps = contents(AWKWARD, Groups.of({"s": ["a", "a", None, "a", "b"]}))
    assert gaps[0] == gaps[1] != number[0]


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
    one, other = contents(table), contents(as_another(table))
    assert one.tolist() == other.tolist()


def test_the_same_people_are_split_alike_in_any_order():
    rows = Rows.of(people(800).drop(columns=["y", "group"]), people(800)["y"].to_numpy(),
                   people(800)["group"])  # fmt: skip
    order = np.random.default_rng(0).permutation(800)
    codes = rows.split_codes((0.3, 0.2, 0.5), 0)
    assert (rows.take(order).split_codes((0.3, 0.2, 0.5), 0) == codes[order]).all()


def test_rows_that_f_was_trained_on_are_told_by_any_order():
    table, r = people(), np.random.default_rng(0)
    seen, order = r.random(len(table)) < 0.4, r.permutation(len(table))
    fits = [
        FairPatch("score", Target(p_rule=0.7)).fit(
            table.iloc[some], "y", sensitive_features=["group"], seen_by_base=seen[some]
        )
        for some in (np.arange(len(table)), order)
    ]
    assert str(fits[0].certificate_) == str(fits[1].certificate_)
    people_of = fits[0].certificate_.results[0].people
    assert people_of == pytest.approx((~seen).sum() / 2, rel=0.02)
