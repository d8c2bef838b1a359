"""Queries as dbt has them: tables by ref(), and nothing of the data run as a template."""

from secrets import token_hex

from fairpatch._extras import need
from fairpatch.engines.statements import quoted

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
