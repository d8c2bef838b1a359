"""Age and other numbers as sensitive features: the same bands in memory and in every engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch import FairPatch, PatchedModel, Roles, Target, audit
from fairpatch.data.engine import count_table
from fairpatch.datasets import Population
from fairpatch.inputs.base import BaseModel
from fairpatch.inputs.roles import band_values, names_of, proposed
from fairpatch.inputs.sensitive import grouped_table
from fairpatch.measure import p_rule

BANDS = {"age": [25, 40, 60]}


def people(n=4_000, seed=0):
    """The second group is old: age tells it, and the score disadvantages it."""
    random = np.random.default_rng(seed)
    frame = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
    frame = frame.sample(n, seed=seed).to_pandas()
    old = frame.pop("group") == "b"
    frame["age"] = np.where(old, random.integers(60, 90, n), random.integers(18, 60, n)).astype(
        float
    )
    frame.loc[random.random(n) < 0.02, "age"] = np.nan
    return frame


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True).map(sorted),
    st.lists(
        st.one_of(st.none(), st.floats(-80, 80), st.sampled_from([np.nan, np.inf, -np.inf])),
        min_size=1,
        max_size=40,
    ),
)
def test_engines_cut_alike_and_nobody_is_left_out(edges, values):
    found = band_values("x", np.array(values, object), edges)
    missing = [v is None or not np.isfinite(v) for v in values]
    assert [name is None for name in found] == missing
    assert {name for name in found if name} <= set(names_of(edges))
    table = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    assert grouped_table(table, Roles(bands={"x": edges}), ["x"])["x"].to_list() == found.tolist()
    con = duckdb.connect()
    own = grouped_table(con.from_arrow(table.to_arrow()), Roles(bands={"x": edges}), ["x"])
    assert [row[0] for row in own.fetchall()] == found.tolist()


def test_an_audit_compares_bands_in_memory_and_in_an_engine():
    frame = people()
    options = {
        "sensitive_features": ["age"],
        "estimator": "score",
        "roles": Roles(bands=BANDS),
    }
    one = audit(frame, "y", **options)
    two = audit(duckdb.from_df(frame), "y", **options)
    assert one.counts == two.counts
    names = [str(g["group"]) for g in one.comparisons["age"].groups]
    assert set(names) >= {"25 to below 40", "60 and above"}
    by_hand = frame["score"][frame["age"] >= 60].gt(0.5).mean()
    rates = {str(g["group"]): g["selection_rate"].value for g in one.comparisons["age"].groups}
    assert rates["60 and above"] == pytest.approx(by_hand, abs=1e-9)
    apart = options | {"sensitive_features": {"age": frame["age"]}}
    assert audit(frame.drop(columns="age"), frame["y"], **apart).counts == one.counts


def test_fit_certificate_and_counts_are_of_bands():
    roles = Roles(bands={"age": [60]}, key="id")
    frame = people(6_000, seed=1)
    g = FairPatch("score", Target(p_rule=0.7), roles=roles)
    g.fit(frame, "y", sensitive_features=["age"])
    assert g.patch_.roles.bands == {"age": (60.0,)}
    assert "age" not in {column.name for column in g.patch_.columns}
    later = people(6_000, seed=2)
    counts = g.patched_.count(later, "y", sensitive_features=["age"])
    assert set(counts.groups) == {("60 and above",), ("below 60",), (None,)}
    (found,) = count_table(
        duckdb.from_df(later), [g.patch_], BaseModel("score", g.patch_.decision, g.patch_.roles),
        y="y", sensitive_features=["age"],
    )  # fmt: skip
    assert found == counts
    certificate = PatchedModel(BaseModel("score"), g.patch_).certify(
        later, "y", sensitive_features=["age"], target=Target(p_rule=0.5)
    )
    assert "below 60" in str(certificate) or "60 and above" in str(certificate)


def test_a_fit_in_an_engine_learns_for_bands():
    frame = people(6_000, seed=3)
    roles = Roles(bands={"age": [60]}, key="id")
    g = FairPatch("score", Target(p_rule=0.7), roles=roles)
    g.fit(duckdb.from_df(frame), "y", sensitive_features=["age"])
    counts = g.patched_.count(frame, "y", sensitive_features=["age"])
    assert g.choice_.metrics["age"]["p_rule"] >= 0.7
    assert p_rule(counts).value == pytest.approx(g.choice_.metrics["age"]["p_rule"], abs=0.1)


def test_a_number_with_many_values_is_noticed_before_work():
    frame = people()
    with pytest.raises(
        ValueError, match=r"'age' has \d+ values, all of them numbers.*bands.*\[35, 55, 7"
    ):
        audit(frame, "y", sensitive_features=["age"], estimator="score")
    with pytest.raises(ValueError, match="all of them numbers: cut it into bands"):
        FairPatch("score", Target(p_rule=0.7)).fit(frame, "y", sensitive_features=["age"])
    edges = proposed([0.1, 0.2, 0.3, 0.4])
    assert edges == sorted(edges)
    assert 0.1 <= edges[0] <= edges[-1] <= 0.4


@pytest.mark.parametrize(
    ("bands", "said"),
    [
        ({"age": [40, 25]}, "must rise"),
        ({"age": []}, "must be the numbers at which one ends"),
        ({"age": ["young"]}, "must be the numbers at which one ends"),
        ({"age": [True]}, "must be the numbers at which one ends"),
        ([25, 40], "bands must name features"),
    ],
)
def test_bands_that_cannot_be_meant_are_refused(bands, said):
    with pytest.raises(ValueError, match=said):
        Roles(bands=bands)


def test_bands_of_something_else_are_refused():
    frame = people(500)
    options = {"sensitive_features": ["age"], "estimator": "score"}
    with pytest.raises(ValueError, match="for 'agee', which is no sensitive feature"):
        audit(frame, "y", roles=Roles(bands={"agee": [40]}), **options)
    words = pd.DataFrame({"sex": ["f", "m"] * 50, "score": [0.2, 0.8] * 50})
    with pytest.raises(TypeError, match="values that are no numbers"):
        audit(
            words,
            sensitive_features=["sex"],
            estimator="score",
            roles=Roles(bands={"sex": [1]}),
        )
