"""The lines of a card: who gets how many points, and what those can bring about at all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import floor, log10
from typing import Any, Protocol

from fairpatch.measure.cells import Direction, may_demote, may_promote
from fairpatch.patch.parts import (
    CardScale,
    CategoricalWeight,
    Category,
    CategoryWeight,
    Column,
    Concept,
    NumberWeight,
    ScoreBand,
)

MOST_CATEGORIES = 8
"""Categories that one line names, at most."""
MISSING, OTHER = "missing", "anything else"


@dataclass(frozen=True)
class Line:
    """One line: people of whom ``where`` is true get so many points."""

    concept: str
    column: str
    where: str
    points: float
    part: Concept = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    """The line alone: what it adds for each person."""

    @property
    def name(self) -> str:
        """What the line is called where it is struck or changed."""
        return f"{self.column} {self.where}"


def lines_of(concept: Concept, columns: dict[str, Column]) -> list[Line]:
    """Every line of a concept, in the order of its parts."""
    lines = []
    for number in concept.numbers:
        lines += [*_slope(concept, number, columns[number.column])]
    for part in concept.ranges:
        for r in part.ranges:
            own = (part.alone(r),)
            line = _line(concept, columns[part.column], where(r), r.weight, ranges=own)
            lines += [line] if r.weight else []  # the reference gives nothing: nobody strikes it
        lines += _missing(concept, columns[part.column], part.missing)
    for category in concept.categories:
        lines += [*_categories(concept, category, columns[category.column])]
    return lines


def _line(concept: Concept, column: Column, where: str, weight: float, **part: Any) -> Line:
    alone = Concept(name=concept.name, weight=concept.weight, intercept=0.0, **part)
    return Line(concept.name, _called(column), where, concept.weight * weight, alone)


def _slope(concept: Concept, number: NumberWeight, column: Column) -> list[Line]:
    each = concept.weight * number.coefficient
    unit = unit_of(each)
    where = f"for each {unit:g} above {number.around:g}"
    alone = (number.model_copy(update={"missing": 0.0}),)
    line = [_line(concept, column, where, number.coefficient * unit, numbers=alone)] if each else []
    return [*line, *_missing(concept, column, number.missing)]


def _missing(concept: Concept, column: Column, weight: float) -> list[Line]:
    if not weight:
        return []
    alone = NumberWeight(column=column.name, coefficient=0.0, missing=weight)
    return [_line(concept, column, MISSING, weight, numbers=(alone,))]


def _categories(concept: Concept, category: CategoricalWeight, column: Column) -> list[Line]:
    """Categories of equal points are one line, at most eight of them; a gap is a category too."""
    lines = []
    for weight, categories in words_by_weight(category, column).items():
        words = list(categories)
        for k in range(0, len(words), MOST_CATEGORIES):
            named = words[k : k + MOST_CATEGORIES]
            members = [category for word in named for category in categories[word]]
            alone = CategoricalWeight(
                column=category.column,
                categories=tuple(
                    CategoryWeight(category=m, weight=weight) for m in members if m is not None
                ),
                missing=weight if None in members else 0.0,
            )
            lines.append(_line(concept, column, is_any_of(named), weight, categories=(alone,)))
    lines = [line for line in lines if line.points]
    if not category.other:
        return lines
    listed = tuple(e.model_copy(update={"weight": 0.0}) for e in category.categories)
    rest = category.model_copy(update={"categories": listed, "missing": 0.0})
    return [*lines, _line(concept, column, OTHER, category.other, categories=(rest,))]


def words_by_weight(
    category: CategoricalWeight, column: Column
) -> dict[float, dict[str, list[Category | None]]]:
    """By weight: what people call its categories, in order, and these; a gap comes last."""
    by_weight: dict[float, dict[str, list[Category | None]]] = {}
    words = {
        e.category: column.category_words.get(str(e.category), str(e.category))
        for e in category.categories
    }
    for entry in sorted(category.categories, key=lambda e: words[e.category]):
        by_weight.setdefault(entry.weight, {}).setdefault(words[entry.category], []).append(
            entry.category
        )
    if category.missing:
        by_weight.setdefault(category.missing, {})[MISSING] = [None]
    return by_weight


def is_any_of(words: list[str]) -> str:
    """What a line says of these categories.

    >>> is_any_of(["a", "b", "missing"]), is_any_of(["missing"])
    ('is a, b or missing', 'missing')
    """
    if words == [MISSING]:
        return MISSING
    return "is " + (f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0])


def where(r: Any) -> str:
    """What is said of a range, or of a band of scores.

    >>> from fairpatch.patch.parts import Range
    >>> where(Range(at_least=18, below=25, weight=0)), where(Range(below=1e6, weight=0))
    ('18 to below 25', 'below 1,000,000')
    >>> where(Range(code=-1, weight=0)), where(Range(code=999, words="no revolving", weight=0))
    ('is -1', 'is 999 (no revolving)')
    """
    if getattr(r, "code", None) is not None:
        return f"is {_tidy(r.code)}" + (f" ({r.words})" if r.words else "")
    if r.at_least is None:
        return "any number" if r.below is None else f"below {_tidy(r.below)}"
    if r.below is None:
        return f"{_tidy(r.at_least)} and above"
    return f"{_tidy(r.at_least)} to below {_tidy(r.below)}"


def _tidy(value: float) -> str:
    """A number as people write it: no exponents for what a table may hold."""
    return f"{value:,.12g}" if 1e-4 <= abs(value) < 1e12 or not value else f"{value:g}"


def _called(column: Column) -> str:
    return column.words or column.name


def unit_of(each: float) -> float:
    """The power of ten of which a slope gives whole points of one or two digits.

    >>> unit_of(-1.2), unit_of(0.0034), unit_of(25.0), unit_of(250.0)
    (10.0, 10000.0, 1.0, 0.1)
    """
    if not each:
        return 1.0
    digits = floor(log10(abs(each)))
    if digits == 1:
        return 1.0
    two = round(abs(each) / 10.0 ** (digits - 1))
    return float(f"1e{-(digits - (0 if two % 10 == 0 and digits < 1 else 1))}")


# What a card's points can bring about at all, whoever comes: their most against those needed.


class Reaching(Protocol):
    """What is asked of a patch."""

    concepts: tuple[Concept, ...]
    card: CardScale | None
    strength: float
    direction: Direction


def within_reach(patch: Reaching, band: ScoreBand, *, denied: bool) -> bool:
    """Whether anybody can have the points that such a score asks for."""
    if patch.card is None or band.points is None:
        return False
    most = sum(most for _, most in _each_column(patch, denied=denied))
    return most - band.points >= _needed(patch.card, denied=denied) or not patch.strength


def can_matter(patch: Reaching, line: Line) -> bool:
    """Whether somebody's decision could depend on a line, with the most of all other columns."""
    if patch.card is None or not patch.strength:
        return True
    for denied, may in ((True, may_promote), (False, may_demote)):
        others = sum(
            most
            for column, most in _each_column(patch, denied=denied)
            if column not in line.part.columns
        )
        own = max(0.0, line.points if denied else -line.points)
        if may(patch.direction) and own + others >= _needed(patch.card, denied=denied):
            return True
    return False


def _needed(card: CardScale, *, denied: bool) -> int:
    return card.approve_at if denied else -card.deny_at


def _each_column(patch: Reaching, *, denied: bool) -> Iterator[tuple[str, float]]:
    """The most points that each column gives: towards an approval, or towards a denial."""
    sign = 1.0 if denied else -1.0
    for concept in patch.concepts:
        listed = [(n.column, [n.missing]) for n in concept.numbers]
        listed += [(p.column, [p.missing, *(r.weight for r in p.ranges)]) for p in concept.ranges]
        listed += [
            (c.column, [c.missing, c.other, *(e.weight for e in c.categories)])
            for c in concept.categories
        ]
        for column, points in listed:
            yield column, max(0.0, *(sign * worth for worth in points))
