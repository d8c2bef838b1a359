"""A patch as a JSON file: read without executing anything, whatever its age, written whole."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fairpatch._tools.checks import a_patch
from fairpatch._tools.files import read_strictly, without_marks, write_whole
from fairpatch.decision import MOVED
from fairpatch.patch.model import Patch

# Older patch files, brought to today's version step by step: a signed patch stays readable.

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


# A patch as a JSON file: read without executing anything, written whole or not at all.


def save(patch: Patch, path: str | Path) -> Path:
    """Write the patch as readable JSON.

    Parameters
    ----------
    patch : Patch
        The patch.
    path : str or Path
        Where to write it.

    Returns
    -------
    Path
        The same path.
    """
    a_patch(patch)
    return write_whole(path, text_of(patch))


def text_of(patch: Patch) -> str:
    """What its file holds."""
    return without_marks(patch.model_dump_json(indent=2))


def load(path: str | Path) -> Patch:
    """Read a patch, of any version so far, checked against the schema.

    Parameters
    ----------
    path : str or Path
        A patch file.

    Returns
    -------
    Patch
    """
    if not isinstance(path, str | Path):
        raise TypeError(f"expected the name of a patch file; got {type(path).__name__}")
    path = Path(path)
    data = read_strictly(path, "a patch")
    try:
        return Patch.model_validate_json(json.dumps(migrated(data)))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, p['loc'])) or 'file'}: {p['msg']}" for p in error.errors()[:5]
        )
    except ValueError as error:  # of the version
        problems = str(error)
    raise ValueError(f"{path} is not a patch that this version can read: {problems}")


def schema() -> str:
    """The JSON schema of a patch file, for editors and other tools.

    Returns
    -------
    str
        JSON.
    """
    return json.dumps(Patch.model_json_schema(), indent=2, sort_keys=True) + "\n"
