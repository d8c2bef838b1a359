"""A sensitive feature that is only probable: drawn alike everywhere, and what that rests on."""

import duckdb
import narwhals as nw
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cli.test_cli import POPULATION, fairpatch
from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.inputs.probable import draw, without_assumption
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor
from fairpatch.measure import p_rule
from fairpatch.measure.counts import Counts

PROBABLE = {"group": {"a": "p_a", "b": "p_b"}}
CONTRACT = Roles(probable=PROBABLE, key="id")


def people(n, seed, *, known=0.0):
    """The group hidden, and its probability by some columns, as a proxy would give it."""
    frame = POPULATION.sample(n, seed=seed).to_pandas()
    proxy = frame["num_0"].fillna(frame["num_0"].mean())
    b = frame["group"].eq("b")
    z = (proxy - proxy.mean()) / proxy.std()
    model = LogisticRegression().fit(z.to_frame(), b)
    frame["p_b"] = model.predict_proba(z.to_frame())[:, 1].round(4)
    frame["p_a"] = 1 - frame["p_b"]
    hidden = np.random.default_rng(seed).random(n) >= known
    frame["true"] = frame["group"]
    frame["group"] = np.where(hidden, None, frame["group"])
    return frame


def fit_to(frame, target, roles=CONTRACT):
    X = frame.drop(columns=["y", "true"])
    return FairPatch("score", target, roles=roles).fit(X, frame["y"], sensitive_features=["group"])


def test_groups_are_drawn_alike_in_every_engine(spark):
    frame = people(4_000, 0, known=0.2)
    table = frame.drop(columns="true")
    one, two, third = (
        audit(t, "y", sensitive_features=["group"], estimator="score", roles=CONTRACT)
        for t in (table, duckdb.from_df(table), spark.createDataFrame(table))
    )
    assert one.counts == two.counts == third.counts
    drawn = draw(nw.from_native(frame, eager_only=True), PROBABLE, "id")
    told = frame["group"].notna()
    assert (drawn.values[told] == frame["true"][told]).all()
    share = (drawn.values[~told] == "b").mean()
    assert share == pytest.approx(frame["p_b"][~told].mean(), abs=0.02)


def test_the_true_ratio_lies_in_the_interval():
    """Over many samples: without the assumption always, whatever decisions depend on."""
    inside = 0
    for seed in range(40):
        frame = people(2_000, seed)
        approved = (frame["score"] > 0.5).to_numpy()
        chances = frame[["p_a", "p_b"]].to_numpy()
        found = without_assumption("group", chances, np.zeros(len(frame), bool), approved)
        truth = p_rule(
            Counts.from_arrays(decision=approved, sensitive_features=frame["true"])
        ).value
        inside += found.low <= truth <= found.high
    assert inside == 40


def test_two_groups_by_hand():
    """One cell, half of it b, 40 % approved: b's share of the approved is between 0 and 40 %."""
    chances = np.full((10_000, 2), 0.5)
    approved = np.arange(10_000) % 5 < 2
    found = without_assumption("s", chances, np.zeros(10_000, bool), approved)
    assert found.weighted == pytest.approx(1.0)
    assert found.low < 0.01
    assert found.high == 1.0
    assert found.useless
    assert "these data cannot tell" in str(found)
    sure = np.eye(2)[np.arange(10_000) % 2]
    narrow = without_assumption("s", sure, np.arange(10_000) > 0, approved)
    assert narrow.high - narrow.low < 0.1


def test_a_fit_names_its_assumption_and_reads_no_probability():
    g = fit_to(people(8_000, 1), Target(p_rule=0.7))
    assert "only through what the probabilities were made of" in str(g.certificate_)
    assert not {"p_a", "p_b", "group"} & {c.name for c in g.patch_.columns}
    assert not {"p_a", "p_b"} & {f.column.name for f in g.fitted_.wide_encoder.features}


def test_who_is_known_certifies_and_then_nothing_is_assumed():
    frame = people(8_000, 2, known=0.6)
    g = fit_to(frame, Target(p_rule=0.7))
    assert g.certificate_.assumption is None
    fresh = g.fitted_.fresh_rows()
    assert fresh.told.all()
    few = fit_to(people(8_000, 2, known=0.1), Target(p_rule=0.7))
    assert few.certificate_.assumption is None
    assert few.certificate_.results[0].people < g.certificate_.results[0].people


