"""Write a folder to deploy in a warehouse: views, functions or dbt models, with their tests."""

from pathlib import Path
from typing import Annotated, cast

import typer

from fairpatch.cli.options import PatchFile, Pilot, Score
from fairpatch.cli.run_folder import asked_of, patch_path, piloted, score_of
from fairpatch.cli.say import refuse, say


def run(
    patch: PatchFile,
    out: Annotated[Path, typer.Argument(help="a new folder")],
    to: Annotated[str, typer.Option(help="view, function or dbt")] = "view",
    dialect: Annotated[str, typer.Option(help="duckdb, spark, postgres, bigquery, ...")] = "duckdb",
    table: Annotated[str, typer.Option(help="the table of people; for dbt its model")] = "people",
    name: Annotated[str, typer.Option(help="what to call the view, function or model")] = "decided",
    key: Annotated[str | None, typer.Option(help="column that tells people apart")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="column to keep; may be repeated")] = None,
    pilot: Pilot = None,
    score: Score = None,
) -> None:
    """Statements, tests, a monitoring query, the way back, and a page that explains them."""
    from fairpatch.engines.deploy import Destination, Kind, pack, untested
    from fairpatch.engines.sql import Dialect
    from fairpatch.files.atomic import whole_folder
    from fairpatch.patch import load
    from fairpatch.patch.file import text_of

    if to not in ("view", "function", "dbt"):
        refuse(f"--to must be view, function or dbt; got {to!r}")
    if out.exists():
        refuse(f"{out} exists: name a new folder")
    loaded = piloted(load(patch_path(patch)), pilot, key)
    key = key or loaded.roles.key
    place = Destination(table, name, key, tuple(keep or ()), cast("Dialect", dialect))
    audited = asked_of(patch) if patch.is_dir() else None
    if audited is not None and loaded.roles.probable:
        say("groups are drawn by probabilities: audit and monitoring are fairpatch's own, no query")
        audited = None
    files = pack(loaded, score_of(patch, score), cast("Kind", to), place, audited)
    with whole_folder(out) as unfinished:
        own = patch_path(patch).read_text("utf-8") if pilot is None else text_of(loaded)
        for file, text in {**files, "patch.json": own}.items():
            path = unfinished / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    say(f"wrote {out}: {len(files) + 1} files. Read {out / 'README.md'} first")
    if to != "function" and (audited is None or key is None):
        lacks = "a run's folder" if audited is None else "--key, the column that tells people apart"
        say(f"without {lacks} there is no audit: no test of the target, no monitoring")
    elif audited is not None and untested(audited.target, audited.label):
        left = ", ".join(untested(audited.target, audited.label))
        say(f"not tested by a query: {left}. fairpatch monitor judges it")
