"""A patch as a person would want to read it: a card of points, or the paper's formula."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Protocol

from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction, may_demote, may_promote
from fairpatch.measure.show import Table
from fairpatch.patch.lines import Line
from fairpatch.patch.parts import Card, Concept

WIDTH = 38
"""Of a line's words, before they go on below."""
BETWEEN = "; "
"""Between the lines that are a reason."""


class Readable(Protocol):
    """What is read of a patch."""

    concepts: tuple[Concept, ...]
    card: Card | None
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
    found: list[Line] = []
    for concept in patch.concepts:
        own = [line for line in patch.lines if line.concept == concept.name]
        found += sorted(own, key=lambda line: -abs(line.points))
    return found


@dataclass(frozen=True)
class ReasonLine:
    """A line of the card as a reason: what is said where it gives points, and where it takes."""

    gives: str
    takes: str
    part: Concept
    """The line alone: its points."""


def reason_lines(patch: Readable) -> list[ReasonLine]:
    """The lines as reasons, in the card's order; a code takes the place of words."""
    found = []
    for line in ordered_lines(patch):
        gives = takes = f"{line.name} ({shown(line.points)})"
        if line.slope:  # "age below 40" says more than "-2 for each 1 above 40"
            around = line.part.numbers[0].around
            ends = [f"{line.column} {side} {around:g}" for side in ("above", "below")]
            gives, takes = ends if line.points > 0 else ends[::-1]
        code = patch.reason_codes.get(line.name)
        found.append(ReasonLine(code or gives, code or takes, line.part))
    return found


def _card(patch: Readable) -> Table:
    rows: list[list[str]] = []
    lines = ordered_lines(patch)
    alone = {c.name: all(x.column == c.name for x in lines if x.concept == c.name)
             for c in patch.concepts}  # fmt: skip
    for line in lines:
        said = line.name if alone[line.concept] else f"{line.concept}: {line.name}"
        first, *more = wrap(said, WIDTH, break_long_words=False) or [""]
        rows.append([first, shown(line.points)])
        rows += [[f"  {rest}", ""] for rest in more]
    constant = patch.offset + sum(c.weight * c.intercept for c in patch.concepts)
    if constant:
        rows.append(["everybody", shown(constant)])
    n = len(lines)
    title = f"A card of {n} line{'s' if n != 1 else ''}: who gets how many points"
    return Table(title, ["who", "points"], rows, sentences(patch))


def sentences(patch: Readable) -> list[str]:
    """When a decision changes, in words."""
    if patch.card is None:
        return ["A decision changes where r is below 0."]
    if not patch.strength:
        return ["The card is turned off: no decision changes."]
    price = patch.card.price / patch.strength
    most = patch.card.sureness
    yes, no = patch.decision.sides
    sure = f"how sure f is (0 at its cut-off, {most:g} where it is surest)"
    found = [f"Nobody who is {no} is {yes}.", f"Nobody who is {yes} is {no}."]
    if may_promote(patch.direction):
        more = f" plus {sure}" if most else ", however sure f is"
        found[0] = f"{_a(no)} person is {yes} where the points reach {price:g}{more}."
    if may_demote(patch.direction):
        how = f"as low as {-price:g} less {sure}" if most else f"{-price:g} or lower, however sure"
        found[1] = f"{_a(yes)} person is {no} where they are {how}{'' if most else ' f is'}."
    return found


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
    found = [
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
            levels = sorted(category.levels, key=lambda e: e.weight)
            rows += [[category.column, str(e.level), f"{e.weight:+.3g}"] for e in levels]
            if category.missing:
                rows.append([category.column, "missing", f"{category.missing:+.3g}"])
        found.append(Table(f"{concept.name} adds", ["column", "value", "adds"], rows))
    return found
