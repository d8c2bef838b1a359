"""A fit to a table in an engine: the same rows on every engine, exact counts, no row too many."""

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch import Decision, FairPatch, Roles, Target
from fairpatch.commod import Commod, Training
from fairpatch.data.engine import PRIME, EngineSplits, count_table, place
from fairpatch.datasets import Population
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.counts import Counts
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight, ScoreBand
from fairpatch.patch.parts import Lock

POPULATION = Population(p_rule=0.6, accuracy=0.8)

KEYED = Roles(key="id")


@pytest.fixture(scope="module")
def people():
    """40,000 people, one group of them tiny."""
    return POPULATION.sample(40_000, seed=3)


def on(engine, table, spark=None):
    if engine == "duckdb":
        connection = duckdb.connect()
        connection.register("people", table)
        return connection.sql("SELECT * FROM people")
    if engine == "spark":
        plain = {n: table[n].cast(pa.string()) for n in table.column_names if _text(table, n)}
        for name, column in plain.items():
            table = table.set_column(table.column_names.index(name), name, column)
        return spark.createDataFrame(table.to_pandas())
    if engine == "ibis":
        return ibis.memtable(table)
    return pl.from_arrow(table).lazy()


def _text(table, name):
    return pa.types.is_dictionary(table.schema.field(name).type)


ENGINES = ["duckdb", "ibis", "polars", "spark"]


def splits_of(table, shares=(0.5, 0.25, 0.25), seed=0):
    return EngineSplits(table, "id", "y", ("group",), BaseModel("score"), shares, seed)


@given(
    keys=st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30),
    seed=st.integers(0, 2**31 - 1),
)
def test_places_are_whole_number_arithmetic_everywhere(keys, seed):
    salt = (seed * 7_919 + 40_692) % PRIME
    expected = [(((48_271 * (k % PRIME) + salt) % PRIME) ** 2 + 12_345) % PRIME for k in keys]
    frame = pl.DataFrame({"id": keys})
    import narwhals as nw

    connection = duckdb.connect()
    connection.register("keys", frame.to_arrow())
    relation = connection.sql("SELECT * FROM keys")
    by_duckdb = nw.from_native(relation).select(u=place("id", seed)).collect()["u"].to_list()
    by_polars = nw.from_native(frame).select(u=place("id", seed))["u"].to_list()
    assert by_polars == by_duckdb == expected


def test_places_are_spread_evenly_and_unrelated_for_other_seeds():
    import narwhals as nw

    frame = nw.from_native(pl.DataFrame({"id": np.arange(200_000)}))
    u, v = (frame.select(u=place("id", seed))["u"].to_numpy() / PRIME for seed in (0, 1))
    counts = np.bincount((u * 100).astype(int), minlength=100)
    assert abs(counts - 2_000).max() < 5 * np.sqrt(2_000)
    assert abs(np.corrcoef(u, v)[0, 1]) < 0.01
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.01


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_splits_and_samples_the_same_rows(engine, people, request):
    spark = request.getfixturevalue("spark") if engine == "spark" else None
    reference = splits_of(on("polars", people))
    found = splits_of(on(engine, people, spark))
    for mine, theirs in zip(found.counts, reference.counts, strict=True):
        assert mine == theirs
    for mine, theirs in zip(
        found.samples((0, 1), 5_000), reference.samples((0, 1), 5_000), strict=True
    ):
        assert (mine.y == theirs.y).all()
        assert np.allclose(mine.sample_weight, theirs.sample_weight)
        a, b = (BaseModel("score").scores(rows.X) for rows in (mine, theirs))
        assert (a == b).all()


def test_a_sample_has_every_group_and_label_and_its_weights_undo_it(people):
    splits = splits_of(on("duckdb", people))
    (sample,) = splits.samples((0,), 5_000)
    assert len(sample) < 9_000
    everybody = splits.counts[0]
    weighed = Counts.from_arrays(
        decision=BaseModel("score").decisions(sample.X),
        y=sample.y,
        sensitive_features=sample.groups,
        sample_weight=sample.sample_weight,
    )
    assert weighed.groups == everybody.groups
    assert np.allclose(
        weighed.along("group", "label", of="weight"), everybody.along("group", "label")
    )
    tiny = everybody.groups.index(("D",))
    assert weighed.n[tiny].sum() == everybody.n[tiny].sum()  # all of them


