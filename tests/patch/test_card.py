"""A card of points: when a decision changes, in every engine alike, and as people read it."""

import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from fairpatch.base import BaseModel
from fairpatch.decision import Decision
from fairpatch.engines.onnx import SCORE, patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.explain import reasons
from fairpatch.measure.direction import DIRECTIONS
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
    edit,
    load,
    save,
)
from fairpatch.patch.apply import DECISION, POINTS, RATIO, REASON, apply
from fairpatch.patch.apply import SCORE as PATCHED
from fairpatch.patch.difference import difference
from fairpatch.patch.sealed import is_as_learned, seal
from fairpatch.patched import PatchedModel

WHOLE = st.integers(-20, 20).map(lambda n: 10.0 * n)


def card(
    points_needed=40.0,
    confidence_points=100.0,
    direction="both",
    threshold=0.5,
    offset=10.0,
    **weights,
):
    w = {"slope": -2.0, "old": -60.0, "young": 30.0, "wife": 50.0, "cook": -20.0, "gap": 10.0}
    w |= weights
    return Patch(
        columns=[
            Column(name="hours", kind="number"),
            Column(name="age", kind="number"),
            Column(name="job", kind="category"),
        ],
        concepts=[
            Concept(name="hours", weight=1.0, intercept=0.0, numbers=[
                NumberWeight(column="hours", coefficient=w["slope"], missing=5.0, around=40.0)]),
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
        card=CardScale(points_needed=points_needed, confidence_points=confidence_points),
        offset=offset,
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
    points_needed=st.integers(1, 200), sure=st.sampled_from([0.0, 25.0, 50.0, 100.0, 400.0]),
    direction=st.sampled_from(DIRECTIONS), threshold=st.sampled_from([0.5, 0.2, 0.75]),
    slope=st.sampled_from([-2.0, 0.5, 3.0]), old=WHOLE, young=WHOLE, wife=WHOLE, gap=WHOLE,
    offset=WHOLE, seed=st.integers(0, 5),
)  # fmt: skip
def test_every_engine_decides_alike(
    points_needed, sure, direction, threshold, offset, seed, **weights
):
    patch = card(float(points_needed), sure, direction, threshold, offset, **weights)
    frame = people(seed=seed)
    wanted = decided(patch, frame)
    table = pl.from_pandas(frame)
    found = apply(patch, table, "p")
    assert (found[DECISION].to_numpy() == wanted).all()
    f_logit = BaseModel("p", Decision(threshold=threshold)).logits(frame)
    assert np.abs(found[RATIO].to_numpy() - patch.ratio(frame, f_logit)).max() < 1e-9
    assert np.abs(found[POINTS].to_numpy() - patch.points(frame)).max() < 1e-9
    g = expit(patch.logits(frame, f_logit) + logit(threshold))
    inside = (frame["p"] > 1e-5) & (frame["p"] < 1 - 1e-5)
    assert np.abs(found[PATCHED].to_numpy() - g)[inside].max() < 1e-6
    connection = duckdb.connect()
    connection.register("people", table.to_arrow())
    text = connection.sql(sql(patch, "p", keep=("id",))).df().sort_values("id")
    assert (text[DECISION].to_numpy(bool) == wanted).all()


def test_onnx_decides_alike():
    frame = people(n=3_000)
    for threshold in (0.5, 0.2):
        patch = card(threshold=threshold, confidence_points=50.0)
        found = run_graph(patch_graph(patch).SerializeToString(), frame, score="p")
        assert (found[DECISION] == decided(patch, frame)).all()
        f_logit = BaseModel("p", Decision(threshold=threshold)).logits(frame)
        assert np.abs(found[RATIO] - patch.ratio(frame, f_logit)).max() < 1e-6
    assert SCORE == "fairpatch_base_score"


@example(sure=100.0, points_needed=30.0, points=20.0, f=[-0.1, -2.0], threshold=0.5,
         direction="both", strength=1.0)  # fmt: skip
@settings(max_examples=60, deadline=None)
@given(
    sure=st.floats(0, 500), points_needed=st.floats(0.5, 300), points=st.floats(-500, 500),
    f=st.lists(st.floats(-6, 6), min_size=2, max_size=2), threshold=st.sampled_from([0.5, 0.3]),
    direction=st.sampled_from(DIRECTIONS), strength=st.floats(0, 3),
)  # fmt: skip
def test_nobody_leapfrogs(sure, points_needed, points, f, threshold, direction, strength):
    """Of two people with the same points, on the same side, the less sure one changes first."""
    patch = Patch(
        columns=[], concepts=[], offset=points,
        card=CardScale(points_needed=points_needed, confidence_points=sure),
        strength=strength, threshold=threshold, direction=direction,
    )  # fmt: skip
    near, far = sorted(f, key=lambda v: abs(expit(v + logit(threshold)) - threshold))
    if (near > 0) != (far > 0) or near == 0 or far == 0:
        return
    changed = patch.decide(np.empty((2, 0)), [near, far]) != [near > 0, far > 0]
    assert changed[0] or not changed[1]


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
    assert (r[(points * np.where(f > 0, -1, 1)) <= 0] == 1).all()


def test_exactly_the_points_needed_are_enough():
    frame = pd.DataFrame({"hours": [40.0] * 2, "age": [30.0] * 2, "job": ["wife"] * 2,
                          "p": [0.4, 0.39]})  # fmt: skip
    patch = card(
        points_needed=40.0, confidence_points=100.0
    )  # 60 points; 0.4 is worth 20 of sureness, 0.39 22
    assert decided(patch, frame).tolist() == [True, False]
    assert apply(patch, pl.from_pandas(frame), "p")[DECISION].to_list() == [True, False]


def test_a_ratio_without_fs_log_odds_is_refused():
    with pytest.raises(ValueError, match="a card needs the base model's score"):
        card().ratio(people())


V1 = Path(__file__).parent / "golden" / "version1.json"


def test_a_file_of_version_1_decides_as_before():
    """Written, and its decisions noted, by the last edition that wrote version 1."""
    noted = json.loads(V1.read_text())
    path = V1.with_name("patch-v1.json")
    patch = load(path)
    assert json.loads(path.read_text())["version"] == 1
    frame = pd.DataFrame(noted["people"])
    assert patch.card is None
    assert patch.decide(frame, np.array(noted["f_logit"])).tolist() == noted["decided"]
    assert patch.ratio(frame).tolist() == pytest.approx(noted["ratio"])


def test_a_card_of_version_3_decides_as_before(tmp_path):
    """Written, and its decisions noted, by the last edition that wrote version 3."""
    noted = json.loads(V1.with_name("version3.json").read_text())
    assert noted["patch"]["version"] == 3
    path = tmp_path / "patch.json"
    path.write_text(json.dumps(noted["patch"]))
    patch, frame = load(path), pd.DataFrame(noted["rows"])
    assert "cat_0 is north" in str(patch)
    model = PatchedModel(BaseModel("score"), patch)
    assert model.decide(frame).astype(int).tolist() == noted["decisions"]
    assert (model.decide(frame) != model.base.decisions(frame)).sum() == noted["changed"] > 0


def test_a_card_reads_as_it_decides():
    text = str(card(direction="promote_only"))
    assert text.splitlines()[0] == "A card of 8 lines"
    assert "job is nurse or wife" in text
    assert "age from 18 to below 25" in text
    assert "hours for each 1 above 40" in text
    assert "The" not in text.splitlines()[1]
    assert (
        "A denied person is approved at 40 points or more, plus confidence points: 0 at a score of "
        "0.5, 50 at 0.25, 100 at 0." in text
    )
    assert "Nobody who is approved becomes denied." in text
    assert "whatever the score" in str(card(confidence_points=0.0))
    assert "switched off" in str(card().with_strength(0.0))
    assert "at 80 points or more" in str(card().with_strength(0.5))
    both = str(card())
    assert "An approved person is denied at -40 points or fewer, minus confidence points" in both


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.8])
@pytest.mark.parametrize("points_needed", [20.0, 41.0])
def test_the_sentence_is_true_at_the_scores_it_names(threshold, points_needed):
    """Somebody with exactly the points that the sentence asks for at a score changes there."""
    bare = Patch(
        columns=[], concepts=[], threshold=threshold, direction="promote_only",
        card=CardScale(points_needed=points_needed, confidence_points=90.0),
    )  # fmt: skip
    text = re.sub(r"\s+", " ", str(bare))
    named = re.findall(r"([0-9.]+) at (?:a score of )?([0-9.]+)", text.partition("plus")[2])
    assert len(named) == 3
    for worth, score in named:
        p = float(score.rstrip("."))
        if p >= threshold:
            continue  # only a declined person is approved
        enough = points_needed + float(worth)
        f_logit = BaseModel("p", Decision(threshold=threshold)).logits(pd.DataFrame({"p": [p]}))
        for points, approved in ((enough + 1, True), (enough - 1, False)):
            patch = bare.model_copy(update={"offset": points})
            assert bool(patch.decide(pd.DataFrame({"p": [p]}), f_logit)[0]) is approved
    assert "<table" in card()._repr_html_()


