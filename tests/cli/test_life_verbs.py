"""The verbs of a life: certify, monitor, refit, diff, ledger, with their exit codes and files."""

import json
import re
from importlib import import_module

import numpy as np
import pytest
from typer.testing import CliRunner

from fairpatch.cli import main
from fairpatch.datasets import Population
from fairpatch.life import Ledger

POPULATION = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})


def people(seed, n):
    frame = POPULATION.sample(n, seed=seed).to_pandas().astype({"group": str})
    logit = np.log(frame["score"] / (1 - frame["score"]))
    return frame.assign(new_score=1 / (1 + np.exp(-1.1 * logit - 0.05)))


def verb(*arguments, code=0):
    done = CliRunner().invoke(main.app, [str(a) for a in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run that has a life, and three months of people."""
    folder = tmp_path_factory.mktemp("life")
    people(0, 8_000).to_parquet(folder / "train.parquet")
    people(5, 8_000).to_parquet(folder / "retrain.parquet")
    for t in (1, 2, 3):
        rows = people(t, 3_000)
        rows.drop(columns="y").to_parquet(folder / f"month_2026_0{t}.parquet")
        rows[["id", "y"]].to_parquet(folder / f"labels_{t}.parquet")
    verb(
        "fit", "--data", folder / "train.parquet", "--label", "y", "--favourable", "1", "--score",
        "score",
        "--sensitive", "group", "--ignore", "id", "--ignore", "new_score", "--p-rule", "0.75",
        "--target", "equal_opportunity_difference=0.2", "--target", "safety_margin=1",
        "--out", folder / "run", "--life", folder / "life",
    )  # fmt: skip
    return folder


def test_months_are_judged_and_told_to_machines(place):
    life = place / "life"
    for t in (1, 2, 3):
        out = verb("monitor", place / "run", place / f"month_2026_0{t}.parquet",
                   "--junit", place / "j.xml", "--metrics", place / "m.prom",
                   "--jsonl", place / "v.jsonl", "--github")  # fmt: skip
    assert "period 2026-03, by the file's name" in out
    assert "::notice title=fairpatch" in out
    assert (place / "j.xml").exists()
    assert "fairpatch_verdict" in (place / "m.prom").read_text()
    assert len((place / "v.jsonl").read_text().splitlines()) >= 6
    assert "2026-02" in (life / "history.html").read_text()
    again = place / "month_2026_01.parquet"
    entries = (life / "ledger.jsonl").read_text()
    assert "nothing was added" in verb("monitor", place / "run", again)  # by a scheduler's retry
    assert (life / "ledger.jsonl").read_text() == entries
    told = verb("monitor", place / "run", again, "--labels", place / "labels_1.parquet", "--join",
                "id", "--json")  # fmt: skip
    words = {
        c["name"]: c["verdict"]
        for c in json.loads(told[told.index("{") : told.rindex("}") + 1])["checks"]
    }
    assert set(words) == {
        "p_rule", "equal_opportunity_difference", "promoted_outcome", "newly_approved"
    }  # fmt: skip
    bad = people(9, 4_000)
    bad.loc[bad["group"] == "b", "score"] *= 0.4
    bad.drop(columns="y").to_parquet(place / "bad_2026_04.parquet")
    assert "shown not to hold" in verb(
        "monitor", place / "run", place / "bad_2026_04.parquet", code=4
    )
    assert "shown not to hold" in verb("monitor", place / "run", code=4)
    verb("monitor", place / "run", place / "train.parquet", code=2)  # which period?


def test_certify_has_a_code_for_every_verdict(place):
    later = place / "retrain.parquet"
    verb("certify", place / "run", "--data", later, "--p-rule", "0.65")
    verb("certify", place / "run", "--data", later, "--p-rule", "0.65", "--score", "new_score")
    assert "shown not to hold" in verb("certify", place / "run", "--data", later, "--plain", code=4)
    people(7, 60).to_parquet(place / "few.parquet")
    verb("certify", place / "run", "--data", place / "few.parquet", "--p-rule", "0.8", code=5)
    verb("certify", place / "run", "--data", later, "--p-rule", "0.99", code=4)
    verb("audit", "--data", later, "--label", "y", "--favourable", "1", "--score", "score",
         "--sensitive", "group", "--p-rule", "0.8", code=4)  # fmt: skip
    told = verb("certify", place / "run", "--data", later, "--p-rule", "0.65", "--json")
    assert '"verdict": "certified"' in told
    # the rest of the run's target is kept, as refit keeps it
    assert [r["requirement"] for r in json.JSONDecoder().raw_decode(told)[0]["results"]] == [
        "P-Rule at least 0.65", "TPR gap at most 0.2",
    ]  # fmt: skip


def test_a_refit_goes_on_where_the_old_run_was(place):
    life, new = place / "life", place / "run2"
    told = verb("refit", place / "run", "--score", "new_score", "--data",
                place / "retrain.parquet", "--out", new, "--life", life)  # fmt: skip
    assert "Recommended" in told
    assert json.loads((new / "refit.json").read_text())["after"] == str(place / "run")
    assert "new_score" in (new / "config.yaml").read_text()
    assert "is a refit" in verb("verify", new, "--again", code=2)
    verb("ledger", life, "--applied", place / "run", "--since", "2026-01-01")
    verb("ledger", life, "--applied", new, "--since", "2026-07-01")
    entries = (life / "ledger.jsonl").read_bytes()
    told = verb("ledger", life, "--applied", new, "--since", "2026-07-01")
    assert "says so already" in told
    assert (life / "ledger.jsonl").read_bytes() == entries
    assert str(place / "run)") in verb("ledger", life, "--on", "2026-03-01")
    on = verb("ledger", life, "--on", "2026-08-01")
    assert str(new) in on
    assert "target: P-Rule at least 0.75" in on
    whole = verb("ledger", life)
    assert "The ledger is whole" in whole
    assert "differ from those of the first validated model" in whole
    differ = verb("show", place / "run", new, "--data", place / "retrain.parquet")
    assert "group b" in differ
    # each by its own model: the retrained one decides otherwise, under the same patch or not
    assert not re.search(r"\b0 of 8,000 decisions differ", differ)


def test_anothers_life_is_refused(place, tmp_path):
    Ledger(tmp_path / "life" / "ledger.jsonl").append("fitted", "a" * 64)
    told = verb("certify", place / "run", "--data", place / "retrain.parquet",
                "--life", tmp_path / "life", code=2)  # fmt: skip
    assert "belongs to another model" in told
    assert len(Ledger(tmp_path / "life" / "ledger.jsonl").entries()) == 1


def test_a_large_month_is_compared_by_some_rows_also_with_labels_from_elsewhere(
    place, tmp_path, monkeypatch
):
    monkeypatch.setattr(import_module("fairpatch.life.monitor"), "COMPARED", 500)
    labels = ("--labels", place / "labels_2.parquet", "--join", "id")
    month = place / "month_2026_02.parquet"
    told = verb("monitor", place / "run", month, *labels, "--life", tmp_path / "life")
    assert "TPR gap at most 0.2 (group)" in told
    assert "no labels yet" not in told
