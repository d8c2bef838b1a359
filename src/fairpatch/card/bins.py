"""Columns as a scorecard sees them: in pieces, by a user's options, and which it never reads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, log10
from typing import Any, Literal

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.hints import did_you_mean, hint
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.inputs.notice import special_codes
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.inputs.values import Value
from fairpatch.inputs.vocabulary import is_protected
from fairpatch.measure.scores import is_copy
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column

# How a scorecard may look: how fine, whose order it keeps, what people call things.

WAYS = (1, -1)
KeepOrder = Literal["auto", "numbers", "all"]
ORDERS: dict[KeepOrder | None, tuple[KeepOrder | None, ...]] = {"auto": ("all", "numbers", None)}
"""By what is asked, the orders that are tried; the others are themselves."""


@dataclass(frozen=True)
class CardOptions:
    """How a scorecard may look; see ``Card``, which has the same parameters."""

    keep_order: KeepOrder | None = "auto"
    max_bins: int = 5
    points_step: int = 5
    monotonic: Mapping[str, int] = field(default_factory=dict)
    free: Sequence[str] = ()
    signs: Mapping[str, int] = field(default_factory=dict)
    ordered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    category_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groupings: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.keep_order is not None:
            check.one_of("keep_order", self.keep_order, ("auto", "numbers", "all"))
        check.whole("max_bins", self.max_bins, 2)
        check.whole("points_step", self.points_step, 1)
        for name in ("monotonic", "signs"):
            for column, way in getattr(self, name).items():
                if way not in WAYS:
                    raise ValueError(f"{name} of {column!r} must be 1 or -1; got {way!r}")

    @property
    def tried(self) -> tuple["CardOptions", ...]:
        """The same for each order that is to be tried."""
        orders = ORDERS.get(self.keep_order, (self.keep_order,))
        return tuple(replace(self, keep_order=order) for order in orders)

    @property
    def columns(self) -> set[str]:
        """Every column that a rule is about."""
        named = (
            self.monotonic, self.signs, self.ordered, self.names, self.category_names,
            self.groupings,
        )  # fmt: skip
        return {*self.free, *(column for rule in named for column in rule)}

    def check_columns(self, known: Sequence[str]) -> None:
        """Refuse a rule about a column that the patch cannot read: it would go unread."""
        for column in sorted(self.columns):
            if column not in known:
                hint = did_you_mean(column, known)
                raise ValueError(
                    f"the card's rules name column {column!r}, which the patch cannot read{hint}"
                )


# Columns as a scorecard sees them: numbers and ordered categories in bins, others by category.

RARE = 0.005
"""Of the people, at least, for whom a category has points of its own."""


@dataclass(frozen=True, eq=False)
class Field:
    """A column, cut into pieces; what is missing, rare or not listed is the piece after the last.

    Attributes
    ----------
    column : Column
        With what people call it.
    edges : array or None
        Of a number: where each bin but the first begins.
    categories : tuple of tuples
        Of a category: the categories of each piece.
    codes : tuple of pairs
        Of a number: values that are no quantities, and what they mean. Each is a piece after the
        bins.
    in_order : bool
        Whether the pieces have an order of their own: a number's, or one that people gave.
    gaps : bool
        Whether the piece after the last has points: those of a number that is missing. A category
        that is rare or new has none.
    reference : int
        The commonest piece, which has 0 points.
    """

    column: Column
    edges: Floats | None = None
    categories: tuple[tuple[Value, ...], ...] = ()
    codes: tuple[tuple[float, str], ...] = ()
    in_order: bool = False
    gaps: bool = False
    reference: int = 0

    @property
    def number(self) -> bool:
        """Whether it is a number."""
        return self.edges is not None

    @property
    def pieces(self) -> int:
        """Bins and codes, or groups of categories."""
        return self.bins + len(self.codes)

    @property
    def bins(self) -> int:
        """The pieces that may have an order."""
        return len(self.categories) if self.edges is None else len(self.edges) + 1

    def read(self, held: Columns) -> Ints:
        """Each row's piece."""
        if self.edges is None:
            place = {
                value: i for i, categories in enumerate(self.categories) for value in categories
            }
            values_seen, code = held.codes(self.column)
            of_category = np.array([place.get(value, self.pieces) for value in values_seen] or [0])
            return np.asarray(of_category[code], np.int64)
        values = np.asarray(held.values(self.column), np.float64)
        gap = ~np.isfinite(values)
        piece = np.where(gap, self.pieces, np.searchsorted(self.edges, values, side="right"))
        for k, (number, _) in enumerate(self.codes):
            piece = np.where(values == number, self.bins + k, piece)
        return np.asarray(piece, np.int64)


