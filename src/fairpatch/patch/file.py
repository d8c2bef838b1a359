"""A patch as a JSON file: read without executing anything, written whole or not at all."""

import json
from pathlib import Path

from pydantic import ValidationError

from fairpatch.patch.migrate import migrated
from fairpatch.patch.model import Patch
from fairpatch.patch.strict import read_strictly, without_marks
from fairpatch.patch.whole import write_whole


def save(patch: Patch, path: str | Path) -> Path:
    """Write the patch as readable JSON."""
    return write_whole(path, text_of(patch))


def text_of(patch: Patch) -> str:
    """What its file holds."""
    return without_marks(patch.model_dump_json(indent=2))


def load(path: str | Path) -> Patch:
    """Read a patch, of any version so far, checked against the schema."""
    path = Path(path)
    try:
        return Patch.model_validate_json(json.dumps(migrated(read_strictly(path, "a patch"))))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, p['loc'])) or 'file'}: {p['msg']}" for p in error.errors()[:5]
        )
        raise ValueError(f"{path} is not a patch that this version can read: {problems}") from None


def schema() -> str:
    """The JSON schema of a patch file, for editors and other tools."""
    return json.dumps(Patch.model_json_schema(), indent=2, sort_keys=True) + "\n"
