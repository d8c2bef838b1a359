"""The patch as narwhals expressions: the same code on pandas, polars, DuckDB, Spark and Ibis.

A decision needs no logarithm: it is f's, reversed where r says so.
"""

from functools import reduce
from math import log
from typing import Any

import narwhals as nw

from fairpatch.measure.direction import may_demote, may_promote
from fairpatch.patch.model import NUDGE, Patch
from fairpatch.patch.parts import (
    CategoricalWeight,
    Concept,
    NumberWeight,
    Range,
    RangesWeight,
    merge,
)
from fairpatch.patch.terms import LARGEST, SMALLEST
from fairpatch.patch.words import BETWEEN, ReasonLine, reason_lines

EDGE = 1e-6
"""Probabilities are kept this far from 0 and 1, as ``fairpatch.base`` keeps log-odds."""


MANY = 150
"""Categories of a column that are compared one after the other, at most."""
FARTHEST = 600.0
"""Log-odds that are worked out, at most: the exponential of more is no double."""


def ratio_expr(patch: Patch, score: str | None = None) -> nw.Expr:
    """r(x) over a table that has the patch's columns; for a card also f's probability, ``score``.

    Parameters
    ----------
    patch : Patch
        The patch.
    score : str, optional
        Column of f's probability, which a card needs.

    Returns
    -------
    narwhals expression
        One number a row.

    Examples
    --------
    >>> import polars as pl
    >>> from fairpatch.patch import Column, Concept, NumberWeight
    >>> patch = Patch(columns=[Column(name="a", kind="number")], concepts=[Concept(
    ...     name="c", weight=2.0, intercept=0.0,
    ...     numbers=[NumberWeight(column="a", coefficient=1.0, missing=-1.0)])])
    >>> nw.from_native(pl.DataFrame({"a": [1.0, None]})).select(r=ratio_expr(patch))["r"].to_list()
    [3.0, -1.0]
    """
    ratio = unbounded_expr(patch, score)
    return ratio if patch.card is None else bounded_expr(ratio)


def points_expr(patch: Patch) -> nw.Expr:
    """The weighted sum: on a card, its points."""
    return _sum(merge(patch.concepts, patch.offset))


def needed_points_expr(patch: Patch, score: str) -> nw.Expr:
    """The points where a decision may hang on them; 0 where the direction leaves it as it is."""
    above = nw.col(score).cast(nw.Float64) > patch.threshold
    denied = ~above if patch.decision.favourable else above
    if not may_demote(patch.direction):
        return nw.when(denied).then(points_expr(patch)).otherwise(nw.lit(0.0))
    if not may_promote(patch.direction):
        return nw.when(~denied).then(points_expr(patch)).otherwise(nw.lit(0.0))
    return points_expr(patch)


def unbounded_expr(
    patch: Patch, score: str | None = None, points: nw.Expr | None = None
) -> nw.Expr:
    """r before a card's is kept within -1 and 1: all that a decision needs."""
    points = points_expr(patch) if points is None else points
    if patch.card is None:
        return _at_price(patch, points, points)
    if score is None:
        raise ValueError("a card needs the base model's score: name its column, score")
    return _at_price(patch, towards_expr(patch, score, points), away_expr(patch, score))


def towards_expr(patch: Patch, score: str, points: nw.Expr) -> nw.Expr:
    """A card's points, turned so that more of them keep f's decision; the paper's as they are."""
    if patch.card is None:
        return points
    above = nw.col(score).cast(nw.Float64) > patch.threshold
    up = 1.0 if patch.decision.favourable else -1.0
    return points * nw.when(above).then(nw.lit(up)).otherwise(nw.lit(-up))


def away_expr(patch: Patch, score: str) -> nw.Expr:
    """How far f is from its threshold."""
    return (_inside(score) - patch.threshold).abs()


def _at_price(patch: Patch, towards: nw.Expr, away: nw.Expr) -> nw.Expr:
    """r from what all prices and strengths share."""
    if patch.card is None:
        return towards * patch.strength + 1.0
    t, k = patch.threshold, patch.strength * NUDGE / patch.card.points_needed
    return towards * k + away * (k * patch.card.confidence_points / max(t, 1 - t)) + 1.0


def bounded_expr(ratio: nw.Expr) -> nw.Expr:
    """A card's ratio within -1 and 1: nobody's score is made surer than f's."""
    return _first([(ratio > 1.0, 1.0), (ratio < -1.0, -1.0)], ratio)


