"""The parts of a patch: columns, weights, concepts, and where it comes from."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

Number = Annotated[float, Field(allow_inf_nan=False)]
Kind = Literal["number", "category"]
Level = StrictBool | StrictInt | StrictFloat | StrictStr


class Part(BaseModel):
    """A piece of a patch: plain data that never changes, and nothing that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Part):
    """A raw column that the patch reads."""

    name: str
    kind: Kind
    position: int | None = None
    """Where it stands in an array, for patches learned on arrays."""


class NumberWeight(Part):
    """A number's part in a concept: coefficient * x, or ``missing`` where x is missing."""

    column: str
    coefficient: Number
    missing: Number


class LevelWeight(Part):
    """A level's part in a concept."""

    level: Level
    weight: Number


class CategoryWeight(Part):
    """A category's part in a concept: its level's weight, ``other`` for one not listed."""

    column: str
    levels: tuple[LevelWeight, ...]
    missing: Number
    other: Number = 0.0


class Concept(Part):
    """A weighted sum of raw values, of mean 0 and variance 1 on the training rows."""

    name: str
    weight: Number
    """v_j: what one standard deviation of this concept adds to the ratio."""
    intercept: Number
    numbers: tuple[NumberWeight, ...] = ()
    categories: tuple[CategoryWeight, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns it reads."""
        return [*(n.column for n in self.numbers), *(c.column for c in self.categories)]


class Provenance(Part):
    """Where a patch comes from. No row of the data and no value of S is in it."""

    settings: dict[str, Any] = {}
    sensitive_features: tuple[str, ...] = ()
    """Names only."""
    training_rows: int | None = None
    base_scores_sha256: str | None = None
    """Hash of the base model's scores on the training rows: tells whether f is still the same."""
    versions: dict[str, str] = {}


def merge(concepts: Iterable[Concept], offset: float, strength: float) -> Concept:
    """The offset and the concepts' weighted sum as one concept: r = 1 + merge(...)."""
    intercept = strength * offset
    numbers: dict[str, NumberWeight] = {}
    categories: dict[str, CategoryWeight] = {}
    for concept in concepts:
        w = strength * concept.weight
        intercept += w * concept.intercept
        for n in concept.numbers:
            old = numbers.get(n.column, NumberWeight(column=n.column, coefficient=0.0, missing=0.0))
            numbers[n.column] = NumberWeight(
                column=n.column,
                coefficient=old.coefficient + w * n.coefficient,
                missing=old.missing + w * n.missing,
            )
        for c in concept.categories:
            before = categories.get(
                c.column, CategoryWeight(column=c.column, levels=(), missing=0.0)
            )
            categories[c.column] = _add(before, c, w)
    return Concept(
        name="ratio",
        weight=1.0,
        intercept=intercept,
        numbers=tuple(numbers.values()),
        categories=tuple(categories.values()),
    )


def _add(one: CategoryWeight, two: CategoryWeight, w: float) -> CategoryWeight:
    """Weights of ``one`` plus w times those of ``two``; a level that one lacks is its other."""
    a = {entry.level: entry.weight for entry in one.levels}
    b = {entry.level: entry.weight for entry in two.levels}
    return CategoryWeight(
        column=one.column,
        levels=tuple(
            LevelWeight(level=k, weight=a.get(k, one.other) + w * b.get(k, two.other))
            for k in a | b
        ),
        missing=one.missing + w * two.missing,
        other=one.other + w * two.other,
    )
