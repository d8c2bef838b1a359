"""The German table runs from init to a monitored month; every engine decides alike on it."""

import json
import runpy
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch.patch import load
from fairpatch.patch.row_scorer import RowScorer

pytestmark = pytest.mark.slow  # two minutes; the lender's file goes the same way in `make check`
SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "german_table.py"


@pytest.fixture(scope="module")
def made():
    month = runpy.run_path(str(SCRIPT))
    yield month["FOLDER"], month
    shutil.rmtree(month["FOLDER"])


def test_init_finds_what_a_german_table_is(made):
    text = made[1]["settings"]
    for line in (
        'csv: {decimal: ",", thousands: ".", encoding: "cp1252"}', "score_unit: percent",
        'weight: "Gewicht"', 'score: "PD in %"', 'sensitive: ["Geschlecht"]', 'key: "Kunden-Nr."',
        '- "Rating"  # a copy of PD in %', '- "PLZ"  # a code', '"Ausfall" sounds like a harm',
    ):  # fmt: skip
        assert line in text


def test_the_patch_is_certified_and_reads_neither_codes_nor_copies(made):
    folder, month = made
    for run in ("run", "run-light", "run-extreme"):
        patch = load(folder / run / "patch.json")
        assert json.loads((folder / run / "manifest.json").read_text())["certificate"] == (
            "certified"
        )
        read = {c.name for c in patch.columns}
        assert not read & {"PLZ", "Rating", "Kunden-Nr.", "PD in %", "Geschlecht", "Ausfall"}
    assert 0.01 < month["decided"]["fairpatch_changed"].mean() < 0.15


def test_percent_means_the_same_in_every_engine(made):
    folder, month = made
    decided = month["decided"]
    patch = load(folder / "run" / "patch.json")
    above = decided["PD in %"] > 8
    changed = decided["fairpatch_changed"]
    assert ((decided["fairpatch_decision"] == above) == ~changed).all()
    one = RowScorer(patch)
    rows = decided.head(300)
    found = [one.decide(row, row["PD in %"]).decision for row in rows.to_dict(orient="records")]
    assert found == rows["fairpatch_decision"].astype(int).tolist()
    base = duckdb.connect()
    base.execute("CREATE TABLE antraege AS SELECT * FROM decided")
    sql = month["fairpatch"]
    text = sql("deploy", "run", "--to", "sql", "--table", "antraege", "--keep", "Kunden-Nr.")
    there = base.sql(text.rstrip(";\n")).df().sort_values("Kunden-Nr.")
    assert (there["fairpatch_decision"].to_numpy() == decided["fairpatch_decision"]).all()
    graph = pytest.importorskip("fairpatch.engines.onnx")
    out = graph.run_graph(graph.patch_graph(patch).SerializeToString(), decided, score="PD in %")
    assert np.array_equal(out["fairpatch_decision"].ravel(), decided["fairpatch_decision"])


def test_the_month_is_in_the_history(made):
    lines = (made[0] / "life" / "history.jsonl").read_text().splitlines()
    assert "2026-10" in lines[-1]
    assert pd.read_parquet(made[0] / "decided.parquet")["fairpatch_reason"].notna().any()
