"""A frontier as a file: every candidate's record and patch, so that another can be chosen later."""

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from fairpatch.choose.frontier import Frontier, Record
from fairpatch.files.atomic import write_whole
from fairpatch.files.strict_json import read_strictly, without_marks
from fairpatch.patch import Patch
from fairpatch.patch.parts import Part

MOST_BYTES = 50_000_000
"""A frontier has a patch for every candidate."""


class SavedFrontier(Part):
    """What a frontier's file holds: plain data, no row and no value of S."""

    format: Literal["fairpatch.frontier"] = "fairpatch.frontier"
    version: Literal[3] = 3
    asked: tuple[str, ...] = ("p_rule",)
    """Names of the metrics that the target limits."""
    records: tuple[Record, ...]
    pareto: tuple[bool, ...]
    patches: tuple[Patch, ...]


def save_frontier(frontier: Frontier, path: str | Path) -> Path:
    """Write the frontier as JSON."""
    records = frontier.records()
    saved = SavedFrontier(
        asked=tuple(metric.name for metric in frontier.asked),
        records=tuple(records),
        pareto=tuple(frontier.pareto().tolist()),
        patches=tuple(frontier.candidates.patch(r.model, r.strength) for r in records),
    )
    return write_whole(path, without_marks(saved.model_dump_json(indent=1)))


def load_frontier(path: str | Path) -> SavedFrontier:
    """Read a frontier, checked against its schema; executes nothing."""
    path = Path(path)
    try:
        return SavedFrontier.model_validate_json(
            json.dumps(read_strictly(path, "a frontier", MOST_BYTES))
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise ValueError(
            f"{path} is not a frontier that this version can read: {place}: {first['msg']}"
        ) from None
