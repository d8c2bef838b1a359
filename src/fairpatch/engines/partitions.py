"""A patch applied file by file, from a folder to a folder: resumable, each part written once.

A part appears under its name only when it is whole. Whoever is stopped runs the same call again:
what is there stays, what is missing is done. ``_patch.json`` says which patch it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpatch._extras import need
from fairpatch.patch import Patch, load, save
from fairpatch.patch.apply import CHANGED, apply
from fairpatch.patch.file import whole_file, write_whole

PATCH, DONE = "_patch.json", "_SUCCESS"


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
    with_reason: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Applied:
    """Apply a patch to every file; ``read`` opens one as a DuckDB relation.

    ``progress`` is called with parts done and parts in all.
    """
    out, names = Path(out), sorted(map(str, files))
    _claim(patch, out)
    kept = 0
    for i, file in enumerate(names):
        part = out / f"part-{i:05d}.parquet"
        if part.exists():
            kept += 1
        else:
            with whole_file(part) as unfinished:
                apply(patch, read(file), score, with_reason=with_reason).to_parquet(str(unfinished))
        if progress is not None:
            progress(i + 1, len(names))
    for left in out.glob(".*.unfinished"):
        left.unlink()  # of a run that was killed
    rows, changed = _count(out)
    write_whole(out / DONE, f"{len(names)} parts, {rows} rows")
    return Applied(rows, changed, len(names), kept)


def _claim(patch: Patch, out: Path) -> None:
    """Make the folder this patch's, or refuse one that is another's."""
    out.mkdir(parents=True, exist_ok=True)
    if (out / PATCH).exists():
        if load(out / PATCH) != patch:
            raise ValueError(f"{out} was begun with another patch: use another folder")
    elif any(out.iterdir()):
        raise ValueError(f"{out} is not empty and was not begun by fairpatch: use another folder")
    else:
        save(patch, out / PATCH)


def _count(out: Path) -> tuple[int, int]:
    duckdb = need("duckdb", extra="cli")
    written = duckdb.connect().read_parquet(str(out / "part-*.parquet"))
    rows, changed = written.aggregate(f'count(*), count(*) FILTER ("{CHANGED}")').fetchall()[0]
    return int(rows), int(changed)
