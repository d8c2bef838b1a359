"""A patch as a folder that a warehouse's own people deploy: statements, tests, and the way back.

``decided`` is what everybody may read: a person's key and decision. ``audit`` joins to it the
sensitive columns and the label, for those who may see them: tests and monitoring read that one.
"""

import hashlib
from dataclasses import astuple, dataclass
from importlib.metadata import version
from itertools import pairwise
from secrets import token_hex
from typing import Literal

from fairpatch._tools.extras import need, sql_name, sql_text
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.engines.sql import BY_DUCKDB, Dialect, check_sql, function, quoted, sql, view
from fairpatch.engines.target_query import askable, target_sql
from fairpatch.inputs.roles import LARGEST, PLAIN, Roles, names_of
from fairpatch.patch import Patch
from fairpatch.patch.apply import CHANGED, DECISION
from fairpatch.patch.file import text_of
from fairpatch.target import Target

# Queries as dbt has them: tables by ref(), and nothing of the data run as a template.

TEMPLATE = ("{{", "{%", "{#")


def stand_in() -> str:
    """A name of a table that nothing else has, until a reference takes its place."""
    return f"fairpatch_{token_hex(8)}"


def replaced(text: str, refs: dict[str, str], dialect: str) -> str:
    """The text with references where their stand-ins were."""
    for name, reference in refs.items():
        text = text.replace(quoted(name, dialect), reference).replace(name, reference)
    return text


def model(text: str, refs: dict[str, str], dialect: str) -> str:
    """A query as a model, or as a test."""
    if any(sign in text for sign in TEMPLATE):
        if "endraw" in text:
            raise ValueError("a name or category would be run as a template by dbt: rename it")
        refs = {name: f"{{% endraw %}}{reference}{{% raw %}}" for name, reference in refs.items()}
        text = f"{{% raw %}}{text}{{% endraw %}}"
    return replaced(text, refs, dialect) + "\n"


def ref(name: str) -> str:
    """A reference to another model."""
    if not all(c.isalnum() or c in "_-" for c in name):
        raise ValueError(f"{name!r} is no name of a dbt model: letters, digits, _ and - only")
    return f"{{{{ ref('{name}') }}}}"


def schema(name: str, decision: str, values: list[int], *, audit: bool) -> str:
    """What dbt knows of the models, and the tests that it has by itself."""
    columns = [
        {
            "name": decision,
            "data_tests": [
                {"accepted_values": {"values": values, "quote": False}},
                {"not_null": {"config": {"severity": "warn"}}},
            ],
        }
    ]
    words = "Decisions of the base model with its fairness patch."
    models = [{"name": name, "description": words, "columns": columns}]
    if audit:
        words = "Decisions with sensitive columns and label. For those who may see them."
        models.append({"name": f"{name}_audit", "description": words})
    text = need("yaml", extra="cli").safe_dump({"version": 2, "models": models}, sort_keys=False)
    return str(text)


# The page that goes with a folder to deploy: what is in it, how to run it, how to take it back.

FILES = {
    "decided.sql": "the view: each person's key, points and patched decision",
    "audit.sql": "decisions with the sensitive columns and the label, by the key; grant it only to "
    "those who may see them; it joins by the key: have an index on it",
    "function.sql": "the function: columns and the base model's probability in, decision out",
    "rollback.sql": "the base model's own decisions under the same name: takes the patch back",
    "monitor.sql": "favourable decisions and changes by group, in full tens of those who have a "
    f"decision; groups of fewer than {MIN_PEOPLE} people left out",
    "test_key.sql": "gives a row for every key that is missing or not unique: the audit needs it",
    "test_target.sql": "gives a row for every pair of groups that violates the target",
    "test_fingerprint.sql": "gives a row where the scores look like another model's",
    "test_changes.sql": "gives a row where over twice as many decisions change as were certified",
    "models/fairpatch.yml": "descriptions, and dbt's own tests",
    "analyses/monitor.sql": "favourable decisions and changes by group, in full tens of those "
    f"who have a decision; groups of fewer than {MIN_PEOPLE} people left out",
}
NOTES = {
    "databricks": "In Unity Catalog give the function its three names, catalog.schema.name, and "
    "grant EXECUTE on it. The same text runs in Spark SQL.",
    "snowflake": "For a model in Snowflake's registry instead of SQL, write an MLflow model with "
    "`fairpatch deploy RUN FOLDER --to mlflow` and log it: "
    "`Registry(session).log_model(mlflow.pyfunc.load_model('FOLDER'), model_name=..., "
    "version_name=...)`. Not tried by us: we have no account.",
    "bigquery": "BigQuery ML imports ONNX graphs too, but has its own limits on their size, "
    "operators and types; ours work in doubles and on texts. The view needs none of that.",
    "clickhouse": "A long query, such as `test_fingerprint.sql` of many columns, may need "
    "`SET max_query_size = 10000000` first.",
    "mysql": "Connect with utf8mb4. The text was run on MariaDB. MySQL has no NaN.",
    "mssql": "SQL Server 2022 or newer. It has no booleans: decisions are 1, 0 or null. Blanks at "
    "the end of a text do not count there. Parsed and translated back, not run on a server.",
    "sqlite": "Decisions are 1, 0 or null. SQLite stores NaN as null.",
}


