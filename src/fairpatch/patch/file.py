"""A patch as a JSON file: read without executing anything, written whole or not at all."""

import json
from pathlib import Path

from pydantic import ValidationError

from fairpatch._checks import a_patch
from fairpatch.files.atomic import write_whole
from fairpatch.files.strict_json import read_strictly, without_marks
from fairpatch.patch.migrate import migrated
from fairpatch.patch.model import Patch


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
