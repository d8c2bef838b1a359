"""Checks in the forms that other programs read: JUnit, OpenMetrics, JSON Lines, annotations."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

from fairpatch._extras import need
from fairpatch.life.checks import CODES, WORST, Check
from fairpatch.patch.strict import without_marks
from fairpatch.patch.whole import whole_file, write_whole

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(checks: Sequence[Check], path: Path, *, suite: str) -> None:
    """A test a check: what fails is a failure, what cannot be told yet is skipped."""
    broken = [c for c in checks if c.kind in ("fail", "missed", "unlike")]
    open_ones = [c for c in checks if c.kind == "unsure"]
    root = ET.Element(
        "testsuite",
        name=_xml(f"fairpatch {suite}"),
        tests=str(len(checks)),
        failures=str(len(broken)),
        skipped=str(len(open_ones)),
        errors="0",
    )
    for check in checks:
        case = ET.SubElement(
            root, "testcase", classname=_xml(f"fairpatch.{check.about}"), name=_xml(check.name)
        )
        if check in broken:
            ET.SubElement(case, "failure", message=_xml(check.text), type=check.kind)
        elif check in open_ones:
            ET.SubElement(case, "skipped", message=_xml(check.text))
    ET.indent(root)
    write_whole(path, ET.tostring(root, encoding="unicode", xml_declaration=True))


def metrics(checks: Sequence[Check], path: Path, *, period: str) -> None:
    """Gauges for the node exporter's textfile collector (a file that ends in .prom)."""
    client = need("prometheus_client", extra="monitor")
    registry = client.CollectorRegistry()
    labels = ["promise", "about"]
    verdict = client.Gauge(
        "fairpatch_verdict", "0 holds, 3 missed, 4 broken, 5 not known yet, 6 another model",
        labels, registry=registry,
    )  # fmt: skip
    figures = {
        name: client.Gauge(f"fairpatch_{name}", text, labels, registry=registry)
        for name, text in (
            ("limit", "what was promised"),
            ("value", "what was measured"),
            ("low", "lower end of the interval"),
            ("high", "upper end of the interval"),
        )
        if any(getattr(check, name) is not None for check in checks)
    }
    about = client.Gauge(
        "fairpatch_period_info", "the period judged last", ["period"], registry=registry
    )
    about.labels(period).set(1)
    # of two with the same name the worse one is told, last
    for check in sorted(checks, key=lambda c: -WORST.index(c.kind)):
        verdict.labels(check.name, check.about).set(CODES[check.kind])
        for name, gauge in figures.items():
            number = getattr(check, name)
            if number is not None:
                gauge.labels(check.name, check.about).set(number)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(client.generate_latest(registry))


def json_lines(checks: Sequence[Check], path: Path, *, period: str) -> None:
    """A line a check, appended."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for check in checks:
        text = json.dumps({"at": at, "period": period, **check.data}, ensure_ascii=False)
        with path.open("a", encoding="utf-8") as file:
            file.write(without_marks(text) + "\n")


def annotations(checks: Sequence[Check]) -> list[str]:
    """Lines that GitHub and what follows it show beside a change."""
    levels = {"fail": "error", "unlike": "error", "missed": "warning", "unsure": "notice"}
    return [
        f"::{levels[c.kind]} title=fairpatch {_command(c.name, inside=True)}::{_command(c.text)}"
        for c in checks
        if c.kind in levels
    ]


def _command(text: str, *, inside: bool = False) -> str:
    """Text that cannot end a workflow command or begin another."""
    signs = {"%": "%25", "\r": "%0D", "\n": "%0A"} | ({":": "%3A", ",": "%2C"} if inside else {})
    return "".join(signs.get(c, c) for c in text)


def _xml(text: str) -> str:
    """Text without what no XML may hold."""
    return NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