def test_counts_of_several_patches_at_once_are_those_of_each_alone(people):
    frame = people.to_pandas()
    g = Commod("score", lambda_fair=1.0, training=Training(n_steps=40), exclude=["id"])
    g.fit(frame.drop(columns=["y", "group"]), frame["y"], sensitive_features=frame["group"])
    patches = [g.patch_.with_strength(s) for s in (0.5, 1.0, 2.0)]
    options = {"y": "y", "sensitive_features": ["group"]}
    found = count_table(on("duckdb", people), patches, BaseModel("score"), **options)
    f_logit = BaseModel("score").logits(frame)
    for counts, patch in zip(found, patches, strict=True):
        assert counts == Counts.from_arrays(
            decision=f_logit > 0, new_decision=patch.decide(frame, f_logit), y=frame["y"],
            sensitive_features={"group": frame["group"]},
        )  # fmt: skip


def test_a_fit_in_an_engine_is_certified_on_all_rows_and_reproducible():
    two = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    table = Population(p_rule=0.6, accuracy=0.8, groups=two).sample(40_000, seed=4)
    fits = []
    for engine in ("duckdb", "polars"):
        g = FairPatch("score", Target(p_rule=0.75), max_rows=5_000, roles=KEYED)
        fits.append(g.fit(on(engine, table), "y", sensitive_features="group"))
    g, again = fits
    assert g.patch_ == again.patch_
    assert g.certificate_.verdict == "certified"
    certified_on = g.certificate_.results[0].people
    assert 29_500 < certified_on < 30_500  # ten thousand are enough to learn from and choose on
    assert {"id", "y", "group", "score"}.isdisjoint(c.name for c in g.patch_.columns)
    judged = g.certify(on("duckdb", table), "y", sensitive_features=["group"])
    frame = table.to_pandas()
    X = frame.drop(columns=["id", "y", "group"])
    in_memory = g.certify(X, frame["y"], sensitive_features=frame[["group"]])
    assert judged == in_memory


def test_the_papers_estimator_says_that_it_trains_in_memory(people):
    with pytest.raises(TypeError, match="fetch a sample of the table"):
        Commod("score").fit(on("duckdb", people), "y", sensitive_features=["group"])


def test_what_a_table_needs_is_said(people):
    table = on("duckdb", people)

    def fit(key, f="score"):
        g = FairPatch(f, Target(p_rule=0.7), roles=Roles(key=key))
        return g.fit(table, "y", sensitive_features=["group"])

    with pytest.raises(TypeError, match="must be names of its columns.*key='id'"):
        fit(None)
    with pytest.raises(KeyError, match="key names column 'nr'"):
        fit("nr")
    with pytest.raises(ValueError, match="key .cat_0. repeats.*person"):
        fit("cat_0")
    with pytest.raises(TypeError, match="fairpatch.engines.streams"):
        fit("id", lambda X: X)


def test_an_engine_certifies_on_the_last_split_and_no_other(people):
    splits = splits_of(on("duckdb", people), shares=(0.5, 0.3, 0.2))
    nothing = Patch(columns=(), concepts=())
    (counts,) = splits.count([nothing])
    assert counts == splits.counts[2]
    assert counts.total == pytest.approx(8_000, rel=0.05)
    fresh = splits.sample(None)
    assert len(fresh) == counts.total


def test_weights_and_costs_are_refused_where_they_would_not_be_read(people):
    for name in ("sample_weight", "seen_by_base", "previous"):
        with pytest.raises(ValueError, match=f"{name} is for rows in memory"):
            FairPatch("score", Target(p_rule=0.7), roles=KEYED).fit(
                on("duckdb", people), "y", sensitive_features="group", **{name: np.ones(40_000)}
            )


def test_one_class_lost_keys_and_arrays_are_refused(people):
    connection = duckdb.connect()
    connection.register("people", people)
    fit = {"sensitive_features": "group"}
    g = FairPatch("score", Target(p_rule=0.7), roles=KEYED)
    for label in (0, 1):
        table = connection.sql(f"SELECT * REPLACE ({label} AS y) FROM people")
        with pytest.raises(ValueError, match=f"no row of the table has 'y' = {1 - label}"):
            g.fit(table, "y", **fit)
    table = connection.sql("SELECT * REPLACE (CASE WHEN id >= 100 THEN id END AS id) FROM people")
    with pytest.raises(ValueError, match="100 rows have no 'id'"):
        g.fit(table, "y", **fit)
    with pytest.raises(TypeError, match="must be names of its columns"):
        g.fit(on("duckdb", people), "y", sensitive_features=np.zeros(9))


