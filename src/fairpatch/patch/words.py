"""A patch as a person would want to read it: a card of points, or the paper's formula."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Protocol

from fairpatch._table import Table
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction, may_demote, may_promote
from fairpatch.patch.lines import Line
from fairpatch.patch.parts import CardScale, Concept

WIDTH = 38
"""Of a line's words, before they go on below."""
BETWEEN = "; "
"""Between the lines that are a reason."""


class Readable(Protocol):
    """What is read of a patch."""

    concepts: tuple[Concept, ...]
    card: CardScale | None
    offset: float
    strength: float
    direction: Direction
    decision: Decision
    reason_codes: dict[str, str]

    @property
    def lines(self) -> Sequence[Line]:
        """Who gets how many points."""


def tables(patch: Readable) -> list[Table]:
    """A card, or the formula and one table a concept."""
    return _formula(patch) if patch.card is None else [_card(patch)]


def ordered_lines(patch: Readable) -> list[Line]:
    """A card's lines as they are printed: concept by concept, those of many points first."""
    lines: list[Line] = []
    for concept in patch.concepts:
        of_concept = [line for line in patch.lines if line.concept == concept.name]
        lines += sorted(of_concept, key=lambda line: -abs(line.points))
    return lines


@dataclass(frozen=True)
class ReasonLine:
    """A line of the card as a reason: what is said where it gives points, and where it takes."""

    gives: str
    takes: str
    part: Concept
    """The line alone: its points."""


def reason_lines(patch: Readable) -> list[ReasonLine]:
    """The lines as reasons, in the card's order; a code takes the place of words."""
    reasons = []
    for line in ordered_lines(patch):
        gives = takes = f"{line.name} ({shown(line.points)})"
        if line.slope:  # "age below 40" says more than "-2 for each 1 above 40"
            around = line.part.numbers[0].around
            ends = [f"{line.column} {side} {around:g}" for side in ("above", "below")]
            gives, takes = ends if line.points > 0 else ends[::-1]
        code = patch.reason_codes.get(line.name)
        reasons.append(ReasonLine(code or gives, code or takes, line.part))
    return reasons


def _card(patch: Readable) -> Table:
    rows: list[list[str]] = []
    lines = ordered_lines(patch)
    alone = {c.name: all(x.column == c.name for x in lines if x.concept == c.name)
             for c in patch.concepts}  # fmt: skip
    for line in lines:
        words = line.name if alone[line.concept] else f"{line.concept}: {line.name}"
        first, *more = wrap(words, WIDTH, break_long_words=False) or [""]
        rows.append([first, shown(line.points)])
        rows += [[f"  {rest}", ""] for rest in more]
    constant = patch.offset + sum(c.weight * c.intercept for c in patch.concepts)
    if constant:
        rows.append(["everybody", shown(constant)])
    n = len(lines)
    title = f"A card of {n} line{'s' if n != 1 else ''}"
    return Table(title, ["if", "points"], rows, sentences(patch))


def sentences(patch: Readable) -> list[str]:
    """When a decision changes, in words."""
    if patch.card is None:
        return ["A decision changes where r is below 0."]
    if not patch.strength:
        return ["The card is switched off: no decision changes."]
    needed = patch.card.points_needed / patch.strength
    yes, no = patch.decision.sides
    more = _confidence(patch)
    texts = [f"Nobody who is {no} becomes {yes}.", f"Nobody who is {yes} becomes {no}."]
    if may_promote(patch.direction):
        texts[0] = f"{_a(no)} person is {yes} at {needed:g} points or more{more}."
    if may_demote(patch.direction):
        minus = more.replace("plus", "minus")
        texts[1] = f"{_a(yes)} person is {no} at {-needed:g} points or fewer{minus}."
    return texts


def _confidence(patch: Readable) -> str:
    """What the base model's confidence adds to the points needed, at a few scores."""
    most = 0.0 if patch.card is None else patch.card.confidence_points
    if not most:
        return ", whatever the score"
    t = patch.decision.threshold
    far = 0.0 if t >= 0.5 else 1.0  # where the score is farthest from the threshold
    worth = most * abs((t + far) / 2 - t) / max(t, 1 - t)
    return (
        f", plus confidence points: 0 at a score of {t:g}, {worth:.3g} at {(t + far) / 2:g}, "
        f"{most:g} at {far:g}"
    )


def _a(word: str) -> str:
    """A word with its article.

    >>> _a("approved"), _a("denied")
    ('An approved', 'A denied')
    """
    return f"{'An' if word[:1].lower() in 'aeiou' else 'A'} {word}"


def shown(points: float) -> str:
    """Points with their sign.

    >>> shown(20.0), shown(-3.5), shown(0.0)
    ('+20', '-3.5', '0')
    """
    return f"{points:+g}" if points else "0"


def _formula(patch: Readable) -> list[Table]:
    terms = "".join(f" {c.weight:+.3g} x ({c.name})" for c in patch.concepts)
    tables = [
        Table(
            f"r = 1 + {patch.strength:.3g} x ({patch.offset:.3g}{terms}); direction "
            f"{patch.direction}",
            sentences(patch),
            [],
        )
    ]
    for concept in patch.concepts:
        rows = [["everybody", "", f"{concept.intercept:+.3g}"]]
        for number in concept.numbers:
            rows.append([number.column, "each unit", f"{number.coefficient:+.3g}"])
            if number.missing:
                rows.append(["", "missing", f"{number.missing:+.3g}"])
        for category in concept.categories:
            categories = sorted(category.categories, key=lambda e: e.weight)
            rows += [[category.column, str(e.category), f"{e.weight:+.3g}"] for e in categories]
            if category.missing:
                rows.append([category.column, "missing", f"{category.missing:+.3g}"])
        tables.append(Table(f"{concept.name} adds", ["column", "value", "adds"], rows))
    return tables
