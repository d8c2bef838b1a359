"""The table of counts: filled by arrays and by every engine alike, and parts add up."""

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch.measure import Counts

PERSON = st.tuples(
    st.sampled_from(["a", "b", "c", None]),  # race
    st.sampled_from([0, 1]),  # sex
    st.sampled_from([0, 1, None]),  # y
    st.integers(0, 1),  # f
    st.integers(0, 1),  # g
    st.integers(0, 5),  # weight
)
PEOPLE = st.lists(PERSON, min_size=1, max_size=40)


def counts_of(people, weighted=True):
    race, sex, y, f, g, w = zip(*people, strict=True)
    return Counts.from_arrays(
        decision=f,
        new_decision=g,
        y=y,
        sensitive_features={"race": race, "sex": sex},
        sample_weight=w if weighted else None,
    )


@given(PEOPLE, PEOPLE, st.booleans())
def test_counts_of_parts_add_up_to_counts_of_the_whole(one, two, weighted):
    assert counts_of(one, weighted) + counts_of(two, weighted) == counts_of(one + two, weighted)


@given(PEOPLE)
def test_every_cell_equals_a_count_by_hand(people):
    counts = counts_of(people)
    for i, (race, sex) in enumerate(counts.groups):
        for y, label in enumerate((0, 1, None)):
            for f in (0, 1):
                for g in (0, 1):
                    here = [p for p in people if p[:5] == (race, sex, label, f, g)]
                    cell = i, 0, y, f, g
                    assert counts.n[cell] == len(here)
                    assert counts.weight[cell] == sum(p[5] for p in here)
                    assert counts.weight_sq[cell] == sum(p[5] ** 2 for p in here)
    assert counts.total == len(people)


@given(PEOPLE)
def test_marginal_counts_equal_counting_one_feature(people):
    race, _, y, f, g, w = zip(*people, strict=True)
    alone = Counts.from_arrays(
        decision=f, new_decision=g, y=y, sensitive_features={"race": race}, sample_weight=w
    )
    assert counts_of(people).by("race") == alone


@given(PEOPLE)
def test_flip_counts_the_other_outcome_and_twice_is_nothing(people):
    counts = counts_of(people)
    assert counts.flip().flip() == counts
    assert np.array_equal(counts.flip().n[:, :, 0, 0, 1], counts.n[:, :, 1, 1, 0])
    assert np.array_equal(counts.flip().n[:, :, 2], counts.n[:, :, 2, ::-1, ::-1])


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    n = 5_000
    return pd.DataFrame(
        {
            "race": pd.Series(random.choice(["a", "b", "c"], n)).where(
                random.random(n) > 0.05, None
            ),
            "sex": random.integers(0, 2, n),
            "y": random.integers(0, 2, n),
            "f": random.integers(0, 2, n),
            "score": random.random(n),
            "w": random.integers(1, 4, n).astype(float),
        }
    )


def natives(table, spark):
    yield "pandas", table
    yield "polars", pl.from_pandas(table)
    yield "polars lazy", pl.from_pandas(table).lazy()
    yield "pyarrow", pa.Table.from_pandas(table)
    connection = duckdb.connect()
    connection.register("people", pa.Table.from_pandas(table))
    yield "duckdb", connection.table("people")
    yield "pyspark", spark.createDataFrame(table.astype(object).where(table.notna(), None))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("labels", [None, "y"])
def test_every_engine_gives_the_counts_that_arrays_give(table, spark, weight, labels):
    import narwhals as nw

    expected = Counts.from_arrays(
        decision=table["f"],
        new_decision=table["score"] > 0.3,
        y=None if labels is None else table[labels],
        sensitive_features=table[["race", "sex"]],
        sample_weight=None if weight is None else table[weight],
    )
    assert len(expected.groups) == 8
    for name, native in natives(table, spark):
        counts = Counts.from_frame(
            native,
            decision="f",
            new_decision=nw.col("score") > 0.3,
            y=labels,
            sensitive_features=["race", "sex"],
            sample_weight=weight,
        )
        assert counts == expected, name


