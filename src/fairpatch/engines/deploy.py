"""A patch as a folder that a warehouse's own people deploy: statements, tests, and the way back.

``decided`` is what everybody may read: a person's key and decision. ``audit`` joins to it the
sensitive columns and the label, for those who may see them: tests and monitoring read that one.
"""

from dataclasses import dataclass
from secrets import token_hex
from typing import Literal

from fairpatch._extras import need
from fairpatch.choose.target import Target
from fairpatch.engines.pack_words import readme
from fairpatch.engines.promise_sql import askable, promise_sql
from fairpatch.engines.sql import Dialect, check_sql, sql
from fairpatch.engines.statements import function, quoted, view
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.patch import Patch
from fairpatch.patch.apply import CHANGED, DECISION

Kind = Literal["view", "function", "dbt"]
TEMPLATE = ("{{", "{%", "{#")
BITS = ("mssql", "mysql", "sqlite")
"""Dialects in which a decision is 1 or 0."""
MORE = 2.0
"""So many times the changes that were certified, and the test of their number fails."""


@dataclass(frozen=True)
class Audited:
    """What is promised, of whom, and by which columns that is seen."""

    target: Target
    sensitive: tuple[str, ...]
    label: str | None
    groups: int
    change_rate: float | None


@dataclass(frozen=True)
class Place:
    """Where it is deployed."""

    table: str
    """The table of people."""
    name: str
    """Of the view, function or model."""
    key: str | None
    """The column that tells people apart; without it there is no audit."""
    keep: tuple[str, ...]
    dialect: Dialect


def pack(
    patch: Patch, score: str, kind: Kind, place: Place, audited: Audited | None = None
) -> dict[str, str]:
    """The files of the folder: name and text."""
    dialect, name = place.dialect, place.name
    _check(patch, place, audited)
    if kind == "function":
        own = function(patch, score, name, dialect)
        files = {
            "function.sql": own,
            "rollback.sql": function(_nothing(patch), score, name, dialect),
        }
        return {
            **files,
            "README.md": readme(patch, score, kind, place.dialect, [*files], place.name),
        }
    table = place.table if kind == "view" else f"fairpatch_{token_hex(8)}"
    decided = name if kind == "view" else f"fairpatch_{token_hex(8)}"
    keep = tuple(dict.fromkeys([*([place.key] if place.key else []), *place.keep]))
    queries = {
        what: sql(own, score, table=table, dialect=dialect, keep=keep)
        for what, own in (("decided", patch), ("rollback", _nothing(patch)))
    }
    tests = {}
    if patch.fingerprint is not None:
        look = check_sql(patch, score, table=table, dialect=dialect)
        word = quoted("verdict", dialect)
        tests["fingerprint"] = f"SELECT * FROM (\n{look}\n) AS looked WHERE {word} = 'refuse'"  # noqa: S608
    if place.key is not None:
        tests["key"] = _doubles(quoted(decided, dialect), quoted(place.key, dialect, dotted=False))
    if audited is not None and audited.change_rate is not None:
        tests["changes"] = _changes(quoted(decided, dialect), audited.change_rate * MORE, dialect)
    if audited is not None and place.key is not None:
        seen = f"{name}_audit" if kind == "view" else f"fairpatch_{token_hex(8)}"
        people = quoted(table, dialect), quoted(decided, dialect)
        queries["audit"] = _audit(*people, place.key, audited, dialect)
        if askable(audited.target, audited.label):
            tests["promise"] = promise_sql(
                audited.target, patch.decision, sensitive=list(audited.sensitive),
                label=audited.label, table=seen, dialect=dialect, groups=audited.groups,
            )  # fmt: skip
        good = patch.decision.favourable == 1
        queries["monitor"] = _monitor(quoted(seen, dialect), audited, dialect, good=good)
    else:
        seen = None
    if kind == "view":
        files = {f"{what}.sql": view(f"{name}_audit" if what == "audit" else name, text, dialect)
                 for what, text in queries.items() if what != "monitor"}  # fmt: skip
        if "monitor" in queries:
            files["monitor.sql"] = queries["monitor"] + ";\n"
        files |= {f"test_{what}.sql": text + ";\n" for what, text in tests.items()}
    else:
        refs = {table: place.table, decided: name} | ({seen: f"{name}_audit"} if seen else {})
        refs = {quoted(k, dialect): f"{{{{ ref({_jinja(v)}) }}}}" for k, v in refs.items()}
        files = {f"models/{name}.sql": _model(queries["decided"], refs),
                 f"rollback/{name}.sql": _model(queries["rollback"], refs),
                 "models/fairpatch.yml": _schema(name, place, audit=seen is not None)}  # fmt: skip
        if "audit" in queries:
            files[f"models/{name}_audit.sql"] = _model(queries["audit"], refs)
            files["analyses/monitor.sql"] = _model(queries["monitor"], refs)
        files |= {f"tests/{name}_{what}.sql": _model(t, refs) for what, t in tests.items()}
    return {**files, "README.md": readme(patch, score, kind, place.dialect, [*files], place.name)}


