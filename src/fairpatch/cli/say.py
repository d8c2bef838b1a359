"""What the command line says: results on stdout, everything else on stderr; JSON for machines."""

import os
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from fairpatch._tools.progress import clear

USAGE = 2
COMMAND = re.compile(r"^(\s*)([:#])([:#])", re.MULTILINE)


def results_only() -> None:
    """Keep stdout for results: what libraries print there by themselves goes to stderr.

    A solver's stray line at the end of a JSON text would make it unreadable.
    """
    if sys.stdout is None or sys.stderr is None:  # closed by the caller
        return
    sys.stdout.flush()
    results = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(results, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)


def say(text: str) -> None:
    """A result."""
    sys.stdout.write(harmless(text) + "\n")


def say_code(text: str) -> None:
    """A result for another program: as it is, unless a terminal would obey it."""
    sys.stdout.write((harmless(text) if sys.stdout.isatty() else text) + "\n")


def note(text: str) -> None:
    """Something beside the result."""
    sys.stderr.write(harmless(text) + "\n")


def harmless(text: str) -> str:
    """Text without what a terminal or a pipeline's runner obeys.

    Control characters and marks of direction are shown; a line that begins as a workflow command
    (``::error::``, ``##[error]``, ``##vso[``) has a blank put into its beginning.
    """
    shown = "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    return COMMAND.sub(r"\1\2 \3", shown)


def command(text: str) -> None:
    """A workflow command of our own, whose parts are escaped already."""
    sys.stderr.write("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
    sys.stderr.write("\n")


def complain(text: str) -> None:
    """What went wrong and what to do."""
    clear()
    colour = sys.stderr.isatty()
    sys.stderr.write(("\033[31merror:\033[0m " if colour else "error: ") + harmless(text) + "\n")


def progress(what: str) -> Callable[[int, int], None]:
    """Say how far it is, on a terminal only."""

    def show(done: int, whole: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{what} {done} of {whole}" + ("\n" if done == whole else ""))
            sys.stderr.flush()

    return show


def refuse(text: str) -> NoReturn:
    """Wrong usage."""
    complain(text)
    sys.exit(USAGE)


def say_json(data: Any) -> None:
    """A result for machines."""
    from fairpatch._tools.files import dumps_safely

    say(dumps_safely(data))