def test_a_month_is_monitored_and_reviewed(tmp_path):
    g = fit_to(people(8_000, 3), Target(p_rule=0.65))
    month = people(5_000, 4).drop(columns="true")
    X = month.drop(columns="y")
    seen = monitor(
        g.patched_, X, month["y"], sensitive_features=["group"], target=g.target, period="2026-10",
        history=History(tmp_path / "h"),
    )  # fmt: skip
    assert len(seen.guarantees) == 1
    page = g.review(X, month["y"], sensitive_features=["group"], refits=0).html()
    assert "Assumption:" in page
    judged = g.patched_.certify(X, month["y"], sensitive_features=["group"], target=g.target)
    assert judged.assumption is not None


@pytest.mark.parametrize(
    ("change", "why"),
    [(lambda f: f.assign(p_b=f["p_b"] / 2), r"do not add up to 1 in 1,\d+ rows"),
     (lambda f: f.assign(p_b=-f["p_b"]), "from 0 to 1"),
     (lambda f: f.drop(columns="p_b"), "does not have"),
     (lambda f: f.assign(group="c"), "has no column of probabilities")],
)  # fmt: skip
def test_probabilities_that_cannot_be_are_refused(change, why):
    frame = change(people(2_000, 0)).drop(columns="true")
    with pytest.raises(ValueError, match=why):
        audit(frame, "y", sensitive_features=["group"], estimator="score", roles=CONTRACT)


def test_contracts_that_cannot_be_meant():
    for wrong in ({"race": {"White": "p"}}, {"race": {"White": "p", "Black": "p"}}, {"race": "p"},
                  {"a": {"x": "1", "y": "2"}, "b": {"x": "3", "y": "4"}}):  # fmt: skip
        with pytest.raises(ValueError, match="probable|one sensitive feature"):
            Roles(probable=wrong)
    frame = people(2_000, 0).drop(columns="true")
    with pytest.raises(ValueError, match="must be names"):
        audit(frame, "y", sensitive_features=frame["group"], estimator="score", roles=CONTRACT)
    with pytest.raises(ValueError, match="key='id'"):
        audit(duckdb.from_df(frame), "y", sensitive_features=["group"], estimator="score",
              roles=CONTRACT.replace(key=None))  # fmt: skip


def test_on_the_command_line(tmp_path):
    people(6_000, 1).drop(columns=["true", "group"]).to_parquet(tmp_path / "people.parquet")
    (tmp_path / "fairpatch.yaml").write_text(
        "data: people.parquet\nlabel: y\nfavourable: 1\nscore: score\nsensitive: [group]\nkey: id\n"
        "decision: {probable: {group: {a: p_a, b: p_b}}}\ntarget: {p_rule: 0.7}\n"
    )
    done = fairpatch("audit", "--config", "fairpatch.yaml", cwd=tmp_path)
    assert "drawn by" in done.stdout
    done = fairpatch("fit", "--config", "fairpatch.yaml", "--out", "run", cwd=tmp_path,
                     code=(0, 3, 4, 5))  # fmt: skip
    assert "only through what" in done.stdout + done.stderr
    done = fairpatch("monitor", "run", "people.parquet", "--period", "2026-10", cwd=tmp_path,
                     code=(0, 3, 4, 5))  # fmt: skip
    done = fairpatch("deploy", "run", "pack", "--table", "people", cwd=tmp_path)
    assert "drawn by probabilities" in done.stdout + done.stderr


def test_the_order_of_the_groups_draws_nobody():
    frame = nw.from_native(people(2_000, 3))
    one, two = (
        draw(frame, Roles(probable={"group": {g: f"p_{g}" for g in order}}).probable, None)
        for order in ("ab", "ba")
    )
    assert one.groups == two.groups
    assert (one.values == two.values).all()


def test_a_harm_is_its_mirror_image_here_too():
    """The score of a default at 1 - p: the same people are approved, so the same is told."""
    frame = people(3_000, 4).drop(columns="true")
    good = audit(frame, "y", sensitive_features=["group"], estimator="score", roles=CONTRACT)
    turned = frame.assign(score=1 - frame["score"], y=1 - frame["y"])
    harm = audit(
        turned, "y", sensitive_features=["group"], estimator="score", roles=CONTRACT,
        decision=Decision(favourable=0, at_least=True),
    )  # fmt: skip
    ends = [(a.probable.weighted, a.probable.low, a.probable.high) for a in (good, harm)]
    assert ends[0] == pytest.approx(ends[1])
    assert ends[0][0] < 0.9
