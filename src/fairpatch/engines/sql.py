"""A patch as SQL text, from the same expressions, for whoever has a database and a batch job."""

from typing import Any, Literal, get_args

from fairpatch._extras import need
from fairpatch.patch import Patch
from fairpatch.patch.apply import apply
from fairpatch.patch.compare import figures, with_verdict

Dialect = Literal["duckdb", "spark", "postgres", "bigquery", "snowflake", "trino", "clickhouse"]
DIALECTS: tuple[str, ...] = get_args(Dialect)
FLOATING = ("bigquery", "clickhouse")
"""Dialects in which a fraction is a double by itself; in the others it is a decimal."""
NUMBER = "float32"
"""Any number or boolean: narrower than it may be, so that the text casts it to a double."""


def sql(
    patch: Patch,
    score: str,
    *,
    table: str = "people",
    dialect: Dialect = "duckdb",
    keep: tuple[str, ...] = (),
    with_score: bool = True,
    with_reason: bool = False,
) -> str:
    """A SELECT over ``table``: the columns to keep, then ratio, score, decision, change, reason.

    ``table`` may be qualified: schema.people, catalog.schema.people. Names and values are quoted by
    the dialect's own rules.
    """
    unbound = _unbound(patch, score, table, keep)
    applied = apply(patch, unbound, score, with_score=with_score, with_reason=with_reason)
    wanted = [*keep, *(c for c in applied.columns if c.startswith("fairpatch_"))]
    text = as_text(applied.select(*wanted), dialect)
    lost = [n for n in (*keep, score, *(c.name for c in patch.columns)) if not _named(n, text)]
    if lost:
        raise ValueError(
            f"{dialect} cannot have a column named {lost[0]!r}: rename it in the table and in the "
            "data the patch is learned from"
        )
    return text


def check_sql(
    patch: Patch, score: str, *, table: str = "people", dialect: Dialect = "duckdb"
) -> str:
    """The query that belongs to it: one row that says whether the table is like that of the fit.

    ``verdict`` is "alike", "notice" or "refuse"; the figures beside it are those of
    ``fairpatch.patch.compare``.
    """
    if patch.fingerprint is None:
        raise ValueError("this patch has no fingerprint: it was learned by an older fairpatch")
    found = figures(patch.fingerprint, _unbound(patch, score, table), score)
    return as_text(with_verdict(patch.fingerprint, found), dialect)


def _unbound(patch: Patch, score: str, table: str, keep: tuple[str, ...] = ()) -> Any:
    """A table of which only the names and types of columns are known."""
    types: dict[str, str] = dict.fromkeys(keep, "string")
    types |= {column.name: _type(patch, column) for column in patch.columns}
    types[score] = NUMBER
    name, where = place_of(table)
    return need("ibis", extra="sql").table(types, name=name, **where)


def place_of(table: str) -> tuple[str, dict[str, str]]:
    """A table's name, and where it lies: schema.people, catalog.schema.people."""
    *place, name = table.split(".")
    return name, dict(zip(("database", "catalog"), reversed(place), strict=False))


def as_text(table: Any, dialect: str) -> str:
    """An Ibis expression as a dialect's text, fractions as doubles."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}")
    ibis = need("ibis", extra="sql")
    spark = dialect == "spark"
    if spark:
        _ = ibis.pyspark  # registers the options that its compiler reads
        dialect = "pyspark"
    text = str(ibis.to_sql(table, dialect=dialect))
    return text if dialect in FLOATING else _in_doubles(text, "spark" if spark else dialect)


def _in_doubles(text: str, dialect: str) -> str:
    """The text with every fraction as a double: as a decimal, 1.3 - 0.3 is 1 and not nearly so."""
    sqlglot = need("sqlglot", extra="sql")
    exp = sqlglot.exp

    def double(node: Any) -> Any:
        fraction = isinstance(node, exp.Literal) and not node.is_string and not node.is_int
        return exp.cast(node.copy(), "double") if fraction else node

    tree = sqlglot.parse_one(text, dialect=dialect)
    return str(tree.transform(double).sql(dialect=dialect, pretty=True))


def _named(name: str, text: str) -> bool:
    """Whether a column's name is in the text as it is, but for the dialect's own quoting."""
    forms = [name, name.replace('"', '""'), name.replace("`", "``"), name.replace("`", "\\`")]
    forms.append(name.replace("\\", "\\\\"))
    return any(form in text for form in forms)


def _type(patch: Patch, column: Any) -> str:
    if column.kind == "number":
        return NUMBER
    levels = [
        entry.level
        for concept in patch.concepts
        for category in concept.categories
        if category.column == column.name
        for entry in category.levels
    ]
    if not levels and patch.fingerprint is not None:  # only a gap counts
        levels = [v for c in patch.fingerprint.columns if c.column == column.name for v in c.levels]
    if levels and all(isinstance(level, bool) for level in levels):
        return "boolean"
    if levels and all(isinstance(level, int) for level in levels):
        return "int64"
    if levels and all(isinstance(level, int | float) for level in levels):
        return "float64"
    return "string"
