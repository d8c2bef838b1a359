"""The patch itself: its card or concepts, whom each line moves, reasons, and worked cases."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import outcome
from fairpatch.explain import reasons
from fairpatch.explain.concepts import ConceptView
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.edit import is_as_learned
from fairpatch.patch.lines import MISSING, where
from fairpatch.patch.parts import Column
from fairpatch.patch.terms import by_column, inside, unjudged_rows
from fairpatch.patch.words import attributes_by_column, band_rows, sentences, shown
from fairpatch.patched import PatchedModel
from fairpatch.report.figures import Count, Figure, ReviewPart, RoundedContext, decided
from fairpatch.report.subject import LineOf

# A card as the review shows it: whom each line approves and holds back, and what is needed.


class LineEffect(ReviewPart):
    """What a line does to people of one group."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    approves: Count
    """How many of it have the favourable decision, and would not without the line."""
    holds_back: Count
    """How many of it do not have it, and would without the line."""


class CardLine(ReviewPart):
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


class Attribute(ReviewPart):
    """What may be true of a person, and the points for it."""

    value: str
    """What is true."""
    shown: str
    """The points, as the card prints them."""


class CardColumn(ReviewPart):
    """A column of the scorecard."""

    column: str
    """What people call it."""
    attributes: list[Attribute]
    """Its bins, or its categories."""


class CardSection(ReviewPart):
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
    unjudged: Count | None = None
    """How many have nothing where a lock looks, and are not locked by it; null where nobody."""
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
    beside: RoundedContext,
) -> CardSection:
    """Lines by what they do; the whole scorecard; points needed; who edited it."""
    card = patch.card
    if card is None:
        raise ValueError("the patch is no card")
    unjudged = unjudged_rows(card.locked, rows.X)
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
        unjudged=beside.tens.count(unjudged.sum()) if unjudged.any() else None,
        as_learned=is_as_learned(patch) and not patch.provenance.edits,
        edits=list(patch.provenance.edits),
    )


def _line(
    each: LineOf, rows: Rows, after: Bools, metric: Metric, beside: RoundedContext
) -> CardLine:
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


# The patch itself: the card, or the paper's concepts and what they are made of; and reasons.


class IngredientRow(ReviewPart):
    """A column of a concept."""

    column: str
    """Its name."""
    effect: float
    """By how much one standard deviation of it moves the ratio."""
    towards_change: str
    """Which side of it pushes towards a change."""


class ConceptSection(ReviewPart):
    """A few columns that belong together."""

    name: str
    """Its name."""
    plain_name: str
    """What it is made of, in words."""
    weight: float
    """By how much one standard deviation of it moves the ratio."""
    share_of_changes: float
    """Of those who change, at least this share are pushed hardest by it."""
    ingredients: list[IngredientRow]
    """Its columns, strongest first."""


class PatchSection(ReviewPart):
    """The patch."""

    strength: float
    """How far it is turned; 0 is the base model."""
    direction: str
    """both, promote_only or demote_only."""
    offset: float
    """What everybody has to begin with."""
    columns: list[str]
    """What it reads."""
    card: CardSection | None
    """Its lines, where it is a card of points."""
    concepts: list[ConceptSection]
    """What it is made of."""


class ReasonRow(ReviewPart):
    """Why a row's decision changes, or does not."""

    row: int
    """Its number among the rows."""
    text: str
    """In words."""
    ratio: float
    """Below 0 the decision changes."""
    direction: str
    """promoted, demoted or unchanged."""
    contributions: list[tuple[str, float]]
    """What each part adds."""


def patch_section(
    patch: Patch,
    views: Sequence[ConceptView],
    lines: Sequence[LineOf],
    rows: Rows,
    after: Bools,
    metric: Metric,
    beside: RoundedContext,
) -> PatchSection:
    """What the patch is, and whom each of its lines moves."""
    changed = int(((rows.f > 0) != after).sum())
    ten = MIN_PEOPLE / changed if changed else 1.0  # ten people, as a share of those who change
    return PatchSection(
        strength=patch.strength,
        direction=patch.direction,
        offset=patch.offset,
        columns=[column.name for column in patch.columns],
        card=None
        if patch.card is None
        else card_section(patch, lines, rows, after, metric, beside),
        concepts=[
            ConceptSection(
                name=view.name,
                plain_name=view.plain_name,
                weight=view.weight,
                share_of_changes=round(float(view.share_of_changes // ten * ten), 2),
                ingredients=[
                    IngredientRow(column=i.column, effect=i.effect, towards_change=i.towards_change)
                    for i in view.ingredients
                ],
            )
            for view in views
        ],
    )


def reason_section(model: PatchedModel, rows: Rows, wanted: Sequence[int]) -> list[ReasonRow]:
    """Of some rows, as asked for."""
    return [
        ReasonRow(
            row=r.row,
            text=str(r),
            ratio=r.ratio,
            direction=r.direction,
            contributions=list(r.contributions),
        )
        for r in reasons(model, rows.X, rows=wanted)
    ]


# Worked cases: in each group, somebody whose decision changes and somebody whose does not.
#
# Line by line, as a person would add it up by hand. An example is made of the values that most of
# the people it stands for have: nobody need be like this, and no row is shown.

ENOUGH = 2 * MIN_PEOPLE
"""People whom an example stands for, at least."""
CONFIDENCE = "score of the base model"


class WorkedLine(ReviewPart):
    """One line of the sum."""

    column: str
    """What the column is called."""
    value: str
    """What is true of the person."""
    shown: str
    """The points for it."""


class Example(ReviewPart):
    """Somebody as many are: every value by itself is the commonest."""

    lines: list[WorkedLine]
    """One a column of the card, and one for the base model's score."""
    points: int
    """Their sum."""
    short: int
    """Points that are missing for the decision to change; 0 where it does."""


class WorkedCase(ReviewPart):
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


def worked_section(
    patch: Patch, rows: Rows, after: Bools, beside: RoundedContext
) -> list[WorkedCase]:
    """Two examples for every group in which enough people change."""
    if patch.card is None or not patch.strength:
        return []
    before, sheet, locked = rows.f > 0, PointSheet(patch, rows), patch.locks(rows.X)
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


def _may_show(beside: RoundedContext, what: str, feature: str, group: int, people: Bools) -> bool:
    """Whether an example narrows nothing: so many are shown to be there anyway."""
    told = beside.table.number(outcome(what).among, feature, group=group).low
    return bool(min(people.sum(), told) >= ENOUGH)


class PointSheet:
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
