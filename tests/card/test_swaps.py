"""Limited places: who gains an approval takes another one's place, in a fit and in a batch."""

import hashlib

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier

from fairpatch import FairPatch, Patch, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.learner import hundred_ratio, needed_at, scale_of
from fairpatch.datasets import Population
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor
from fairpatch.measure.places import NOBODY, Swaps
from fairpatch.patch.batch import apply_to_places


def taken_apart(frame):
    return frame.drop(columns=["id", "y", "group"]), frame["y"], frame[["group"]]


@pytest.fixture(scope="module")
def fitted(two_groups):
    X, y, s = taken_apart(two_groups)
    return FairPatch("score", Target(p_rule=0.8, approvals="keep")).fit(X, y, sensitive_features=s)


@pytest.fixture(scope="module")
def month():
    groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    population = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups)
    return population.sample(4_000, seed=9).to_pandas()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.2, 0.4, 0.7]))
def test_one_dial_turns_both_numbers(seed, places):
    """At every place of the dial its decisions are those of the two numbers of points."""
    random = np.random.default_rng(seed)
    n = 60
    points = random.integers(-8, 9, n) * 5.0 + 60
    sure, f = random.integers(0, 4, n) * 6.0, random.normal(size=n)
    gain = np.arange(130.0, 0, -1)
    swaps = Swaps.of(points, sure, f, gain, places)
    assert (np.diff(swaps.lose) <= 0).all()
    ratio = hundred_ratio(points, sure, f, swaps)
    for needed in (5, 30, 61, 99, 120):
        strength = 100 / (needed - 0.5)
        scale = scale_of(needed_at(strength), 0, "both", swaps)
        expected = np.where(
            f > 0, points + sure <= scale["deny_at"], points - sure >= scale["approve_at"]
        )
        assert ((1 + strength * (ratio - 1) < 0) == expected).all()


def test_places_are_kept_as_nearly_as_points_can():
    random = np.random.default_rng(0)
    n = 5_000
    points, sure, f = random.normal(0, 40, n).round() + 200, np.zeros(n), random.normal(size=n)
    swaps = Swaps.of(points, sure, f, np.arange(300.0, 0, -1), 0.5)
    assert (swaps.lose != NOBODY).mean() > 0.3
    for needed, lose in zip(swaps.gain[::20], swaps.lose[::20], strict=True):
        up = ((f <= 0) & (points >= needed)).sum()
        down = ((f > 0) & (-points >= lose)).sum()
        if (f > 0).sum() + up > n / 2 and lose != NOBODY:
            assert abs((f > 0).sum() + up - down - n / 2) < 0.02 * n


def test_a_patch_keeps_the_number_of_approvals(fitted, month):
    X, _, s = taken_apart(month)
    before, after = month["score"] > 0.5, fitted.predict(X) == 1
    assert fitted.patch_.direction == "both"
    assert abs(after.mean() - before.mean()) < 0.02
    rates = [after[s["group"] == g].mean() for g in ("a", "b")]
    assert min(rates) / max(rates) > 0.78
    assert fitted.certificate_.verdict is Verdict.CERTIFIED
    assert "as many approvals as before" in str(fitted.certificate_)
    assert fitted.choice_.bound.change_rate <= fitted.choice_.change_rate
    without = FairPatch("score", Target(p_rule=0.8)).fit(
        *taken_apart(month)[:2], sensitive_features=s
    )
    assert without.choice_.approvals[1] > without.choice_.approvals[0] + 0.02


def test_the_review_says_what_happens_to_approvals(fitted, month):
    X, y, s = taken_apart(month)
    page = fitted.review(X, y, sensitive_features=s, refits=0).html()
    assert "The share approved" in page
    assert "as many approvals as before" in page


def brute(patch, frame, places):
    """By hand: standing, score, hash."""
    points, f = patch.points(frame), np.log(frame["score"] / (1 - frame["score"])).to_numpy()
    sure, approved = patch.confidence(f), f > 0
    standing = np.where(
        approved, points + sure - patch.card.deny_at - 1, points - sure - patch.card.approve_at
    )
    tier = np.where(sure < 1e9, 1, np.where(approved, 0, 2))
    digest = [hashlib.sha256(str(k).encode()).hexdigest() for k in frame["id"]]
    order = sorted(
        range(len(frame)), key=lambda i: (tier[i], -standing[i], -frame["score"].iloc[i], digest[i])
    )
    inside = np.zeros(len(frame), bool)
    inside[order[:places]] = True
    return inside