def digest_of(patch: Patch) -> str:
    """The SHA-256 of the patch's file."""
    return hashlib.sha256(f"{text_of(patch)}\n".encode()).hexdigest()


def heading(patch: Patch) -> str:
    """A comment for whoever meets a statement without its folder; no semicolon is in it."""
    made = f"-- Written by fairpatch {version('fairpatch')} from the patch {digest_of(patch)[:16]}."
    by = f"-- It decides by {_code(' and '.join(patch.decides_by))}.\n" if patch.decides_by else ""
    return f"{made} Do not edit it, write it anew.\n{by}"


def readme(patch: Patch, score: str, kind: str, dialect: str, files: list[str], name: str) -> str:
    """The page."""
    score, name = _code(score), _code(name)
    digest = digest_of(patch)
    good, bad = patch.decision.sides
    true, false = (good, bad) if patch.decision.favourable else (bad, good)
    rows = "\n".join(f"| `{file}` | {_about(file, name)} |" for file in sorted(files))
    arguments = ", ".join([*(_code(c.name) for c in patch.columns), score])
    how = {
        "view": f"Run `decided.sql`, then `audit.sql` where it is there. Read `{name}` instead of "
        "the base model's decisions. Run the tests after each load: a test that gives rows has "
        "failed.",
        "function": f"Run `function.sql`, then ask `{name}({arguments})`. It gives null where the "
        "score is missing or no probability.",
        "dbt": "Copy `models`, `tests` and `analyses` into your project (dbt 1.8 or newer), then "
        f"run `dbt build --select {name}+`.",
    }[kind]
    back = (
        f"Copy `rollback/{name}.sql` over `models/{name}.sql` and run dbt."
        if kind == "dbt"
        else "Run `rollback.sql`: everybody who reads the same name gets the base model's own "
        "decisions again."
    )
    notes = f"\n## {dialect}\n\n{NOTES[dialect]}\n" if dialect in NOTES else ""
    return f"""# A fairness patch for {dialect}

Written by fairpatch from the patch with the SHA-256 `{digest}`.
It changes some decisions of the base model, whose probability is in the column `{score}`.
The base model and its scores stay as they are. No sensitive column is read to decide.
`fairpatch_decision` is true for *{_code(true)}*, false for *{_code(false)}*: as the base model's.

| file | what it is |
|---|---|
{rows}

## Deploy

{how}

## Take it back

{back}
{notes}"""


def _code(name: str) -> str:
    """A name that stays inside its backticks."""
    return "".join(c if c.isprintable() and c != "`" else "?" for c in name)


def _about(file: str, name: str) -> str:
    if file in FILES:
        return FILES[file]
    for part, words in (
        (f"models/{name}_audit.sql", FILES["audit.sql"]),
        ("models/", "the model: each person's key, points and patched decision"),
        ("rollback/", "the same model with the base model's own decisions"),
        (f"tests/{name}_", "a test of dbt: fails where it gives rows"),
    ):
        if file.startswith(part):
            return words
    return ""


# A patch as a folder that a warehouse's own people deploy: statements, tests, and the way back.

