"""Files that are written whole or not at all, whatever stops the writer."""

import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
