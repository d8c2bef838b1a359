"""A learner of somebody else's goes everywhere ours go: found by its entry point, never asked for.

It is a single threshold for all: a card without lines, whose points everybody has. The package that
names it is a module and a dist-info on the path, as an installed one.
"""

import importlib
import json
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import fairpatch
from fairpatch import FairPatch, Target
from fairpatch.choose.learner import Learner, learner_names, learner_of, options_of
from fairpatch.cli import main
from fairpatch.datasets import Population
from fairpatch.life import refit

MODULE = '''
"""One threshold for all, as a learner."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpatch.choose.learner import Learned
from fairpatch.choose.learner import Patches
from fairpatch.patch import CardScale, Patch, Provenance, ScoreBand


@dataclass(frozen=True)
class OneThreshold:
    """Nobody has points; how many f's confidence is worth moves the threshold."""

    name: ClassVar[str] = "one_threshold"
    steps: int = 40

    def learn(self, task):
        rows, target = task.splits.select, task.target
        ends = np.linspace(0, 1, self.steps + 1).round(3).tolist()
        bands = tuple(
            ScoreBand(at_least=low, below=high, points=int(abs(low - 0.5) * 200))
            for low, high in zip(ends[:-1], ends[1:])
        )
        patches = [
            Patch(
                columns=(), concepts=(), decision=task.decision,
                card=CardScale(approve_at=-100, deny_at=100, confidence=bands),
                direction=direction,
                provenance=Provenance(settings={"learner": self.name}),
            )
            for direction in ("promote_only", "demote_only")
            if target.direction in ("both", direction)
        ]
        pool, ratios = Patches.of(patches, rows)
        return Learned(pool, rows, ratios, learned_from=task.splits.learn)

    def relearn(self, patch, rows, encoder, target, ask=None):
        each, rest = patch.effect(rows.f)
        return lambda drawn, seed: each * patch.points(rows.X) + rest
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The package, on the path of this process and of those it starts."""
    (tmp_path / "one_threshold.py").write_text(MODULE, encoding="utf-8")
    info = tmp_path / "one_threshold-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: one-threshold\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[fairpatch.learners]\none_threshold = one_threshold:OneThreshold\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("one_threshold")
    sys.modules.pop("one_threshold", None)


@pytest.fixture
def people(two_groups):
    return two_groups.head(6_000).assign(score=lambda t: t["score"].round(4))


TARGET = Target(p_rule=0.65, direction="promote_only")


def test_it_is_found_by_name_and_its_fields_are_its_options(package):
    assert "one_threshold" in learner_names()
    learner = learner_of({"name": "one_threshold", "steps": 5})
    assert learner == package.OneThreshold(steps=5)
    assert isinstance(learner, Learner)
    assert options_of(learner) == {"name": "one_threshold", "steps": 5}
    with pytest.raises(ValueError, match="has no option 'stops'. Did you mean 'steps'"):
        learner_of({"name": "one_threshold", "stops": 5})
    with pytest.raises(ValueError, match="Input should be a valid integer"):
        learner_of({"name": "one_threshold", "steps": "many"})
    with pytest.raises(ValueError, match="learner must be one of .*got 'one'"):
        learner_of({"name": "one"})


def test_fit_certificate_review_and_refit(package, people):
    X, y, s = people.drop(columns=["id", "group", "y"]), people["y"], people[["group"]]
    g = FairPatch("score", TARGET, learner=package.OneThreshold())
    g.fit(X, y, sensitive_features=s)
    assert g.certificate_ is not None
    assert not g.patch_.columns
    approved = X["score"][g.predict(X) == 1]
    declined = X["score"][g.predict(X) == 0]
    assert approved.min() >= declined.max()  # one threshold, below f's own
    assert approved.min() < 0.5
    assert g.choice_.metrics["group"]["p_rule"] >= 0.65
    review = g.review(X, y, sensitive_features=s, refits=2)
    assert review.summary.stability is None or review.summary.stability.of_changed == 1.0
    assert review.html()
    new = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
    later = new.sample(6_000, seed=9).to_pandas().rename(columns={"score": "new_score"})
    later["score"] = later["new_score"]
    ways = refit(
        g.patched_, "new_score", later.drop(columns=["id", "group", "y"]), later["y"],
        sensitive_features=later[["group"]], target=TARGET, learner=package.OneThreshold(),
    )  # fmt: skip
    assert set(ways.options) == {"keep", "rescale", "learn"}
    assert ways.options["learn"].model.patch.provenance.settings["learner"] == "one_threshold"


def command(*arguments):
    return CliRunner().invoke(main.app, [str(argument) for argument in arguments])


@pytest.mark.usefixtures("package")
def test_the_command_line_and_the_file(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    config = {
        "data": str(tmp_path / "people.parquet"), "label": "y", "sensitive": ["group"],
        "favourable": 1, "score": "score", "ignore": ["id"],
        "learner": {"name": "one_threshold", "steps": 6},
        "target": {"p_rule": 0.65, "direction": "promote_only"},
    }  # fmt: skip
    (tmp_path / "fairpatch.yaml").write_text(yaml.safe_dump(config))
    run = tmp_path / "run"
    done = command("fit", "--config", tmp_path / "fairpatch.yaml", "--out", run)
    assert done.exit_code in (0, 3), done.output
    assert yaml.safe_load((run / "config.yaml").read_text())["learner"] == config["learner"]
    later = people.assign(new_score=people["score"]).sample(5_000, random_state=1)
    later.to_parquet(tmp_path / "later.parquet")
    again = command(
        "refit", run, "--score", "new_score", "--data", tmp_path / "later.parquet",
        "--take", "learn", "--out", tmp_path / "again", "--json",
    )  # fmt: skip
    assert again.exit_code in (0, 3, 5), again.output
    patch = json.loads((tmp_path / "again" / "patch.json").read_text())
    assert patch["provenance"]["settings"]["learner"] == "one_threshold"
    wrong = {**config, "learner": {"name": "one_threshold", "stops": 6}}
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(wrong))
    refused = command("fit", "--config", tmp_path / "wrong.yaml", "--out", tmp_path / "no")
    assert refused.exit_code == 2
    assert "did you mean 'steps'" in refused.output.lower()


def test_nothing_asks_which_learner_it_is():
    """No room above the learners knows their classes: they meet in the protocol alone."""
    asking = re.compile(r"isinstance\([^)]*\b(Card|Cards|Adversarial|Candidates)\b")
    for path in Path(fairpatch.__file__).parent.rglob("*.py"):
        assert not asking.search(path.read_text(encoding="utf-8")), path


def test_a_previous_model_counts_for_every_learner(package, people):
    X, y, s = people.drop(columns=["id", "group", "y"]), people["y"], people[["group"]]
    first = FairPatch("score", TARGET, learner=package.OneThreshold())
    first.fit(X, y, sensitive_features=s)
    near = FairPatch("score", TARGET, learner=package.OneThreshold())
    near.fit(X, y, sensitive_features=s, previous=first.patched_)
    assert first.choice_.churn is None
    assert 0.0 <= near.choice_.churn < 0.5


def test_two_packages_with_one_name_are_refused(monkeypatch):
    two = [EntryPoint("card", f"{home}:Card", "fairpatch.learners") for home in ("a", "b")]
    monkeypatch.setattr("fairpatch.choose.learner.entry_points", lambda **_: two)
    with pytest.raises(ValueError, match="several packages have a learner 'card': a:Card, b:Card"):
        learner_of({"name": "card"})
