"""Verdicts as machines read them: files, lines for a pipeline, and the exit code."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from fairpatch.cli.say import note

if TYPE_CHECKING:
    from fairpatch.life.checks import Check
    from fairpatch.verdict import Verdict


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
            note(line)


def leave(verdict: "Verdict | None", *, certified: bool = True) -> NoReturn:
    """Exit with a verdict's code; unless it has to be certified, inconclusive is fine."""
    from fairpatch.verdict import Verdict

    reached = verdict or Verdict.INCONCLUSIVE
    sys.exit(0 if not certified and reached is Verdict.INCONCLUSIVE else reached.exit_code)
