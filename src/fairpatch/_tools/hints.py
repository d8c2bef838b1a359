"""Hints for people: the name that was meant, and advice in the language of their door."""

from collections.abc import Iterable
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """A hint for a name that is nearly right; nothing otherwise."""
    names = {name.casefold(): name for name in known}
    near = get_close_matches(str(value).casefold(), list(names), 1)
    return f". Did you mean {names[near[0]]!r}?" if near else ""


def in_percent(low: float, high: float) -> str:
    """A hint for scores that were written as 0 to 100, or as points."""
    if low >= 0 and 100 < high <= 10_000:
        said = hint("Decision(score_unit='points', threshold=...)", "score_unit: points, and the "
                    "threshold in points, in the configuration")  # fmt: skip
        return f" It looks like points: then say {said}."
    if not (low >= 0 and 1 < high <= 100):
        return ""
    said = hint("Decision(score_unit='percent')", "score_unit: percent in the configuration")
    return f" It looks like percent: then say {said}."


_IN_THE_SHELL: ContextVar[bool] = ContextVar("in_the_shell", default=False)


def speak_shell() -> None:
    """From here on hints name flags instead of arguments: the command line says so once."""
    _IN_THE_SHELL.set(True)


def hint(python: str, shell: str) -> str:
    """Advice in the language of the door that the caller came through."""
    return shell if _IN_THE_SHELL.get() else python
