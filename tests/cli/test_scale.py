"""Tables too large for memory, in small: fits inside the engine, apply part by part and resumed."""

import json
import random
import signal
import subprocess
import time

import duckdb
import pandas as pd
import pytest
from test_cli import FAIRPATCH, fairpatch

from fairpatch.datasets import Population
from fairpatch.patch import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("scale")
    two = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    population = Population(p_rule=0.6, accuracy=0.8, groups=two)
    population.write(path / "people", 262_144, seed=1, rows_per_file=131_072)
    (path / "fast.yaml").write_text("max_rows: 10000\n")
    fairpatch("fit", "-c", "fast.yaml", "--data", "people", "--label", "y", "--favourable", "1",
    "--score", "score",
              "--sensitive", "group", "--key", "id", "--p-rule", "0.75", "--out", "run",
              cwd=path)  # fmt: skip
    return path


def test_a_fit_in_the_engine_is_certified_on_every_row(folder):
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    assert manifest["rows"] == 262_144
    certificate = json.loads((folder / "run" / "certificate.json").read_text())
    assert certificate["verdict"] == "certified"
    assert 235_000 < certificate["results"][0]["people"] < 237_000  # all but a tenth
    review = json.loads((folder / "run" / "review.json").read_text())
    assert 45_000 < review["people"] < 55_000
    assert "S-leak check: none" in fairpatch("show", "run", cwd=folder).stderr


def digest(folder, name):
    parts = duckdb.read_parquet(str(folder / name / "part-*.parquet"))
    return parts.aggregate(
        "count(*), count(DISTINCT id), sum(hash(id, fairpatch_decision, fairpatch_ratio))"
    ).fetchall()


@pytest.mark.slow  # tests/attack/test_kills.py kills it in `make check`, too
@pytest.mark.parametrize("kills", [3, 20])
def test_apply_killed_and_resumed_gives_what_an_undisturbed_one_gives(folder, tmp_path, kills):
    start = time.perf_counter()
    fairpatch("apply", "run", "people", tmp_path / "whole", cwd=folder)
    whole = time.perf_counter() - start
    moments = random.Random(1)
    killed = 0
    for _ in range(kills):
        process = subprocess.Popen(
            [*FAIRPATCH, "apply", "run", "people", str(tmp_path / "parts")], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(moments.uniform(0.3, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() < 0
        for part in (tmp_path / "parts").glob("part-*.parquet"):
            assert len(pd.read_parquet(part, columns=["id"])) == 131_072
    assert killed
    done = fairpatch("apply", "run", "people", tmp_path / "parts", cwd=folder)
    assert "262,144 rows in 2 parts" in done.stdout
    assert not list((tmp_path / "parts").glob(".*unfinished"))
    assert digest(tmp_path, "parts") == digest(tmp_path, "whole")
    again = fairpatch("apply", "run", "people", tmp_path / "parts", cwd=folder)
    assert "2 parts were there already" in again.stdout


@pytest.mark.slow
def test_a_folder_of_something_else_is_left_alone(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("do not touch")
    done = fairpatch("apply", "run", "people", tmp_path / "mine", cwd=folder, code=1)
    assert "was not begun by fairpatch" in done.stderr
    line = load(folder / "run" / "patch.json").lines[-1].name
    fairpatch("edit", "run", "--points", f"{line}=1", "--out", "other.json", cwd=folder)
    fairpatch("apply", "run", "people/part-00000.parquet", tmp_path / "one", cwd=folder)
    done = fairpatch("apply", "other.json", "people", tmp_path / "one", "--score", "score",
                     cwd=folder, code=1)  # fmt: skip
    assert "begun with another patch" in done.stderr
