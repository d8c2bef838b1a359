"""Apply a patch to a table of scores: a new file with ratio, score, decision and change."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import SOURCES, PatchFile, Reasons, Score
from fairpatch.cli.run_folder import patch_path, score_of
from fairpatch.cli.say import progress, refuse, say


def run(
    patch: PatchFile,
    data: Annotated[str, typer.Argument(help=SOURCES)],
    out: Annotated[Path, typer.Argument(help="file.parquet, file.csv, or a folder")],
    score: Score = None,
    reasons: Reasons = False,
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
) -> None:
    """Stream through DuckDB; a file appears when it is complete, never before."""
    from fairpatch.patch import load
    from fairpatch.patch.apply import CHANGED, apply
    from fairpatch.patch.file import whole_file

    if not out.suffix:
        _by_parts(patch, data, out, score, reasons=reasons)
        return
    if out.suffix not in (".parquet", ".csv"):
        refuse(f"{out.name}: expected a name that ends in .parquet or .csv, or a folder's")
    if out.exists() and not force:
        refuse(f"{out} exists; use --force to replace it, or another name")
    source = tables.relation(data)
    applied = apply(load(patch_path(patch)), source, score_of(patch, score), with_reason=reasons)
    for left in out.parent.glob(f".{out.name}.*.unfinished"):
        left.unlink()  # of a run that was killed
    with whole_file(out) as unfinished:
        applied.to_csv(str(unfinished)) if out.suffix == ".csv" else applied.to_parquet(
            str(unfinished)
        )
    written = tables.relation(str(out))
    rows, changed = written.aggregate(f'count(*), count(*) FILTER ("{CHANGED}")').fetchall()[0]
    say(f"wrote {out}: {rows:,} rows, {changed:,} decisions change ({changed / max(rows, 1):.1%})")


def _by_parts(patch: Path, data: str, out: Path, score: str | None, *, reasons: bool) -> None:
    """A folder: one part for every file of the data; a stopped run goes on where it was."""
    from fairpatch.engines.partitions import apply_files
    from fairpatch.patch import load

    done = apply_files(
        load(patch_path(patch)), tables.files(data), out, score_of(patch, score),
        read=tables.relation, with_reason=reasons, progress=progress("part"),
    )  # fmt: skip
    before = f"; {done.kept} parts were there already" if done.kept else ""
    say(f"wrote {out}: {done.rows:,} rows in {done.parts} parts, {done.changed:,} decisions "
        f"change ({done.changed / max(done.rows, 1):.1%}){before}")  # fmt: skip
