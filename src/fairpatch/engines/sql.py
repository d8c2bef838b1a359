"""A patch as SQL text, from the same expressions, for whoever has a database and a batch job."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

from fairpatch import _checks as check
from fairpatch._extras import need
from fairpatch.engines.dialects import BY_DUCKDB, in_dialect
from fairpatch.identity.compare import figures, with_verdict
from fairpatch.patch import Patch
from fairpatch.patch.apply import apply
from fairpatch.patch.expressions import MANY

Dialect = Literal[
    "duckdb", "spark", "postgres", "bigquery", "snowflake", "trino", "clickhouse", "databricks",
    "sqlite", "mysql", "mssql",
]  # fmt: skip
DIALECTS: tuple[str, ...] = get_args(Dialect)
NAN = "treat_nan_as_null"
TOO_MANY = (
    "a column of this patch has too many categories with weights of their own to be written as SQL "
    "(about 50 can): keep it from the patch, learn a card, or apply it in an engine"
)
NUMBER = "float32"
"""Any number or boolean: narrower than it may be, so that the text casts it to a double."""


def sql(
    patch: Patch,
    score: str,
    *,
    table: str = "people",
    dialect: Dialect = "duckdb",
    keep: tuple[str, ...] = (),
    with_score: bool = False,
    with_reason: bool = False,
) -> str:
    """A SELECT over ``table``: the columns to keep, then points, decision, change, reason.

    With the score also the ratio, which the paper's patches always have.

    ``table`` may be qualified: schema.people, catalog.schema.people. Names and values are quoted by
    the dialect's own rules.
    """
    check.names("keep", keep)
    check.a("table", table, str, "people, or schema.people", needed=True)
    people = unbound(patch, score, table, keep)
    applied = apply(patch, people, score, with_score=with_score, with_reason=with_reason)
    wanted = [*keep, *(c for c in applied.columns if c.startswith("fairpatch_"))]
    text = as_text(applied.select(*wanted), dialect)
    wanted_names = (*keep, score, *(c.name for c in patch.columns))
    check_written(wanted_names, text, dialect, lambda: as_text(applied.select(*wanted), "duckdb"))
    return text


def check_written(
    names: Iterable[str], text: str, dialect: str, by_duckdb: Callable[[], str]
) -> None:
    """Refuse SQL in which some column goes by another name: two might share it.

    ``by_duckdb`` gives the same in DuckDB's words, which writes every name as it is: a column that
    is not there either adds nothing, and is not asked for.
    """
    lost = set(names) - _identifiers(text, dialect)
    if lost:
        lost &= _identifiers(by_duckdb(), "duckdb")
    if lost:
        raise ValueError(
            f"{dialect} cannot have a column named {min(lost)!r}: rename it in the table and in "
            "the data the patch is learned from"
        )


def _identifiers(text: str, dialect: str) -> set[str]:
    sqlglot = need("sqlglot", extra="sql")
    tree = sqlglot.parse_one(text, dialect=BY_DUCKDB.get(dialect, dialect))
    return {identifier.name for identifier in tree.find_all(sqlglot.exp.Identifier)}


def check_sql(
    patch: Patch, score: str, *, table: str = "people", dialect: Dialect = "duckdb"
) -> str:
    """The query that belongs to it: one row that says whether the table is like that of the fit.

    ``verdict`` is "alike", "notice" or "refuse"; the figures beside it are those of
    ``fairpatch.identity.compare``.
    """
    if patch.fingerprint is None:
        raise ValueError("this patch has no fingerprint: it was learned by an older fairpatch")
    query = figures(patch, patch.fingerprint, unbound(patch, score, table), score)
    return as_text(with_verdict(patch.fingerprint, query), dialect)


def unbound(patch: Patch, score: str, table: str, keep: tuple[str, ...] = ()) -> Any:
    """A table of which only the names and types of columns are known."""
    listed = [len(c.categories) for concept in patch.concepts for c in concept.categories]
    if max(listed, default=0) > MANY:
        raise ValueError(TOO_MANY)
    types: dict[str, str] = dict.fromkeys(keep, "string")
    types |= {column.name: column_type(patch, column) for column in patch.columns}
    types[score] = NUMBER
    name, where = place_of(table)
    return need("ibis", extra="sql").table(types, name=name, **where)


def place_of(table: str) -> tuple[str, dict[str, str]]:
    """A table's name, and where it lies: schema.people, catalog.schema.people."""
    *place, name = table.split(".")
    if len(place) > 2 or not all((*place, name)):
        raise ValueError(
            f"expected a table as people, schema.people or catalog.schema.people; got {table!r}"
        )
    return name, dict(zip(("database", "catalog"), reversed(place), strict=False))


def as_text(table: Any, dialect: str) -> str:
    """An Ibis expression as a dialect's text."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}")
    ibis = need("ibis", extra="sql")
    if dialect == "spark" and ibis.options.pyspark is None:
        # its compiler reads an option of the backend, which is there only where Spark is
        ibis.options.pyspark = type(
            "Options", (ibis.config.Config,), {"__annotations__": {NAN: bool}, NAN: False}
        )()
    written_as = {"spark": "pyspark", **dict.fromkeys(BY_DUCKDB, "duckdb")}.get(dialect, dialect)
    try:
        return in_dialect(str(ibis.to_sql(table, dialect=written_as)), dialect)
    except RecursionError:
        raise ValueError(TOO_MANY) from None


def column_type(patch: Patch, column: Any) -> str:
    """What a column of the patch is called by Ibis."""
    if column.kind == "number":
        return NUMBER
    categories = [
        entry.category
        for concept in patch.concepts
        for category in concept.categories
        if category.column == column.name
        for entry in category.categories
    ]
    for lock in patch.card.locked if patch.card is not None else ():
        categories += lock.values if lock.column == column.name else ()
    cuts = patch.decision.cuts
    if cuts is not None and cuts.by == column.name:
        categories += [cut.value for cut in cuts.at]
    if not categories and patch.fingerprint is not None:  # only a gap counts
        categories = [
            v for c in patch.fingerprint.columns if c.column == column.name for v in c.categories
        ]
    if categories and all(isinstance(category, bool) for category in categories):
        return "boolean"
    if categories and all(isinstance(category, int) for category in categories):
        return "int64"
    if categories and all(isinstance(category, int | float) for category in categories):
        return "float64"
    return "string"