def decision_expr(patch: Patch, score: str, ratio: nw.Expr | None = None) -> nw.Expr:
    """The patched decision, 1 or 0 as f's, over a table whose column ``score`` has f's probability.

    Null where the score is missing or not a probability. ``ratio`` where it is a column already.

    Parameters
    ----------
    patch : Patch
        The patch.
    score : str
        Column of f's probability.
    ratio : narwhals expression, optional
        r, where it is a column already.

    Returns
    -------
    narwhals expression
        True or false a row; null where there is no probability.
    """
    p = nw.col(score).cast(nw.Float64)
    r = unbounded_expr(patch, score) if ratio is None else ratio
    return nw.when((p >= 0.0) & (p <= 1.0)).then(_decided(patch, p, r))


def _decided(patch: Patch, p: nw.Expr, r: nw.Expr) -> nw.Expr:
    """The decision for a probability."""
    # r (p - t) > 0: decision 1 and r > 0, or decision 0 and r < 0. One product, so that an engine
    # works the ratio out once; its sign is exact.
    decided = r * (p - patch.threshold) > 0.0
    if not patch.decision.favourable:  # an r of 0 takes the favourable decision, 0, away
        decided = ~(r * (p - patch.threshold) < 0.0)
        at_the_edge = nw.when(p == patch.threshold).then(r <= 0.0)  # f decides 0 there
        decided = at_the_edge.otherwise(decided)
    above, may_fall, may_rise = p > patch.threshold, may_demote, may_promote
    if not patch.decision.favourable:
        may_fall, may_rise = may_promote, may_demote
    if not may_fall(patch.direction):
        decided = decided | above
    if not may_rise(patch.direction):
        decided = decided & above
    return decided


def favour_expr(patch: Patch, score: str, towards: nw.Expr, away: nw.Expr) -> nw.Expr:
    """Whether the patched decision is the favourable one, for a score that is a probability.

    ``towards`` and ``away`` are columns, which patches that differ in price and strength share.
    """
    p = nw.col(score).cast(nw.Float64)
    decided = _decided(patch, p, _at_price(patch, towards, away))
    return decided if patch.decision.favourable else ~decided


def score_expr(patch: Patch, score: str, ratio: nw.Expr | None = None) -> nw.Expr:
    """The patched probability g; null as the decision.

    logit g = r (logit p - logit t) + logit t, without a logarithm:
    g = 1 / (1 + ((1 - p) / p)^r (t / (1 - t))^(r - 1))
    A card's r is within -1 and 1. The paper's may be anything, and its powers too large for a
    double: there the exponent is worked out first, and kept within what a double holds.
    """
    p = nw.col(score).cast(nw.Float64)
    r = ratio_expr(patch, score) if ratio is None else ratio
    near = _inside(score)
    if patch.card is None:
        shift = log((1 - patch.threshold) / patch.threshold)
        z = r * (((1.0 - near) / near).log() - shift) + shift
        odds = _first([(z < -FARTHEST, -FARTHEST), (z > FARTHEST, FARTHEST)], z).exp()
    else:
        odds = ((1.0 - near) / near) ** r
        if patch.threshold != 0.5:
            odds = odds * nw.lit(patch.threshold / (1 - patch.threshold)) ** (r - 1.0)
    g = 1.0 / (odds + 1.0)
    if patch.card is not None:  # most people's r is 1, and powers are what costs
        g = nw.when(r >= 1.0).then(near).otherwise(g)
    approved = p > patch.threshold if patch.decision.favourable else p <= patch.threshold
    if not may_demote(patch.direction):
        g = nw.when(approved).then(p).otherwise(g)
    if not may_promote(patch.direction):
        g = nw.when(~approved).then(p).otherwise(g)
    return nw.when((p >= 0.0) & (p <= 1.0)).then(g)


