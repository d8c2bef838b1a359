"""Verdicts for machines: each form read back by what reads it."""

import json
from xml.etree import ElementTree as ET

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fairpatch.life import outputs
from fairpatch.life.checks import CODES, Check, worst

CHECKS = (
    Check("p_rule", "sex", "broken", "fail", "P-Rule at least 0.8 (sex): broken\n50%", 0.8, 0.7,
          0.6, 0.75),
    Check("max_changes", "everybody", "holds", "pass", "fine", 0.1),
    Check("p_rule", 'a"b\\c]]>&\x00\u202e', "open", "unsure", "x::y %0A"),
    Check("likeness", "score", "refuse", "unlike", "another model"),
)  # fmt: skip


@pytest.mark.quick
def test_junit_is_xml_with_a_test_a_check(tmp_path):
    outputs.junit(CHECKS, tmp_path / "junit.xml", suite="2026-11")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "2", "1")
    assert [c.find("failure") is not None for c in root] == [True, False, False, True]
    assert root[0].find("failure").get("message") == CHECKS[0].text


def test_metrics_are_read_by_prometheus(tmp_path):
    outputs.metrics(CHECKS[:2], tmp_path / "f.prom", period="2026-11")
    found = {f.name: f for f in text_string_to_metric_families((tmp_path / "f.prom").read_text())}
    verdicts = {tuple(s.labels.values()): s.value for s in found["fairpatch_verdict"].samples}
    assert verdicts == {("sex", "p_rule"): CODES["fail"], ("everybody", "max_changes"): 0}
    assert found["fairpatch_value"].samples[0].value == 0.7
    assert found["fairpatch_period_info"].samples[0].labels == {"period": "2026-11"}


def test_json_lines_are_appended(tmp_path):
    for period in ("2026-11", "2026-12"):
        outputs.json_lines(CHECKS, tmp_path / "v.jsonl", period=period)
    lines = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [line["period"] for line in lines] == ["2026-11"] * 4 + ["2026-12"] * 4
    assert lines[0]["kind"] == "fail"


def test_annotations_cannot_be_broken_out_of():
    lines = outputs.annotations(CHECKS)
    assert lines[0].startswith("::error title=fairpatch p_rule::")
    assert lines[0].endswith("broken%0A50%25")
    assert not any("\n" in line for line in lines)
    assert len(lines) == 3


def test_the_worst_decides():
    assert worst(CHECKS) == "fail"
    assert worst(CHECKS[1:]) == "unlike"
    assert worst(CHECKS[1:3]) == "unsure"
    assert worst(()) == "pass"
