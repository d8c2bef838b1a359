"""Decisions as they are made, on the command line: locked rows, bands of ages, adverse impact."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from cli.test_cli import POPULATION, fairpatch
from fairpatch.cli.profile import profile

YAML = """
data: people.parquet
label: y
favourable: 1
score: score
decision: {bands: {age: [60]}}
sensitive: [age]
ignore: [id]
target: {p_rule: 0.72, locked: {policy: knock-out, amount: {at_least: 55000}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, n = tmp_path_factory.mktemp("policy"), 6_000
    random = np.random.default_rng(0)
    people = POPULATION.sample(n, seed=1).to_pandas()
    old = people.pop("group") == "b"
    people["age"] = np.where(old, random.integers(60, 90, n), random.integers(18, 60, n))
    people["policy"] = random.choice(["open", "knock-out"], n, p=[0.85, 0.15])
    people["amount"] = random.integers(1, 60, n) * 1_000
    people.to_parquet(path / "people.parquet")
    (path / "fairpatch.yaml").write_text(YAML)
    fairpatch("fit", "--config", "fairpatch.yaml", "--out", "run", cwd=path, code=(0, 1, 2, 3, 4))
    return path


def locked(frame):
    return (frame["policy"] == "knock-out") | (frame["amount"] >= 55_000)


def test_apply_never_changes_what_is_locked(folder):
    fairpatch("apply", "run", "people.parquet", "out.csv", cwd=folder)
    decided = pd.read_csv(folder / "out.csv")
    assert decided["fairpatch_changed"].sum() > 50
    assert not decided["fairpatch_changed"][locked(decided)].any()


def test_a_batch_is_cut_to_its_places(folder):
    done = fairpatch("apply", "run", "people.parquet", "month.parquet", "--approvals", "2000",
                     "--key", "id", cwd=folder)  # fmt: skip
    assert ", after 2,000; the number of places decided for" in done.stdout + done.stderr
    decided = pd.read_parquet(folder / "month.parquet")
    assert decided["fairpatch_decision"].sum() == 2_000
    assert not decided["fairpatch_changed"][locked(decided)].any()
    for wrong, why in (
        (["o.csv", "--approvals", "5"], "--key id"),
        (["o", "--approvals", "5", "--key", "id"], "in one file"),
        (["o.csv", "--approvals", "9999", "--key", "id"], "people who may be approved"),
    ):
        done = fairpatch("apply", "run", "people.parquet", *wrong, cwd=folder, code=(1, 2))
        assert why in done.stderr
    assert not (folder / "o.csv").exists()


def test_a_pack_in_a_warehouse_locks_and_has_bands(folder):
    fairpatch("deploy", "run", "pack", "--key", "id", "--table", "people", "--keep", "policy",
              "--keep", "amount", cwd=folder)  # fmt: skip
    con, pack = duckdb.connect(), folder / "pack"
    con.execute(f"create table people as select * from '{folder / 'people.parquet'}'")
    for name in ("decided.sql", "audit.sql"):
        con.execute((pack / name).read_text())
    decided = con.execute("select * from decided").df()
    assert decided["fairpatch_changed"].sum() > 50
    assert not decided["fairpatch_changed"][locked(decided)].any()
    counted = con.execute((pack / "monitor.sql").read_text()).df()
    assert set(counted["age"]) == {"below 60", "60 and above"}
    for test in Path(pack).glob("test_*.sql"):
        con.execute(test.read_text()).fetchall()


def test_monitor_counts_bands(folder):
    done = fairpatch("monitor", "run", "people.parquet", "--period", "2026-10", cwd=folder,
                     code=(0, 1, 2, 3))  # fmt: skip
    assert "60 and above" in done.stdout + done.stderr


def test_adverse_impact_is_printed_by_itself(folder):
    done = fairpatch("audit", "--config", "fairpatch.yaml", "--adverse-impact", "--reference",
                     "below 60", cwd=folder)  # fmt: skip
    assert "below 60 (reference)" in done.stdout
    assert "Fisher p" in done.stdout
    wrong = fairpatch("audit", "--config", "fairpatch.yaml", "--reference", "x", cwd=folder, code=2)
    assert "--reference is for --adverse-impact" in wrong.stderr


def test_a_value_that_was_mistyped_locks_nobody_and_is_refused(folder):
    done = fairpatch("fit", "--config", "fairpatch.yaml", "--target", "locked={policy: knockout}",
                     "--out", "other", cwd=folder, code=1)  # fmt: skip
    assert "no row is locked by policy is knockout" in done.stderr
    assert not (folder / "other").exists()


def test_init_proposes_bands(folder):
    fairpatch("init", "people.parquet", "--favourable", "1", "--out", "new.yaml", cwd=folder)
    text = (folder / "new.yaml").read_text()
    assert 'then with bands in columns: {"age": [35, 55, 70]}' in text
    found = profile(pd.DataFrame({"race_index": np.arange(200.0) % 97, "x": 1.0}), [])
    assert list(found.bands) == ["race_index"]