def untested(target: Target, label: str | None) -> list[str]:
    """What is promised and cannot be asked by a query, in words."""
    asked = [metric.name for metric, _ in askable(target, label)]
    return [str(r.name) for r in target.fairness_requirements if r.name not in asked]


def _check(patch: Patch, place: Place, audited: Audited | None) -> None:
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


def _share(column: str, dialect: str, *, of: bool = True) -> str:
    """The share of true, or of false, among those who have a decision."""
    yes = quoted(column, dialect)
    if dialect in BITS:
        yes, no = f"{yes} = 1", f"{yes} = 0"
    else:
        no = f"NOT {yes}"
    one, other = (yes, no) if of else (no, yes)
    return f"AVG(CASE WHEN {one} THEN 1.0 WHEN {other} THEN 0.0 END)"


def _nothing(patch: Patch) -> Patch:
    """The same patch that changes nothing, with the same columns in and out: the way back."""
    return patch.with_strength(0.0)


def _audit(people: str, decided: str, key: str, audited: Audited, dialect: str) -> str:
    """Decisions with the sensitive columns and the label, by the key."""
    held = [*audited.sensitive, *([audited.label] if audited.label else [])]
    columns = ",\n  ".join(f"people.{quoted(c, dialect, dotted=False)}" for c in held)
    k = quoted(key, dialect, dotted=False)
    own = ",\n  ".join(quoted(c, dialect) for c in (DECISION, CHANGED))
    return (
        f"SELECT\n  {own},\n  {columns}\nFROM {decided} AS decided\n"
        f"JOIN {people} AS people ON decided.{k} = people.{k}"
    )


def _changes(decided: str, most: float, dialect: str) -> str:
    """A row where more decisions change than were to be expected."""
    share = f"SELECT {_share(CHANGED, dialect)} AS share FROM {decided}"  # noqa: S608
    return f"SELECT share FROM ({share}) AS s\nWHERE share > {most!r}"  # noqa: S608


def _monitor(audit: str, audited: Audited, dialect: str, *, good: bool) -> str:
    """Favourable decisions by group; groups of few people are left out."""
    groups = ", ".join(quoted(c, dialect, dotted=False) for c in audited.sensitive)
    return (
        f"SELECT\n  {groups},\n  COUNT(*) AS people,\n"
        f"  COUNT({quoted(DECISION, dialect)}) AS decided,\n"
        f"  {_share(DECISION, dialect, of=good)} AS approved,\n"
        f"  {_share(CHANGED, dialect)} AS changed\nFROM {audit} AS audit\nGROUP BY {groups}\n"
        f"HAVING COUNT({quoted(DECISION, dialect)}) >= {MIN_PEOPLE}"
    )


def _model(text: str, refs: dict[str, str]) -> str:
    """A query as dbt has it: tables by ref(), and nothing of the data run as a template."""
    if any(sign in text for sign in TEMPLATE):
        if "endraw" in text:
            raise ValueError("a name or level would be run as a template by dbt: rename it")
        refs = {k: f"{{% endraw %}}{v}{{% raw %}}" for k, v in refs.items()}
        text = f"{{% raw %}}{text}{{% endraw %}}"
    for own, ref in refs.items():
        text = text.replace(own, ref)
    return text + "\n"


def _jinja(name: str) -> str:
    """A model's name as an argument of ref()."""
    if not all(c.isalnum() or c in "_-" for c in name):
        raise ValueError(f"{name!r} is no name of a dbt model: letters, digits, _ and - only")
    return f"'{name}'"


def _schema(name: str, place: Place, *, audit: bool) -> str:
    """What dbt knows of the models, and the tests that it has by itself."""
    decisions = {"values": [1, 0] if place.dialect in BITS else [True, False], "quote": False}
    columns = [
        {
            "name": DECISION,
            "data_tests": [
                {"accepted_values": decisions},
                {"not_null": {"config": {"severity": "warn"}}},
            ],
        }
    ]
    words = "Decisions of the base model with its fairness patch."
    models = [{"name": name, "description": words, "columns": columns}]
    if audit:
        words = "Decisions with sensitive columns and label. For those who may see them."
        models.append({"name": f"{name}_audit", "description": words})
    told = need("yaml", extra="cli").safe_dump({"version": 2, "models": models}, sort_keys=False)
    return str(told)