Kind = Literal["view", "function", "dbt"]
BITS = ("mssql", "mysql", "sqlite")
"""Dialects in which a decision is 1 or 0."""
MORE = 2.0
"""So many times the changes that were certified, and the test of their number fails."""


@dataclass(frozen=True)
class Audited:
    """The target, of whom, and by which columns that is seen."""

    target: Target
    sensitive: tuple[str, ...]
    label: str | None
    groups: int
    change_rate: float | None

    @property
    def strata(self) -> tuple[str, ...]:
        """Columns that groups are compared in, beside the sensitive ones."""
        comparisons = self.target.comparisons
        return () if comparisons is None else comparisons.columns


@dataclass(frozen=True)
class Destination:
    """Where it is deployed."""

    table: str
    """The table of people."""
    name: str
    """Of the view, function or model."""
    key: str | None
    """The column that tells people apart; without it there is no audit."""
    keep: tuple[str, ...]
    dialect: Dialect
    groups: tuple[str, str] | None = None
    """A table of their own for the sensitive columns, and the column that it shares."""


@dataclass(frozen=True)
class _Names:
    """What the queries call each other by: names of views, or words that stand for a reference."""

    people: str
    decided: str
    audit: str
    groups: str = ""
    """Where the sensitive columns are, if not with the people."""


def pack(
    patch: Patch, score: str, kind: Kind, place: Destination, audited: Audited | None = None
) -> dict[str, str]:
    """The files of the folder: name and text."""
    _check(patch, place, audited)
    if kind == "function":
        files = {
            f"{what}.sql": function(deployed, score, place.name, place.dialect)
            for what, deployed in (("function", patch), ("rollback", _nothing(patch)))
        }
    elif kind == "view":
        own = place.groups[0] if place.groups else ""
        names = _Names(place.table, place.name, f"{place.name}_audit", own)
        files = _as_views(*_written(patch, score, place, names, audited), names, place)
    else:
        names = _Names(*(stand_in() for _ in range(4)))
        files = _as_models(*_written(patch, score, place, names, audited), names, place)
    head = heading(patch)
    files = {name: head + text if name.endswith(".sql") else text for name, text in files.items()}
    return {**files, "README.md": readme(patch, score, kind, place.dialect, [*files], place.name)}


def _written(
    patch: Patch, score: str, place: Destination, names: _Names, audited: Audited | None
) -> tuple[dict[str, str], dict[str, str]]:
    """The queries, and the tests: each finds no row where all is well."""
    dialect = place.dialect
    people, decided, audit, groups = (quoted(name, dialect) for name in astuple(names))
    keep = tuple(dict.fromkeys([*([place.key] if place.key else []), *place.keep]))
    queries = {
        what: sql(name, score, table=names.people, dialect=dialect, keep=keep)
        for what, name in (("decided", patch), ("rollback", _nothing(patch)))
    }
    tests = {}
    if patch.fingerprint is not None:
        look = check_sql(patch, score, table=names.people, dialect=dialect)
        word = quoted("verdict", dialect)
        tests["fingerprint"] = f"SELECT * FROM (\n{look}\n) AS looked WHERE {word} = 'refuse'"  # noqa: S608
    if place.key is not None:
        tests["key"] = _doubles(decided, quoted(place.key, dialect, dotted=False))
    if audited is not None and audited.change_rate is not None:
        tests["changes"] = _changes(decided, audited.change_rate * MORE, dialect)
    if audited is not None and place.key is not None:
        queries["audit"] = _audit(people, decided, groups, place, audited, patch.roles)
        good = patch.decision.favourable == 1
        queries["monitor"] = _monitor(audit, audited, patch.roles, dialect, good=good)
        if askable(audited.target, audited.label):
            cut = patch.roles.replace(bands={}, unknown={}, spellings={})  # its view has groups
            tests["target"] = target_sql(
                audited.target, patch.decision, cut, sensitive=list(audited.sensitive),
                label=audited.label, table=names.audit, dialect=dialect, groups=audited.groups,
            )  # fmt: skip
    return queries, tests


