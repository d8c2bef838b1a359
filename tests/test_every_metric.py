"""Every metric that a target can ask for, through every room that reads it.

A metric is one entry in ``fairpatch.measure.METRICS``; this is what such an entry must then do.
"""

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

from fairpatch import FairPatch, Roles, Target, audit
from fairpatch.cli.main import app
from fairpatch.datasets import Population
from fairpatch.measure import METRICS, Counts

EVERY = pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
RATIO_AND_GAP = pytest.mark.parametrize(
    "metric",
    [
        m
        if m.name in ("p_rule", "disparate_mistreatment")
        else pytest.param(m, marks=pytest.mark.slow)
        for m in METRICS
    ],
    ids=lambda m: m.name,
)
"""A whole fit each: all of them in `make check-slow`."""


@pytest.fixture(scope="module")
def people():
    two = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    return Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=two).sample(8_000, seed=0)


@pytest.fixture(scope="module")
def limits(people):
    """What f has, a third of the way better."""
    frame = people.to_pandas()
    found = audit(frame, "y", sensitive_features="group", estimator="score")
    values = {m: float(found.comparisons["group"].metrics[m.key]) for m in METRICS}
    return {m: v + (1 - v) / 3 if m.at_least else 2 / 3 * v for m, v in values.items()}


@pytest.fixture(scope="module")
def fits(people, limits):
    """One fit a metric, made when it is first asked for."""
    frame, made = people.to_pandas(), {}
    X = frame.drop(columns=["id", "group", "y"])

    def fit(metric):
        if metric not in made:
            g = FairPatch("score", Target(**{metric.name: limits[metric]}))
            made[metric] = g.fit(X, frame["y"], sensitive_features=frame[["group"]])
        return made[metric], X, frame["y"], frame[["group"]]

    return fit


@EVERY
def test_a_target_is_met_on_the_selection_rows_and_judged_on_others(metric, fits, limits):
    g, *_ = fits(metric)
    value = g.choice_.metrics["group"][metric.name]
    assert metric.met(value, limits[metric])
    assert g.choice_.bound.change_rate <= g.choice_.change_rate
    (verdict,) = g.certificate_.results
    assert verdict.requirement.metric is metric
    assert metric.words in str(g.certificate_)
    assert metric.words in str(g.choice_)
    assert verdict.estimate.low <= verdict.estimate.value <= verdict.estimate.high


@EVERY
def test_a_frontier_has_it_and_shows_the_chosen_point(metric, fits):
    g, *_ = fits(metric)
    assert all(np.isfinite(r.metrics["group"][metric.name]) for r in g.frontier_.records())
    assert g.frontier_.asked == (metric,)
    assert f"{metric.name} group" in g.frontier_.frame().columns
    assert g.menu_[0].change_rate == g.choice_.change_rate


@EVERY
def test_a_review_shows_it_before_and_after(metric, fits, limits):
    g, X, y, S = fits(metric)
    found = g.review(X, y, sensitive_features=S, refits=0)
    data = found.to_dict()
    (line,) = [r for r in data["effect"]["requirements"] if r["name"] == metric.words]
    assert line["limit"] == limits[metric]
    counts = g.patched_.count(X, y, sensitive_features=S)
    after, value = line["after"], float(metric.of(counts))
    if after["value"] is None:  # fewer than ten people are behind it
        assert after["at_least"] <= value <= after["at_most"]
    else:
        digits = 1e-6 if after["low"] is not None else 0.0051  # without an interval, two
        assert after["value"] == pytest.approx(value, abs=digits)
    assert metric.words in found.html()


@RATIO_AND_GAP
def test_the_command_line_takes_it(metric, people, limits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.to_pandas().to_csv("people.csv", index=False)
    ask = f"{metric.name}={limits[metric]}"
    options = ["--data", "people.csv", "--label", "y", "--favourable", "1", "--score", "score",
               "--sensitive", "group"]  # fmt: skip
    done = CliRunner().invoke(
        app, ["fit", *options, "--ignore", "id", "--target", ask, "--target", "safety_margin=1"]
    )
    assert done.exit_code == 0, done.output
    assert metric.words in done.output
    wrong = CliRunner().invoke(app, ["fit", *options, "--target", f"x{ask}"])
    assert wrong.exit_code == 2
    assert f"Did you mean '{metric.name}'?" in wrong.output


@RATIO_AND_GAP
def test_a_table_in_duckdb_is_fitted_and_certified_alike(metric, people, limits):
    connection = duckdb.connect()
    connection.register("people", people)
    table = connection.sql("SELECT * FROM people")
    target = Target(**{metric.name: limits[metric]})
    g = FairPatch("score", target, max_rows=3_000, roles=Roles(key="id"))
    g.fit(table, "y", sensitive_features="group")
    assert g.certificate_.results[0].requirement.metric is metric
    in_engine = g.certify(table, "y", sensitive_features="group")
    frame = people.to_pandas()
    in_memory = g.certify(
        frame.drop(columns=["id", "group", "y"]), frame["y"], sensitive_features=frame[["group"]]
    )
    assert in_engine == in_memory


@EVERY
def test_its_range_and_its_limits(metric):
    with pytest.raises(ValueError, match=f"{metric.name} must be a number from 0 to"):
        Target(**{metric.name: metric.highest + 0.01})
    inside = Target(**{metric.name: 0.5}).inside(0.1)
    moved = getattr(inside, metric.name)
    assert moved == pytest.approx(0.6 if metric.at_least else 0.4)
    two = Counts.from_arrays(
        decision=[1, 0, 1, 0, 1, 1, 0, 0], y=[1, 1, 0, 0] * 2, sensitive_features=list("aaaabbbb")
    )
    assert 0 <= float(metric.of(two)) <= metric.highest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--p-rule", "0.7", "--target", "p_rule=0.8"], "p_rule is given twice"),
        (["--target", "p_rule=0.7", "--target", "p_rule=0.8"], "p_rule is given twice"),
        (["--target", "p_rule="], "expected a value such as 0.8"),
        (["--target", "p_rule=yes"], "expected a value such as 0.8"),
        (["--target", "p_rule=[0.5"], "expected a value such as 0.8"),
        (["--target", "p_rule"], "expected NAME=VALUE"),
    ],
)
def test_a_target_on_the_command_line_is_read_whole_or_refused(arguments, said):
    done = CliRunner().invoke(app, ["fit", "--data", "none.csv", *arguments])
    assert done.exit_code == 2
    assert said in done.output
