"""Older patch files, brought to today's version step by step: a signed patch stays readable."""

from collections.abc import Callable
from typing import Any

CURRENT = 3
STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda data: data,  # cards and ranges are new; without them everything is as before
    2: lambda data: data,  # a cut-off alone is read as the decision that it was
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