def fields_of(
    held: Columns, columns: Sequence[Column], options: CardOptions, roles: Roles = PLAIN
) -> list[Field]:
    """Every column that can tell people apart, cut by where the people are."""
    fields = []
    for column in columns:
        named = column.model_copy(update={"words": options.names.get(column.name)})
        if column.kind == "number":
            field = _number(held, named, options, roles)
        else:
            field = _category(held, named, options)
        if field is not None:
            fields.append(_with_reference(field, held))
    return fields


def _with_reference(field: Field, held: Columns) -> Field:
    people = np.bincount(field.read(held), minlength=field.pieces + 1)
    return replace(
        field,
        gaps=bool(people[-1] >= MIN_PEOPLE) and field.in_order,
        reference=int(people[: field.bins].argmax()),
    )


def _number(held: Columns, column: Column, options: CardOptions, roles: Roles) -> Field | None:
    values = np.asarray(held.values(column), np.float64)
    codes = codes_of(values, roles.special.get(column.name))
    known = values[np.isfinite(values) & ~np.isin(values, [code for code, _ in codes])]
    if len(np.unique(known)) < 2 and not (codes and len(known)):
        return None
    edges = bin_edges(known, options.max_bins)
    if not len(edges) and not codes:
        return None
    return Field(column, edges, codes=codes, in_order=True)


def codes_of(values: Floats, said: Mapping[str, str] | None) -> tuple[tuple[float, str], ...]:
    """Numbers of a column that are no quantities, as said, or as they stand apart from the others.

    Those of fewer than ten people have no points of their own: they are of the people beside them.
    """
    if said is None:
        return tuple((float(code), "") for code in special_codes(values))
    codes = [(float(code), words) for code, words in said.items()]
    return tuple((c, words) for c, words in codes if np.sum(values == c) >= MIN_PEOPLE)


def bin_edges(values: Floats, most: int) -> Floats:
    """Where bins begin: at numbers people use, near quantiles, with at least ten people each.

    >>> bin_edges(np.arange(18.0, 79.0).repeat(20), 4).tolist()
    [30.0, 50.0, 60.0]
    """
    distinct = np.unique(values)
    if len(distinct) <= most:
        edges = distinct[1:]
    else:
        shares = np.linspace(0, 1, most + 1)[1:-1]
        near = np.quantile(values, shares, method="higher")
        low, high = np.quantile(values, [0.1, 0.9])
        apart = float(high - low or np.ptp(values)) / most
        edges = np.unique([round_near(float(v), apart) for v in near])
        edges = edges[(edges > distinct[0]) & (edges <= distinct[-1])]
        if not len(edges):  # nearly everybody has one value: it, and what is above
            edges = distinct[[int(np.searchsorted(distinct, np.median(values), "right"))]]
    kept: list[float] = []
    for edge in edges:
        below = np.sum((values < edge) & (values >= (kept[-1] if kept else -np.inf)))
        if below >= MIN_PEOPLE and np.sum(values >= edge) >= MIN_PEOPLE:
            kept.append(float(edge))
    return np.array(kept)


def round_near(value: float, apart: float) -> float:
    """The roundest number within a quarter of ``apart``, the usual distance between two edges.

    >>> round_near(23170.0, 8000.0), round_near(0.3449, 0.05), round_near(37.0, 10.0)
    (25000.0, 0.35, 35.0)
    """
    power = 10.0 ** floor(log10(apart))
    for unit in (10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1):
        near = round(value / (unit * power)) * unit * power
        if abs(near - value) <= apart / 4:
            return float(f"{near:.10g}")
    return value


def _category(held: Columns, column: Column, options: CardOptions) -> Field | None:
    sizes = _sizes(held, column)
    together = options.groupings.get(column.name, {})
    words = _words(options.category_names.get(column.name, {}), together)
    named = column.model_copy(update={"category_words": words})
    order = options.ordered.get(column.name) or held.order(column)
    if order:
        pieces = _in_bins([v for v in order if sizes.get(v)], sizes, options.max_bins)
        return Field(named, categories=pieces, in_order=True) if len(pieces) > 1 else None
    grouped = {value for categories in together.values() for value in categories}
    categories = [tuple(v for v in members if sizes.get(v)) for members in together.values()]
    categories += [(value,) for value in sizes if value not in grouped and sizes[value]]
    least = max(MIN_PEOPLE, RARE * sum(sizes.values()))
    kept = [members for members in categories if sum(sizes[v] for v in members) >= least]
    kept.sort(key=lambda members: (-sum(sizes[v] for v in members), str(members)))
    if not kept or (len(kept) == 1 and len(categories) == 1):
        return None
    return Field(named, categories=tuple(kept))


