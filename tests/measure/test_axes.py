"""The axes of the counts: strata, and people who belong to groups in part, wherever they lie."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairpatch.measure.cells import atoms, cells
from fairpatch.measure.counts import AXES, Counts

GROUPS, STRATA, ROWS = 100, 50, 30_000


@pytest.fixture(scope="module")
def people():
    """100 groups in 50 strata; each person may belong to one of three groups, in part."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "group": random.integers(0, GROUPS, ROWS),
            "stratum": random.integers(0, STRATA, ROWS),
            "f": random.integers(0, 2, ROWS),
            "g": random.integers(0, 2, ROWS),
            "y": random.choice([0.0, 1.0, np.nan], ROWS),
            "w": random.integers(1, 5, ROWS).astype(float),
        }
    )
    # one row for each group that a person may belong to, as it is unpivoted in SQL
    parts = np.array([0.5, 0.25, 0.25])
    return pd.concat(
        [frame.assign(group=(frame["group"] + k) % GROUPS, part=part) for k, part in
         enumerate(parts)], ignore_index=True,
    )  # fmt: skip


def in_memory(people, **options):
    return Counts.from_arrays(
        decision=people["f"], new_decision=people["g"], y=people["y"],
        sensitive_features=people[["group"]], sample_weight=people["w"],
        strata=people[["stratum"]], membership=people["part"], **options,
    )  # fmt: skip


NAMES = {
    "decision": "f", "new_decision": "g", "y": "y", "sensitive_features": ["group"],
    "sample_weight": "w", "strata": ["stratum"], "membership": "part",
}  # fmt: skip


def same(one, other):
    assert (one.groups, one.strata) == (other.groups, other.strata)
    assert one.strata_features == other.strata_features == ("stratum",)
    for a, b in zip(one._tables.values(), other._tables.values(), strict=True):
        assert np.allclose(a, b)


def test_the_table_has_every_axis(people):
    counts = in_memory(people)
    assert counts.n.shape == (GROUPS, STRATA, 3, 2, 2)
    assert len(AXES) == counts.n.ndim
    assert counts.n.sum() == pytest.approx(ROWS)  # parts of a person add up to one
    assert counts.weight.sum() == pytest.approx((people["w"] * people["part"]).sum())


def test_duckdb_counts_the_same_where_the_table_lies(people):
    table = duckdb.sql("SELECT * REPLACE (CASE WHEN y = y THEN y END AS y) FROM people")
    same(Counts.from_frame(table, **NAMES), in_memory(people))


def test_spark_counts_the_same_where_the_table_lies(people, spark):
    columns = {name: people[name].tolist() for name in people}
    rows = [
        tuple(None if pd.isna(value) else value for value in row)
        for row in zip(*columns.values(), strict=True)
    ]
    table = spark.createDataFrame(rows, list(columns))
    same(Counts.from_frame(table, **NAMES), in_memory(people))


def test_parts_merge_to_the_whole_though_neither_has_every_group_or_stratum(people):
    first = (people["group"] < 60) & (people["stratum"] < 40)
    one, two = (in_memory(people[part].reset_index(drop=True)) for part in (first, ~first))
    assert len(one.groups) < GROUPS
    assert len(one.strata) < STRATA
    same(one + two, in_memory(people))


def test_strata_are_pooled_sliced_and_stored(people):
    counts = in_memory(people)
    assert counts.pooled().n.shape == (GROUPS, 1, 3, 2, 2)
    assert np.allclose(counts.pooled().along("group"), counts.along("group"))
    one = counts.in_stratum((7,))
    assert np.allclose(one.along("group"), counts.along("group", "stratum")[:, 7])
    same(Counts.from_dict(counts.to_dict()), counts)
    assert counts.by("group").strata == counts.strata
    with pytest.raises(ValueError, match="different sensitive features"):
        _ = counts + counts.pooled()


@settings(max_examples=40)
@given(st.permutations(AXES), st.integers(0, 5), st.integers(0, 100))
def test_along_is_a_sum_over_the_other_axes_in_any_order(order, kept, seed):
    random = np.random.default_rng(seed)
    n = random.integers(0, 9, (4, 3, 3, 2, 2))
    groups, strata = tuple((i,) for i in range(4)), tuple((i,) for i in range(3))
    counts = Counts(("s",), groups, n, n.astype(float), n.astype(float), ("z",), strata)
    axes = order[:kept]
    expected = np.einsum(n, range(5), [AXES.index(axis) for axis in axes])
    assert np.array_equal(counts.along(*axes), expected)
    mask = random.random((3, 2, 2)) < 0.5
    assert np.array_equal(counts.in_cells(mask), (n * mask).sum((1, 2, 3, 4)))


def test_atoms_are_what_no_mask_tells_apart():
    masks = np.stack([cells(), cells(label=1), cells(before=0, after=1)])
    found = atoms(masks)
    assert sum(found).tolist() == cells().astype(int).tolist()  # each cell in one of them
    assert len(found) == 4
    for atom in found:
        for mask in masks:
            assert mask[atom].all() or not mask[atom].any()