def test_boolean_string_and_gappy_columns_are_the_same_people():
    frame = pd.DataFrame({"s": [1.0, 2.0, None], "d": [True, False, True], "y": [1.0, None, 0.0]})
    counts = Counts.from_frame(frame, decision="d", y="y", sensitive_features="s")
    assert counts.groups == ((1,), (2,), (None,))
    assert counts == Counts.from_arrays(
        decision=frame["d"], y=frame["y"], sensitive_features=frame[["s"]]
    )
    assert counts.known().groups == ((1,), (2,))


def test_without_new_decision_g_is_f():
    counts = Counts.from_arrays(decision=[0, 1, 1], sensitive_features=["a", "a", "b"])
    moved = counts.along("before", "after")
    assert moved[0, 1] == moved[1, 0] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": [0, 2]}, "decision must be 0 or 1"),
        ({"y": ["yes", "no"]}, "y = \\(labels == 'yes'\\)"),
        ({"y": [1]}, "y has 1 rows, decision has 2"),
        ({"sensitive_features": ["a"]}, "sensitive_features has 1 rows"),
        ({"sample_weight": [1, -1]}, "at least 0"),
        ({"sample_weight": [1, np.nan]}, "finite"),
        ({"sensitive_features": {}}, "at least one column"),
    ],
)
def test_errors_say_what_was_expected(change, message):
    good = {"decision": [0, 1], "sensitive_features": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        Counts.from_arrays(**good | change)


def test_frame_errors_say_how_many_rows():
    frame = pl.DataFrame({"s": ["a", "b"], "d": [1, None], "y": ["no", "yes"]})
    with pytest.raises(ValueError, match="1 rows have None"):
        Counts.from_frame(frame, decision="d", sensitive_features="s")
    with pytest.raises(ValueError, match="y must be 0, 1 or missing, got 'no'|got 'yes'"):
        Counts.from_frame(frame.with_columns(d=1), decision="d", y="y", sensitive_features="s")


def test_a_continuous_sensitive_feature_is_refused_with_advice():
    with pytest.raises(ValueError, match="into bands"):
        Counts.from_arrays(decision=np.zeros(10_001), sensitive_features=np.arange(10_001) + 0.5)


def test_counts_of_other_features_do_not_add_up():
    one = Counts.from_arrays(decision=[1], sensitive_features={"a": [1]})
    two = Counts.from_arrays(decision=[1], sensitive_features={"b": [1]})
    with pytest.raises(ValueError, match="different sensitive features"):
        one + two
    with pytest.raises(KeyError, match="there are \\['a'\\]"):
        one.by("b")


def test_names_of_groups_are_always_different():
    counts = Counts.from_arrays(
        decision=[0, 1], sensitive_features={"a": np.array(["1", 1], dtype=object)}
    )
    assert len(set(counts.group_names)) == 2


def test_several_patches_of_one_scan_and_what_counts_say_of_themselves():
    frame = pd.DataFrame({"f": [1, 0, 1, 0], "a": [1, 1, 1, 0], "b": [0, 0, 1, 0],
                          "y": [1, 0, 1, 0], "s": list("mmff")})  # fmt: skip
    each = Counts.from_frame_each(
        frame, decision="f", new_decisions=[nw.col("a"), nw.col("b")], sensitive_features=["s"],
        y="y",
    )  # fmt: skip
    for counts, column in zip(each, "ab", strict=True):
        assert counts == Counts.from_arrays(
            decision=frame["f"], new_decision=frame[column], y=frame["y"],
            sensitive_features=frame[["s"]],
        )  # fmt: skip
    (unlabelled,) = Counts.from_frame_each(
        frame, decision="f", new_decisions=[nw.col("a")], sensitive_features=["s"]
    )
    assert unlabelled.along("label")[2] == 4
    assert repr(each[0]) == "Counts(4 rows, 2 groups of ['s'])"
