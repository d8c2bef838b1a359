"""A card of points: when a decision changes, in every engine alike, and as people read it."""

import re
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from fairpatch.decision import Decision
from fairpatch.engines.onnx import SCORE, patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.explain import reasons
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.cells import DIRECTIONS, untouched
from fairpatch.patch import (
    CardScale,
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    NumberWeight,
    Patch,
    Range,
    RangesWeight,
    ScoreBand,
    edit,
    load,
    save,
)
from fairpatch.patch.apply import DECISION, POINTS, RATIO, REASON, apply
from fairpatch.patch.apply import SCORE as PATCHED
from fairpatch.patch.edit import difference, is_as_learned, seal
from fairpatch.patch.row_scorer import RowScorer
from fairpatch.patch.words import band_rows
from fairpatch.patched import PatchedModel

WHOLE = st.integers(-20, 20).map(lambda n: 10.0 * n)


def bands(most=100, threshold=0.5):
    """Confidence in ten bands: the farther from the threshold, the more points."""
    ends = [round(k / 10, 1) for k in range(11)]
    far = max(threshold, 1 - threshold)
    return tuple(
        ScoreBand(at_least=low, below=high if high < 1 else None,
                  points=round(most * abs((low + high) / 2 - threshold) / far))
        for low, high in pairwise(ends)
    )  # fmt: skip


def card(approve_at=40, confidence=100, direction="both", threshold=0.5, deny_at=None, **weights):
    w = {"part": -20, "full": 30, "old": -60, "young": 30, "wife": 50, "cook": -20, "gap": 10}
    w = {name: float(value) for name, value in (w | weights).items()}
    return Patch(
        columns=[
            Column(name="hours", kind="number"),
            Column(name="age", kind="number"),
            Column(name="job", kind="category"),
        ],
        concepts=[
            Concept(name="hours", weight=1.0, intercept=0.0, ranges=[
                RangesWeight(column="hours", missing=5.0, ranges=[
                    Range(below=20.0, weight=w["part"]), Range(at_least=20.0, below=40.0, weight=0),
                    Range(at_least=40.0, weight=w["full"])])]),
            Concept(name="age", weight=1.0, intercept=0.0, ranges=[
                RangesWeight(column="age", missing=w["gap"], ranges=[
                    Range(at_least=45.0, weight=w["old"]),
                    Range(at_least=18.0, below=25.0, weight=w["young"])])]),
            Concept(name="job", weight=1.0, intercept=0.0, categories=[
                CategoricalWeight(column="job", missing=w["gap"], categories=[
                    CategoryWeight(category="wife", weight=w["wife"]),
                    CategoryWeight(category="nurse", weight=w["wife"]),
                    CategoryWeight(category="cook", weight=w["cook"])])]),
        ],
        card=CardScale(approve_at=approve_at, deny_at=deny_at,
                       confidence=bands(confidence, threshold) if confidence else ()),
        direction=direction,
        threshold=threshold,
    )  # fmt: skip


def people(n=400, seed=0):
    random = np.random.default_rng(seed)
    p = np.round(
        random.random(n), 2
    )  # as a forest's, so that many are exactly at the points needed
    p[:4] = [0.0, 1.0, 0.5, 1e-9]
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "hours": np.where(random.random(n) < 0.1, np.nan, random.integers(10, 70, n)),
            "age": np.where(random.random(n) < 0.1, np.nan, random.integers(18, 80, n)),
            "job": random.choice(["wife", "nurse", "cook", "other", None], n),
            "p": p,
        }
    )


def decided(patch, frame):
    return patch.decide(frame, BaseModel("p", Decision(threshold=patch.threshold)).logits(frame))


