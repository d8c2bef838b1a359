"""A patch as a JSON file: read without executing anything, written whole or not at all."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from fairpatch.patch.migrate import migrated
from fairpatch.patch.model import Patch

MAX_BYTES = 50_000_000
"""A patch is a few kilobytes; what is larger than this is something else."""


def save(patch: Patch, path: str | Path) -> Path:
    """Write the patch as readable JSON."""
    return write_whole(path, patch.model_dump_json(indent=2))


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file; an existing one is replaced only by a complete one."""
    path = Path(path)
    with whole_file(path) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to; what was written takes its name when it is complete and on disk."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    yield unfinished
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)


def load(path: str | Path) -> Patch:
    """Read a patch, of any version so far, checked against the schema."""
    path = Path(path)
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} is larger than {MAX_BYTES:,} bytes: not a patch")
    try:
        return Patch.model_validate_json(migrated(path.read_bytes()))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, p['loc'])) or 'file'}: {p['msg']}" for p in error.errors()[:5]
        )
        raise ValueError(f"{path} is not a patch that this version can read: {problems}") from None


def schema() -> str:
    """The JSON schema of a patch file, for editors and other tools."""
    return json.dumps(Patch.model_json_schema(), indent=2, sort_keys=True) + "\n"