def _sizes(held: Columns, column: Column) -> dict[Value, int]:
    """How many people have each category; None is that of a gap."""
    values, code = held.codes(column)
    counts = np.bincount(code % len(values), minlength=len(values))  # -1 is the last of the values
    sizes: dict[Value, int] = {}
    for value, count in zip(values, counts, strict=True):
        sizes[value] = sizes.get(value, 0) + int(count)
    return sizes


def _in_bins(
    order: Sequence[Value], sizes: Mapping[Value, int], most: int
) -> tuple[tuple[Value, ...], ...]:
    """Neighbours together, in at most so many groups of about as many people."""
    total, pieces, many = sum(sizes[v] for v in order), [[]], 0  # type: ignore[var-annotated]
    for value in order:
        full = many >= total * len(pieces) / most and many >= MIN_PEOPLE
        if pieces[-1] and (full or len(order) <= most) and len(pieces) < most:
            pieces.append([])
        pieces[-1].append(value)
        many += sizes[value]
    return tuple(tuple(members) for members in pieces)


def _words(names: Mapping[str, str], together: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    grouped = {
        str(category): name for name, categories in together.items() for category in categories
    }
    return {**grouped, **{str(category): name for category, name in names.items()}}


# Columns that no scorecard reads, whatever they could say: copies of the score, names of people.
#
# A copy of f's score is f's confidence once more, under another name. An identifier or a free text
# tells people apart one by one: points for it are points for a person. And what is protected by its
# name is not read unless somebody has given a reason.

IDENTIFIER = re.compile(
    r"(^|_|\b)(id|uuid|key|number|nummer|no|nr|ref|reference|account|konto)s?$", re.IGNORECASE
)
WEIGHING = re.compile(
    r"(^|_|\b)((sample|sampling|survey|person|case|row)_?weights?|exposure|exposition"
    r"|hochrechnungsfaktor|gewichtung)$", re.IGNORECASE,
)  # fmt: skip
NUMBERS = 100
"""Different whole numbers in a column called id or number: more of them are no quantity."""
DISTINCT = 0.5
"""Of a text's rows: with more different values than this, it names people."""
WORDS = 4
"""Words of a text on average: with so many it is prose."""
MEETINGS = 10
"""Of people with the same whole number, by chance: where so many are expected and none are found,
somebody handed the numbers out."""
MOST = 5_000
FEWEST = 30


def left_out(
    held: Columns, columns: Sequence[Column], f_logit: Floats, roles: Roles = PLAIN
) -> dict[str, str]:
    """By column: why it is no column of a scorecard, for people to read."""
    protected = {
        column.name: "protected by its name, or as good as that: to use it, give a reason, "
        + hint(f"Roles(reasons={{{column.name!r}: '...'}})", f"reasons: {{{column.name}: ...}}")
        for column in columns
        if is_protected(column.name) and column.name not in roles.reasons
    }
    return {**_by_values(held, columns, f_logit), **protected}


def _by_values(held: Columns, columns: Sequence[Column], f_logit: Floats) -> dict[str, str]:
    rows = np.arange(held.rows)
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
    if len(rows) < FEWEST:
        return {}
    why = {}
    for column in columns:
        values = held.values(column)[rows]
        reason = (
            _from_number(column.name, values, f_logit[rows])
            if column.kind == "number"
            else _from_text([v for v in values if isinstance(v, str)], len(values))
        )
        if reason:
            why[column.name] = reason
    return why


def _from_number(name: str, values: Floats, f_logit: Floats) -> str | None:
    known = np.isfinite(values)
    x, f = values[known], f_logit[known]
    if len(x) < FEWEST or len(np.unique(x)) < 2 or len(np.unique(f)) < 2:
        return None
    if is_copy(x, f):
        return "a copy of the base model's score"
    whole, many = bool(np.all(x == np.rint(x))), len(np.unique(x))
    # n people on so few numbers meet n^2 / 2 range times by chance: a number that nobody shares
    numbered = len(x) ** 2 / (2.0 * max(1.0, float(np.ptp(x)))) > MEETINGS
    named = IDENTIFIER.search(name.rstrip(" ._-"))
    if whole and many == len(x) and (numbered or named):
        return "an identifier: no two people have the same"
    if whole and named and many > NUMBERS:
        return "a number that names somebody or something, and no quantity, by its name"
    if WEIGHING.search(name):
        return "what a row weighs, by its name: say so, Roles(weight=...), or call it otherwise"
    return None


def _from_text(texts: Sequence[str], people: int) -> str | None:
    if len(texts) < FEWEST:
        return None
    if np.mean([len(text.split()) for text in texts]) >= WORDS and len(set(texts)) > 0.2 * people:
        return "free text"
    if len(set(texts)) > DISTINCT * people:
        return "an identifier: hardly two people have the same"
    return None
