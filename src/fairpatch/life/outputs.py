"""Every verdict of a command in one form, and as JUnit, OpenMetrics, JSON Lines, annotations."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from fairpatch._tools.extras import need
from fairpatch._tools.files import whole_file, without_marks, write_whole
from fairpatch._tools.verdict import Verdict, exit_codes, worst
from fairpatch.choose.certificate import Certificate

# Checks: every verdict of a command in one form, for whatever machine reads it.


@dataclass(frozen=True)
class Check:
    """One verdict."""

    name: str
    about: str
    verdict: Verdict
    text: str
    limit: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "verdict": str(self.verdict)}


def worst_of(checks: Sequence[Check]) -> Verdict:
    """The worst verdict of some checks."""
    return worst(check.verdict for check in checks)


def checks_of(certificate: Certificate) -> tuple[Check, ...]:
    """The results of a certificate, with as much of their figures as may be shown."""
    return tuple(
        Check(
            name=result.requirement.name, about=result.feature, verdict=result.verdict,
            text=f"{result.requirement} ({result.feature}): {result.verdict}, {estimate}",
            limit=result.requirement.limit, value=estimate.value, low=estimate.low,
            high=estimate.high,
        )
        for result, (estimate, _) in zip(certificate.results, certificate.shown, strict=True)
    )  # fmt: skip


# Checks in the forms that other programs read: JUnit, OpenMetrics, JSON Lines, annotations.

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(checks: Sequence[Check], path: Path, *, suite: str) -> None:
    """A test a check: what fails is a failure, what is open is skipped."""
    failed = [c for c in checks if c.verdict.fails]
    skipped = [c for c in checks if c.verdict in Verdict.open_ones()]
    root = ET.Element(
        "testsuite",
        name=_xml(f"fairpatch {suite}"),
        tests=str(len(checks)),
        failures=str(len(failed)),
        skipped=str(len(skipped)),
        errors="0",
    )
    for check in checks:
        case = ET.SubElement(
            root, "testcase", classname=_xml(f"fairpatch.{check.about}"), name=_xml(check.name)
        )
        if check in failed:
            ET.SubElement(case, "failure", message=_xml(check.text), type=str(check.verdict))
        elif check in skipped:
            ET.SubElement(case, "skipped", message=_xml(check.text))
    ET.indent(root)
    write_whole(path, ET.tostring(root, encoding="unicode", xml_declaration=True))


def metrics(checks: Sequence[Check], path: Path, *, period: str) -> None:
    """Gauges for the node exporter's textfile collector (a file that ends in .prom)."""
    client = need("prometheus_client", extra="monitor")
    registry = client.CollectorRegistry()
    labels = ["requirement", "about"]
    verdict = client.Gauge("fairpatch_verdict", exit_codes(), labels, registry=registry)
    figures = {
        name: client.Gauge(f"fairpatch_{name}", text, labels, registry=registry)
        for name, text in (
            ("limit", "the limit of the target"),
            ("value", "what was measured"),
            ("low", "lower end of the interval"),
            ("high", "upper end of the interval"),
        )
        if any(getattr(check, name) is not None for check in checks)
    }
    about = client.Gauge(
        "fairpatch_period_info", "the period judged last", ["period"], registry=registry
    )
    about.labels(one_line(period)).set(1)
    # of two with the same name the worse one counts, which is set last
    for check in sorted(checks, key=lambda c: list(Verdict).index(c.verdict)):
        named = one_line(check.name), one_line(check.about)
        verdict.labels(*named).set(check.verdict.exit_code)
        for name, gauge in figures.items():
            number = getattr(check, name)
            if number is not None:
                gauge.labels(*named).set(number)
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
    return [
        f"::{c.verdict.annotation} title=fairpatch {_command(c.name, inside=True)}::"
        f"{_command(c.text)}"
        for c in checks
        if c.verdict.annotation is not None
    ]


def one_line(text: str) -> str:
    r"""Text whose line breaks and other signs that are not shown are written out.

    >>> one_line("a\rb")
    'a\\u000db'
    """
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _command(text: str, *, inside: bool = False) -> str:
    """Text that cannot end a workflow command or begin another."""
    signs = {"%": "%25", "\r": "%0D", "\n": "%0A"} | ({":": "%3A", ",": "%2C"} if inside else {})
    return "".join(signs.get(c, c) for c in text)


def _xml(text: str) -> str:
    """Text without what no XML may hold."""
    return NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