def reason_expr(patch: Patch, approved: nw.Expr) -> nw.Expr:
    """Why a decision changes, in words; ``approved`` says whether f favoured the person.

    Of a card: its lines that pushed towards the change, as the card prints them. Of the paper's
    ratio: the name of the concept that pushes r down most. r - 1 = strength * (offset + sum_j v_j
    c_j), and every c_j has mean 0 on the training rows: so v_j c_j is what concept j adds for this
    person beyond the average one.
    """
    if patch.card is not None:
        texts = [_text_expr(line, approved) for line in reason_lines(patch)]
        if not texts:
            return nw.lit(None, nw.String)
        return nw.concat_str(texts, separator="").str.slice(len(BETWEEN))
    pushes = [_sum(merge([concept])) for concept in patch.concepts]
    reason: Any = None  # a literal null of text would be the word None in pandas 2
    for concept, push in reversed([*zip(patch.concepts, pushes, strict=True)]):
        others = [push <= other for other in pushes if other is not push]
        first = reduce(lambda a, b: a & b, others, push < 0)
        said_here = nw.when(first).then(nw.lit(concept.name))
        reason = said_here if reason is None else said_here.otherwise(reason)
    return nw.lit(None, nw.String) if reason is None else reason


def _text_expr(line: ReasonLine, approved: nw.Expr) -> nw.Expr:
    """What is said of a line: nothing where it did not push. No null, which some engines spread."""
    points = _sum(merge([line.part]))
    takes = nw.when(approved & (points < 0.0)).then(nw.lit(BETWEEN + line.takes))
    gives = nw.when(~approved & (points > 0.0)).then(nw.lit(BETWEEN + line.gives))
    return takes.otherwise(gives.otherwise(nw.lit("")))


def _inside(score: str) -> nw.Expr:
    """f's probability, kept away from 0 and 1."""
    p = nw.col(score).cast(nw.Float64)
    return _first([(p < EDGE, EDGE), (p > 1 - EDGE, 1 - EDGE)], p)


def _sum(concept: Concept) -> nw.Expr:
    parts = [
        *map(_number, concept.numbers),
        *map(_ranges, concept.ranges),
        *map(_category, concept.categories),
    ]
    return reduce(lambda a, b: a + b, parts, nw.lit(concept.intercept))


def _number(part: NumberWeight) -> nw.Expr:
    """What is rare is asked first: an engine then goes through the others as one piece."""
    x = nw.col(part.column).cast(nw.Float64)
    cases = [(~_known(x), part.missing), (x.abs() < SMALLEST, 0.0)]
    return _first(cases, part.coefficient * x).fill_null(nw.lit(part.missing))


def _known(x: nw.Expr) -> nw.Expr:
    """Whether a number is one that a person may have; null where there is none.

    NaN is not at most the largest number: where it is unlike itself, and where it is above all
    numbers (DuckDB, Spark, Postgres) alike.
    """
    return x.abs() <= LARGEST


def _ranges(part: RangesWeight) -> nw.Expr:
    x = nw.col(part.column).cast(nw.Float64)
    lies = [(_lies(x, r), r.weight) for r in part.ranges]
    return _first([(x.is_null() | ~_known(x), part.missing), *lies], nw.lit(0.0))


def _lies(x: nw.Expr, r: Range) -> nw.Expr:
    above = None if r.at_least is None else x >= r.at_least
    below = None if r.below is None else x < r.below
    if above is None or below is None:
        return next((side for side in (above, below) if side is not None), x <= LARGEST)
    return above & below


def _category(part: CategoricalWeight) -> nw.Expr:
    x = nw.col(part.column)
    none, categories = x.is_null(), [entry.category for entry in part.categories]
    if categories and all(isinstance(category, str) for category in categories):
        none = none if "" in categories else none | (x == "")  # an empty text is a gap
    elif categories and not any(isinstance(category, str | bool) for category in categories):
        none = none | ~_known(x.cast(nw.Float64))  # and so is a code that is no number
    gap = [] if part.missing == part.other else [(none, part.missing)]
    if len(part.categories) > MANY:  # looked up: nobody could compare so many one after the other
        weights = [entry.weight for entry in part.categories]
        weight = x.replace_strict(categories, weights, default=part.other, return_dtype=nw.Float64)
        return _first(gap, weight)
    cases = [  # one after the other: engines are slow with "or"
        (x == entry.category, entry.weight)
        for entry in part.categories
        if entry.weight != part.other or entry.category == ""
    ]
    return _first([*cases, *gap], nw.lit(part.other))


def _first(cases: list[tuple[nw.Expr, float]], otherwise: nw.Expr) -> nw.Expr:
    """The number of the first case that holds: one CASE, and not one inside the other."""
    if not cases:
        return otherwise
    (condition, value), *others = cases
    case = nw.when(condition).then(nw.lit(value))
    for condition, value in others:
        case = case.when(condition).then(nw.lit(value))
    return case.otherwise(otherwise)
