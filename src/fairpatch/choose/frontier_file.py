"""A frontier as a file: every candidate's record and patch, so that another can be chosen later.

The file travels with the run, so its figures are shares by full tens of people.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from fairpatch._table import Table
from fairpatch.choose.frontier import Frontier, Record
from fairpatch.choose.in_tens import Ends, InTens
from fairpatch.files.atomic import write_whole
from fairpatch.files.strict_json import read_strictly, without_marks
from fairpatch.measure.direction import Direction
from fairpatch.measure.metric import METRICS
from fairpatch.patch import Patch
from fairpatch.patch.parts import Part

MOST_BYTES = 50_000_000
"""A frontier has a patch for every candidate."""


class SavedRecord(Part):
    """One candidate at one strength; every share is what it lies between, low then high."""

    number: int
    model: int
    strength: float
    settings: dict[str, Any]
    direction: Direction
    size: int
    """Its concepts or lines."""
    accuracy: Ends | None
    change_rate: Ends | None
    metrics: dict[str, dict[str, Ends | None]]
    """By sensitive feature, then by metric that the target limits; None where it is withheld."""


class SavedFrontier(Part):
    """What a frontier's file holds: plain data, no row and no value of S."""

    format: Literal["fairpatch.frontier"] = "fairpatch.frontier"
    version: Literal[4] = 4
    asked: tuple[str, ...] = ("p_rule",)
    """Names of the metrics that the target limits."""
    records: tuple[SavedRecord, ...]
    pareto: tuple[bool, ...]
    patches: tuple[Patch, ...]


def save_frontier(frontier: Frontier, path: str | Path) -> Path:
    """Write the frontier as JSON."""
    records = frontier.records()
    saved = SavedFrontier(
        asked=tuple(metric.name for metric in frontier.asked),
        records=tuple(_coarse(frontier, records)),
        pareto=tuple(frontier.pareto().tolist()),
        patches=tuple(frontier.candidates.patch(r.model, r.strength) for r in records),
    )
    return write_whole(path, without_marks(saved.model_dump_json(indent=1)))


def _coarse(frontier: Frontier, records: Sequence[Record]) -> Iterator[SavedRecord]:
    """Records by full tens of people; of weighted rows no share, as tens of weights are nobody."""
    tens = InTens.of(frontier, frontier.asked)
    weighted = frontier.candidates.roles.weight is not None
    for r in records:
        dials = tens.only(frontier.dials[r.model])
        first = next(iter(frontier.dials[r.model].values()))
        k = int(first.at(r.strength))
        metrics: dict[str, dict[str, Ends | None]] = {
            name: dict.fromkeys((metric.name for metric in frontier.asked), None)
            for name in frontier.counts.features
        }
        for name, dial in [] if weighted else zip(tens.large, dials, strict=True):
            state = dial.only(k)
            for metric in frontier.asked:
                if not np.isnan(metric.along(state)[0]):
                    size = np.asarray(state.size, np.float64)
                    metrics[name][metric.name] = tens.metric(metric, state.positive[0], size)
        yield SavedRecord(
            number=r.number,
            model=r.model,
            strength=r.strength,
            settings=r.settings,
            direction=r.direction,
            size=r.size,
            accuracy=None if weighted else tens.share(float(first.correct[k]), first.people),
            change_rate=None if weighted else tens.share(float(first.changed[k]), first.people),
            metrics=metrics,
        )


def saved_table(saved: SavedFrontier) -> Table:
    """The candidates that none other beats, those with the fewest changes first."""
    kept = [r for r, is_kept in zip(saved.records, saved.pareto, strict=True) if is_kept]
    features = list(kept[0].metrics) if kept else []
    asked = [(m, f) for m in METRICS if m.name in saved.asked for f in features]
    rows = [
        [
            str(r.number),
            _percent(r.change_rate),
            _digits(r.accuracy),
            *(_digits(r.metrics[f].get(m.name)) for m, f in asked),
        ]
        for r in sorted(kept, key=lambda r: r.change_rate or (0.0, 0.0))
    ]
    header = ["candidate", "changes", "accuracy", *(f"{m.words}, {f}" for m, f in asked)]
    notes = ["Figures are ranges: full tens of people."]
    return Table("Candidates that none other beats", header, rows, notes)


def _percent(ends: Ends | None) -> str:
    return "withheld" if ends is None else _between(f"{100 * ends[0]:.1f}", f"{100 * ends[1]:.1f}%")


def _digits(ends: Ends | None) -> str:
    return "withheld" if ends is None else _between(f"{ends[0]:.2f}", f"{ends[1]:.2f}")


def _between(low: str, high: str) -> str:
    return high if low == high.rstrip("%") else f"{low} to {high}"


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