def _as_views(
    queries: dict[str, str], tests: dict[str, str], names: _Names, place: Destination
) -> dict[str, str]:
    """Statements to run in order, and queries to ask."""
    called = {"decided": names.decided, "rollback": names.decided, "audit": names.audit}
    files = {
        f"{what}.sql": view(called[what], queries[what], place.dialect)
        for what in called
        if what in queries
    }
    asked = {w: t for w, t in queries.items() if w == "monitor"}
    asked |= {f"test_{what}": text for what, text in tests.items()}
    return files | {f"{what}.sql": text + ";\n" for what, text in asked.items()}


def _as_models(
    queries: dict[str, str], tests: dict[str, str], names: _Names, place: Destination
) -> dict[str, str]:
    """A dbt project's files; every table by ref()."""
    name = place.name
    models = {names.people: place.table, names.decided: name, names.audit: f"{name}_audit"}
    models |= {names.groups: place.groups[0]} if place.groups else {}
    refs = {table: ref(called) for table, called in models.items()}
    paths = {
        "decided": f"models/{name}.sql",
        "rollback": f"rollback/{name}.sql",
        "audit": f"models/{name}_audit.sql",
        "monitor": "analyses/monitor.sql",
    }
    files = {paths[what]: model(text, refs, place.dialect) for what, text in queries.items()}
    values: list[int] = [1, 0] if place.dialect in BITS else [True, False]
    files["models/fairpatch.yml"] = schema(name, DECISION, values, audit="audit" in queries)
    return files | {
        f"tests/{name}_{what}.sql": model(text, refs, place.dialect) for what, text in tests.items()
    }


def untested(target: Target, label: str | None) -> list[str]:
    """Requirements that cannot be asked by a query, in words."""
    asked = [metric.name for metric, _ in askable(target, label)]
    return [str(r.name) for r in target.fairness_requirements if r.name not in asked]


def _check(patch: Patch, place: Destination, audited: Audited | None) -> None:
    """No sensitive column where decisions are, and no view that replaces what it reads."""
    sensitive = {*patch.provenance.sensitive_features, *(audited.sensitive if audited else ())}
    for name in (*(c.name for c in patch.columns), place.key, *place.keep):
        if name is not None and name.lower() in {s.lower() for s in sensitive}:
            raise ValueError(f"{name!r} is sensitive: it must not be where decisions are made")
    if place.name.lower() == place.table.lower():
        raise ValueError(f"{place.name!r} is the table of people: call the view otherwise, --name")


def _doubles(decided: str, key: str) -> str:
    """Keys that are missing or belong to several rows: an audit would count those people often."""
    return (
        f"SELECT {key}, COUNT(*) AS people FROM {decided}\n"  # noqa: S608
        f"GROUP BY {key} HAVING COUNT(*) > 1 OR {key} IS NULL"
    )


def _share(column: str, dialect: str) -> str:
    """The share of true among those who have a decision."""
    one, other = _sides(column, dialect)
    return f"AVG(CASE WHEN {one} THEN 1.0 WHEN {other} THEN 0.0 END)"


def _number(column: str, dialect: str, *, of: bool = True) -> str:
    """How many are true, or false."""
    one = _sides(column, dialect)[0 if of else 1]
    return f"COUNT(CASE WHEN {one} THEN 1 END)"


def _sides(column: str, dialect: str) -> tuple[str, str]:
    """That a column is true, and that it is false."""
    yes = quoted(column, dialect)
    return (f"{yes} = 1", f"{yes} = 0") if dialect in BITS else (yes, f"NOT {yes}")


def _nothing(patch: Patch) -> Patch:
    """The same patch that changes nothing, with the same columns in and out: the way back."""
    return patch.with_strength(0.0)


