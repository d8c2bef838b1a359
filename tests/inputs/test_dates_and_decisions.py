"""When somebody was decided, and how: the same of every type and in every engine."""

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.datasets import Population
from fairpatch.inputs.past_decisions import made_expr, made_in, made_of
from fairpatch.inputs.values import month_expr, months_of, periods, since

DAYS = pd.to_datetime(["2024-11-30", "2025-01-02", None, "2025-01-31"])
SAME = {
    "timestamps": DAYS,
    "dates": [None if pd.isna(d) else d.date() for d in DAYS],
    "ISO texts": ["2024-11-30", "2025-01-02", None, "2025-01-31"],
    "months as text": ["2024-11", "2025-01", None, "2025-01"],
    "slashes": ["2024/11/30", "2025/01/02", None, "2025/01/31"],
    "days as numbers": [20241130, 20250102, np.nan, 20250131],
    "months as numbers": [202411, 202501, np.nan, 202501],
}


@pytest.mark.parametrize("values", SAME.values(), ids=SAME)
def test_a_month_is_the_same_number_of_every_type_and_in_an_engine(values):
    frame = pd.DataFrame({"when": pd.Series(list(values))})
    wanted = [202411, 202501, -1, 202501]
    assert months_of(frame, "when").tolist() == wanted
    table = duckdb.sql("SELECT * FROM frame")
    found = nw.from_native(table).select(m=month_expr(table, "when")).to_native().fetchall()
    assert [m for (m,) in found] == wanted
    if not isinstance(values, pd.DatetimeIndex):
        assert (
            months_of(pl.DataFrame({"when": list(values)}, strict=False), "when").tolist() == wanted
        )


def test_texts_that_do_not_sort_by_time_are_refused():
    frame = pd.DataFrame({"when": ["30.11.2024", "02.01.2025"]})
    with pytest.raises(ValueError, match=r"2024-11 or 2024-Q4; got '30\.11\.2024'"):
        months_of(frame, "when")


def test_few_months_are_shown_by_themselves_more_by_quarter_and_many_by_year():
    assert periods(np.array([202401, 202402]))[0] == ["2024-01", "2024-02"]
    two_years = np.array([y * 100 + m for y in (2023, 2024) for m in range(1, 13)])
    assert periods(two_years)[0][-1] == "2024-Q4"
    many = np.array([y * 100 + m for y in range(2015, 2025) for m in range(1, 13)])
    assert periods(many)[0] == [str(y) for y in range(2015, 2025)]


def test_the_latest_rows_certify_where_a_month_parts_them():
    assert since([202401, 202402, 202403, 202404], [25, 25, 25, 25], 0.5) == 202403
    assert since([202401], [100], 0.5) is None


def dated(n=8_000, late=0.0, seed=0):
    """A year of people; from October on f is harder on one group by so much log-odds."""
    groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    people = Population(p_rule=0.7, accuracy=0.8, proxy=2.0, groups=groups).sample(n, seed=seed)
    table = people.to_pandas()
    month = np.random.default_rng(seed).integers(1, 13, n)
    z = np.log(table["score"] / (1 - table["score"]))
    z -= late * ((month >= 10) & (table["group"] == "b"))
    return table.assign(score=1 / (1 + np.exp(-z)), month=202400 + month)


@pytest.mark.parametrize("engine", [False, True])
def test_out_of_time_rows_certify_and_no_patch_reads_the_date(engine):
    table = people = dated()  # noqa: F841 DuckDB finds it by its name
    given = duckdb.sql("SELECT * FROM people") if engine else table
    g = FairPatch("score", Target(p_rule=0.75), roles=Roles(date="month", key="id"))
    g.fit(given, "y", sensitive_features=["group"])
    fresh = g.fitted_.fresh_rows()
    learned = table[~table["id"].isin(fresh.X["id"])] if "id" in fresh.X else None
    assert fresh.month.min() >= 202406
    assert learned is None or learned["month"].max() < fresh.month.min()
    assert "month" not in {column.name for column in g.patch_.columns}
    assert any("By period" in remark for remark in g.certificate_.remarks)


def test_a_year_that_ends_badly_is_a_warning_whatever_it_is_on_the_whole():
    table = dated(40_000, late=2.0)
    g = FairPatch("score", Target(p_rule=0.75), roles=Roles(date="month"))
    g.fit(table, "y", sensitive_features=["group"])
    assert "shown not to hold for group in" in g.certificate_.warning
    assert "2024-12" in g.certificate_.warning
    found = audit(
        table, "y", sensitive_features=["group"], estimator="score", roles=Roles(date="month")
    )
    assert "P-Rule of group by period: 2024-01" in str(found)


WORDS = {
    "words that are known": (["approve", "decline", None, "approve"], "made"),
    "Sparkasse": (["Zusage", "Absage", "", "Zusage"], "made"),
    "ones": ([1, 0, np.nan, 1], "made"),
    "truths": ([True, False, None, True], "made"),
    "letters, said": (["A", "D", None, "A"], {"made": "A"}),
    "codes, said": ([7, 3, np.nan, 7], {"made": 7}),
}


@pytest.mark.parametrize(("values", "said"), WORDS.values(), ids=WORDS)
def test_decisions_in_any_two_words_mean_the_same_in_an_engine(values, said):
    frame, roles = pd.DataFrame({"made": pd.Series(values)}), Roles(decided=said)
    assert made_of(frame["made"].to_numpy(), roles, 1).tolist() == [1, 0, -1, 1]
    table = duckdb.sql("SELECT * FROM frame")
    found = nw.from_native(table).select(m=made_expr(table, roles, 1)).to_native().fetchall()
    assert [m for (m,) in found] == [True, False, None, True]


def test_words_that_nobody_knows_and_a_third_one_are_refused():
    with pytest.raises(ValueError, match="which of 'A' and 'D'"):
        made_of(np.array(["A", "D"], object), made_in("made", Roles()), 1)
    with pytest.raises(ValueError, match="there must be two"):
        made_of(np.array(["yes", "no", "withdrawn"], object), made_in("made", Roles()), 1)


@pytest.mark.parametrize("engine", [False, True])
def test_decisions_made_otherwise_are_counted_and_said(engine):
    table = dated(4_000)
    other = np.random.default_rng(0).random(len(table)) < 0.1
    table["made"] = np.where((table["score"] > 0.5) != other, "approved", "declined")
    people = table  # noqa: F841 DuckDB finds it by its name
    given = duckdb.sql("SELECT * FROM people") if engine else table
    roles = Roles(decided="made", date="month", key="id")
    found = audit(given, "y", sensitive_features=["group"], estimator="score", roles=roles)
    said = f"{other.mean():.1%} of the decisions in 'made' are not those of the score"
    assert any(remark.startswith(said) for remark in found.remarks)
    g = FairPatch("score", Target(p_rule=0.75), decision=Decision(), roles=roles)
    g.fit(given, "y", sensitive_features=["group"])
    assert any("are not those of the score" in remark for remark in g.certificate_.remarks)
    counted = g.patched_.count(given, "y", sensitive_features=["group"], decided="made")
    approved = counted.along("before", "after")[:, 1].sum()
    assert approved == (table["made"] == "approved").sum()
