"""A card as the review shows it: its lines, whom each moves, and when a decision changes."""

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch, edit
from fairpatch.patch.lines import Line
from fairpatch.patch.sealed import is_as_learned
from fairpatch.patch.terms import activation
from fairpatch.patch.words import sentences, shown
from fairpatch.report.coarse import Beside, decided
from fairpatch.report.figures import Count, Figure, Shown


class LineMoves(Shown):
    """People of one group whom a line moves."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    people: Count
    """How many of it would keep the base model's decision without the line."""


class CardLine(Shown):
    """One line of the card."""

    concept: str
    """The concept that it belongs to."""
    column: str
    """The column that it reads."""
    who: str
    """Whom it is about: the line's name, by which it is struck."""
    text: str
    """The same in full: a slope takes on one side what it gives on the other."""
    points: float
    """Points that they get."""
    shown: str
    """The same as the card prints it."""
    people: Count
    """How many get points by it."""
    moves: Count
    """How many would keep the base model's decision if the line were struck."""
    by_group: list[LineMoves]
    """Of those, how many of each group."""
    outcome_rate: Figure
    """Of those, the share with the good outcome."""
    changes_without: Count
    """How many decisions would change if the line were struck, at the same price."""
    fairness_without: Figure
    """What was asked for first would then be this, for the feature that is worst off."""


class CardSection(Shown):
    """The card."""

    points_needed: float | None
    """Points at which a decision changes where the base model is not sure; null if turned off."""
    confidence_points: float
    """Points more where the base model is surest."""
    everybody: float
    """Points that everybody has."""
    lines: list[CardLine]
    """Strongest first."""
    sentences: list[str]
    """When a decision changes."""
    as_learned: bool
    """Whether nobody has edited it since it was learned."""
    edits: list[str]
    """What was edited."""


def card_section(
    patch: Patch, rows: Rows, after: Bools, metric: Metric, beside: Beside
) -> CardSection:
    """Lines by their points; everybody's points; price and sureness; who edited it."""
    card = patch.card
    if card is None:
        raise ValueError("the patch is no card")
    everybody = patch.offset + sum(c.weight * c.intercept for c in patch.concepts)
    strongest = sorted(patch.lines, key=lambda line: -abs(line.points))
    return CardSection(
        points_needed=card.points_needed / patch.strength if patch.strength else None,
        confidence_points=card.confidence_points,
        everybody=everybody,
        lines=[_line(patch, line, rows, after, metric, beside) for line in strongest],
        sentences=sentences(patch),
        as_learned=is_as_learned(patch) and not patch.provenance.edits,
        edits=list(patch.provenance.edits),
    )


def _line(
    patch: Patch, line: Line, rows: Rows, after: Bools, metric: Metric, beside: Beside
) -> CardLine:
    before = rows.f > 0
    without = edit(patch, strike=[line.name]).decide(rows.X, rows.f)
    moved = (after != before) & (without == before)
    columns = [c for c in patch.columns if c.name in line.part.columns]
    gets = activation(line.part, columns, rows.X) != 0
    return CardLine(
        concept=line.concept,
        column=columns[0].name,
        who=line.name,
        text=_text(line),
        points=line.points,
        shown=shown(line.points),
        people=beside.tens.count(gets.sum()),
        moves=beside.moved(moved.sum()),
        by_group=[
            LineMoves(feature=f, group=name, people=beside.moved(np.sum(moved & here), f, g))
            for f, name, g, here in beside.shown(rows)
        ],
        outcome_rate=beside.turned_out(float(np.sum(rows.y[moved] == 1)), float(moved.sum())),
        changes_without=beside.rest(np.sum(without != before)),
        fairness_without=beside.compared(metric, decided(rows, without), near=True),
    )


def _text(line: Line) -> str:
    """A line as a reader takes it."""
    if not line.slope:
        return line.name
    return f"{line.name} ({shown(-line.points)} for as much below)"
