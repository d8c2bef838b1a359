"""Older patch files, brought to today's version step by step: a signed patch stays readable."""

from collections.abc import Callable
from typing import Any

from fairpatch.decision import MOVED

CURRENT = 2


def _roles_apart(data: dict[str, Any]) -> dict[str, Any]:
    """What columns are stood in the decision until version 1."""
    decision = data.get("decision")
    if not isinstance(decision, dict):
        return data
    moved = {k: v for k, v in decision.items() if k in MOVED and v not in (None, {})}
    rest = {k: v for k, v in decision.items() if k not in MOVED}
    return {**data, "decision": rest, **({"roles": moved} if moved else {})}


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _roles_apart}
"""By version: what makes of a file of that version one of the next."""


def migrated(data: Any) -> Any:
    """A patch file's data as today's version has it; what is no patch is left to the schema."""
    version = data.get("version") if isinstance(data, dict) else None
    if isinstance(version, bool):  # which is 1, for Python
        raise ValueError(f"the patch's version must be a whole number; got {version}")
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
