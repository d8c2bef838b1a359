"""Lines that are appended whole or not at all, whatever stops the writer, and whoever else writes.

A line counts from its line break on. What a killed writer left without one was never acknowledged;
the next writer takes it away.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: one writer at a time is the caller's affair
    fcntl = None  # type: ignore[assignment]

PRIVATE = 0o600


def append_line(
    path: Path,
    line_after: Callable[[list[bytes]], bytes],
    then: Callable[[], object] = lambda: None,
) -> bytes:
    """Append what ``line_after`` makes of the lines so far; on disk when this returns.

    Nobody else can append in between, nor before ``then`` is done: so a line may tell of the one
    before it, and a file beside it of the last line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path) as file:
        lines = _whole(os.read(file, os.fstat(file).st_size))
        line = line_after(lines)
        if b"\n" in line:
            raise ValueError("a line has no line break")
        whole = sum(len(written) + 1 for written in lines)
        os.ftruncate(file, whole)
        os.lseek(file, whole, os.SEEK_SET)
        _write_all(file, line + b"\n")
        os.fsync(file)
        then()
    return line


def lines_of(path: Path) -> list[bytes]:
    """The lines that were appended whole."""
    return _whole(path.read_bytes()) if path.exists() else []


def _whole(text: bytes) -> list[bytes]:
    *lines, _ = text.split(b"\n")
    return lines


def _write_all(file: int, text: bytes) -> None:
    while text:
        text = text[os.write(file, text) :]


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)  # goes with the process, even a killed one
        yield file
    finally:
        os.close(file)
