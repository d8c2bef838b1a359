"""Scores in points, and thresholds by a column's values: one rule in every engine."""

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairpatch import BaseModel, Decision, FairPatch, PatchedModel, Target, audit
from fairpatch.data.features import with_scale, with_thresholds
from fairpatch.decision import PointScale
from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight
from fairpatch.patch.apply import apply
from fairpatch.patch.parts import ScoreBand
from fairpatch.patch.row_scorer import RowScorer

SCALE = PointScale(base=600, odds=1, double=20)
BANDS = (
    ScoreBand(at_least=-10, below=0, points=0), ScoreBand(at_least=-20, below=-10, points=20),
    ScoreBand(below=-20, points=None),
)  # fmt: skip


def card(decision, bands=BANDS, direction="promote_only"):
    ranges = RangesWeight(column="debt", ranges=[Range(below=20, weight=30)])
    return Patch(
        columns=[Column(name="debt", kind="number")],
        concepts=[Concept(name="debt", weight=1, intercept=0, ranges=[ranges])],
        card=CardScale(approve_at=30, confidence=bands), decision=decision, direction=direction,
    )  # fmt: skip


BY_PRODUCT = Decision(
    score_unit="points", threshold={"product": {"card": 640, "loan": 600.5}}, points=SCALE
)


def edges():
    """Scores at every edge of every product, and one and two steps to either side of it."""
    scores, products = [], []
    for product, t in (("card", 640.0), ("loan", 600.5), ("boat", 600.0), (None, 600.0)):
        for d in (0.0, -10.0, -20.0):
            at = t + d
            up = np.nextafter(at, np.inf)
            down = np.nextafter(at, -np.inf)
            for s in (down, at, up, np.nextafter(up, np.inf), np.nextafter(down, -np.inf), at - 5):
                scores.append(s)
                products.append(product)
    scores += [np.nan, np.inf, 1e12]
    products += ["card"] * 3
    frame = pd.DataFrame({"score": scores, "product": products})
    return pd.concat([frame.assign(debt=10.0), frame.assign(debt=30.0)], ignore_index=True)


def by_hand(row):
    """The rule as the card says it; None where there is no score or no threshold."""
    t = {"card": 640.0, "loan": 600.5}.get(row["product"])
    s = row["score"]
    if t is None or not abs(s) < 1e9:
        return None
    if s > t:
        return True
    points = 30 if row["debt"] < 20 else 0
    near = points >= 30 and t - 10 <= s <= t  # farther away 20 points more are needed
    return bool(near)


def test_every_engine_compares_points_with_each_rows_own_threshold():
    people, patch = edges(), card(BY_PRODUCT)
    expected = [by_hand(row) for row in people.to_dict("records")]
    assert {True, False, None} == set(expected)

    def plain(values):
        return [None if pd.isna(v) else bool(v) for v in values]

    for table in (people, pl.from_pandas(people), pa.Table.from_pandas(people)):
        found = apply(patch, table, "score")["fairpatch_decision"]
        values = found.to_pylist() if isinstance(table, pa.Table) else list(found)
        assert plain(values) == expected, type(table)
    found = duckdb.sql(sql(patch, "score", table="people")).fetchall()
    names = duckdb.sql(sql(patch, "score", table="people")).columns
    assert plain([row[names.index("fairpatch_decision")] for row in found]) == expected
    graph = run_graph(patch_graph(patch).SerializeToString(), people, score="score")
    assert plain(graph["fairpatch_decision"]) == expected
    one = RowScorer(patch)
    rows = people.to_dict("records")
    assert [one.decide(row, row["score"]).decision for row in rows] == expected
    known = people[[e is not None for e in expected]]
    model = PatchedModel(BaseModel("score", decision=BY_PRODUCT), patch)
    assert model.decide(known).tolist() == [e for e in expected if e is not None]


def test_patched_points_are_points_and_the_threshold_still_holds():
    people, patch = edges(), card(BY_PRODUCT)
    known = people[[by_hand(row) is not None for row in people.to_dict("records")]]
    model = PatchedModel(BaseModel("score", decision=BY_PRODUCT), patch)
    applied = model.apply(known, if_unlike="ignore")
    t = known["product"].map({"card": 640.0, "loan": 600.5})
    apart = (known["score"] - t).abs() > 1e-9  # nearer, a sum of two doubles may be the threshold
    assert ((applied["fairpatch_score"] > t) == applied["fairpatch_decision"])[apart].all()
    kept = ~applied["fairpatch_changed"]
    assert (applied["fairpatch_score"] - known["score"]).abs()[
        kept & (known["score"] > t)
    ].max() < 1e-9
    proba = model.predict_proba(known)[:, 1]
    assert ((proba >= 0) & (proba <= 1)).all()


def test_a_value_without_a_threshold_is_said():
    model = PatchedModel(BaseModel("score", decision=BY_PRODUCT), card(BY_PRODUCT))
    people = pd.DataFrame({"score": [650.0, 650.0], "product": ["card", "boat"], "debt": 1.0})
    with pytest.raises(ValueError, match="1 of 2 rows have a product without a threshold.*'boat'"):
        model.decide(people)
    with pytest.raises(ValueError, match="which the table does not have"):
        model.decide(people.drop(columns="product"))
    assert model.favoured(people).tolist() == [1, -1]


