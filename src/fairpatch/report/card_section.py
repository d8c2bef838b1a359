"""A card as the review shows it: its lines, whom each moves, and when a decision changes."""

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch, edit
from fairpatch.patch.lines import Line
from fairpatch.patch.sealed import is_as_learned
from fairpatch.patch.terms import activation
from fairpatch.patch.words import attributes_by_column, band_rows, sentences, shown
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


class Attribute(Shown):
    """What may be true of a person, and the points for it."""

    value: str
    """What is true."""
    shown: str
    """The points, as the card prints them."""


class CardColumn(Shown):
    """A column of the scorecard."""

    column: str
    """What people call it."""
    attributes: list[Attribute]
    """Its bins, or its categories."""


class CardSection(Shown):
    """The card."""

    approve_at: int
    """Points, less those for the base model's confidence, at which a denied person is approved."""
    deny_at: int
    """Points, plus those for the base model's confidence, at which an approved person is denied."""
    switched_on: bool
    """Whether any decision changes."""
    columns: list[CardColumn]
    """All attributes, column by column, those of 0 points too."""
    confidence: list[Attribute]
    """What the base model's confidence is worth, by its score."""
    lines: list[CardLine]
    """Strongest first."""
    sentences: list[str]
    """When a decision changes."""
    locked: Count | None
    """How many people's decisions are a matter of policy; null where nobody's are."""
    as_learned: bool
    """Whether nobody has edited it since it was learned."""
    edits: list[str]
    """What was edited."""


def card_section(
    patch: Patch, rows: Rows, after: Bools, metric: Metric, beside: Beside
) -> CardSection:
    """Lines by their points; the whole scorecard; points needed; who edited it."""
    card = patch.card
    if card is None:
        raise ValueError("the patch is no card")
    strongest = sorted(patch.lines, key=lambda line: -abs(line.points))
    return CardSection(
        approve_at=card.approve_at,
        deny_at=card.deny_at,
        switched_on=bool(patch.strength),
        columns=[
            CardColumn(
                column=name,
                attributes=[Attribute(value=words, shown=shown(points)) for words, points in each],
            )
            for name, each in attributes_by_column(patch).items()
        ],
        confidence=[Attribute(value=words, shown=points) for words, points in band_rows(patch)],
        lines=[_line(patch, line, rows, after, metric, beside) for line in strongest],
        sentences=sentences(patch),
        locked=beside.tens.count(patch.locks(rows.X).sum()) if card.locked else None,
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
        points=line.points,
        shown=shown(line.points),
        people=beside.tens.count(gets.sum()),
        moves=beside.moved(moved.sum()),
        by_group=[
            LineMoves(feature=f, group=name, people=beside.moved(np.sum(moved & here), f, g))
            for f, name, g, here in beside.shown(rows)
        ],
        outcome_rate=beside.turned_out(rows, moved),
        changes_without=beside.rest(np.sum(without != before)),
        fairness_without=beside.compared(metric, decided(rows, without), near=True),
    )
