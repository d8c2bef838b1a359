"""What dialects do their own way, mended in the tree of a query before it becomes text.

ClickHouse and BigQuery take a fraction for a double; in the others it is a decimal. SQL Server has
no booleans that could be stored; MySQL and SQL Server compare texts without their case.
"""

import re
from typing import Any

from fairpatch._extras import need

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
