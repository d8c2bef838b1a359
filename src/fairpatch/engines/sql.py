"""A patch as SQL text, from the same expressions, in each dialect's own words."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

from fairpatch._tools import checks as check
from fairpatch._tools.extras import need
from fairpatch.identity.compare import figures, with_verdict
from fairpatch.patch import Patch, decision_expr
from fairpatch.patch.apply import apply, check_names
from fairpatch.patch.column_types import typed
from fairpatch.patch.expressions import MANY

# What dialects do their own way, mended in the tree of a query before it becomes text.
#
# ClickHouse and BigQuery take a fraction for a double; in the others it is a decimal. SQL Server
# has no booleans that could be stored; MySQL and SQL Server compare texts without their case.

FLOATING = ("bigquery", "clickhouse")
"""Dialects in which a fraction is a double by itself."""
BY_DUCKDB = {"mysql": "mysql", "mssql": "tsql"}
"""Dialects that are written from DuckDB's text, and what sqlglot calls them."""
SAME_TEXT = "Latin1_General_100_BIN2"
"""SQL Server's collation that tells every letter from every other."""


def in_dialect(text: str, dialect: str) -> str:
    """Ibis's text as the dialect should have it."""
    sqlglot = need("sqlglot", extra="sql")
    exp = sqlglot.exp
    written_as = BY_DUCKDB.get(dialect, dialect)
    tree = sqlglot.parse_one(text, dialect="duckdb" if dialect in BY_DUCKDB else dialect)
    for node in [*tree.find_all(exp.Case)][::-1]:  # the innermost first
        _one_case(node, exp)
    if dialect not in FLOATING:
        tree = tree.transform(_double, exp)
    if dialect == "mysql":
        tree = tree.transform(_as_bytes, exp)
    if dialect == "mssql":
        for select in [*tree.find_all(exp.Select)]:
            _group_by_columns(select, exp)
            _in_bits(select, exp)
        tree = tree.transform(_collated, exp)
    text = str(tree.sql(dialect=written_as, pretty=True))
    names = [*tree.find_all(exp.Literal), *tree.find_all(exp.Identifier)]
    return text if any("\n" in str(name.this) for name in names) else _on_one_line(text)


def _on_one_line(text: str) -> str:
    """WHEN and THEN on one line, and what is short in brackets: a card is read, not only run."""
    for _ in range(2):  # also brackets in brackets
        text = re.sub(r"\(\n\s+([^\n]{1,95})\n\s+\)", _if_balanced, text)
    return re.sub(r"(WHEN [^\n]{1,90})\n\s+THEN (-?[\w.]{1,12})(?=\n)", r"\1 THEN \2", text)


def _if_balanced(found: re.Match[str]) -> str:
    """A line in brackets without the breaks, unless its own brackets end elsewhere."""
    inside, open_ = found[1], 0
    for letter in inside:
        open_ += {"(": 1, ")": -1}.get(letter, 0)
        if open_ < 0:
            return found[0]
    return found[0] if open_ else f"({inside})"


def _one_case(node: Any, exp: Any) -> None:
    """CASE a ELSE (CASE b ELSE c END) END as CASE a b ELSE c END, for people who read it."""
    inner = node.args.get("default")
    if isinstance(inner, exp.Case) and node.this is None and inner.this is None:
        node.set("ifs", [*node.args["ifs"], *inner.args["ifs"]])
        node.set("default", inner.args.get("default"))


def _double(node: Any, exp: Any) -> Any:
    """Every fraction as a double: as a decimal, 1.3 - 0.3 is 1 and not nearly so."""
    fraction = isinstance(node, exp.Literal) and not node.is_string and not node.is_int
    return exp.cast(node.copy(), "double") if fraction else node


def _text_of(node: Any, exp: Any) -> bool:
    """Whether a column is compared with a text."""
    column = isinstance(node, exp.EQ) and isinstance(node.this, exp.Column)
    other = node.expression if column else None
    return isinstance(other, exp.Literal) and other.is_string


