"""The parts of a patch: columns, weights, concepts, and where it comes from."""

from collections.abc import Iterable
from itertools import pairwise
from math import inf
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_serializer,
    model_validator,
)

from fairpatch.inputs.values import PRIME

HEAVIEST, LIGHTEST = 1e15, 1e-30
"""Sizes of a weight: beyond them its sums and products are no numbers in some engine."""
MOST_POINTS = 1_000_000
"""Of a line, a band or a decision: far more than any card has."""
MOST_RANGES = 1_000
"""Of a column: far more than anybody reads."""
NEVER = 1_000_000_000
"""Points that nobody has: the confidence of a band where no decision changes."""


def _sensible(value: float) -> float:
    """A weight that every engine can use: not too large; what is next to nothing is nothing."""
    if abs(value) > HEAVIEST:
        raise ValueError(f"must be at most 1e15 in size; got {value:g}")
    return value if abs(value) >= LIGHTEST else 0.0


Number = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_sensible)]
Kind = Literal["number", "category"]
Category = StrictBool | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictStr


class Part(BaseModel):
    """A piece of a patch: plain data that never changes, and nothing that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def repeated(values: Iterable[Any]) -> Any:
    """The first of some values that was there before; None where each is there once."""
    seen = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


class Column(Part):
    """A raw column that the patch reads."""

    name: str
    kind: Kind
    position: int | None = None
    """Where it stands in an array, for patches learned on arrays."""
    words: str | None = None
    """What people call it."""
    category_words: dict[str, str] = {}
    """What people call its categories."""


class NumberWeight(Part):
    """A number's part in a concept: coefficient * (x - around), or ``missing`` where it is."""

    column: str
    coefficient: Number
    missing: Number
    around: Number = 0.0


class CategoryWeight(Part):
    """A category's part in a concept."""

    category: Category
    weight: Number


class CategoricalWeight(Part):
    """A category's part in a concept: its category's weight, ``other`` for one not listed."""

    column: str
    categories: tuple[CategoryWeight, ...]
    missing: Number
    other: Number = 0.0

    @field_validator("categories")
    @classmethod
    def _each_once(cls, value: tuple[CategoryWeight, ...]) -> tuple[CategoryWeight, ...]:
        twice = repeated([entry.category for entry in value])
        if twice is not None:
            raise ValueError(f"the category {twice!r} has two weights; keep one of them")
        numbers = (e.category for e in value if not isinstance(e.category, str))
        large = next((number for number in numbers if abs(number) >= 2**53), None)
        if large is not None:
            raise ValueError(f"the category {large!r} is larger than a double tells apart")
        return value


