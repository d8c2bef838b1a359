"""Older patch files, brought to today's version step by step: a signed patch stays readable."""

from collections.abc import Callable
from typing import Any

CURRENT = 4
RENAMED = {
    "cutoff": "threshold",
    "price": "points_needed",
    "sureness": "confidence_points",
    "level": "category",
    "levels": "categories",
    "level_words": "category_words",
}
"""What versions 1 to 3 called the fields of a patch."""


def _with_decision(data: dict[str, Any]) -> dict[str, Any]:
    """A threshold alone, as up to version 2, is a decision that is said in short."""
    if "cutoff" not in data or "decision" in data:
        return data
    rest = {name: value for name, value in data.items() if name != "cutoff"}
    return {**rest, "decision": {"cutoff": data["cutoff"]}}


def _with_new_names(data: dict[str, Any]) -> dict[str, Any]:
    """Every field by its name since version 4; what users wrote stays as it is."""
    kept = {"provenance", "reason_codes", "probe"}
    texts = {"level_words"}

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        return {
            RENAMED.get(name, name): entry if name in kept | texts else renamed(entry)
            for name, entry in value.items()
        }

    new: dict[str, Any] = renamed(data)
    return new


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda data: data,  # cards and ranges are new; without them everything is as before
    2: _with_decision,
    3: _with_new_names,
}
"""By version: what makes of a file of that version one of the next."""


def migrated(data: Any) -> Any:
    """A patch file's data as today's version has it; what is no patch is left to the schema."""
    version = data.get("version") if isinstance(data, dict) else None
    if type(version) is not int or version == CURRENT or version < 1:
        return data
    if version > CURRENT:
        raise ValueError(
            f"the patch has format version {version}, this fairpatch reads up to {CURRENT}: it "
            "was written by a newer one; upgrade with: pip install -U fairpatch"
        )
    for step in range(version, CURRENT):
        data = {**STEPS[step](data), "version": step + 1}
    return data
