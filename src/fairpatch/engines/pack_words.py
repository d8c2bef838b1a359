"""The page that goes with a folder to deploy: what is in it, how to run it, how to take it back."""

import hashlib
from importlib.metadata import version

from fairpatch.floor import MIN_PEOPLE
from fairpatch.patch import Patch
from fairpatch.patch.file import text_of

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
    "`fairpatch export RUN FOLDER` and log it: "
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
