"""JSON read strictly: what could be understood in two ways is refused, with what to do."""

import json
from math import isfinite
from pathlib import Path
from typing import Any

MOST_BYTES = 2_000_000
"""A patch is a few kilobytes; what is larger than this is something else."""


def read_strictly(path: Path, what: str, most: int = MOST_BYTES) -> Any:
    """The data of a JSON file; a sentence where it is not what it should be."""
    if path.is_dir():
        raise FileNotFoundError(f"{path} is a folder: name the file in it")
    if not path.exists():  # a pipe is fine
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    size = path.stat().st_size
    if size > most:
        raise ValueError(
            f"{path} is not {what}: it has {size:,} bytes, more than the {most:,} that are read"
        )
    try:
        return loads_strictly(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not {what} that can be read: {error}") from None


def loads_strictly(text: bytes) -> Any:
    """The same of a text.

    >>> loads_strictly(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: 'a' is given twice; keep one of the two
    """
    try:
        data = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=_whole,
        )
        json.dumps(data, ensure_ascii=False).encode("utf-8")  # half a character is none
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON ({error})") from None
    except UnicodeError:
        raise ValueError("it is not text in UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return data


def dumps_safely(data: Any) -> str:
    r"""Data as readable JSON; what a terminal would obey or hide is written as its number.

    >>> print(dumps_safely(["\u202eabc", "é"]))
    [
     "\u202eabc",
     "é"
    ]
    """
    return without_marks(json.dumps(data, indent=1, ensure_ascii=False))


def without_marks(text: str) -> str:
    """JSON text without control characters and marks of direction: by their numbers instead."""
    if text.replace("\n", "").isprintable():  # as a rule, and there may be megabytes of it
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is given twice; keep one of the two")
    return mapping


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number; give a finite one, or null where there is none")


def _finite(text: str) -> float:
    value = float(text)
    return value if isfinite(value) else _no_number(text)


def _whole(text: str) -> int:
    if len(text) > 30:
        raise ValueError(f"a number of {len(text)} digits is larger than any that is used")
    return int(text)
