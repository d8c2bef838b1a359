"""Apply a patch to a table of scores: a new file with ratio, score, decision and change."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import SOURCES, PatchFile, Reasons, Score
from fairpatch.cli.run_folder import patch_path, score_of
from fairpatch.cli.say import refuse, say


def run(
    patch: PatchFile,
    data: Annotated[str, typer.Argument(help=SOURCES)],
    out: Annotated[Path, typer.Argument(help="file to write: .parquet or .csv")],
    score: Score = None,
    reasons: Reasons = False,
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
) -> None:
    """Stream through DuckDB; the file appears when it is complete, never before."""
    from fairpatch.engines.tables import CHANGED, apply
    from fairpatch.patch import load
    from fairpatch.patch.file import whole_file

    if out.suffix not in (".parquet", ".csv"):
        refuse(f"{out.name}: expected a name that ends in .parquet or .csv")
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
