"""The paper's experiments on a reduced declaration, and that a killed benchmark goes on."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import cells, journal, reproduction
from benchmarks.beyond import crossing
from benchmarks.beyond import run as run_beyond
from benchmarks.beyond import show as show_beyond
from benchmarks.beyond_table import common, gain
from benchmarks.journal import read_results
from benchmarks.reproduce.sensitivity import regressions
from fairpatch.measure.metric import P_RULE


@pytest.mark.data
@pytest.mark.slow
def test_the_papers_experiments_run_and_are_drawn_from_their_files(tmp_path):
    """Reduced: Law School, one seed. The full one is ``make paper``."""
    result = reproduction.run(tmp_path, jobs=1, quick=True)
    text = (tmp_path / "page" / "page.md").read_text()
    assert text.count("![") >= 8
    for name in {line.split("](")[1].rstrip(")") for line in text.splitlines() if "![" in line}:
        assert (tmp_path / "page" / name).stat().st_size > 3_000
    frame = cells.with_cells(read_results(tmp_path, "sweep"), "law_school", "demographic_parity")
    won, total = cells.lowest(frame, at_least=3)
    assert won > total / 2 >= 2
    trees = read_results(tmp_path, "trees")
    assert trees["f1"].between(0, 1).all()
    about = json.loads((tmp_path / "run.json").read_text())
    assert about["runs"] == len(reproduction.runs(quick=True))
    # nothing is done twice
    journal = (tmp_path / "journal.jsonl").read_bytes()
    assert reproduction.run(tmp_path, jobs=1, quick=True) == result
    assert (tmp_path / "journal.jsonl").read_bytes() == journal


def test_r2_is_that_of_a_regression_with_intercept():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        random.normal(size=(200, 4)),
        columns=["p_rule_f", "accuracy_f", "lambda_ratio", "lambda_fair"],
    )
    exact = 3 + frame["p_rule_f"] - 2 * frame["lambda_fair"]
    noise = 3 + random.normal(size=200)
    found = regressions(frame.assign(change_rate=exact, accuracy=noise, p_rule=exact))
    assert found["change_rate"]["r2"] == pytest.approx(1)
    assert found["accuracy"]["r2"] < 0.1
    assert found["accuracy"]["r2_uncentred"] > 0.8  # what the mean explains


def slow_square(run):
    time.sleep(0.05)
    return [{"square": run["n"] ** 2}]


KILLED = """
import sys, time
sys.path.insert(0, {folder!r})
from pathlib import Path
from test_reproduction import slow_square
from benchmarks.journal import execute
execute([{{"experiment": "squares", "n": n}} for n in range(40)], slow_square, Path({path!r}))
"""


@pytest.mark.slow
def test_a_journal_survives_kill_9(tmp_path):
    path = tmp_path / "journal.jsonl"
    runs = [{"experiment": "squares", "n": n} for n in range(40)]
    code = KILLED.format(folder=str(Path(__file__).parent), path=str(path))
    for wait in (1, 5, 9):  # finished runs before the kill
        process = subprocess.Popen([sys.executable, "-c", code])
        while process.poll() is None and (
            not path.exists() or path.read_bytes().count(b"\n") < wait
        ):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = len(journal.read(path))
    assert 9 <= done < 40
    with path.open("ab") as file:
        file.write(b'{"run": {"experiment": "squares", "n": 39}, "sec')  # cut short
    again = []

    def counted(run):
        again.append(run["n"])
        return slow_square(run)

    entries = journal.execute(runs, counted, path)
    assert len(again) == 40 - done
    assert [e["records"][0]["square"] for e in entries] == [n**2 for n in range(40)]
    assert path.read_bytes().count(b"\n") == 40
    journal.write_results(entries, tmp_path)
    assert read_results(tmp_path, "squares")["square"].sum() == sum(n**2 for n in range(40))


@pytest.mark.slow
@pytest.mark.data
def test_beyond_compares_at_equal_fairness(tmp_path):
    methods = ["bound", "fairpatch", "COMMOD", "LPP", "ROC (reads S)"]
    result = run_beyond(tmp_path, seeds=1, problems=["law_school"], methods=methods, jobs=1)
    text = show_beyond(result)
    assert "bound, S known" in text
    frame = read_results(tmp_path, "beyond")
    there = frame[frame["reached"] & (frame["method"] != "bound")]
    what = ("approved", "promoted", "denied", "demoted")
    approved, promoted, denied, demoted = (there[[f"{w}_0", f"{w}_1"]].to_numpy() for w in what)
    rates = (approved + promoted) / (approved + promoted + denied + demoted)
    rule = rates.min(1) / rates.max(1)  # of a mixture of two models, nearly theirs mixed
    assert rule == pytest.approx(there["level"].to_numpy(), abs=0.01)
    least = frame[frame["method"] == "bound"].set_index("level")["changes"]
    assert (there["changes"] >= there["level"].map(least) - 0.005).all()


def test_a_curve_is_read_where_it_first_reaches_the_level():
    values = [0.5, 0.7, 0.9, 0.6]
    assert crossing(values, P_RULE, 0.8) == (2, pytest.approx(0.5))
    assert crossing(values, P_RULE, 0.4) == (0, 1.0)
    assert crossing(values, P_RULE, 0.95) is None
    assert crossing([np.nan, 0.9], P_RULE, 0.8) == (1, 1.0)


def test_means_are_over_the_splits_that_all_reach():
    """Over its own splits the second would look better than the bound."""
    rows = [
        {"problem": "p", "seed": seed, "method": m, "reached": r, "changes": c}
        for m, found in {
            "bound": [(True, 0.1), (True, 0.5), (True, 0.1), (True, 0.1)],
            "often": [(True, 0.12), (False, np.nan), (True, 0.12), (True, 0.12)],
            "seldom": [(False, np.nan), (False, np.nan), (False, np.nan), (True, 0.2)],
        }.items()
        for seed, (r, c) in enumerate(found)
    ]
    shared = common(pd.DataFrame(rows))
    assert sorted(shared["seed"].unique()) == [0, 2, 3]
    assert set(shared["method"]) == {"bound", "often"}
    means = shared.groupby("method")["changes"].mean()
    assert means["often"] > means["bound"]


def test_outcomes_are_comparisons_groups():
    """Across groups the promoted look worse; within each of them they are better."""
    record = {
        "promoted_0": 0.1, "promoted_good_0": 0.03, "denied_0": 0.4, "denied_good_0": 0.08,
        "promoted_1": 0.0, "promoted_good_1": 0.0, "denied_1": 0.2, "denied_good_1": 0.18,
    }  # fmt: skip
    assert gain(pd.DataFrame([record]), "promoted", "denied") == pytest.approx(0.3 - 0.2)
