"""Print a patch as SQL for DuckDB, Spark, Postgres, BigQuery, Snowflake or Trino."""

from pathlib import Path
from typing import Annotated, cast

import typer

from fairpatch.cli.options import PatchFile, Reasons, Score
from fairpatch.cli.run_folder import asked_of, patch_path, score_of
from fairpatch.cli.say import refuse, say_code


def run(
    patch: PatchFile,
    dialect: Annotated[str, typer.Option(help="duckdb, spark, postgres, bigquery, ...")] = "duckdb",
    table: Annotated[str, typer.Option(help="name of the table")] = "people",
    score: Score = None,
    keep: Annotated[list[str] | None, typer.Option(help="column to keep; may be repeated")] = None,
    reasons: Reasons = False,
    with_score: Annotated[
        bool, typer.Option("--with-score", help="the patched score and the ratio as well")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="the query that tells whether the scores are alike")
    ] = False,
    test: Annotated[
        bool, typer.Option("--test", help="rows where the target is violated, a test for dbt")
    ] = False,
) -> None:
    """A SELECT to put into a batch job; with --check the one before it, with --test after it."""
    from fairpatch.engines.sql import Dialect, check_sql, sql
    from fairpatch.patch import load

    loaded = load(patch_path(patch))
    if test:
        say_code(_test(patch, table, dialect))
        return
    if check:
        column = score_of(patch, score)
        say_code(check_sql(loaded, column, table=table, dialect=cast(Dialect, dialect)) + ";")
        return
    say_code(
        sql(
            loaded,
            score_of(patch, score),
            table=table,
            dialect=cast(Dialect, dialect),
            keep=tuple(keep or ()),
            with_score=with_score,
            with_reason=reasons,
        )
        + ";"
    )


def _test(folder: Path, table: str, dialect: str) -> str:
    """The run's target, asked of a table that the patch was applied to."""
    from fairpatch.engines.dbt import replaced, stand_in
    from fairpatch.engines.sql import Dialect
    from fairpatch.engines.target_sql import target_sql
    from fairpatch.patch import load

    if not folder.is_dir():
        refuse("--test needs a run's folder: a patch file does not know the target")
    of = asked_of(folder)
    refs = {stand_in(): table} if "{{" in table else {}  # dbt's own references stay as they are
    patch = load(patch_path(folder))
    text = target_sql(
        of.target, patch.decision, patch.roles, sensitive=list(of.sensitive), label=of.label,
        table=next(iter(refs), table), dialect=cast(Dialect, dialect), groups=of.groups,
    )  # fmt: skip
    return replaced(text, refs, dialect)
