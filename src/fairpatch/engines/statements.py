"""CREATE statements around a patch's query, in each dialect's own words."""

from typing import Any

from fairpatch._extras import need
from fairpatch.engines.dialects import BY_DUCKDB
from fairpatch.engines.sql import DIALECTS, as_text, check_written, column_type, unbound
from fairpatch.patch import Patch, decision_expr
from fairpatch.patch.apply import check_names
from fairpatch.patch.typed import typed

VIEW = {
    "sqlite": "DROP VIEW IF EXISTS {name};\nCREATE VIEW {name} AS\n{query};\n",
    "mssql": "CREATE OR ALTER VIEW {name} AS\n{query};\n",
}
"""Where it is not CREATE OR REPLACE VIEW."""
FUNCTION = {
    "duckdb": "CREATE OR REPLACE MACRO {name}({names}) AS (\n{body}\n);\n",
    "postgres": "CREATE OR REPLACE FUNCTION {name}({typed}) RETURNS BOOLEAN\n"
    "LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $fairpatch$ SELECT\n{body}\n$fairpatch$;\n",
    "snowflake": "CREATE OR REPLACE FUNCTION {name}({typed}) RETURNS BOOLEAN\nAS $$\n{body}\n$$;\n",
    "bigquery": "CREATE OR REPLACE FUNCTION {name}({typed}) RETURNS BOOL AS (\n{body}\n);\n",
    "databricks": "CREATE OR REPLACE FUNCTION {name}({typed}) RETURNS BOOLEAN\nRETURN\n{body};\n",
    "spark": "CREATE OR REPLACE TEMPORARY FUNCTION {name}({typed})\n"
    "RETURNS BOOLEAN RETURN\n{body};\n",
    "trino": "CREATE OR REPLACE FUNCTION {name}({typed}) RETURNS BOOLEAN\nRETURN\n{body};\n",
    "clickhouse": "CREATE OR REPLACE FUNCTION {name} AS ({names}) -> (\n{body}\n);\n",
    "mysql": "DROP FUNCTION IF EXISTS {name};\nCREATE FUNCTION {name}({typed}) RETURNS BOOLEAN\n"
    "DETERMINISTIC NO SQL RETURN (\n{body}\n);\n",
}
"""SQLite has no functions of its own, and those of SQL Server take no columns by their names."""


def view(name: str, query: str, dialect: str) -> str:
    """A statement that makes a view, or makes it anew."""
    form = VIEW.get(dialect, "CREATE OR REPLACE VIEW {name} AS\n{query};\n")
    return form.format(name=quoted(name, dialect), query=query)


def function(patch: Patch, score: str, name: str, dialect: str) -> str:
    """A statement that makes a function: a person's columns and f's probability in, decision out.

    Its arguments are the patch's columns in their order, then the score.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}")
    if dialect == "clickhouse" and "." in name:
        raise ValueError("a function of ClickHouse belongs to no database: give it one name")
    if dialect not in FUNCTION:
        raise ValueError(f"{dialect} has no such functions: deploy a view, --to view")
    check_names([score], [*(c.name for c in patch.columns), score])
    body = _expression(patch, score, dialect)
    names = (score, *(c.name for c in patch.columns))
    check_written(names, body, dialect, lambda: _expression(patch, score, "duckdb"))
    for sign in ("$$", "$fairpatch$"):
        if sign in body and sign in FUNCTION[dialect]:
            raise ValueError(f"a name or category has {sign!r} in it: deploy a view, --to view")
    given = [(c.name, column_type(patch, c)) for c in patch.columns] + [(score, "float64")]
    return FUNCTION[dialect].format(
        name=quoted(name, dialect),
        names=", ".join(quoted(given_name, dialect, dotted=False) for given_name, _ in given),
        typed=", ".join(
            f"{quoted(given_name, dialect, dotted=False)} {_kind(kind, dialect)}"
            for given_name, kind in given
        ),
        body=body,
    )


def quoted(name: str, dialect: str, *, dotted: bool = True) -> str:
    """A name in the dialect's quotes; of a qualified one each part."""
    exp = need("sqlglot", extra="sql").exp
    parts = name.split(".") if dotted else [name]
    written_as = BY_DUCKDB.get(dialect, dialect)
    return ".".join(exp.to_identifier(part, quoted=True).sql(dialect=written_as) for part in parts)


def _expression(patch: Patch, score: str, dialect: str) -> str:
    """The decision as one expression of the arguments."""
    nw, sqlglot = need("narwhals", extra="sql"), need("sqlglot", extra="sql")
    people = nw.from_native(unbound(patch, score, "people"))
    typed_patch = typed(patch, people.collect_schema())
    text = as_text(people.select(d=decision_expr(typed_patch, score)).to_native(), dialect)
    as_read = BY_DUCKDB.get(dialect, dialect)
    tree = sqlglot.parse_one(text, dialect=as_read).selects[0].unalias()
    for column in [*tree.find_all(sqlglot.exp.Column)]:
        column.set("table", None)
    return str(tree.sql(dialect=as_read, pretty=True))


def _kind(kind: str, dialect: str) -> str:
    exp = need("sqlglot", extra="sql").exp
    names = {"string": "text", "boolean": "boolean"}  # codes may come as 1.0
    held: Any = exp.DataType.build(names.get(kind, "double"))
    return str(held.sql(dialect=BY_DUCKDB.get(dialect, dialect)))