def _as_bytes(node: Any, exp: Any) -> Any:
    """MySQL finds 'a' equal to 'A' and to 'a ': it compares bytes exactly."""
    if not _text_of(node, exp):
        return node
    sqlglot = need("sqlglot", extra="sql")
    form = "CAST(CONVERT(held USING utf8mb4) AS BINARY) = CAST('told' AS BINARY)"
    parsed = sqlglot.parse_one(form, dialect="mysql")
    parsed.find(exp.Column).replace(node.this.copy())
    parsed.find(exp.Literal).replace(node.expression.copy())
    return parsed


def _collated(node: Any, exp: Any) -> Any:
    """SQL Server finds 'a' equal to 'A'; blanks at the end never count there."""
    if not _text_of(node, exp):
        return node
    collated = exp.Collate(this=node.this.copy(), expression=exp.Var(this=SAME_TEXT))
    return exp.EQ(this=collated, expression=exp.National(this=node.expression.this))


def _group_by_columns(select: Any, exp: Any) -> None:
    """GROUP BY 1 as the column that it means: SQL Server takes no numbers there."""
    group = select.args.get("group")
    for node in [] if group is None else list(group.expressions):
        if isinstance(node, exp.Literal) and node.is_int:
            node.replace(select.selects[int(node.this) - 1].unalias().copy())


def _in_bits(select: Any, exp: Any) -> None:
    """1, 0 or null wherever a query's value is a condition, and = 1 wherever a column is one."""
    conditions = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)

    def bare(node: Any) -> Any:
        while isinstance(node, exp.Paren):
            node = node.this
        return node

    def is_condition(node: Any) -> bool:
        node = bare(node)
        return isinstance(node, conditions) and not isinstance(node, exp.Subquery)

    def value(node: Any) -> Any:
        if is_condition(node):
            true = condition(node)
            yes, no = exp.Literal.number(1), exp.Literal.number(0)
            return exp.Case(
                ifs=[
                    exp.If(this=true, true=yes),
                    exp.If(this=exp.Not(this=exp.Paren(this=true.copy())), true=no),
                ]
            )
        if isinstance(node, exp.Case):
            for branch in node.args["ifs"]:
                branch.set("this", condition(branch.this))
                branch.set("true", value(branch.args["true"]))
            if node.args.get("default") is not None:
                node.set("default", value(node.args["default"]))
            return node
        if isinstance(node, exp.Query):
            return node  # it has its own turn
        return inside(node)

    def inside(node: Any) -> Any:
        for key, child in list(node.args.items()):
            if isinstance(child, exp.Expression):
                node.set(key, value(child))
            elif isinstance(child, list):
                node.set(key, [value(c) if isinstance(c, exp.Expression) else c for c in child])
        return node

    def condition(node: Any) -> Any:
        if isinstance(node, exp.Paren | exp.Not | exp.Connector):
            for key in ("this", "expression"):
                if isinstance(node.args.get(key), exp.Expression):
                    node.set(key, condition(node.args[key]))
            return node
        if isinstance(node, exp.Boolean):
            one = exp.Literal.number(1)
            return exp.EQ(this=one, expression=exp.Literal.number(int(bool(node.this))))
        if isinstance(node, exp.Predicate):
            return inside(node)
        return exp.EQ(this=value(node), expression=exp.Literal.number(1))

    for i, column in enumerate(select.expressions):
        if isinstance(column, exp.Alias):
            column.set("this", value(column.this))
        elif is_condition(column):
            select.expressions[i].replace(value(column))
    where = select.args.get("where")
    if where is not None:
        where.set("this", condition(where.this))


# A patch as SQL text, from the same expressions, for whoever has a database and a batch job.

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


# CREATE statements around a patch's query, in each dialect's own words.

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
