"""Print a patch as SQL for DuckDB, Spark, Postgres, BigQuery, Snowflake or Trino."""

from typing import Annotated, cast

import typer

from fairpatch.cli.options import PatchFile, Reasons, Score
from fairpatch.cli.run_folder import patch_path, score_of
from fairpatch.cli.say import say_code


def run(
    patch: PatchFile,
    dialect: Annotated[str, typer.Option(help="duckdb, spark, postgres, bigquery, ...")] = "duckdb",
    table: Annotated[str, typer.Option(help="name of the table")] = "people",
    score: Score = None,
    keep: Annotated[list[str] | None, typer.Option(help="column to keep; may be repeated")] = None,
    reasons: Reasons = False,
    check: Annotated[
        bool, typer.Option("--check", help="the query that tells whether the scores are alike")
    ] = False,
) -> None:
    """A SELECT to put into a batch job; with --check the one to run before it."""
    from fairpatch.engines.sql import Dialect, check_sql, sql
    from fairpatch.patch import load

    found = load(patch_path(patch))
    if check:
        column = score_of(patch, score)
        say_code(check_sql(found, column, table=table, dialect=cast(Dialect, dialect)) + ";")
        return
    say_code(
        sql(
            found,
            score_of(patch, score),
            table=table,
            dialect=cast(Dialect, dialect),
            keep=tuple(keep or ()),
            with_reason=reasons,
        )
        + ";"
    )
