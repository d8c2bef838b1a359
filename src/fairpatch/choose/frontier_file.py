"""A frontier as a file: every candidate's record and patch, so that another can be chosen later."""

from pathlib import Path
from typing import Literal

from fairpatch.choose.frontier import Frontier, Record
from fairpatch.patch import Patch
from fairpatch.patch.file import write_whole
from fairpatch.patch.parts import Part


class SavedFrontier(Part):
    """What a frontier's file holds: plain data, no row and no value of S."""

    format: Literal["fairpatch.frontier"] = "fairpatch.frontier"
    version: Literal[2] = 2
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
    return write_whole(path, saved.model_dump_json(indent=1))


def load_frontier(path: str | Path) -> SavedFrontier:
    """Read a frontier, checked against its schema; executes nothing."""
    return SavedFrontier.model_validate_json(Path(path).read_bytes())
