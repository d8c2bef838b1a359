"""Verdicts as machines read them: files, lines for a pipeline, and the exit code."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from fairpatch.cli.say import command, note, refuse

if TYPE_CHECKING:
    from fairpatch._tools.verdict import Verdict
    from fairpatch.life.outputs import Check
    from fairpatch.report.figures import Finding

FOUND = 7
"""The exit code where the review found what ``--fail-on`` names."""


def tell(
    checks: "Sequence[Check]", *, period: str, junit: Path | None, metrics: Path | None,
    jsonl: Path | None, github: bool,
) -> None:  # fmt: skip
    """Write what was asked for; GitHub's annotations also where its runner is at work."""
    from fairpatch.life import outputs

    if junit is not None:
        outputs.junit(checks, junit, suite=period)
    if metrics is not None:
        outputs.metrics(checks, metrics, period=period)
    if jsonl is not None:
        outputs.json_lines(checks, jsonl, period=period)
    if github or os.environ.get("GITHUB_ACTIONS") == "true":
        for line in outputs.annotations(checks):
            command(line)


def tell_findings(flags: "Sequence[Finding]") -> None:
    """What a person must decide on before the patch is signed, as the review has it."""
    grave = [flag for flag in flags if flag.open]
    stops = sum(flag.level == "stop" for flag in grave)
    if not grave:
        note("No check of the review raised a finding to decide on.")
        return
    several = "s" if len(grave) > 1 else ""
    grades = f", {stops} of them speaking against signing" if stops else ""
    note(f"The review has {len(grave)} finding{several} to decide on{grades}:")
    for flag in grave:
        note(f"  {flag.level.upper()}: {flag.text}")


def check_fail_on(level: str | None) -> None:
    """Refuse a level that no finding has."""
    from fairpatch.report.figures import OPEN

    if level is not None and level not in OPEN:
        refuse(f"--fail-on must be {' or '.join(OPEN)}; got {level!r}")


def leave_if_found(flags: "Sequence[Finding]", level: str | None) -> None:
    """Exit with a code of its own where a finding is as grave as asked, or graver."""
    from fairpatch.report.figures import OPEN

    wanted = () if level is None else OPEN[: [str(o) for o in OPEN].index(level) + 1]
    if any(flag.level in wanted for flag in flags):
        sys.exit(FOUND)


def leave(verdict: "Verdict | None", *, certified: bool = True, watching: bool = False) -> NoReturn:
    """Exit with a verdict's code; what has not to be certified, nor watched, may stay open."""
    from fairpatch._tools.verdict import Verdict

    reached = verdict or Verdict.INCONCLUSIVE
    fine = not certified and reached in Verdict.open_ones()
    if watching and reached is Verdict.WATCH:
        fine = False
    sys.exit(0 if fine else reached.exit_code)
