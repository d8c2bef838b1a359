"""Files that are read strictly, and written whole or not at all, whatever stops the writer."""

import atexit
import json
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any

# Files that are written whole or not at all, whatever stops the writer.

UNFINISHED = ".unfinished"


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file; an existing one is replaced only by a complete one."""
    path = Path(path)
    with whole_file(path) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to; what was written takes its name when it is complete and on disk.

    The place is a new file of a name that nobody can guess: what lies in its way, such as a link to
    elsewhere, is never written to. Where writing fails it is taken away, and what a killed writer
    has left goes with the next one.
    """
    _check_place(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and a file is needed: give it another name")
    sweep(path.parent, path.name)
    unfinished = _place(path)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            unfinished.unlink()
        raise


LOCK = ".fairpatch-writes-here"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """A folder that can be written to, and that no other process is writing: found out first."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / LOCK
    file = os.open(lock, os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileExistsError(
                    f"another process is writing {folder}: wait for it, or use another folder"
                ) from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
    finally:
        os.close(file)
        if new:
            with suppress(OSError):  # not empty, as a rule
                folder.rmdir()


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A name for a new folder; what was written there takes its own name when it is complete."""
    _check_place(path)
    sweep(path.parent, path.name)
    unfinished = _place(path)
    try:
        yield unfinished
        unfinished.rename(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _check_place(path: Path) -> None:
    """Say which folder is missing, by its own name."""
    if not path.parent.is_dir():
        what = "is a file, no folder" if path.parent.exists() else "does not exist: make it first"
        raise FileNotFoundError(f"{path} cannot be written: {path.parent} {what}")


def _place(path: Path) -> Path:
    """A name beside a path that says whose it is, and that nobody can guess."""
    owner = f"{socket.gethostname()}~{os.getpid()}~{secrets.token_hex(6)}"
    return path.with_name(f".{path.name}.{owner}{UNFINISHED}")


def sweep(folder: Path, name: str = "") -> None:
    """Take away what killed writers have left in a folder, of one file or of all."""
    for left in folder.iterdir() if folder.is_dir() else ():
        name_left = left.name.removeprefix("tmp_")  # DuckDB writes to such a name first
        if name_left.startswith(f".{name}") and name_left.endswith(UNFINISHED) and _orphan(left):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            with suppress(OSError):
                left.unlink()


def _orphan(unfinished: Path) -> bool:
    """Whether its writer, a process of this machine, is no more."""
    host, _, rest = unfinished.name.removesuffix(UNFINISHED).rpartition("~")[0].rpartition("~")
    if os.name != "posix" or not host.endswith(f".{socket.gethostname()}") or not rest.isdigit():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


# A folder that nobody else can read, and that goes when this process ends.

_NUMBER = count()


def private_file(name: str) -> Path:
    """A new place for a file of this name."""
    folder = _folder() / str(next(_NUMBER))
    folder.mkdir()
    return folder / name


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fairpatch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# Lines that are appended whole or not at all, whatever stops the writer, and whoever else writes.
#
# A line counts from its line break on. What a killed writer left without one was never
# acknowledged; the next writer takes it away.

try:
    import fcntl
except ImportError:  # Windows: one writer at a time is the caller's affair
    fcntl = None  # type: ignore[assignment]

PRIVATE = 0o600


def append_line(
    path: Path,
    line_after: Callable[[list[bytes]], bytes | None],
    then: Callable[[], object] = lambda: None,
) -> bytes | None:
    """Append what ``line_after`` makes of the lines so far; on disk when this returns.

    Nothing where it makes nothing of them.

    Nobody else can append in between, nor before ``then`` is done: so a line may tell of the one
    before it, and a file beside it of the last line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path) as file:
        lines = _whole_lines(os.read(file, os.fstat(file).st_size))
        line = line_after(lines)
        if line is None:
            return None
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
    return _whole_lines(path.read_bytes()) if path.exists() else []


def _whole_lines(text: bytes) -> list[bytes]:
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


# JSON read strictly: what could be understood in two ways is refused, with what to do.

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
        seen: set[str] = set()
        for name, _ in pairs:  # the first that comes again, in one pass
            if name in seen:
                raise ValueError(f"{name!r} is given twice; keep one of the two")
            seen.add(name)
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
