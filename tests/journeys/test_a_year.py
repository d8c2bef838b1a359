"""A year in production as an engineer types it: every exit code, every sentence, no hand repair.

A German CSV, and Parquet: init, fit, a line edited with a reason, certified, deployed to Postgres,
twelve months applied and monitored, with a retry, a month without a group, and drift from July.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from attack.cluster import Cluster
from fairpatch.cli.main import app
from fairpatch.datasets import Population
from fairpatch.patch import load

WORK = ["Käserei", "Bäckerei", "Büro", "Straßenbau"]
GROUPS = {"weiblich": (0.45, 1.0), "männlich": (0.55, 0.0)}
NAMES = {"num_0": "Jahreseinkommen (T€)", "num_2": "Fahrleistung", "y": "Bezahlt",
         "group": "Geschlecht", "id": "Antrags-Nr.", "score": "Wert"}  # fmt: skip


def people(n, seed, ratio=0.6):
    raw = Population(p_rule=ratio, accuracy=0.8, proxy=2.0, groups=GROUPS).sample(n, seed=seed)
    table = raw.to_pandas().rename(columns=NAMES)
    table["Beschäftigung"] = np.random.default_rng(seed).choice(WORK, n)
    table["Antrags-Nr."] += 100_000 * seed
    numbers = table.select_dtypes("float").columns
    table[numbers] = table[numbers].round(4)
    score = table["Wert"].clip(0.001, 0.999)
    noise = np.random.default_rng(seed + 1).normal(0, 0.1, n)
    odds = np.log(score / (1 - score)) * 1.1 + 0.1 + noise
    return table.assign(Wert_neu=(1 / (1 + np.exp(-odds))).round(4))


class German:
    ending = "csv"

    @staticmethod
    def write(table, path):
        table.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")

    @staticmethod
    def read(path):
        return pd.read_csv(path, sep=";", decimal=",", encoding="cp1252")


class Columnar:
    ending = "parquet"
    write = staticmethod(lambda table, path: table.to_parquet(path))
    read = staticmethod(pd.read_parquet)


def told(*words, code=0):
    done = CliRunner().invoke(app, [str(w) for w in words])
    found = getattr(done.exception, "exit_code", done.exit_code)
    assert found == code, (words, found, done.output, done.exception)
    return f"{done.output}{'' if done.exception is None else done.exception}"


pytestmark = pytest.mark.slow  # a minute and a half each, and Debian's postgresql


@pytest.fixture(params=[German, Columnar])
def kind(request):
    return request.param


def months_in(kind):
    """Writes a table in this format, and gives its file."""

    def write(name, table):
        kind.write(table, f"{name}.{kind.ending}")
        return f"{name}.{kind.ending}"

    return write


def a_view_on_a_server_decides_as_apply_does(kind, months):
    told("deploy", "run", "pack", "--dialect", "postgres", "--key", "Antrags-Nr.",
         "--table", "antraege", "--name", "entschieden")  # fmt: skip
    first = people(2_000, 4)
    told("apply", "run", months("2025-12", first), f"entschieden-2025-12.{kind.ending}")
    mine = kind.read(f"entschieden-2025-12.{kind.ending}")
    with Cluster() as server:
        server.load_frame("antraege", kind.read(f"2025-12.{kind.ending}"))
        for file in ("decided.sql", "audit.sql"):
            server.run(Path("pack", file).read_text(encoding="utf-8"))
        for test in sorted(Path("pack").glob("test_*.sql")):
            if test.stem != "test_target":  # a month of 2,000 need not show that
                assert server.ask(test.read_text(encoding="utf-8")) == "", test
        query = 'SELECT "Antrags-Nr.", fairpatch_decision FROM entschieden ORDER BY 1'
        there = [line.split("|") for line in server.ask(query).splitlines()]
        own = mine.sort_values("Antrags-Nr.")
        assert [int(key) for key, _ in there] == own["Antrags-Nr."].tolist()
        assert [d == "t" for _, d in there] == own["fairpatch_decision"].tolist()
        server.run(Path("pack", "rollback.sql").read_text(encoding="utf-8"))
        back = server.ask("SELECT count(*) FROM entschieden WHERE fairpatch_changed")
        assert back.strip() == "0"


def twelve_months(kind, months):
    """What monitor said and how it ended, month by month."""
    said, codes = {}, {}
    for month in range(1, 13):
        name = f"2026-{month:02}"
        table = people(3_000, 10 + month, 0.6 if month < 7 else 0.52)
        if month == 4:  # an extract without women
            table = table[table["Geschlecht"] == "männlich"]
        source, out = months(name, table), f"entschieden-{name}.{kind.ending}"
        if month == 4:  # men alone: the guard stops it
            assert "other people" in told("apply", "run", source, out, code=6)
            told("apply", "run", source, out, "--if-unlike", "warn")
        else:
            told("apply", "run", source, out)
        done = CliRunner().invoke(app, ["monitor", "run", out])
        said[name], codes[name] = done.output, done.exit_code
        if month == 2:  # a scheduler tries again
            again = told("monitor", "run", out)
            assert "nothing was added" in again
    return said, codes


def test_a_year(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRPATCH_LIFE", str(tmp_path / "life"))

    months = months_in(kind)
    data = months("antraege", people(8_000, 1).drop(columns="Wert_neu"))
    told("init", data, "--favourable", 1)
    config = Path("fairpatch.yaml")
    text = config.read_text(encoding="utf-8")
    assert "Geschlecht" in text
    given = {'label: "?"': 'label: "Bezahlt"', 'score: "?"': 'score: "Wert"'}
    for asked, answer in given.items():  # what init cannot know, it asks
        text = text.replace(asked, answer)
    config.write_text(text, encoding="utf-8")
    assert '"?"' not in text, text
    told("fit", "--config", config, "--p-rule", 0.75, "--out", "run2026")

    # a person strikes a line, and says why
    fresh = months("pruefung", people(6_000, 2))
    line = load("run2026/patch.json").lines[-1]
    points = int(line.points / 2 // 5 * 5)
    edited = told("edit", "run2026", "--points", f"{line.name}={points}", "--why",
                  "so wenige stehen dahinter", "--data", fresh, "--out", "run")  # fmt: skip
    assert "wrote run, a run" in edited
    assert "edited: so wenige stehen dahinter" in told("ledger")
    told("certify", "run", "--data", months("neu", people(20_000, 3)))

    a_view_on_a_server_decides_as_apply_does(kind, months)
    said, codes = twelve_months(kind, months)
    assert [codes[f"2026-{m:02}"] for m in (1, 2, 3)] == [0, 0, 0], said
    assert codes["2026-04"] == 8
    assert "there is nobody now" in said["2026-04"]
    drift = [codes[f"2026-{m:02}"] for m in range(7, 13)]
    assert drift[-1] == 4, (drift, said["2026-12"])
    assert "shown not to hold" in said["2026-12"]
    watched = [m for m in range(7, 13) if "Watch" in said[f"2026-{m:02}"]]
    assert watched, drift  # the last periods by themselves speak first

    # the model is trained again: refit; two at once do not mix
    new = months("neues_modell", people(8_000, 40, 0.45))
    told("refit", "run", "--score", "Wert_neu", "--data", new, "--out", "run2027")
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "fairpatch", "fit", "--config", config, "--data", new,
             "--out", "zugleich"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    ends = [(p.communicate()[1], p.returncode) for p in both]
    refused = [text for text, code in ends if code not in (0, 3, 5)]
    assert len(refused) == 1, ends
    assert "another" in refused[0]
    shutil.rmtree("run2026")
    assert "edited" in told("ledger")
