"""The review from the command line: who signs what, its history, and what a refusal leaves."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairpatch.cli.main import app

CONFIG = """\
data: people.csv
label: y
favourable: 1
score: score
sensitive: [s]
target: {p_rule: 0.75}
about:
  model: Limits 2026
  owner: Risk
  group_names: {s: {"0": women, "1": men}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    random = np.random.default_rng(0)
    s = random.integers(0, 2, 5_000)
    frame = pd.DataFrame({"score": random.random(5_000) * np.where(s == 0, 0.75, 1), "s": s,
                          "x": random.normal(size=5_000) + 1.5 * (s == 0)})  # fmt: skip
    frame.assign(y=(random.random(5_000) < frame["score"]).astype(int)).to_csv(
        folder / "people.csv", index=False
    )
    (folder / "fairpatch.yaml").write_text(CONFIG, encoding="utf-8")
    return folder


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code in (0, 3, 4), done.output
    return done


@pytest.mark.slow
def test_a_run_says_who_signs_what_and_remembers_reviews(place, monkeypatch):
    monkeypatch.chdir(place)
    run("fit", "--config", "fairpatch.yaml")
    data = json.loads((place / "run" / "review.json").read_text())
    own = data["identity"]
    assert (own["model"], own["owner"], own["run"]) == ("Limits 2026", "Risk", "run")
    assert own["command"] == "fairpatch verify run --again"
    assert own["date"]
    assert [r["role"] for r in own["rows"]] == [
        "learned from and chosen on",
        "certified on and reviewed",
    ]
    assert data["stability"]["refits"] == 5  # from the command line, too
    assert {r["group"] for r in data["groups"]["s"]["rows"]} == {"women", "men"}
    assert [g["name"] for g in data["explorer"]["features"][0]["groups"]] == ["women", "men"]
    sha = hashlib.sha256((place / "run" / "patch.json").read_bytes()).hexdigest()
    assert own["patch_sha256"] == sha
    for earlier in (1, 2):
        run("review", "run", "--out", "mine.html")
        found = json.loads((place / "mine.json").read_text())
        assert len(found["identity"]["earlier"]) == earlier
        assert found["certificate"]["verdict"] == data["certificate"]["verdict"]
    for junk in ("[1, 2]", '{"identity": "x"}', "no JSON"):
        (place / "other.json").write_text(junk, encoding="utf-8")
        run("review", "run", "--out", "other.html")
        found = json.loads((place / "other.json").read_text())
        assert found["identity"]["earlier"] == []


def test_a_refusal_leaves_a_run_that_stands(place, monkeypatch):
    monkeypatch.chdir(place)
    run("fit", "--config", "fairpatch.yaml", "--out", "kept")
    before = {p.name: p.read_bytes() for p in (place / "kept").iterdir()}
    done = run(
        "fit", "--config", "fairpatch.yaml", "--out", "kept", "--force", "--p-rule", "0.99",
        "--max-changes", "0.001",
    )  # fmt: skip
    assert done.exit_code == 3
    assert {p.name: p.read_bytes() for p in (place / "kept").iterdir()} == before
    assert (place / "kept-refused" / "refused.html").exists()