def test_large_numbers_with_gaps_are_groups_like_any_other(people):
    big = 2**53 + 1
    connection = duckdb.connect()
    connection.register("people", people)
    table = connection.sql(
        f'SELECT * REPLACE (CASE id % 3 WHEN 0 THEN {big} WHEN 1 THEN {big + 2} END AS "group") '
        "FROM people"
    )
    (rows,) = splits_of(table).samples((0,), 4_000)
    assert rows.s.values == ((big, big + 2),)
    assert (rows.s.codes < 0).any()


def test_patches_of_a_ladder_share_no_more_than_they_have():
    """Other bins, directions, points needed, and the paper's ratio: together as one by one."""
    frame = Population(p_rule=0.6, accuracy=0.8).sample(3_000, seed=4).to_pandas()
    bins = [("num_0", 40.0), ("num_0", 45.0), ("num_3", 0.0)]
    patches = [
        Patch(
            columns=[Column(name=name, kind="number")],
            concepts=[
                Concept(
                    name="c", weight=1.0, intercept=0.0,
                    ranges=[RangesWeight(column=name, ranges=[
                        Range(below=edge, weight=60.0), Range(at_least=edge, weight=-60.0)])],
                )
            ],
            card=CardScale(approve_at=gain, deny_at=loss, confidence=(
                ScoreBand(below=0.2, points=45), ScoreBand(at_least=0.2, below=0.4, points=20),
                ScoreBand(at_least=0.7, points=30))) if gain else None,
            direction=direction,
            strength=1.0 if gain else 0.05,
        )
        for name, edge in bins
        for gain, loss in ((10, -10), (25, -35), (45, -55), (0, 0))
        for direction in ("both", "promote_only", "demote_only")
    ]  # fmt: skip
    options = {"y": "y", "sensitive_features": ["group"]}
    table = duckdb.sql("select * from frame")
    found = count_table(table, patches, BaseModel("score"), **options)
    f_logit = BaseModel("score").logits(frame)
    for patch, counts in zip(patches, found, strict=True):
        assert counts == Counts.from_arrays(
            decision=f_logit > 0,
            new_decision=patch.decide(frame, f_logit),
            y=frame["y"],
            sensitive_features={"group": frame["group"]},
        )
    assert len({counts.n.tobytes() for counts in found}) > 20


@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
@pytest.mark.parametrize("favourable", [0, 1])
def test_a_ladder_is_read_off_how_people_stand(direction, favourable):
    """One whole number a person, whatever the rung; scores at the threshold and locked rows too."""
    random = np.random.default_rng(3)
    n = 6_000
    frame = pd.DataFrame({
        "score": random.choice([0.3, 0.45, 0.5, 0.55, 0.7, *random.random(20)], n),
        "x": random.normal(size=n), "lock": random.choice(["no", "yes"], n, p=[0.9, 0.1]),
        "y": random.integers(0, 2, n), "group": random.choice(["a", "b", None], n),
    })  # fmt: skip
    weights = [Range(below=-1, weight=-60.0), Range(at_least=-1, below=0.3, weight=15.0)]
    weights.append(Range(at_least=0.3, weight=60.0))
    decision = Decision(favourable=favourable, negative="0", positive="1")
    bands = (ScoreBand(below=0.4, points=25), ScoreBand(at_least=0.6, points=30))
    rungs = [
        Patch(
            columns=[Column(name="x", kind="number"), Column(name="lock", kind="category")],
            concepts=[Concept(name="x", weight=1.0, intercept=0.0,
                              ranges=[RangesWeight(column="x", ranges=weights)])],
            card=CardScale(approve_at=gain, deny_at=loss, confidence=bands,
                           locked=(Lock(column="lock", values=("yes",)),)),
            direction=direction, decision=decision,
        )
        for gain, loss in ((90, -95), (60, -60), (35, -36), (16, -30), (1, -1), (-20, 20))
    ]  # fmt: skip
    base = BaseModel("score", decision=decision)
    options = {"y": "y", "sensitive_features": ["group"]}
    table = duckdb.sql("SELECT * FROM frame")
    together = count_table(table, rungs, base, **options)
    off = rungs[0].with_strength(0.0)  # with which they are no ladder
    alone = [count_table(table, [rung, off], base, **options)[0] for rung in rungs]
    assert together == alone
    assert len({counts.n.tobytes() for counts in together}) >= 4
    f_logit = base.logits(frame)
    for rung, counts in zip(rungs, together, strict=True):
        assert counts == Counts.from_arrays(  # above 0 is the favourable decision, whichever it is
            decision=f_logit > 0, new_decision=rung.decide(frame, f_logit),
            y=frame["y"] if favourable else 1 - frame["y"],
            sensitive_features={"group": frame["group"]},
        )  # fmt: skip