@settings(max_examples=40, deadline=None)
@given(
    approve_at=st.integers(-50, 200), deny_at=st.integers(-200, 50),
    confidence=st.sampled_from([0, 25, 100, 400]),
    direction=st.sampled_from(DIRECTIONS), threshold=st.sampled_from([0.5, 0.2, 0.75]),
    full=WHOLE, old=WHOLE, young=WHOLE, wife=WHOLE, gap=WHOLE, seed=st.integers(0, 5),
)  # fmt: skip
def test_every_engine_decides_alike(
    approve_at, deny_at, confidence, direction, threshold, seed, **weights
):
    patch = card(approve_at, confidence, direction, threshold, deny_at, **weights)
    frame = people(seed=seed)
    wanted = decided(patch, frame)
    table = pl.from_pandas(frame)
    found = apply(patch, table, "p")
    assert (found[DECISION].to_numpy() == wanted).all()
    f_logit = BaseModel("p", Decision(threshold=threshold)).logits(frame)
    may = ~untouched(direction, f_logit > 0)  # what nobody needs may differ: the other side's ratio
    assert np.abs(found[RATIO].to_numpy() - patch.ratio(frame, f_logit))[may].max() < 1e-9
    assert (found[POINTS].to_numpy() == patch.points(frame)).all()
    assert found[POINTS].dtype.is_integer()
    g = expit(patch.logits(frame, f_logit) + logit(threshold))
    inside = (frame["p"] > 1e-5) & (frame["p"] < 1 - 1e-5)
    assert np.abs(found[PATCHED].to_numpy() - g)[inside].max() < 1e-6
    connection = duckdb.connect()
    connection.register("people", table.to_arrow())
    text = connection.sql(sql(patch, "p", keep=("id",))).df().sort_values("id")
    assert (text[DECISION].to_numpy(bool) == wanted).all()
    one = RowScorer(patch)
    rows = frame.drop(columns=["id", "p"]).to_dict("records")
    alone = [one.decide(row, p).decision for row, p in zip(rows, frame["p"], strict=True)]
    assert alone == wanted.tolist()


def test_onnx_decides_alike():
    frame = people(n=3_000)
    for threshold in (0.5, 0.2):
        patch = card(threshold=threshold, confidence=50, deny_at=-25)
        found = run_graph(patch_graph(patch).SerializeToString(), frame, score="p")
        assert (found[DECISION] == decided(patch, frame)).all()
        f_logit = BaseModel("p", Decision(threshold=threshold)).logits(frame)
        assert np.abs(found[RATIO] - patch.ratio(frame, f_logit)).max() < 1e-6
    assert SCORE == "fairpatch_base_score"


@settings(max_examples=60, deadline=None)
@given(
    confidence=st.integers(0, 500), approve_at=st.integers(-100, 300),
    deny_at=st.integers(-300, 100), threshold=st.sampled_from([0.5, 0.3]),
    f=st.lists(st.floats(-6, 6), min_size=2, max_size=2), direction=st.sampled_from(DIRECTIONS),
)  # fmt: skip
def test_nobody_leapfrogs(confidence, approve_at, deny_at, f, threshold, direction):
    """Of two people with the same points, on the same side, the closer call changes first."""
    scale = CardScale(
        approve_at=approve_at, deny_at=deny_at, confidence=bands(confidence, threshold)
    )
    patch = Patch(columns=[], concepts=[], card=scale, threshold=threshold, direction=direction)
    near, far = sorted(f, key=abs)
    if (near > 0) != (far > 0) or near == 0 or far == 0:
        return
    changed = patch.decide(np.empty((2, 0)), [near, far]) != [near > 0, far > 0]
    assert changed[0] or not changed[1]


def test_outside_the_band_no_decision_changes():
    scale = CardScale(approve_at=-500, confidence=[ScoreBand(below=0.1, points=None)])
    patch = Patch(columns=[], concepts=[], card=scale, direction="promote_only")
    frame = pd.DataFrame({"p": [0.05, 0.0999, 0.1, 0.3]})
    assert decided(patch, frame).tolist() == [False, False, True, True]
    assert apply(patch, pl.from_pandas(frame), "p")[DECISION].to_list() == [
        False,
        False,
        True,
        True,
    ]
    assert "never changed" in str(patch)


