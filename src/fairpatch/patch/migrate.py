"""Older patch files, brought to today's version step by step: a signed patch stays readable."""

from collections.abc import Callable
from typing import Any

CURRENT = 1
STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
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
