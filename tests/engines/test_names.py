"""Names that are different stay so in whatever is written, or are refused: in every generator."""

import io
import json
import sys
from unittest import mock
from xml.etree import ElementTree as ET

import duckdb
import pandas as pd
import pytest
import sqlglot
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from fairpatch._tools.verdict import Verdict
from fairpatch.cli.data import without_formulas
from fairpatch.cli.say import complain, note
from fairpatch.engines.onnx import SCORE, patch_graph
from fairpatch.engines.sql import BY_DUCKDB, DIALECTS, FUNCTION, function, place_of, sql
from fairpatch.life import outputs
from fairpatch.life.outputs import Check
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight

NAME = st.text("ab_.`\"'\\$[]/*- ä:,%\n", min_size=1, max_size=4)


def patch_of(names):
    parts = [
        RangesWeight(column=n, missing=0, ranges=[Range(at_least=i, weight=20 + i)])
        for i, n in enumerate(names)
    ]
    return Patch(
        columns=[Column(name=n, kind="number") for n in names], card=CardScale(approve_at=10),
        concepts=[Concept(name="c", weight=1, intercept=0, ranges=parts)],
    )  # fmt: skip


def columns_in(text, dialect):
    tree = sqlglot.parse_one(text, dialect=BY_DUCKDB.get(dialect, dialect))
    return {column.name for column in tree.find_all(sqlglot.exp.Column)}


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAME, min_size=2, max_size=3, unique_by=str.lower),
       dialect=st.sampled_from(sorted(DIALECTS)))  # fmt: skip
def test_sql_reads_every_column_by_its_own_name(names, dialect):
    try:
        text = sql(patch_of(names), "p", dialect=dialect)
    except ValueError:  # in one sentence; that is tested elsewhere
        return
    assert columns_in(text, dialect) >= {*names, "p"}


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAME, min_size=2, max_size=3, unique_by=str.lower),
       dialect=st.sampled_from(sorted(FUNCTION)))  # fmt: skip
def test_functions_too(names, dialect):
    try:
        text = function(patch_of(names), "p", "f", dialect)
    except ValueError:
        return
    with mock.patch("fairpatch.engines.sql.FUNCTION", {dialect: "{body}"}):
        body = function(patch_of(names), "p", "f", dialect)
    assert columns_in(f"SELECT {body}", dialect) == {*names, "p"}
    assert body in text


@settings(max_examples=40, deadline=None)
@given(names=st.lists(NAME, min_size=2, max_size=3, unique_by=str.lower))
def test_a_graph_takes_every_column_by_its_own_name(names):
    assume(not any(n.startswith("fairpatch") for n in names))
    graph = patch_graph(patch_of(names)).graph
    assert sorted(entry.name for entry in graph.input) == sorted([*names, SCORE])


@settings(max_examples=60, deadline=None)
@given(names=st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=3, unique=True))
def test_machines_read_every_check_by_its_own_name(names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("told")
    names = [n.encode("utf-8", "ignore").decode() for n in names]
    assume(len(set(names)) == len(names))
    checks = [Check(name, f"about {name}", Verdict.REFUTED, f"text of {name}") for name in names]
    outputs.metrics(checks, folder / "a.prom", period="2026-10")
    families = text_string_to_metric_families((folder / "a.prom").read_text(encoding="utf-8"))
    found = {s.labels["requirement"] for f in families if f.name == "fairpatch_verdict"
             for s in f.samples}  # fmt: skip
    assert len(found) == len(names)
    outputs.junit(checks, folder / "a.xml", suite="s")
    root = ET.parse(folder / "a.xml").getroot()
    assert len(root.findall("testcase")) == len(names)
    outputs.json_lines(checks, folder / "a.jsonl", period="2026-10")
    lines = (folder / "a.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert len([json.loads(line) for line in lines]) == len(names)
    for line in outputs.annotations(checks):
        assert "\n" not in line
        assert line.startswith("::error title=fairpatch ")


@settings(max_examples=100, deadline=None)
@given(st.text("a:#[]\n\r \terov", max_size=20))
def test_nothing_that_is_said_commands_a_runner(text):
    for way in (note, complain):
        with mock.patch.object(sys, "stderr", io.StringIO()) as err:
            way(f"column {text}\n{text}")
        for line in err.getvalue().replace("\r", "\n").split("\n"):
            assert not line.strip().startswith(("::", "##"))


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\n=1", " =1", "\r@", "＝1+1", "＋1", "＠x", "－1"]
)
def test_no_text_and_no_name_is_a_formula(text, tmp_path):
    frame = pd.DataFrame({text: ["a", "b"], "cell": [text, "c"], "kind": [text, "c"]})
    base = duckdb.connect()
    base.register("given", frame)
    kinds = ", ".join("'" + k.replace("'", "''") + "'" for k in (text, "c"))
    base.execute(f"CREATE TYPE kind AS ENUM ({kinds})")
    table = base.sql("SELECT * REPLACE (kind::kind AS kind) FROM given")
    without_formulas(table).to_csv(str(tmp_path / "a.csv"))
    back = pd.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False)
    assert next(iter(back.columns)).startswith("'")
    assert back["cell"][0].startswith("'")
    assert back["kind"][0].startswith("'")
    assert back["cell"][1] == "c"


def test_a_table_lies_in_its_schema_and_that_in_its_catalog():
    assert place_of("people") == ("people", {})
    assert place_of("risk.people") == ("people", {"database": "risk"})
    assert place_of("lake.risk.people") == ("people", {"database": "risk", "catalog": "lake"})
