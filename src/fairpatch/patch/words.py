"""A patch as a person would want to read it: a card of points, or the paper's formula."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Protocol

from fairpatch.measure.direction import Direction, may_demote, may_promote
from fairpatch.measure.show import Table
from fairpatch.patch.lines import Line
from fairpatch.patch.parts import Card, Concept

WIDTH = 38
"""Of a line's words, before they go on below."""


class Readable(Protocol):
    """What is read of a patch."""

    concepts: tuple[Concept, ...]
    card: Card | None
    offset: float
    strength: float
    direction: Direction

    @property
    def lines(self) -> Sequence[Line]:
        """Who gets how many points."""


def tables(patch: Readable) -> list[Table]:
    """A card, or the formula and one table a concept."""
    return _formula(patch) if patch.card is None else [_card(patch)]


def _card(patch: Readable) -> Table:
    rows: list[list[str]] = []
    groups = [(c.name, [x for x in patch.lines if x.concept == c.name]) for c in patch.concepts]
    for name, lines in groups:
        alone = all(line.column == name for line in lines)
        for line in sorted(lines, key=lambda line: -abs(line.points)):
            said = line.name if alone else f"{name}: {line.name}"
            first, *more = wrap(said, WIDTH, break_long_words=False) or [""]
            rows.append([first, shown(line.points)])
            rows += [[f"  {rest}", ""] for rest in more]
    constant = patch.offset + sum(c.weight * c.intercept for c in patch.concepts)
    if constant:
        rows.append(["everybody", shown(constant)])
    n = sum(len(lines) for _, lines in groups)
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
    sure = f"how sure f is (0 at its cut-off, {most:g} where it is surest)"
    found = []
    if may_promote(patch.direction):
        more = f" plus {sure}" if most else ", however sure f is"
        found.append(f"A denied person is approved where the points reach {price:g}{more}.")
    else:
        found.append("Nobody who is denied is approved.")
    if may_demote(patch.direction):
        less = f" less {sure}" if most else ", however sure f is"
        found.append(f"An approved person is denied where they are {-price:g} or lower{less}.")
        if most:
            found[-1] = (
                f"An approved person is denied where they are as low as {-price:g} less {sure}."
            )
    else:
        found.append("Nobody who is approved is denied.")
    return found


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
