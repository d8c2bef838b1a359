"""Killed at random moments: nothing half written, nobody lost or doubled, and the next run goes on.

`make attack` kills every verb 200 times; `make check` twice.
"""

import json
import multiprocessing
import os
import shutil
import time
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch._tools.files import UNFINISHED
from fairpatch.cli import main, run_folder
from fairpatch.life.history import History
from fairpatch.life.ledger import Ledger
from fairpatch.patch import load

KILLS = 200 if os.environ.get("FAIRPATCH_ATTACK") else 2
STRUCK = 50 if os.environ.get("FAIRPATCH_ATTACK") else 1
"""Kills in the middle of a write, of each verb that has been tried least."""
PEOPLE = 400


OWN = multiprocessing.get_context("forkserver")
"""Children come from a process that has imported everything and started no thread."""
OWN.set_forkserver_preload(["fairpatch.cli.fit", "fairpatch.cli.review", "mlflow", "duckdb"])


def verb(arguments):
    """What a child does."""
    warnings.simplefilter("ignore")  # pytest makes errors of them
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    main.app(arguments)


def run(*arguments):
    """A verb in a process of its own."""
    child = OWN.Process(target=verb, args=([str(a) for a in arguments],))
    child.start()
    return child


def finish(*arguments):
    """Run to the end; gives the seconds it took."""
    begun = time.perf_counter()
    child = run(*arguments)
    child.join()
    assert child.exitcode in (0, 3, 4), arguments
    return time.perf_counter() - begun


def kill(after, *arguments):
    """Run, and kill after some seconds."""
    child = run(*arguments)
    child.join(after)
    child.kill()
    child.join()


def kill_in_a_write(folder, after, *arguments):
    """Run, wait until something unfinished lies in a folder, and kill; gives what was left."""
    child = run(*arguments)
    while child.is_alive() and nothing_left(folder):
        time.sleep(0.0001)
    time.sleep(after)
    child.kill()
    child.join()
    return not nothing_left(folder)