@settings(max_examples=60, deadline=None)
@given(
    needed=st.integers(-20, 40),
    points=st.lists(st.integers(-30, 30), min_size=2, max_size=4),
    bands=st.lists(st.one_of(st.none(), st.integers(0, 60)), min_size=4, max_size=4),
    direction=st.sampled_from(["both", "promote_only", "demote_only"]),
    favourable=st.integers(0, 1),
)
def test_bands_are_called_never_changed_where_nobody_can_be(
    needed, points, bands, direction, favourable
):
    """Read off the printed card, against decisions of everybody there could be."""
    edges = [None, 0.2, 0.5, 0.8, None]
    scale = CardScale(
        approve_at=needed, deny_at=-needed,
        confidence=[
            ScoreBand(at_least=a, below=b, points=n)
            for (a, b), n in zip(pairwise(edges), bands, strict=True)
        ],
    )  # fmt: skip
    ranges = [Range(at_least=i, below=i + 1, weight=w) for i, w in enumerate(points)]
    concept = Concept(
        name="n", weight=1.0, intercept=0.0, ranges=[RangesWeight(column="n", ranges=ranges)]
    )
    decision = Decision(favourable=favourable)
    patch = Patch(
        columns=[Column(name="n", kind="number")], concepts=[concept], card=scale,
        direction=direction, decision=decision,
    )  # fmt: skip
    people = pd.DataFrame(
        [(n + 0.5, p) for n in range(-1, len(points) + 1) for p in (0.1, 0.3, 0.6, 0.9)],
        columns=["n", "p"],
    )
    scores = BaseModel("p", decision).logits(people)
    changed = patch.decide(people, scores) != (scores > 0)
    told = dict(band_rows(patch))
    for p in (0.1, 0.3, 0.6, 0.9):
        here = [w for words, w in told.items() if _holds(words, p)]
        assert len(here) <= 1
        if changed[people["p"] == p].any():
            assert here != ["never changed"]
        elif here and here != ["never changed"]:  # only nearer ones than some that change
            beyond = (people["p"] < p) if p < 0.5 else (people["p"] > p)
            same_side = (people["p"] < 0.5) == (p < 0.5)
            assert changed[beyond & same_side].any()


def _holds(words, p):
    """Whether a printed band has a score in it."""
    ends = [float(w) for w in re.findall(r"0\.\d+|\b1\b", words)]
    if "below" in words and "to" not in words:
        return p < ends[0]
    if "above" in words:
        return p >= ends[0]
    return ends[0] <= p < ends[1] if ends else True


@pytest.mark.parametrize("favourable", [0, 1])
def test_a_score_that_is_an_edge_lies_in_the_same_band_everywhere(favourable):
    edges = np.round(np.arange(0.01, 1.0, 0.01), 2)
    for threshold in (0.5, 0.37):
        scale = CardScale(
            approve_at=1,
            confidence=[
                ScoreBand(at_least=float(a), below=float(b), points=i)
                for i, (a, b) in enumerate(pairwise(edges))
            ],
        )
        decision = Decision(threshold=threshold, favourable=favourable)
        patch = Patch(columns=[], concepts=[], card=scale, decision=decision)
        away = edges[(edges != threshold) & (edges < 0.99)]
        f = BaseModel("p", decision).logits(pd.DataFrame({"p": away}))
        assert patch.confidence(f).tolist() == [float(np.flatnonzero(edges == e)[0]) for e in away]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strength": 0.5}, "on .strength 1. or off"),
        ({"offset": 5.0}, "offset must be 0"),
        ({"concepts": [Concept(name="a", weight=1, intercept=0, numbers=[
            NumberWeight(column="a", coefficient=2.0, missing=0.0)])]}, "bins and no slopes"),
        ({"concepts": [Concept(name="a", weight=1, intercept=0, ranges=[
            RangesWeight(column="a", ranges=[Range(weight=2.5)])])]}, "whole numbers; got 2.5"),
        ({"concepts": [Concept(name="a", weight=2, intercept=0)]}, "must weigh 1"),
    ],
)  # fmt: skip
def test_a_scorecard_is_whole_numbers_and_nothing_else(wrong, message):
    with pytest.raises(ValueError, match=message):
        Patch(**{"columns": [Column(name="a", kind="number")], "concepts": [],
                 "card": CardScale(approve_at=30)} | wrong)  # fmt: skip
    with pytest.raises(ValueError, match="bands of the score must not be empty nor overlap"):
        CardScale(approve_at=1, confidence=[ScoreBand(below=0.5), ScoreBand(at_least=0.4)])


