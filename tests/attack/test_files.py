"""Every file that is read, changed at random: refused in a sentence, or read alike everywhere.

`make attack` tries a million patches and many of every other file; `make check` a few hundred.
"""

import json
import os
import random
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
import yaml

from attack.files import mutated
from benchmarks import journal
from fairpatch.cli import config, run_folder
from fairpatch.cli.manifest import Manifest
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import (
    CardScale,
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    NumberWeight,
    Patch,
    ScoreBand,
    load,
    save,
)
from fairpatch.patch.apply import apply
from fairpatch.patch.parts import Range, RangesWeight

PATCHES = int(os.environ.get("FAIRPATCH_ATTACK_FILES", "400"))
OTHERS = max(100, PATCHES // 50)
FIRST = int(os.environ.get("FAIRPATCH_ATTACK_FIRST", "0"))
"""The number of the first mutation: several processes may share the work."""


def patches():
    columns = [Column(name="age", kind="number"), Column(name="job", kind="category")]
    concept = Concept(
        name="c",
        weight=1.0,
        intercept=0.2,
        numbers=[NumberWeight(column="age", coefficient=-0.1, missing=0.3, around=40.0)],
        categories=[
            CategoricalWeight(
                column="job",
                categories=[
                    CategoryWeight(category="x", weight=-0.5),
                    CategoryWeight(category="y", weight=0.25),
                ],
                missing=-1.0,
                other=0.1,
            )
        ],
    )
    ranges = RangesWeight(
        column="age", ranges=[Range(at_least=45, weight=-60), Range(below=20, weight=20)], missing=5
    )
    whole = CategoricalWeight(
        column="job", categories=[CategoryWeight(category="x", weight=-50)], missing=-10, other=20
    )
    lines = Concept(name="c", weight=1, intercept=0, ranges=[ranges], categories=[whole])
    return [
        Patch(columns=columns, concepts=[concept], strength=0.7),
        Patch(
            columns=columns,
            concepts=[lines],
            card=CardScale(approve_at=30, confidence=[ScoreBand(below=0.2, points=40)]),
            decision={"threshold": 0.4},
        ),
    ]


@pytest.fixture(scope="module")
def people():
    r = np.random.default_rng(1)
    frame = pd.DataFrame({"age": r.integers(18, 80, 40).astype(float), "score": r.random(40)})
    frame["job"] = r.choice(["x", "y", "z"], 40)
    frame.loc[:3, "age"] = np.nan
    frame.loc[4:6, "job"] = None
    return frame, pl.from_pandas(frame)


def test_a_changed_patch_is_refused_in_a_sentence_or_decides_alike(people, tmp_path):
    frame, table = people
    texts = [own.model_dump_json() for own in patches()]
    path, seen, used, slowest = tmp_path / "patch.json", set(), 0, 0.0
    for number in range(FIRST, FIRST + PATCHES):
        data = mutated(texts[number % 2], number)
        seen.add(hash(data))
        path.write_bytes(data)
        begun = time.perf_counter()
        try:
            found = load(path)
        except ValueError as error:
            refused = str(error)
        else:
            refused = ""
        slowest = max(slowest, time.perf_counter() - begun)
        if refused:
            assert str(path) in refused or "format version" in refused
            continue
        save(found, path)
        assert load(path) == found
        try:
            mine = apply(found, table, "score")["fairpatch_decision"].to_numpy()
        except ValueError as error:  # a column that is not there, or has a name that is refused
            refused = str(error)
        except TypeError as error:  # or has values that no line could hold for: so everywhere
            refused = str(error)
            with pytest.raises(TypeError, match="could hold for anybody|must be"):
                found.decide(frame, BaseModel("score", decision=found.decision).logits(frame))
        if refused:
            assert "column" in refused
            continue
        used += 1
        theirs = found.decide(frame, BaseModel("score", decision=found.decision).logits(frame))
        favoured = theirs if found.decision.favourable else ~theirs
        assert (mine == favoured).all(), number
        assert str(found)
    assert used > PATCHES / 20
    assert len(seen) > 0.8 * PATCHES
    assert slowest < 5.0


def a_manifest():
    hashes = dict.fromkeys(run_folder.FILES, "0" * 64)
    return Manifest(
        data="people.csv", data_sha256=None, rows=10, certificate=None, sha256=hashes
    ).model_dump_json()


def read_manifest(path):
    run_folder.manifest(path.parent)


def read_config(path):
    try:
        data = json.loads(path.read_bytes())
    except ValueError:
        return
    with suppress(RecursionError):  # then it stays JSON, which YAML reads as well
        path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with suppress(SystemExit):  # refused as wrong usage
        config.read(path)


def read_journal(path):
    for entry in journal.read(path).values():
        assert "run" in entry


CONFIG = json.dumps(
    {"data": "people.csv", "label": "y", "sensitive": ["s"], "score": "score", "seed": 0,
     "target": {"p_rule": 0.8}, "decision": {"threshold": 0.5}, "exclude": ["a"]}
)  # fmt: skip
JOURNAL = json.dumps({"run": {"experiment": "a", "seed": 1}, "seconds": 0.1, "records": [{"x": 1}]})


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("manifest.json", a_manifest(), read_manifest),
        ("config.yaml", CONFIG, read_config),
        ("journal.jsonl", JOURNAL, read_journal),
    ],
)
def test_every_other_file_is_refused_in_a_sentence(name, text, read, tmp_path, capsys):
    path = tmp_path / name
    for number in range(FIRST, FIRST + OTHERS):
        path.write_bytes(mutated(text, number))
        with suppress(ValueError):  # anything else is no sentence
            read(path)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('"strength": 0.7|"strength": 0.7, "strength": 0.1', "'strength' is given twice"),
        ('"strength": 0.7|"strength": NaN', "NaN is no number"),
        ('"strength": 0.7|"strength": 1e400', "1e400 is no number"),
        ('"strength": 0.7|"strength": 1e300', "at most 1e15"),
        ('"coefficient": -0.1|"coefficient": -1e308', "at most 1e15"),
        ('"version": 2|"version": true', "version"),
        ('"category": "y"|"category": "x"', "the category 'x' has two weights"),
        ('"category": "y"|"category": NaN', "NaN is no number"),
        ('"name": "job"|"name": "age"', "column 'age' is declared twice"),
        ('"settings": {}|"settings": {"lambda": Infinity}', "Infinity is no number"),
        ('"settings": {}|"settings": ' + "[" * 2000 + "]" * 2000, "nested too deeply"),
        ('"settings": {}|"settings": {"a": "\\\\ud800"}', "not text in UTF-8"),
    ],
)
def test_what_could_be_understood_in_two_ways_is_refused(change, said, tmp_path):
    before, after = change.split("|")
    text = json.dumps(json.loads(patches()[0].model_dump_json()))
    assert before in text
    path = tmp_path / "patch.json"
    path.write_text(text.replace(before, after.replace("\\\\", "\\"), 1), encoding="utf-8")
    with pytest.raises(ValueError, match=said) as told:
        load(path)
    assert "patch" in str(told.value)


def test_a_file_that_is_far_too_large_is_not_even_read(tmp_path):
    path = tmp_path / "patch.json"
    with path.open("wb") as file:
        file.truncate(48_000_000)
    with pytest.raises(ValueError, match="48,000,000 bytes, more than the"):
        load(path)


def test_an_emptied_manifest_is_none(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": "fairpatch.run", "sha256": {}}')
    with pytest.raises(ValueError, match="no manifest of a run"):
        run_folder.manifest(tmp_path)


def test_mutations_are_the_same_for_the_same_number():
    text = patches()[0].model_dump_json()
    state = random.getstate()
    assert mutated(text, 5) == mutated(text, 5)
    assert random.getstate() == state
