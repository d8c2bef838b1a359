"""The lines of a card: who gets how many points. What people read, strike and change."""

from dataclasses import dataclass
from math import floor, log10

from fairpatch.patch.parts import CategoryWeight, Column, Concept, Level, NumberWeight, Range

MOST_LEVELS = 8
"""Levels that one line names, at most."""
MISSING, OTHER = "missing", "anything else"


@dataclass(frozen=True)
class Line:
    """One line: people of whom ``where`` is true get so many points."""

    concept: str
    column: str
    where: str
    points: float
    slope: bool = False
    """Whether the points are for each unit of a number."""

    @property
    def name(self) -> str:
        """What the line is called where it is struck or changed."""
        return f"{self.column} {self.where}"


def lines_of(concept: Concept, columns: dict[str, Column]) -> list[Line]:
    """Every line of a concept, in the order of its parts."""
    found = []
    for number in concept.numbers:
        found += [*_slope(concept, number, columns[number.column])]
    for part in concept.ranges:
        called = _called(columns[part.column])
        found += [
            Line(concept.name, called, _range(r), concept.weight * r.weight) for r in part.ranges
        ]
        found += [*_missing(concept, called, part.missing)]
    for category in concept.categories:
        found += [*_levels(concept, category, columns[category.column])]
    return found


def _slope(concept: Concept, number: NumberWeight, column: Column) -> list[Line]:
    each = concept.weight * number.coefficient
    unit = unit_of(each)
    where = f"for each {unit:g} above {number.around:g}"
    own = [Line(concept.name, _called(column), where, each * unit, slope=True)] if each else []
    return [*own, *_missing(concept, _called(column), number.missing)]


def _missing(concept: Concept, called: str, weight: float) -> list[Line]:
    return [Line(concept.name, called, MISSING, concept.weight * weight)] if weight else []


def _levels(concept: Concept, category: CategoryWeight, column: Column) -> list[Line]:
    """Levels of equal points are one line, of at most eight of them; a gap is a level too."""
    found = []
    for weight, levels in said_by_weight(category, column).items():
        said = list(levels)
        for k in range(0, len(said), MOST_LEVELS):
            where = is_any_of(said[k : k + MOST_LEVELS])
            found.append(Line(concept.name, _called(column), where, concept.weight * weight))
    other = concept.weight * category.other
    return [*found, *([Line(concept.name, _called(column), OTHER, other)] if other else [])]


def said_by_weight(
    category: CategoryWeight, column: Column
) -> dict[float, dict[str, list[Level | None]]]:
    """By weight: what people call its levels, in order, and the levels; a gap comes last."""
    found: dict[float, dict[str, list[Level | None]]] = {}
    words = {e.level: column.level_words.get(str(e.level), str(e.level)) for e in category.levels}
    for entry in sorted(category.levels, key=lambda e: words[e.level]):
        found.setdefault(entry.weight, {}).setdefault(words[entry.level], []).append(entry.level)
    if category.missing:
        found.setdefault(category.missing, {})[MISSING] = [None]
    return found


def is_any_of(said: list[str]) -> str:
    """What a line says of these levels.

    >>> is_any_of(["a", "b", "missing"]), is_any_of(["missing"])
    ('is a, b or missing', 'missing')
    """
    if said == [MISSING]:
        return MISSING
    return "is " + (f"{', '.join(said[:-1])} or {said[-1]}" if len(said) > 1 else said[0])


def _range(r: Range) -> str:
    if r.at_least is None:
        return "any number" if r.below is None else f"below {r.below:g}"
    if r.below is None:
        return f"{r.at_least:g} and above"
    return f"from {r.at_least:g} to below {r.below:g}"


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