def _audit(
    people: str, decided: str, groups: str, place: Destination, audited: Audited, roles: Roles
) -> str:
    """Decisions with the sensitive columns, numbers as bands, and the label, by the key."""
    dialect, more = place.dialect, [name for name in (audited.label, roles.weight) if name]
    apart = "people" if place.groups is None else "groups"
    held = [_held(c, roles, dialect, apart) for c in audited.sensitive]
    held += [_held(c, PLAIN, dialect) for c in (*audited.strata, *more)]
    columns = ",\n  ".join(held)
    k = quoted(str(place.key), dialect, dotted=False)
    joined = ""
    if place.groups is not None:  # whose group nobody knows stays
        shared = quoted(place.groups[1], dialect, dotted=False)
        joined = f"\nLEFT JOIN {groups} AS groups ON people.{shared} = groups.{shared}"
    patched_columns = ",\n  ".join(quoted(c, dialect) for c in (DECISION, CHANGED))
    return (
        f"SELECT\n  {patched_columns},\n  {columns}\nFROM {decided} AS decided\n"
        f"JOIN {people} AS people ON decided.{k} = people.{k}{joined}"
    )


def _held(column: str, roles: Roles, dialect: str, table: str = "people") -> str:
    """A column of the people; of a sensitive one, its groups."""
    values = dict.fromkeys(roles.unknown_of(column), "NULL")
    values |= {value: sql_text(group) for value, group in roles.spelled(column).items()}
    name = sql_name(column) if values else quoted(column, dialect, dotted=False)
    edges = roles.bands.get(column)
    ends = [] if edges is None else [*pairwise([-LARGEST, *edges, LARGEST])]  # and so no NaN
    bands = [] if edges is None else names_of(edges)
    cases = [
        f"WHEN {table}.{name} >= {low!r} AND {table}.{name} < {high!r} THEN '{band}'"
        for (low, high), band in zip(ends, bands, strict=True)
    ]
    if not values:
        return f"CASE {' '.join(cases)} END AS {name}" if cases else f"{table}.{name}"
    as_text = f"CAST({table}.{name} AS TEXT)"
    known = [
        f"WHEN {as_text} IN ({sql_text(value)}, {sql_text(f'{value}.0')}) THEN {group}"
        for value, group in values.items()  # a code of 3 may lie there as 3.0
    ]
    rest = "" if cases else f" ELSE {as_text}"
    text = f"CASE {' '.join([*known, *cases])}{rest} END AS {name}"
    sqlglot = need("sqlglot", extra="sql")
    (written,) = sqlglot.transpile(text, read="duckdb", write=BY_DUCKDB.get(dialect, dialect))
    return str(written)


def _changes(decided: str, most: float, dialect: str) -> str:
    """A row where more decisions change than were to be expected."""
    share = f"SELECT {_share(CHANGED, dialect)} AS share FROM {decided}"  # noqa: S608
    return f"SELECT share FROM ({share}) AS s\nWHERE share > {most!r}"  # noqa: S608


def _monitor(audit: str, audited: Audited, roles: Roles, dialect: str, *, good: bool) -> str:
    """Favourable decisions by group, in full tens of people; groups of few are left out.

    Exact counts, month after month, would tell what became of somebody who is new.
    """
    by = (*audited.sensitive, *audited.strata)
    groups = ", ".join(quoted(c, dialect, dotted=False) for c in by)
    decided = f"COUNT({quoted(DECISION, dialect)})"
    counts = {
        "people": "COUNT(*)",
        "decided": decided,
        "approved": _number(DECISION, dialect, of=good),
        "changed": _number(CHANGED, dialect),
    }
    tens = ",\n  ".join(f"{_tens(n, dialect)} AS {name}" for name, n in counts.items())
    if roles.weight is not None:  # of what people weigh, a share to two digits
        weight, one = quoted(roles.weight, dialect, dotted=False), _sides(DECISION, dialect)
        hits = f"SUM(CASE WHEN {one[0 if good else 1]} THEN {weight} ELSE 0 END)"
        among = f"SUM(CASE WHEN {one[0]} OR {one[1]} THEN {weight} ELSE 0 END)"
        tens += f",\n  ROUND({hits} / NULLIF({among}, 0), 2) AS weighted_rate"
    return (
        f"SELECT\n  {groups},\n  {tens}\nFROM {audit} AS audit\nGROUP BY {groups}\n"
        f"HAVING {decided} >= {MIN_PEOPLE}"
    )


def _tens(number: str, dialect: str) -> str:
    """A count by the full ten that it lies in."""
    rest = f"MOD({number}, {MIN_PEOPLE})" if dialect == "bigquery" else f"{number} % {MIN_PEOPLE}"
    return f"{number} - {rest}"
