"""A patch as a folder that a warehouse's own people deploy: statements, tests, and the way back.

``decided`` is what everybody may read: a person's key and decision. ``audit`` joins to it the
sensitive columns and the label, for those who may see them: tests and monitoring read that one.
"""

from dataclasses import dataclass
from secrets import token_hex
from typing import Literal

from fairpatch.choose.target import Target
from fairpatch.engines.pack_words import readme
from fairpatch.engines.promise_sql import promise_sql
from fairpatch.engines.sql import Dialect, check_sql, sql
from fairpatch.engines.statements import function, quoted, view
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.patch import Patch
from fairpatch.patch.apply import CHANGED, DECISION

Kind = Literal["view", "function", "dbt"]
TEMPLATE = ("{{", "{%", "{#")
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
        tests["fingerprint"] = f"SELECT * FROM (\n{look}\n) AS looked WHERE verdict = 'refuse'"  # noqa: S608
    if audited is not None and audited.change_rate is not None:
        tests["changes"] = _changes(quoted(decided, dialect), audited.change_rate * MORE, dialect)
    if audited is not None and place.key is not None:
        seen = f"{name}_audit" if kind == "view" else f"fairpatch_{token_hex(8)}"
        people = quoted(table, dialect), quoted(decided, dialect)
        queries["audit"] = _audit(*people, place.key, audited, dialect)
        tests["promise"] = promise_sql(
            audited.target, patch.decision, sensitive=list(audited.sensitive),
            label=audited.label, table=seen, dialect=dialect, groups=audited.groups,
        )  # fmt: skip
        queries["monitor"] = _monitor(quoted(seen, dialect), audited, dialect)
    else:
        seen = decided
    if kind == "view":
        files = {f"{what}.sql": view(f"{name}_audit" if what == "audit" else name, text, dialect)
                 for what, text in queries.items() if what != "monitor"}  # fmt: skip
        if "monitor" in queries:
            files["monitor.sql"] = queries["monitor"] + ";\n"
        files |= {f"test_{what}.sql": text + ";\n" for what, text in tests.items()}
    else:
        refs = {table: place.table, decided: name, seen: f"{name}_audit"}
        refs = {quoted(k, dialect): f"{{{{ ref({_jinja(v)}) }}}}" for k, v in refs.items()}
        files = {f"models/{name}.sql": _model(queries["decided"], refs),
                 f"rollback/{name}.sql": _model(queries["rollback"], refs),
                 "models/fairpatch.yml": _schema(name, audit="audit" in queries)}  # fmt: skip
        if "audit" in queries:
            files[f"models/{name}_audit.sql"] = _model(queries["audit"], refs)
            files["analyses/monitor.sql"] = _model(queries["monitor"], refs)
        files |= {f"tests/{name}_{what}.sql": _model(t, refs) for what, t in tests.items()}
    return {**files, "README.md": readme(patch, score, kind, place.dialect, [*files], place.name)}


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
    one = quoted(CHANGED, dialect) + (" = 1" if dialect in ("mssql", "mysql", "sqlite") else "")
    share = f"AVG(CASE WHEN {one} THEN 1.0 ELSE 0.0 END)"
    return (
        f"SELECT share FROM (SELECT {share} AS share FROM {decided}) AS s\nWHERE share > {most:.4f}"  # noqa: S608
    )


def _monitor(audit: str, audited: Audited, dialect: str) -> str:
    """Approvals by group; groups of few people are left out."""
    yes = " = 1" if dialect in ("mssql", "mysql", "sqlite") else ""
    groups = ", ".join(quoted(c, dialect, dotted=False) for c in audited.sensitive)

    def share(column: str) -> str:
        return f"AVG(CASE WHEN {quoted(column, dialect)}{yes} THEN 1.0 ELSE 0.0 END)"

    return (
        f"SELECT\n  {groups},\n  COUNT(*) AS people,\n  {share(DECISION)} AS decided_1,\n"
        f"  {share(CHANGED)} AS changed\nFROM {audit} AS audit\nGROUP BY {groups}\n"
        f"HAVING COUNT(*) >= {MIN_PEOPLE}"
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


def _schema(name: str, *, audit: bool) -> str:
    """What dbt knows of the models, and the tests that it has by itself."""
    audits = (
        f"  - name: {name}_audit\n    description: Decisions with sensitive columns and label. "
        "For those who may see them.\n"
    )
    return (
        "version: 2\nmodels:\n"
        f"  - name: {name}\n    description: Decisions of the base model with its fairness patch.\n"
        f"    columns:\n      - name: {DECISION}\n        data_tests:\n"
        "          - accepted_values:\n              values: [true, false]\n"
        "              quote: false\n"
        "          - not_null:\n              config:\n                severity: warn\n"
    ) + (audits if audit else "")