def test_plain_names_are_read():
    patch = card()
    named = [
        c.model_copy(update={"words": "hours a week"}) if c.name == "hours"
        else c.model_copy(update={"category_words": {"wife": "married", "nurse": "married"}})
        for c in patch.columns
    ]  # fmt: skip
    named_card = patch.model_copy(update={"columns": tuple(named)})
    text = " ".join(str(named_card).split())
    assert "hours a week for each 1 above 40" in [line.name for line in named_card.lines]
    assert "job is married " in text


def test_a_person_edits_a_card(tmp_path):
    patch = seal(card(), {})
    edited = edit(
        patch, strike=["job is cook"],
        points={"age 45 and above": -10, "hours for each 1 above 40": -3, "job missing": 0},
    )  # fmt: skip
    points = {line.name: line.points for line in edited.lines}
    assert "job is cook" not in points
    assert points["age 45 and above"] == -10
    assert points["hours for each 1 above 40"] == pytest.approx(-3)
    assert points["job is nurse or wife"] == 50
    assert "job is cook: struck, was -20" in edited.provenance.edits
    assert not is_as_learned(edited)
    assert is_as_learned(patch)
    assert load(save(edited, tmp_path / "p.json")) == edited
    assert {d[0] for d in difference(patch, edited)} == {
        "job is cook", "age 45 and above", "hours for each 1 above 40", "job missing",
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
        assert len(found) > 20
        f = model.logits(frame)
        for reason in found[:80]:
            assert "points where" in str(reason)
            one = frame.iloc[[reason.row]].copy()
            for d in reason.keeps:
                one[d.column] = d.instead
            kept = model.patch.decide(one, f[[reason.row]])[0] == (f[reason.row] > 0)
            assert kept or not reason.keeps
        assert np.mean([bool(r.keeps) for r in found]) > 0.8


def test_the_reason_in_a_table_is_the_lines_that_pushed():
    frame = people(n=600)
    found = apply(card(), pl.from_pandas(frame), "p", with_reason=True)
    said = {f"{line.name} ({line.points:+g})" for line in card().lines} | {
        f"hours {side} 40" for side in ("above", "below")
    }
    for text in found.filter(pl.col(REASON).is_not_null())[REASON]:
        assert set(text.split("; ")) <= said
    model = PatchedModel(BaseModel("p", Decision(threshold=card().threshold)), card())
    in_python = {r.row: "; ".join(r.lines) for r in reasons(model, frame)}
    assert in_python == {
        row: text for row, text in enumerate(found[REASON].to_list()) if text is not None
    }
    assert {r.direction for r in reasons(model, frame)} == {"promotion", "demotion"}
    up = found.filter(pl.col(REASON).is_not_null() & pl.col(DECISION))
    nobody_else = up.filter(pl.col("age").is_between(25, 44) & (pl.col("hours") > 40))
    assert len(nobody_else)
    assert set(nobody_else[REASON]) <= {"job is nurse or wife (+50)"}