def test_one_segment_goes_one_way_and_most_scores_stay():
    frame = people(n=4_000)
    patch = card()
    f = BaseModel("p").logits(frame)
    r, points = patch.ratio(frame, f), patch.points(frame)
    assert r.min() >= -1
    assert r.max() <= 1
    changed = decided(patch, frame) != (f > 0)
    assert (points[changed & (f < 0)] > 0).all()
    assert (points[changed & (f > 0)] < 0).all()
    assert (r[(points * np.where(f > 0, -1, 1)) <= -1] == 1).all()


def test_exactly_the_points_needed_are_enough():
    frame = pd.DataFrame({"hours": [30.0] * 2, "age": [30.0] * 2, "job": ["wife"] * 2,
                          "p": [0.4, 0.39]})  # fmt: skip
    patch = card(approve_at=40)  # 50 points; 0.4 is worth 10 of confidence, 0.39 30
    assert decided(patch, frame).tolist() == [True, False]
    assert apply(patch, pl.from_pandas(frame), "p")[DECISION].to_list() == [True, False]
    short = card(approve_at=41)
    assert decided(short, frame).tolist() == [False, False]


def test_a_ratio_without_fs_log_odds_is_refused():
    with pytest.raises(ValueError, match="a card needs the base model's score"):
        card().ratio(people())


def test_a_card_reads_as_it_decides():
    text = str(card(direction="promote_only"))
    assert text.splitlines()[0] == "A scorecard of 3 columns, 11 attributes"
    assert "nurse or wife" in text
    assert "18 to below 25" in text
    assert re.search(r"20 to below 40 +0\n", text)
    assert re.search(r"score 0.4 to 0.5 +-10\n", text)
    assert "0.5 to below 0.6" not in text  # nobody there may change
    assert "A denied person is approved at 40 points or more." in text
    assert "No approved person becomes denied." in text
    assert "switched off" in str(card().with_strength(0.0))
    both = str(card(deny_at=-55))
    assert "An approved person is denied at -55 points or fewer." in both
    assert re.search(r"score 0.5 to below 0.6 +\+10\n", both)
    assert "<table" in card()._repr_html_()


def test_no_attribute_is_cut():
    """A card is worked out by hand: a list of categories that ends in three dots cannot be."""
    named = [f"category-of-a-long-name-{k}" for k in range(5)]
    categories = tuple(CategoryWeight(category=v, weight=10.0) for v in named)
    job = CategoricalWeight(column="job", categories=categories, missing=0.0)
    patch = Patch(
        columns=[Column(name="job", kind="category")],
        concepts=[Concept(name="job", weight=1.0, intercept=0.0, categories=(job,))],
        card=CardScale(approve_at=10),
    )
    text = str(patch)
    assert all(name in text for name in named)
    assert "…" not in text


def test_a_person_is_worked_out_by_hand_from_the_card_alone():
    """Add up what is printed: it is what is decided, for everybody."""
    patch, frame = card(deny_at=-55), people(n=800)
    f, points = BaseModel("p").logits(frame), patch.points(frame)
    confidence = patch.confidence(f)
    by_hand = np.where(f > 0, points + confidence > -55, points - confidence >= 40)
    by_hand[f == 0] = False
    assert (decided(patch, frame) == by_hand).all()
    assert 0 < (by_hand != (f > 0)).sum() < 400