def test_points_that_are_bad_for_people():
    """Decision 1, a refusal, is a score above 600; at 600 exactly nobody is refused."""
    decision = Decision(score_unit="points", threshold=600, points=SCALE, favourable=0)
    bands = (ScoreBand(at_least=600, below=610, points=0), ScoreBand(at_least=610, points=None))
    patch = card(decision, bands)
    people = pd.DataFrame({"score": [600.0, 600.1, 609.9, 610.0, 590.0], "debt": 10.0})
    found = apply(patch, people, "score")
    assert found["fairpatch_decision"].tolist() == [False, False, False, True, False]
    assert PatchedModel(BaseModel("score", decision=decision), patch).decide(people).tolist() == (
        found["fairpatch_decision"].tolist()
    )


def test_how_points_go_with_odds_is_found_where_nobody_states_it():
    random = np.random.default_rng(0)
    s = random.normal(620, 40, 20_000).round()
    y = random.random(len(s)) < 1 / (1 + np.exp(-SCALE.log_odds(s)))
    frame = pd.DataFrame({"score": s, "y": y.astype(int)})
    decision = Decision(score_unit="points", threshold=640)
    for table, label in ((frame, frame["y"]), (pl.from_pandas(frame).lazy(), nw.col("y"))):
        found = with_scale(decision, table, "score", label).scale
        assert found.origin == "fitted"
        assert found.double == pytest.approx(20, rel=0.05)
        assert found.log_odds(600) == pytest.approx(0, abs=0.1)
    assumed = with_scale(decision, frame, "score", np.full(len(s), 2)).scale
    assert assumed.origin == "assumed"
    assert assumed.unit * s.std() == pytest.approx(1, rel=0.01)
    stated = decision.replace(points={"base": 600, "odds": 30, "double": 20})
    assert with_scale(stated, frame, "score", y).points == stated.points


def test_a_column_may_hold_the_thresholds():
    frame = pd.DataFrame({"score": [0.3, 0.6], "cut": [0.4, 0.7]})
    found = with_thresholds(Decision(threshold="cut"), frame)
    assert found.cuts.by_value == {0.4: 0.4, 0.7: 0.7}
    with pytest.raises(KeyError, match="did you mean|Did you mean 'cut'"):
        with_thresholds(Decision(threshold="cutt"), frame)
    with pytest.raises(ValueError, match="must hold the threshold of each row as a number"):
        with_thresholds(Decision(threshold="cut"), frame.assign(cut=["a", "b"]))


def test_what_is_no_threshold_is_refused_with_what_would_be():
    with pytest.raises(ValueError, match="of a score in points, say score_unit='points'"):
        Decision(threshold=640)
    with pytest.raises(ValueError, match="given as {'product'"):
        Decision(threshold={"product": 640})
    with pytest.raises(ValueError, match="say score_unit='points' too"):
        Decision(points={"base": 600, "odds": 30, "double": 20})
    people = pd.DataFrame({"score": [620.0, 700.0], "s": ["a", "b"]})
    with pytest.raises(ValueError, match="It looks like points"):
        audit(people, sensitive_features="s", estimator="score")


def test_a_fit_in_points_is_the_fit_of_its_probabilities():
    """The same people, the same model: in points and as probabilities nearly the same changes."""
    from fairpatch.datasets import load_loans

    people = load_loans().drop(columns=["id", "age"])
    odds = np.log(people["score"] / (1 - people["score"]))
    points = people.assign(score=SCALE.points(odds))
    target = Target(p_rule=0.8)
    fits = [
        FairPatch("score", target, decision=d).fit(t, "repaid", sensitive_features="sex")
        for t, d in (
            (people, Decision(threshold=0.8)),
            (points, Decision(score_unit="points", threshold=float(SCALE.points(np.log(4))),
                              points=SCALE)),
        )
    ]  # fmt: skip
    changed = [
        g.patched_.decide(t) != (t["score"] > g.patch_.threshold).to_numpy()
        for g, t in zip(fits, (people, points), strict=True)
    ]
    assert (changed[0] & changed[1]).sum() > 0.8 * (changed[0] | changed[1]).sum()
    assert "score 6" in str(fits[1].patch_)  # bands in points


def test_spark_compares_and_draws_as_memory_does(spark):
    people = edges().assign(id=lambda rows: np.arange(len(rows)) * 7_919)
    rows = people.astype(object).where(people.notna(), None)
    rows["score"] = people["score"].tolist()  # NaN stays NaN
    schema = "score double, product string, debt double, id long"
    table = spark.createDataFrame([tuple(row) for row in rows.to_numpy().tolist()], schema)
    patch = card(BY_PRODUCT)
    found = [row["fairpatch_decision"] for row in apply(patch, table, "score").collect()]
    assert found == [by_hand(row) for row in people.to_dict("records")]
    pilot = patch.with_pilot(0.5, "id")
    expected = apply(pilot, people, "score")["fairpatch_decision"]
    found = [row["fairpatch_decision"] for row in apply(pilot, table, "score").collect()]
    assert found == [None if pd.isna(v) else bool(v) for v in expected]
