"""Typical cases: what those whom a line moves have in common. Never a row, never fewer than ten."""

from collections import Counter

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.floor import MIN_PEOPLE
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.terms import activation
from fairpatch.patch.words import reason_lines
from fairpatch.report.coarse import Beside
from fairpatch.report.figures import Count, Figure, Shown

MOST = 4
"""Cases shown, at most."""


class CaseColumn(Shown):
    """What is typical of one column."""

    column: str
    """What the column is called."""
    value: str
    """The middle of its numbers to two digits, or the value that most of them have."""


class Case(Shown):
    """People who change for the same reason, each column by itself: nobody need be like this."""

    reason: str
    """The line that gives most of them their points."""
    direction: str
    """promoted or demoted."""
    people: Count
    """How many."""
    columns: list[CaseColumn]
    """The columns that the patch reads."""
    outcome_rate: Figure
    """Share of them with the good outcome."""


def case_section(patch: Patch, rows: Rows, after: Bools, beside: Beside) -> list[Case]:
    """People who change, by the line or concept that pushes them hardest; the largest first."""
    before = rows.f > 0
    lines = reason_lines(patch) if patch.card else []
    parts = [line.part for line in lines] or list(patch.concepts)
    if not parts:
        return []
    columns = list(patch.columns)
    pushes = np.stack([part.weight * activation(part, columns, rows.X) for part in parts])
    cases = []
    for direction, moved, sign in (
        ("promoted", after & ~before, 1.0),
        ("demoted", before & ~after, -1.0),
    ):
        towards = sign if patch.card else -1.0  # the paper's ratio falls where it changes
        strongest = (towards * pushes).argmax(0)
        for k, part in enumerate(parts):
            name = lines[k].text if lines else part.name
            here = np.flatnonzero(moved & (strongest == k))
            if len(here) >= 2 * MIN_PEOPLE:
                cases.append((len(here), _case(patch, rows, here, name, direction, beside)))
    return [case for _, case in sorted(cases, key=lambda pair: -pair[0])[:MOST]]


def _case(
    patch: Patch, rows: Rows, here: np.ndarray, name: str, direction: str, beside: Beside
) -> Case:
    held, shown = Columns.of(rows.X), []
    for column in patch.columns:
        values = np.asarray(held.values(column), object)[here]
        called = column.words or column.name
        if column.kind == "number":
            numbers = values.astype(np.float64)
            numbers = numbers[~np.isnan(numbers)]
            if len(numbers) >= 2 * MIN_PEOPLE:
                middle = float(f"{np.median(numbers):.2g}")
                shown.append(CaseColumn(column=called, value=f"about {middle:,g}"))
            continue
        category, many = Counter(map(str, values)).most_common(1)[0]
        if many >= max(2 * MIN_PEOPLE, len(here) // 2):
            value = column.category_words.get(category, category)
            shown.append(CaseColumn(column=called, value=f"{value} (most of them)"))
    who = np.zeros(len(rows), bool)
    who[here] = True
    return Case(
        reason=name,
        direction=direction,
        people=beside.moved(len(here)),
        columns=shown,
        outcome_rate=beside.turned_out(rows, who),
    )
