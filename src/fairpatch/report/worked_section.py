"""Worked cases: in each group, somebody whose decision changes and somebody whose does not.

Line by line, as a person would add it up by hand. An example is made of the values that most of the
people it stands for have: nobody need be like this, and no row is shown.
"""

from collections import Counter
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.data.rows import Rows
from fairpatch.disclose.reviewed import outcome
from fairpatch.floor import MIN_PEOPLE
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.lines import MISSING, where
from fairpatch.patch.parts import Column
from fairpatch.patch.terms import by_column, inside
from fairpatch.patch.words import shown
from fairpatch.report.coarse import Beside
from fairpatch.report.figures import Shown

ENOUGH = 2 * MIN_PEOPLE
"""People whom an example stands for, at least."""
CONFIDENCE = "score of the base model"


class WorkedLine(Shown):
    """One line of the sum."""

    column: str
    """What the column is called."""
    value: str
    """What is true of the person."""
    shown: str
    """The points for it."""


class Example(Shown):
    """Somebody as many are: every value by itself is the commonest."""

    lines: list[WorkedLine]
    """One a column of the card, and one for the base model's score."""
    points: int
    """Their sum."""
    short: int
    """Points that are missing for the decision to change; 0 where it does."""


class WorkedCase(Shown):
    """Of one group, somebody who changes, and somebody with a similar score who does not."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    direction: str
    """promoted or demoted: what happens to the first."""
    needed: int
    """Points at which a decision changes."""
    changes: Example
    """Whose decision changes."""
    stays: Example | None
    """Whose decision stays; null where few people are like that."""


def worked_section(patch: Patch, rows: Rows, after: Bools, beside: Beside) -> list[WorkedCase]:
    """Two examples for every group in which enough people change."""
    if patch.card is None or not patch.strength:
        return []
    before, sheet, locked = rows.f > 0, _Sheet(patch, rows), patch.locks(rows.X)
    cases = []
    for feature, name, g, here in beside.shown(rows):
        for direction, start, unmoved in (
            ("promoted", False, "left denied"),
            ("demoted", True, "left approved"),
        ):
            changes = here & (before == start) & (after != start)
            if not _may_show(beside, direction, feature, g, changes):
                continue
            first, band = sheet.example(changes, denied=not start)
            if first is None or first.short:
                continue
            stays = here & (before == start) & (after == start) & ~locked
            near = stays & (sheet.band == band)  # with a similar score, where there are enough
            second = None
            for some in (near, stays):
                if _may_show(beside, unmoved, feature, g, some):
                    second, _ = sheet.example(some, denied=not start)
                    break
            cases.append(
                WorkedCase(
                    feature=feature,
                    group=name,
                    direction=direction,
                    needed=sheet.needed(denied=not start),
                    changes=first,
                    stays=second if second is not None and second.short else None,
                )
            )
            break  # of a group that is moved both ways, those who gain
    return cases


def _may_show(beside: Beside, what: str, feature: str, group: int, people: Bools) -> bool:
    """Whether an example narrows nothing: so many are shown to be there anyway."""
    told = beside.table.number(outcome(what).among, feature, group=group).low
    return bool(min(people.sum(), told) >= ENOUGH)


class _Sheet:
    """Everybody's points, column by column as the card has them, and their band of scores."""

    def __init__(self, patch: Patch, rows: Rows) -> None:
        held = Columns.of(rows.X)
        self.patch, self.held = patch, held
        self.columns: list[tuple[Column, Floats]] = []
        named = {column.name: column for column in patch.columns}
        for concept in patch.concepts:
            for name, points in by_column(concept, patch.columns, held).items():
                self.columns.append((named[name], concept.weight * points))
        self.intercept = patch.offset + sum(c.weight * c.intercept for c in patch.concepts)
        self.bands = patch.card.confidence if patch.card else ()
        self.band = patch.band(rows.f, rows.X)

    def needed(self, *, denied: bool) -> int:
        """Points at which such a decision changes."""
        gain, loss = self.patch.needed
        return gain if denied else loss

    def example(self, people: Bools, *, denied: bool) -> tuple[Example | None, int]:
        """The commonest values of some people, one after the other among those who share them.

        And the number of their band of scores; no example where no decision changes in it.
        """
        here = np.flatnonzero(people)
        chosen: dict[int, Any] = {}
        keys: list[Floats] = [points for _, points in self.columns]
        keys.append(self.band.astype(np.float64))
        while len(chosen) < len(keys):
            modes = {
                j: Counter(keys[j][here].tolist()).most_common(1)[0]
                for j in range(len(keys))
                if j not in chosen
            }
            j = max(modes, key=lambda k: modes[k][1])
            chosen[j], _ = modes[j]
            alike = here[keys[j][here] == chosen[j]]
            here = alike if len(alike) >= MIN_PEOPLE else here
        lines = [
            WorkedLine(
                column=column.words or column.name,
                value=self._value(column, points, chosen[j], here),
                shown=shown(chosen[j]),
            )
            for j, (column, points) in enumerate(self.columns)
        ]
        number = int(chosen[len(keys) - 1])
        band = self.bands[number] if number >= 0 else None
        if band is not None and band.points is None:
            return None, number
        sure = 0 if band is None else band.points or 0
        if band is not None:
            worth = shown(-sure if denied else sure)
            lines.append(WorkedLine(column=CONFIDENCE, value=where(band), shown=worth))
        total = self.intercept + sum(chosen[j] for j in range(len(self.columns)))
        total = round(total - sure if denied else total + sure)
        needed = self.needed(denied=denied)
        short = needed - total if denied else total + needed
        return Example(lines=lines, points=total, short=max(short, 0)), number

    def _value(self, column: Column, points: Floats, worth: float, here: Any) -> str:
        """What most of those with these points have."""
        alike = here[points[here] == worth]
        alike = np.flatnonzero(points == worth) if not len(alike) else alike
        if column.kind == "number":
            values = np.asarray(self.held.values(column), np.float64)[alike]
            parts = [
                r
                for concept in self.patch.concepts
                for part in concept.ranges
                if part.column == column.name
                for r in (*part.codes, *part.quantities)
            ]
            sizes = [int(np.sum(inside(r, values))) for r in parts]
            return where(parts[int(np.argmax(sizes))]) if any(sizes) else MISSING
        categories, codes = self.held.codes(column)
        category = categories[Counter(codes[alike].tolist()).most_common(1)[0][0]]
        if category is None or category == "":
            return MISSING
        return column.category_words.get(str(category), str(category))