def moments(seconds):
    return np.random.default_rng(0).uniform(0.0, 1.05 * seconds, KILLS).tolist()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Some people in two files, and a run that was fitted to them."""
    folder = tmp_path_factory.mktemp("kills")
    random = np.random.default_rng(1)
    s = random.choice(["a", "b"], PEOPLE)
    score = np.clip(random.random(PEOPLE) * np.where(s == "a", 1.0, 0.8), 0.01, 0.99)
    frame = pd.DataFrame(
        {"id": np.arange(PEOPLE), "s": s, "score": score, "x": random.normal(size=PEOPLE),
         "y": (random.random(PEOPLE) < score).astype(int)}
    )  # fmt: skip
    frame["x"] += s == "b"
    frame.to_parquet(folder / "all.parquet")
    (folder / "parts").mkdir()
    for i in range(4):
        frame.iloc[i::4].to_parquet(folder / "parts" / f"{i}.parquet")
    fit = [
        "fit", "--data", folder / "all.parquet", "--label", "y", "--favourable", "1", "--score",
        "score",
        "--sensitive", "s", "--ignore", "id", "--p-rule", "0.7", "--out", folder / "run",
    ]  # fmt: skip
    return folder, fit, finish(*fit)


def nothing_left(folder, name=""):
    """No unfinished file is left once somebody has finished the same."""
    return not [p for p in folder.iterdir() if p.name.endswith(UNFINISHED) and name in p.name]


def test_a_killed_fit_leaves_a_whole_run_or_none(place):
    folder, fit, seconds = place
    out = folder / "again"
    fit = [*fit[:-1], out, "--force"]
    for moment in moments(seconds):
        kill(moment, *fit)
        if not out.exists():
            continue
        for path in out.glob("*.json"):
            json.loads(path.read_text())  # whole, whatever it is
        try:
            run_folder.checked(out, *run_folder.FILES)
        except ValueError as error:
            assert "has no manifest" in str(error)  # noqa: PT017
        else:
            load(out / "patch.json")
    finish(*fit)
    run_folder.checked(out, *run_folder.FILES)
    assert nothing_left(out)


def everybody(path):
    """Whether each person is there once."""
    ids = duckdb.sql(f"select id from read_parquet('{path}')").fetchall()
    return sorted(i for (i,) in ids) == list(range(PEOPLE))


def test_a_killed_apply_leaves_a_whole_file_or_none(place):
    folder, *_ = place
    out = folder / "out.parquet"
    apply = ["apply", folder / "run", folder / "all.parquet", out, "--force"]
    for moment in moments(finish(*apply)):
        out.unlink(missing_ok=True)
        kill(moment, *apply)
        assert not out.exists() or everybody(out)
    finish(*apply)
    assert everybody(out)
    assert nothing_left(folder, "out.parquet")


def test_a_killed_apply_to_a_folder_goes_on_and_loses_nobody(place):
    folder, *_ = place
    seconds = finish("apply", folder / "run", folder / "parts", folder / "whole")
    for i, moment in enumerate(moments(seconds)):
        out = folder / f"out-{i}"
        apply = ["apply", folder / "run", folder / "parts", out]
        kill(moment, *apply)
        assert not (out / "_SUCCESS").exists() or everybody(out / "part-*.parquet")
        finish(*apply)
        assert everybody(out / "part-*.parquet")
        assert nothing_left(out)


@pytest.mark.parametrize("name", ["patch.onnx", "served"])
def test_a_killed_export_leaves_a_whole_one_or_none(place, name):
    folder, *_ = place
    first = folder / f"first-{name}"
    to = ("--to", "onnx" if name.endswith(".onnx") else "mlflow")
    seconds = finish("deploy", folder / "run", first, *to)
    whole = sorted(p.name for p in first.rglob("*")) if first.is_dir() else first.stat().st_size
    for i, moment in enumerate(moments(seconds)):
        out = folder / f"{i}-{name}"
        kill(moment, "deploy", folder / "run", out, *to)
        if out.is_dir():
            assert sorted(p.name for p in out.rglob("*")) == whole
        elif out.exists():
            assert out.stat().st_size == whole


def bytes_of(path):
    """A file, or all files of a folder."""
    files = [p for p in sorted(path.rglob("*")) if p.is_file()] if path.is_dir() else [path]
    return [(p.name, p.read_bytes()) for p in files]


def take_away(folder, name):
    """What was written before, where it has a name of its own."""
    path = folder / name
    if name and path.exists():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def life(path):
    """Nothing to tell of, where every line is whole and so is the page."""
    assert {period.period for period in History(path / "history.jsonl")} == {"2026-01"}
    Ledger(path / "ledger.jsonl").entries()
    assert (path / "history.html").read_text().rstrip().endswith("</html>")


VERBS = {
    "deploy": ("out", bytes_of, ["--table", "t", "--key", "id"]),
    "monitor": ("", life, ["--period", "2026-01", "--replace"]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_write_struck_in_the_middle(place, verb, record_property):
    """Nothing under its own name is half written, and the next writer takes away what was left."""
    name, read, options = VERBS[verb]
    own, struck = place[0] / f"struck-{verb}", 0
    own.mkdir()
    out = own / name
    to = [place[0] / "all.parquet", "--life", own] if verb == "monitor" else [out]
    finish(verb, place[0] / "run", *to, *[o for o in options if o != "--replace"])
    whole = read(out)
    for after in np.random.default_rng(0).uniform(0.0, 0.003, STRUCK):
        take_away(own, name)
        struck += kill_in_a_write(own, after, verb, place[0] / "run", *to, *options)
        assert not out.exists() or read(out) == whole
    record_property("struck", f"{struck} of {STRUCK}")
    take_away(own, name)
    finish(verb, place[0] / "run", *to, *options)
    assert read(out) == whole
    assert nothing_left(own)


@pytest.mark.slow
def test_a_killed_review_leaves_whole_files(place):
    folder, *_ = place
    out = folder / "review.html"
    review = ["review", folder / "run", "--out", out]
    for moment in moments(finish(*review)):
        for suffix in (".html", ".json", ".md"):
            out.with_suffix(suffix).unlink(missing_ok=True)
        kill(moment, *review)
        if out.exists():
            assert out.read_text().rstrip().endswith("</html>")
        if out.with_suffix(".json").exists():
            assert json.loads(out.with_suffix(".json").read_text())["format"] == "fairpatch.review"
    finish(*review)
    assert nothing_left(folder, "review")
