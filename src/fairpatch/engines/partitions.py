"""A patch applied file by file, from a folder to a folder: resumable, each part written once.

A part appears under its name only when it is whole. Whoever is stopped runs the same call again:
what is there stays, what is missing is done. ``_plan.json`` says which files with which content,
which patch and which options it was begun with; where any of them differs, nothing is mixed.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpatch._extras import need
from fairpatch.files.atomic import sweep, whole_file, write_whole
from fairpatch.files.strict_json import dumps_safely, read_strictly
from fairpatch.patch import Patch, save
from fairpatch.patch.apply import CHANGED, apply

PATCH, PLAN, DONE, LOCK = "_patch.json", "_plan.json", "_SUCCESS", "_lock"
MOST_BYTES = 100_000_000
"""A plan names every file."""


@dataclass(frozen=True)
class Applied:
    """What was done."""

    rows: int
    changed: int
    parts: int
    kept: int
    """Parts that an earlier, stopped run had already written."""


def apply_files(
    patch: Patch,
    files: Sequence[str | Path],
    out: str | Path,
    score: str,
    *,
    read: Callable[[str], Any],
    with_score: bool = True,
    with_reason: bool = False,
    made_from: Sequence[str | Path] | None = None,
    made_with: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Applied:
    """Apply a patch to every file; ``read`` opens one as a DuckDB relation.

    ``made_from`` are the files to remember where those given were made from others, and will be
    again; ``made_with`` tells the base model. ``progress`` is called with parts done and
    parts in all.
    """
    out, names = Path(out), sorted(map(str, files))
    with_what = {"with_score": with_score, "with_reason": with_reason}
    before = [_state(name) for name in names]
    origins = sorted(map(str, names if made_from is None else made_from))
    plan = {
        "format": "fairpatch.plan",
        "version": 1,
        "patch_sha256": hashlib.sha256(patch.model_dump_json().encode()).hexdigest(),
        "options": {
            "score": score,
            "with_reason": with_reason,
            "model": made_with,
            **({} if with_score else {"with_score": False}),
        },
        "files": sorted((_about(name, origins) for name in origins), key=lambda f: f["name"]),
    }
    with _alone(out):
        parts = [out / f"part-{i:05d}.parquet" for i in range(len(names))]
        _claim(patch, plan, out, parts)
        (out / DONE).unlink(missing_ok=True)
        sweep(out)
        kept = 0
        for i, file in enumerate(names):
            part = parts[i]
            if part.exists():
                kept += 1
            else:
                with whole_file(part) as unfinished:
                    applied = apply(patch, read(file), score, **with_what)
                    applied.to_parquet(str(unfinished))
                    if _state(file) != before[i]:
                        raise ValueError(f"{file} changed while it was read: run the same again")
            if progress is not None:
                progress(i + 1, len(names))
        rows, changed = _count(out)
        write_whole(out / DONE, f"{len(names)} parts, {rows} rows")
    return Applied(rows, changed, len(names), kept)


def _claim(patch: Patch, plan: dict[str, Any], out: Path, parts: Sequence[Path]) -> None:
    """Make the folder this plan's, or refuse one that is another's."""
    there = {path.name for path in out.iterdir()} - {LOCK}
    if PLAN in there:
        old = read_strictly(out / PLAN, "a plan", MOST_BYTES)
        if old != plan:
            raise ValueError(
                f"{out} was begun {_difference(old, plan)}: use another folder, or take this "
                "one away and begin anew"
            )
        stray = sorted({p.name for p in out.glob("part-*")} - {part.name for part in parts})
        if stray:
            raise ValueError(f"{out} has {stray[0]}, which is no part of it: take it away")
        unknown = [f["name"] for f in plan["files"] if f["sha256"] is None]
        if unknown and any(part.exists() for part in parts):
            raise ValueError(
                f"whether {unknown[0]} is still what it was cannot be told: use another folder, or "
                "take this one away and begin anew"
            )
    elif any(not name.startswith(".") for name in there):
        raise ValueError(f"{out} is not empty and was not begun by fairpatch: use another folder")
    else:
        write_whole(out / PLAN, dumps_safely(plan))  # first: it makes the folder ours
    if PATCH not in there:
        save(patch, out / PATCH)


def _difference(old: Any, new: dict[str, Any]) -> str:
    """What differs between two plans, in words."""
    if not isinstance(old, dict) or old.get("patch_sha256") != new["patch_sha256"]:
        return "with another patch"
    if old.get("options") != new["options"]:
        return f"with other options ({old.get('options')})"
    was = {f["name"]: f for f in old.get("files", [])}
    now = {f["name"]: f for f in new["files"]}
    more, fewer = sorted(now.keys() - was.keys()), sorted(was.keys() - now.keys())
    other = sorted(name for name in now.keys() & was.keys() if now[name] != was[name])
    groups = [(more, "without"), (fewer, "also with"), (other, "with another content of")]
    return "; ".join(f"{how} {', '.join(names[:5])}" for names, how in groups if names)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Nobody else writes to the folder meanwhile; the lock goes with the process that holds it."""
    out.mkdir(parents=True, exist_ok=True)
    if os.name != "posix":
        yield
        return
    import fcntl  # noqa: PLC0415 not on every system

    handle = os.open(out / LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise ValueError(f"another run is writing to {out}: wait for it, or stop it") from None
    try:
        yield
    finally:
        os.close(handle)


def _about(name: str, names: Sequence[str]) -> dict[str, Any]:
    """A file's name among the others, size and content; of a table in a database its name."""
    path = Path(name)
    if not path.is_file() and "::" in name:  # a table of a DuckDB file
        path = Path(name.partition("::")[0])
    if not path.is_file():
        return {"name": name, "size": None, "sha256": None}
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    above = os.path.commonpath([str(Path(n).resolve().parent) for n in names])
    relative = name if "::" in name else os.path.relpath(path.resolve(), above)
    return {"name": relative, "size": path.stat().st_size, "sha256": digest}


def _state(name: str) -> tuple[int, int] | None:
    """What tells that a file was written to."""
    path = Path(name)
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else None


def _count(out: Path) -> tuple[int, int]:
    duckdb = need("duckdb", extra="cli")
    written = duckdb.connect().read_parquet(str(out / "part-*.parquet"))
    rows, changed = written.aggregate(f'count(*), count(*) FILTER ("{CHANGED}")').fetchall()[0]
    return int(rows), int(changed)
