"""Verdicts for machines: each form read back by what reads it."""

import json
from xml.etree import ElementTree as ET

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fairpatch._tools.verdict import Verdict
from fairpatch.cli.verdicts import leave
from fairpatch.life import outputs
from fairpatch.life.outputs import Check, worst_of

CHECKS = (
    Check("p_rule", "sex", Verdict.REFUTED, "P-Rule at least 0.8 (sex): 0.7\n50%", 0.8, 0.7, 0.6,
          0.75),
    Check("max_changes", "everybody", Verdict.CERTIFIED, "fine", 0.1),
    Check("p_rule", 'a"b\\c]]>&\x00\u202e', Verdict.INCONCLUSIVE, "x::y %0A"),
    Check("likeness", "score", Verdict.OTHER_MODEL, "another model"),
)  # fmt: skip
# every verdict once: exit code, JUnit's element, annotation, tone of the page's light
MEANINGS = {
    Verdict.CERTIFIED: (0, None, None, "good"),
    Verdict.CONDITIONAL: (10, "skipped", "notice", "warn"),
    Verdict.INCONCLUSIVE: (5, "skipped", "notice", "warn"),
    Verdict.WATCH: (9, "skipped", "warning", "warn"),
    Verdict.NOT_MET: (3, "failure", "warning", "bad"),
    Verdict.OTHER_MODEL: (6, "failure", "error", "bad"),
    Verdict.GROUP_GONE: (8, "failure", "error", "bad"),
    Verdict.REFUTED: (4, "failure", "error", "bad"),
}


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_means_one_thing_to_every_machine(verdict, tmp_path):
    code, element, annotation, tone = MEANINGS[verdict]
    check = Check("p_rule", "sex", verdict, "text")
    assert (verdict.exit_code, verdict.tone) == (code, tone)
    outputs.junit([check], tmp_path / "junit.xml", suite="x")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert [child.tag for child in root[0]] == ([] if element is None else [element])
    assert root.get("failures") == str(int(element == "failure"))
    assert root.get("skipped") == str(int(element == "skipped"))
    lines = outputs.annotations([check])
    assert [line.partition(" ")[0] for line in lines] == (
        [] if annotation is None else [f"::{annotation}"]
    )
    outputs.metrics([check], tmp_path / "f.prom", period="x")
    assert (
        f'fairpatch_verdict{{about="sex",requirement="p_rule"}} {code}.0'
        in (tmp_path / "f.prom").read_text()
    )


@pytest.mark.parametrize("verdict", Verdict)
def test_a_command_leaves_with_the_code_of_its_verdict(verdict):
    with pytest.raises(SystemExit) as left:
        leave(verdict)
    assert left.value.code == verdict.exit_code
    with pytest.raises(SystemExit) as left:
        leave(verdict, certified=False)
    open_one = verdict in (Verdict.CONDITIONAL, Verdict.INCONCLUSIVE, Verdict.WATCH)
    assert left.value.code == (0 if open_one else verdict.exit_code)
    with pytest.raises(SystemExit) as left:
        leave(verdict, certified=False, watching=True)
    quiet = verdict in (Verdict.CONDITIONAL, Verdict.INCONCLUSIVE)
    assert left.value.code == (0 if quiet else verdict.exit_code)


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
    assert verdicts == {("sex", "p_rule"): 4, ("everybody", "max_changes"): 0}
    assert found["fairpatch_value"].samples[0].value == 0.7
    assert found["fairpatch_period_info"].samples[0].labels == {"period": "2026-11"}


def test_json_lines_are_appended(tmp_path):
    for period in ("2026-11", "2026-12"):
        outputs.json_lines(CHECKS, tmp_path / "v.jsonl", period=period)
    lines = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [line["period"] for line in lines] == ["2026-11"] * 4 + ["2026-12"] * 4
    assert lines[0]["verdict"] == "shown not to hold"


def test_annotations_cannot_be_broken_out_of():
    lines = outputs.annotations(CHECKS)
    assert lines[0].startswith("::error title=fairpatch p_rule::")
    assert lines[0].endswith("0.7%0A50%25")
    assert not any("\n" in line for line in lines)
    assert len(lines) == 3


def test_the_worst_decides():
    assert worst_of(CHECKS) is Verdict.REFUTED
    assert worst_of(CHECKS[1:]) is Verdict.OTHER_MODEL
    assert worst_of(CHECKS[1:3]) is Verdict.INCONCLUSIVE
    assert worst_of(()) is Verdict.CERTIFIED


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_checks_with_one_name_the_worse_one_counts(tmp_path, turned):
    both = [Check("p_rule", "sex", v, "") for v in (Verdict.CERTIFIED, Verdict.REFUTED)]
    outputs.metrics(both[::-1] if turned else both, tmp_path / "x.prom", period="2026-01")
    text = (tmp_path / "x.prom").read_text()
    (family,) = (f for f in text_string_to_metric_families(text) if f.name == "fairpatch_verdict")
    assert [sample.value for sample in family.samples] == [Verdict.REFUTED.exit_code]
