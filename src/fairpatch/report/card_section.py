"""A card as the review shows it: whom each line approves and holds back, and what is needed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch
from fairpatch.patch.sealed import is_as_learned
from fairpatch.patch.words import attributes_by_column, band_rows, sentences, shown
from fairpatch.report.coarse import Beside, decided
from fairpatch.report.figures import Count, Figure, Shown
from fairpatch.report.subject import LineOf


class LineEffect(Shown):
    """What a line does to people of one group."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    approves: Count
    """How many of it have the favourable decision, and would not without the line."""
    holds_back: Count
    """How many of it do not have it, and would without the line."""


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
    approves: Count
    """How many have the favourable decision, and would not if the line were struck."""
    holds_back: Count
    """How many do not have it, and would if the line were struck."""
    by_group: list[LineEffect]
    """The same of each group."""
    outcome_rate: Figure
    """Of those whom it approves, the share with the good outcome."""
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
    """First those that do most."""
    sentences: list[str]
    """When a decision changes."""
    locked: Count | None
    """How many people's decisions are a matter of policy; null where nobody's are."""
    as_learned: bool
    """Whether nobody has edited it since it was learned."""
    edits: list[str]
    """What was edited."""


def card_section(
    patch: Patch,
    lines: Sequence[LineOf],
    rows: Rows,
    after: Bools,
    metric: Metric,
    beside: Beside,
) -> CardSection:
    """Lines by what they do; the whole scorecard; points needed; who edited it."""
    card = patch.card
    if card is None:
        raise ValueError("the patch is no card")
    most = sorted(
        lines, key=lambda each: (-int(np.sum(each.without != after)), -abs(each.line.points))
    )
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
        lines=[_line(each, rows, after, metric, beside) for each in most],
        sentences=sentences(patch),
        locked=beside.tens.count(patch.locks(rows.X).sum()) if card.locked else None,
        as_learned=is_as_learned(patch) and not patch.provenance.edits,
        edits=list(patch.provenance.edits),
    )


def _line(each: LineOf, rows: Rows, after: Bools, metric: Metric, beside: Beside) -> CardLine:
    line, without = each.line, each.without
    before, approves, holds = rows.f > 0, after & ~without, ~after & without
    part = beside.part

    def of(who: Bools, moves: tuple[str, str], **group: Any) -> Count:
        """How many; 0 where such points can do no such thing, which tells nobody."""
        return part(float(np.sum(who)), *moves, **group) if who.any() or may[moves] else 0

    good, bad = ("promoted", "left approved"), ("demoted", "left denied")
    may = {good: line.points > 0, bad: line.points < 0}
    return CardLine(
        concept=line.concept,
        column=line.part.columns[0],
        who=line.name,
        points=line.points,
        shown=shown(line.points),
        people=beside.tens.count(each.gets.sum()),
        approves=of(approves, good),
        holds_back=of(holds, bad),
        by_group=[
            LineEffect(
                feature=f,
                group=name,
                approves=of(approves & here, good, feature=f, group=g),
                holds_back=of(holds & here, bad, feature=f, group=g),
            )
            for f, name, g, here in beside.shown(rows)
        ],
        outcome_rate=beside.turned_out(rows, approves & ~before),
        changes_without=beside.rest(np.sum(without != before)),
        fairness_without=beside.compared(metric, decided(rows, without), near=True),
    )