@pytest.mark.parametrize("more", [-150, 0, 150])
def test_a_batch_has_exactly_so_many_in_every_engine(fitted, month, more, spark):
    patch, places = fitted.patch_, int((month["score"] > 0.5).sum()) + more
    people = month.copy()
    people.loc[:400, "score"] = people["score"].round(1)[:401].clip(0.05, 0.95)  # ties
    people.loc[people["score"] == 0.5, "score"] = 0.51
    expected = brute(patch, people, places)
    options = {"approvals": places, "key": "id"}
    in_memory = apply_to_places(patch, people, "score", **options)
    assert in_memory["fairpatch_decision"].sum() == places
    assert (in_memory["fairpatch_decision"].to_numpy() == expected).all()
    changed = in_memory["fairpatch_decision"] != (people["score"] > 0.5)
    assert (in_memory["fairpatch_changed"] == changed).all()
    by_patch = patch.decide(people, np.log(people["score"] / (1 - people["score"])))
    assert (in_memory["fairpatch_by_places"] == (by_patch != expected)).all()
    tables = [
        pl.from_pandas(people),
        duckdb.from_df(people),
        *([spark.createDataFrame(people)] if more else []),
    ]
    for table in tables:
        out = apply_to_places(patch, table, "score", with_reason=True, **options)
        name = "toPandas" if hasattr(out, "toPandas") else "df" if hasattr(out, "df") else None
        frame = (getattr(out, name)() if name else out.to_pandas()).sort_values("id")
        at = np.argsort(people["id"].to_numpy(), kind="stable")
        assert (frame["fairpatch_decision"].to_numpy() == expected[at]).all()
        reasons = frame["fairpatch_reason"]
        moved = (frame["fairpatch_changed"] & frame["fairpatch_by_places"]).astype(bool)
        assert (reasons[moved] == "number of places").all()
        assert reasons[~frame["fairpatch_changed"].astype(bool)].isna().all()


def test_a_model_that_is_no_column_shares_places_out_too(month, two_groups):
    X, y, s = (x.reset_index(drop=True) for x in taken_apart(two_groups))
    numbers = X[["num_0", "num_1", "num_2"]]
    model = HistGradientBoostingClassifier(max_iter=20).fit(numbers, y)
    g = FairPatch(model, Target(p_rule=0.8, approvals="keep")).fit(numbers, y, sensitive_features=s)
    batch = month[["num_0", "num_1", "num_2"]].assign(id=month["id"])
    out = g.patched_.apply(batch, approvals=900, key="id")
    assert out["fairpatch_decision"].sum() == 900
    assert not [c for c in out.columns if c.startswith("__")]
    with pytest.raises(ValueError, match="name the column that tells them apart"):
        g.patched_.apply(batch, approvals=900)


def test_places_that_cannot_be_are_refused(fitted, month, two_groups):
    X, y, s = taken_apart(two_groups)
    locked = X.assign(policy=np.where(X["num_0"] > 50, "guaranteed", "open"))
    g = FairPatch("score", Target(p_rule=0.65, locked={"policy": "guaranteed"})).fit(
        locked, y, sensitive_features=s
    )
    people = month.assign(policy=np.where(month["num_0"] > 50, "guaranteed", "open"))
    with pytest.raises(ValueError, match=r"5 places, and \d.* whose approval is locked"):
        apply_to_places(g.patch_, people, "score", approvals=5, key="id")
    with pytest.raises(ValueError, match="people who may be approved"):
        apply_to_places(fitted.patch_, month, "score", approvals=10_000, key="id")
    with pytest.raises(ValueError, match="no column 'ID'"):
        apply_to_places(fitted.patch_, month, "score", approvals=5, key="ID")
    with pytest.raises(ValueError, match="scorecard"):
        apply_to_places(Patch(columns=[], concepts=[]), month, "score", approvals=5, key="id")


def test_a_month_that_has_more_approvals_than_asked_is_told(fitted, month, tmp_path):
    X, y, s = taken_apart(month)
    about = {"sensitive_features": s, "target": fitted.target, "history": History(tmp_path / "h")}
    first = monitor(fitted.patched_, X, y, period="2026-10", **about)
    assert first.approvals.kept
    assert "kept in 2026-10" in str(first)
    generous = fitted.patched_.patch.model_copy(
        update={"card": fitted.patch_.card.model_copy(update={"approve_at": -20})}
    )
    other = type(fitted.patched_)(fitted.patched_.base, generous, fitted.patched_.classes)
    more = monitor(other, X, y, period="2026-10", **about | {"history": History(tmp_path / "i")})
    assert not more.approvals.kept
    assert more.verdict.fails
    assert [c.verdict for c in more.checks if c.name == "approvals"] == [Verdict.NOT_MET]