class Range(Part):
    """Numbers from ``at_least`` on, below ``below``; an end that is not given is open.

    Or one number alone that is a ``code`` and no quantity: it lies in no other range.

    >>> Range(at_least=45, weight=-60).below is None
    True
    >>> Range(code=-1, words="no file", weight=0).model_dump()
    {'weight': 0.0, 'code': -1.0, 'words': 'no file'}
    """

    at_least: Number | None = None
    below: Number | None = None
    weight: Number
    code: Number | None = None
    words: str | None = None
    """What the code means."""

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if self.code is None and self.words is not None:
            raise ValueError("words say what a code means; a range has none")
        if self.code is not None and (self.at_least is not None or self.below is not None):
            raise ValueError("a code is one number: give it alone, without at_least and below")
        return self

    @model_serializer(mode="wrap")
    def _either(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A range as ever, or a code."""
        data: dict[str, Any] = handler(self)
        gone = ("code", "words") if self.code is None else ("at_least", "below")
        return {name: value for name, value in data.items() if name not in gone}


def check_apart(ranges: Iterable[Any], what: str) -> None:
    """Refuse ranges of which one is empty, or two overlap."""
    ends = sorted(
        (-inf if r.at_least is None else r.at_least, inf if r.below is None else r.below)
        for r in ranges
    )
    empty = any(low >= high for low, high in ends)
    if empty or any(high > above for (_, high), (above, _) in pairwise(ends)):
        raise ValueError(f"{what} must not be empty nor overlap")


class RangesWeight(Part):
    """A number's part in a concept by where it lies: its range's weight, 0 outside of all.

    A code is looked for before any range.

    >>> RangesWeight(column="age", ranges=[Range(at_least=45, weight=-60)]).missing
    0.0
    """

    column: str
    ranges: tuple[Range, ...]
    missing: Number = 0.0

    @field_validator("ranges")
    @classmethod
    def _apart(cls, value: tuple[Range, ...]) -> tuple[Range, ...]:
        """No number lies in two ranges: else its weight would be a matter of opinion."""
        if len(value) > MOST_RANGES:
            raise ValueError(f"a column has at most {MOST_RANGES:,} ranges; got {len(value):,}")
        check_apart([r for r in value if r.code is None], "the ranges")
        twice = repeated(r.code for r in value if r.code is not None)
        if twice is not None:
            raise ValueError(f"the code {twice:g} has two weights; keep one of them")
        return value

    @property
    def codes(self) -> list[Range]:
        """Numbers that are no quantities."""
        return [r for r in self.ranges if r.code is not None]

    @property
    def quantities(self) -> list[Range]:
        """The other ranges, from the lowest on."""
        known = [r for r in self.ranges if r.code is None]
        return sorted(known, key=lambda r: -inf if r.at_least is None else r.at_least)

    def alone(self, r: Range) -> "RangesWeight":
        """What one of the ranges adds by itself: a code lies in no other."""
        codes = () if r.code is not None else self.codes
        others = [code.model_copy(update={"weight": 0.0}) for code in codes]
        return RangesWeight(column=self.column, ranges=(r, *others))


class ScoreBand(Part):
    """Scores from ``at_least`` on, below ``below``: the points that f's confidence is worth there.

    ``points`` of None: no decision changes in this band, whatever the points. Where thresholds are
    by a column's values, ends are distances from each row's own.

    >>> ScoreBand(below=0.1, points=None).at_least is None
    True
    """

    at_least: Number | None = None
    below: Number | None = None
    points: Annotated[int, Field(strict=True, ge=0, le=MOST_POINTS)] | None = 0


class Pilot(Part):
    """A card that acts for some people only, so that its outcomes are learned at a bounded risk.

    They are drawn by a hash of their key, the same people in every engine; all others stay as the
    base model decides.

    >>> str(Pilot(share=0.2, key="id"))
    "20% of people, drawn by 'id'"
    """

    share: Annotated[Number, Field(gt=0, le=1)]
    key: str
    """Column of whole numbers that tells people apart; who has none is left out."""
    seed: int = 0
    """Another seed, other people."""

    @property
    def below(self) -> int:
        """Whoever's place is below this is in it (see ``fairpatch.inputs.values``)."""
        return round(self.share * PRIME)

    def __str__(self) -> str:
        return f"{100 * self.share:.3g}% of people, drawn by {self.key!r}"


class Lock(Part):
    """Rows whose decision is a matter of policy: the patch leaves it as the base model has it.

    Either some values of a column, or its numbers from ``at_least`` on and below ``below``. A
    missing value locks nobody. Or ``unless`` that holds: the patch is for such rows alone, and
    whoever has another value, or none, is locked.

    >>> str(Lock(column="knock_out", values=["yes"])), str(Lock(column="amount", at_least=50_000))
    ('knock_out is yes', 'amount from 50000')
    >>> str(Lock(column="city", values=["NYC"], unless=True))
    'unless city is NYC'
    """

    column: str
    values: tuple[Category, ...] = ()
    at_least: Number | None = None
    below: Number | None = None
    unless: bool = False

    @model_serializer(mode="wrap")
    def _as_ever(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What locks the rows themselves is written as it always was."""
        data: dict[str, Any] = handler(self)
        return {k: v for k, v in data.items() if k != "unless" or v}

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        by_number = self.at_least is not None or self.below is not None
        if bool(self.values) == by_number:
            raise ValueError(
                f"rows are locked by values of {self.column!r}, or by at_least and below: give one "
                "of the two"
            )
        self.part  # noqa: B018 its values are what a line may name
        return self

    @property
    def part(self) -> "CategoricalWeight | RangesWeight":
        """1 for a row that is locked, in the words of every engine."""
        inside, rest = float(not self.unless), float(self.unless)
        if self.at_least is None and self.below is None:
            each = [CategoryWeight(category=value, weight=inside) for value in self.values]
            return CategoricalWeight(
                column=self.column, categories=tuple(each), missing=rest, other=rest
            )
        ranges = [Range(at_least=self.at_least, below=self.below, weight=inside)]
        if self.at_least is not None:
            ranges.append(Range(below=self.at_least, weight=rest))
        if self.below is not None:
            ranges.append(Range(at_least=self.below, weight=rest))
        if not self.unless:
            ranges = ranges[:1]
        return RangesWeight(column=self.column, ranges=tuple(ranges), missing=rest)

    @property
    def gap(self) -> "CategoricalWeight | RangesWeight":
        """1 for a row that has nothing where the lock looks."""
        if isinstance(self.part, RangesWeight):
            return RangesWeight(column=self.column, ranges=(), missing=1.0)
        none = [CategoryWeight(category=value, weight=0.0) for value in self.values]
        return CategoricalWeight(column=self.column, categories=tuple(none), missing=1.0)

    def __str__(self) -> str:
        unless = "unless " if self.unless else ""
        if self.values:
            return f"{unless}{self.column} is {' or '.join(map(str, self.values))}"
        ends = [f"from {self.at_least:g}"] if self.at_least is not None else []
        ends += [f"below {self.below:g}"] if self.below is not None else []
        return f"{unless}{self.column} {' and '.join(ends)}"


class CardScale(Part):
    """What makes of a patch a scorecard: how many points change a decision.

    A denied person is approved where points - confidence >= ``approve_at``, an approved one denied
    where points + confidence <= ``deny_at``; confidence is that of the score's band, and of a
    locked row more than anybody has points.

    >>> CardScale(approve_at=30)
    CardScale(approve_at=30, deny_at=-30, confidence=(), locked=())
    """

    approve_at: Annotated[int, Field(strict=True, ge=-MOST_POINTS, le=MOST_POINTS)]
    deny_at: Annotated[int, Field(strict=True, ge=-MOST_POINTS, le=MOST_POINTS)] = None  # type: ignore[assignment]
    """As far below 0 as ``approve_at`` is above, where it is not given."""
    confidence: tuple[ScoreBand, ...] = ()
    """Scores that are in no band have 0."""
    locked: tuple[Lock, ...] = ()
    """Whose decisions never change; any of them is enough."""

    @model_validator(mode="before")
    @classmethod
    def _alike_both_ways(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("deny_at") is None and "approve_at" in data:
            given = data["approve_at"]
            return {**data, "deny_at": -given if isinstance(given, int) else given}
        return data

    @field_validator("confidence")
    @classmethod
    def _apart(cls, value: tuple[ScoreBand, ...]) -> tuple[ScoreBand, ...]:
        check_apart(value, "the bands of the score")
        return value

    @property
    def lock(self) -> "Concept | None":
        """Above 0 for whom some lock holds; None where there is none."""
        return _any_of([lock.part for lock in self.locked])

    @property
    def gap(self) -> "Concept | None":
        """Above 0 for whom some lock says nothing, as its column is empty there."""
        return _any_of([lock.gap for lock in self.locked if not lock.unless])

    @property
    def bands(self) -> list[Range]:
        """Confidence as ranges of the score, whose weights every engine adds alike."""
        return [
            Range.model_construct(
                at_least=b.at_least, below=b.below,
                weight=float(NEVER if b.points is None else b.points),
            )
            for b in self.confidence
        ]  # fmt: skip


def _any_of(parts: "list[CategoricalWeight | RangesWeight]") -> "Concept | None":
    if not parts:
        return None
    return Concept(
        name="locked", weight=1.0, intercept=0.0,
        categories=tuple(p for p in parts if isinstance(p, CategoricalWeight)),
        ranges=tuple(p for p in parts if isinstance(p, RangesWeight)),
    )  # fmt: skip


class Concept(Part):
    """A weighted sum of raw values; on a card, a group of its lines."""

    name: str
    weight: Number
    """v_j: what one unit of this concept adds to the ratio; 1 on a card."""
    intercept: Number
    numbers: tuple[NumberWeight, ...] = ()
    categories: tuple[CategoricalWeight, ...] = ()
    ranges: tuple[RangesWeight, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns it reads."""
        named = [n.column for n in self.numbers] + [c.column for c in self.categories]
        return list(dict.fromkeys(named + [r.column for r in self.ranges]))


class Provenance(Part):
    """Where a patch comes from. No row of the data and no value of S is in it."""

    settings: dict[str, Any] = {}
    sensitive_features: tuple[str, ...] = ()
    """Names only."""
    training_rows: int | None = None
    base_scores_sha256: str | None = None
    """Hash of the base model's scores on the training rows: tells whether f is still the same."""
    versions: dict[str, str] = {}
    lines_sha256: str | None = None
    """Hash of a card's lines as they were learned: tells whether a person has edited them."""
    edits: tuple[str, ...] = ()
    """What a person has changed since, in words."""


def moved_by(concept: Concept, by: float) -> Concept:
    """All points of a column by so much more."""
    ranges = [
        part.model_copy(
            update={
                "ranges": tuple(
                    r.model_copy(update={"weight": r.weight + by}) for r in part.ranges
                ),
                "missing": part.missing + by,
            }
        )
        for part in concept.ranges
    ]
    categories = [
        part.model_copy(
            update={
                "categories": tuple(
                    e.model_copy(update={"weight": e.weight + by}) for e in part.categories
                ),
                "missing": part.missing + by,
                "other": part.other + by,
            }
        )
        for part in concept.categories
    ]
    return concept.model_copy(update={"ranges": tuple(ranges), "categories": tuple(categories)})


def merge(concepts: Iterable[Concept], offset: float = 0.0, times: float = 1.0) -> Concept:
    """The offset and the concepts' weighted sum as one concept, so many times.

    Its weights are products of checked ones, and need no check of their own.
    """
    intercept = times * offset
    numbers: dict[str, NumberWeight] = {}
    categories: dict[str, CategoricalWeight] = {}
    ranges: list[RangesWeight] = []
    for concept in concepts:
        w = times * concept.weight
        intercept += w * concept.intercept
        ranges += [_scaled(part, w) for part in concept.ranges]
        for n in concept.numbers:
            shift = n.coefficient * n.around
            intercept -= w * shift
            none = NumberWeight.model_construct(column=n.column, coefficient=0.0, missing=0.0)
            old = numbers.get(n.column, none)
            numbers[n.column] = NumberWeight.model_construct(
                column=n.column,
                coefficient=old.coefficient + w * n.coefficient,
                missing=old.missing + w * (n.missing + shift),
            )
        for c in concept.categories:
            before = categories.get(
                c.column,
                CategoricalWeight.model_construct(column=c.column, categories=(), missing=0.0),
            )
            categories[c.column] = _add(before, c, w)
    return Concept.model_construct(
        name="ratio",
        weight=1.0,
        intercept=intercept,
        numbers=tuple(numbers.values()),
        categories=tuple(categories.values()),
        ranges=tuple(ranges),
    )


def _scaled(part: RangesWeight, w: float) -> RangesWeight:
    scaled = [r.model_copy(update={"weight": w * r.weight}) for r in part.ranges]
    missing = w * part.missing
    return RangesWeight.model_construct(column=part.column, ranges=tuple(scaled), missing=missing)


def _add(one: CategoricalWeight, two: CategoricalWeight, w: float) -> CategoricalWeight:
    """Weights of ``one`` plus w times those of ``two``; a category that one lacks is its other."""
    a = {entry.category: entry.weight for entry in one.categories}
    b = {entry.category: entry.weight for entry in two.categories}
    return CategoricalWeight.model_construct(
        column=one.column,
        categories=tuple(
            CategoryWeight.model_construct(
                category=k, weight=a.get(k, one.other) + w * b.get(k, two.other)
            )
            for k in a | b
        ),
        missing=one.missing + w * two.missing,
        other=one.other + w * two.other,
    )
