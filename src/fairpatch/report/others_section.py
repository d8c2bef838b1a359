"""Groups that nobody named, before and after: by columns that look protected, or are by law.

A decision depends on columns alone, so these rates tell nobody's sensitive feature.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.data.rows import Rows
from fairpatch.floor import MIN_PEOPLE
from fairpatch.inputs.bands import names_of, proposed
from fairpatch.inputs.names import is_protected
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column
from fairpatch.report.coarse import Beside
from fairpatch.report.figures import Count, Figure, Shown

MOST_GROUPS = 8
"""Of a column; of one with more, the commonest."""
MOST_CODES = 6
"""Values of a number that are groups by themselves."""
ENOUGH = 3 * MIN_PEOPLE
"""People of a group whose rate is compared."""


class OtherRow(Shown):
    """One group of such a column."""

    group: str
    """Its value, or band of values."""
    people: Count
    """How many there are."""
    before: Figure
    """Share with the favourable decision, of the base model."""
    after: Figure
    """The same of the patched model."""


class OtherSection(Shown):
    """One column that looks protected and is no target."""

    column: str
    """The column."""
    read: bool
    """Whether the patch reads it."""
    rows: list[OtherRow]
    """Its groups."""
    ratio_before: float | None
    """The lowest group's rate over the highest's, by the base model, to two digits."""
    ratio_after: float | None
    """The same by the patched model."""


def others_section(
    rows: Rows, after: Bools, protected: Sequence[str], read: Sequence[str], beside: Beside
) -> list[OtherSection]:
    """Every column whose name says so, also one that the patch may not read."""
    if rows.sample_weight is not None:
        return []  # these count people, the tables weigh them
    held = Columns.of(rows.X)
    return [
        _section(column, rows, after, held, beside, column.name in read)
        for column in held.described()
        if is_protected(column.name, protected) and column.name not in rows.s.features
    ]


def _section(
    column: Column, rows: Rows, after: Bools, held: Columns, beside: Beside, read: bool
) -> OtherSection:
    before, told, rates = rows.f > 0, [], []
    for name, here in _groups(column, held):
        k, n = (float(before[here].sum()), float(after[here].sum())), float(here.sum())
        told.append(
            OtherRow(
                group=name,
                people=beside.tens.count(n),
                before=beside.tens.share(k[0], n),
                after=beside.tens.share(k[1], n),
            )
        )
        if n >= ENOUGH:
            rates.append((k[0] / n, k[1] / n))
    ratios = [_ratio(each) for each in zip(*rates, strict=True)] if len(rates) > 1 else []
    first, last = ratios or (None, None)
    return OtherSection(
        column=column.name, read=read, rows=told, ratio_before=first, ratio_after=last
    )


def _ratio(rates: Sequence[float]) -> float | None:
    """The lowest over the highest, to two digits."""
    return round(min(rates) / max(rates), 2) if max(rates) else None


def _groups(column: Column, held: Columns) -> Iterator[tuple[str, Bools]]:
    """Values, or bands of a number, that at least ten people have: the commonest ones."""
    if column.kind == "number":
        values = np.asarray(held.values(column), np.float64)
        distinct = np.unique(values[np.isfinite(values)])
        if len(distinct) > MOST_CODES:
            edges = proposed(distinct.tolist())
            names, code = names_of(edges), np.searchsorted(edges, values, side="right")
            code = np.where(np.isfinite(values), code, -1)
        else:
            names, code = [f"{v:g}" for v in distinct], _place(values, distinct)
    else:
        found, code = held.codes(column)
        names = ["missing" if v in (None, "") else str(v) for v in found]
    many = np.bincount(code[code >= 0], minlength=len(names))
    shown = np.argsort(-many, kind="stable")[:MOST_GROUPS]
    for k in sorted(shown.tolist()) if column.kind == "number" else shown.tolist():
        if many[k] >= MIN_PEOPLE:
            yield names[k], np.asarray(code == k)


def _place(values: Floats, distinct: Floats) -> Ints:
    """Which of some values each is; -1 for none."""
    place = np.searchsorted(distinct, values)
    place = np.minimum(place, max(len(distinct) - 1, 0))
    return np.where(distinct[place] == values, place, -1) if len(distinct) else place - 1