def test_plain_names_are_read():
    patch = card()
    named = [
        c.model_copy(update={"words": "hours a week"}) if c.name == "hours"
        else c.model_copy(update={"category_words": {"wife": "married", "nurse": "married"}})
        for c in patch.columns
    ]  # fmt: skip
    named_card = patch.model_copy(update={"columns": tuple(named)})
    text = " ".join(str(named_card).split())
    assert "hours a week 40 and above" in [line.name for line in named_card.lines]
    assert "job is married" in [line.name for line in named_card.lines]
    assert "hours a week" in text


def test_a_person_edits_a_card(tmp_path):
    patch = seal(card(), {})
    edited = edit(
        patch, strike=["job is cook"],
        points={"age 45 and above": -10, "hours 40 and above": -5, "job missing": 0},
    )  # fmt: skip
    points = {line.name: line.points for line in edited.lines}
    assert "job is cook" not in points
    assert points["age 45 and above"] == -10
    assert points["hours 40 and above"] == -5
    assert points["job is nurse or wife"] == 50
    assert "job is cook: struck, was -20" in edited.provenance.edits
    assert not is_as_learned(edited)
    assert is_as_learned(patch)
    assert load(save(edited, tmp_path / "p.json")) == edited
    assert {d[0] for d in difference(patch, edited)} == {
        "job is cook", "age 45 and above", "hours 40 and above", "job missing",
    }  # fmt: skip
    with pytest.raises(ValueError, match="no line 'job is cok'. Did you mean 'job is cook'"):
        edit(patch, strike=["job is cok"])
    with pytest.raises(ValueError, match="only a card"):
        edit(Patch(columns=[], concepts=[]), strike=["x"])
    every = edit(patch, strike=[line.name for line in patch.lines])
    assert every.lines == []
    assert every.columns == ()


def test_reasons_speak_in_points_and_what_would_keep_the_decision_does():
    frame = people(n=600)
    for direction in ("promote_only", "demote_only"):
        model = PatchedModel(BaseModel("p"), card(direction=direction))
        found = reasons(model, frame)
        assert len(found) > 10
        f = model.logits(frame)
        for reason in found[:80]:
            assert " needed" in str(reason)
            points, confidence, needed = reason.tally
            assert points - confidence >= needed
            one = frame.iloc[[reason.row]].copy()
            for d in reason.keeps:
                one[d.column] = d.instead
            kept = model.patch.decide(one, f[[reason.row]])[0] == (f[reason.row] > 0)
            assert kept or not reason.keeps
        assert np.mean([bool(r.keeps) for r in found]) > 0.8


def test_the_reason_in_a_table_is_the_lines_that_pushed():
    frame = people(n=600)
    found = apply(card(), pl.from_pandas(frame), "p", with_reason=True)
    said = {f"{line.name} ({line.points:+g})" for line in card().lines}
    for text in found.filter(pl.col(REASON).is_not_null())[REASON]:
        assert set(text.split("; ")) <= said
    model = PatchedModel(BaseModel("p", Decision(threshold=card().threshold)), card())
    in_python = {r.row: "; ".join(r.lines) for r in reasons(model, frame)}
    assert in_python == {
        row: text for row, text in enumerate(found[REASON].to_list()) if text is not None
    }
    assert {r.direction for r in reasons(model, frame)} == {"promotion", "demotion"}
    up = found.filter(pl.col(REASON).is_not_null() & pl.col(DECISION))
    nobody_else = up.filter(pl.col("age").is_between(25, 44) & (pl.col("hours") < 40))
    assert len(nobody_else)
    assert set(nobody_else[REASON]) <= {"job is nurse or wife (+50)"}
