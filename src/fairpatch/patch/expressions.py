"""The patch as narwhals expressions: the same code on pandas, polars, DuckDB, Spark and Ibis.

A decision needs no logarithm: it is f's, reversed where r says so.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from math import inf, log, nan
from typing import Any

import narwhals as nw

from fairpatch.decision import Cuts
from fairpatch.inputs.base import BESIDE, POINTS_BESIDE
from fairpatch.inputs.past_decisions import (
    beyond,
    denied_if_none,
    given_score,
    has_decision_expr,
    known_expr,
    none_expr,
    threshold_expr,
)
from fairpatch.inputs.values import place
from fairpatch.measure.cells import may_demote, may_promote
from fairpatch.patch.column_types import typed_lock
from fairpatch.patch.decide import changes
from fairpatch.patch.model import HALF, Patch
from fairpatch.patch.parts import (
    NEVER,
    CardScale,
    CategoricalWeight,
    Concept,
    Lock,
    NumberWeight,
    Range,
    RangesWeight,
    merge,
)
from fairpatch.patch.terms import LARGEST, SMALLEST
from fairpatch.patch.words import BETWEEN, MISSED, REACHED, ReasonLine, lacking_lines, reason_lines

EDGE = 1e-6
"""Probabilities are kept this far from 0 and 1, as ``fairpatch.inputs.base`` keeps log-odds."""


MANY = 150
"""Categories of a column that are compared one after the other, at most."""
IN_A_ROW = 60
"""Ends of ranges that are, at most."""
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
    """The weighted sum: on a card, its whole points."""
    return _sum(merge(patch.concepts, patch.offset), whole=patch.card is not None)


def needed_points_expr(patch: Patch, score: str) -> nw.Expr:
    """The points where a decision may hang on them; 0 where the direction leaves it as it is."""
    denied = ~approved_expr(patch, score)
    if not may_demote(patch.direction):
        return nw.when(denied).then(points_expr(patch)).otherwise(nw.lit(0))
    if not may_promote(patch.direction):
        return nw.when(~denied).then(points_expr(patch)).otherwise(nw.lit(0))
    return points_expr(patch)


def unbounded_expr(
    patch: Patch,
    score: str | None = None,
    points: nw.Expr | None = None,
    confidence: nw.Expr | None = None,
) -> nw.Expr:
    """r before a card's is kept within -1 and 1."""
    points = points_expr(patch) if points is None else points
    if patch.card is None:
        return points * patch.strength + 1.0
    if score is None:
        raise ValueError("a card needs the base model's score: name its column, score")
    if not patch.strength:
        return points * 0.0 + 1.0
    confidence = confidence_expr(patch, score) if confidence is None else confidence
    above, up = above_expr(patch, score), patch.decision.sign
    towards = points * nw.when(above).then(nw.lit(up)).otherwise(nw.lit(-up))
    short = towards + confidence + _by_side(patch, score, lambda needed: needed - HALF)
    return short / _by_side(patch, score, lambda needed: float(max(needed, 1)))


def confidence_expr(patch: Patch, score: str) -> nw.Expr:
    """The points that f's confidence is worth, by the band of its score, or by a lock."""
    p, bands = given_score(patch.decision, score), [] if patch.card is None else patch.card.bands
    points = _by_range(p, bands, whole=True, cuts=patch.decision.cuts)
    lock = None if patch.card is None else patch.card.lock
    never = [] if lock is None else [(_sum(lock, whole=True) > 0, float(NEVER))]
    never += [(none_expr(p), float(NEVER))] if patch.decision.knocks_out else []
    points = _first(never, points, whole=True)
    if patch.pilot is None:
        return points
    inside = place(patch.pilot.key, patch.pilot.seed) < patch.pilot.below
    return nw.when(inside).then(points).otherwise(nw.lit(NEVER))


def in_scope_table(scope: Sequence[Lock], table: Any, needed: str | None = None) -> Any:
    """Of a table, the rows that a patch is for; ``needed`` is a score that each of them has."""
    if needed is not None:
        table = nw.from_native(table).filter(~none_expr(nw.col(needed))).to_native()
    if not scope:
        return table
    frame = nw.from_native(table)
    schema = frame.collect_schema()
    own = tuple(typed_lock(lock, schema.get(lock.column)) for lock in scope)
    outside = CardScale(approve_at=0, locked=own).lock
    return table if outside is None else frame.filter(_sum(outside, whole=True) == 0).to_native()


def unjudged_expr(patch: Patch) -> nw.Expr | None:
    """Of whom some lock says nothing, as its column is empty; None where no lock could be."""
    gap = None if patch.card is None else patch.card.gap
    return None if gap is None else _sum(gap, whole=True) > 0


def changed_expr(patch: Patch, score: str, points: nw.Expr, confidence: nw.Expr) -> nw.Expr:
    """Whether a card changes the decision: whole numbers, compared. Null where the score is."""
    card = patch.card
    if card is None or not patch.strength:
        never: nw.Expr = ~has_decision_expr(patch.decision, given_score(patch.decision, score))
        return never
    approved = approved_expr(patch, score)
    given: nw.Expr = ~approved & (points - confidence >= card.approve_at)
    withdrawn: nw.Expr = approved & (points + confidence <= card.deny_at)
    if not may_demote(patch.direction):
        return given
    return given | withdrawn if may_promote(patch.direction) else withdrawn


def _by_side(patch: Patch, score: str, value: Callable[[int], float]) -> nw.Expr:
    """A number that depends on the points needed, which may differ with f's decision."""
    gain, loss = patch.needed
    if gain == loss:
        return nw.lit(value(gain))
    above = above_expr(patch, score)
    high, low = (loss, gain) if patch.decision.favourable else (gain, loss)
    return nw.when(above).then(nw.lit(value(high))).otherwise(nw.lit(value(low)))


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
    known = has_decision_expr(patch.decision, given_score(patch.decision, score))
    if patch.card is not None and ratio is None:
        above = above_expr(patch, score)
        changed = changed_expr(patch, score, points_expr(patch), confidence_expr(patch, score))
        return nw.when(known).then(above != changed)
    r = unbounded_expr(patch, score) if ratio is None else ratio
    return nw.when(known).then(_decided(patch, score, r))


def above_expr(patch: Patch, score: str) -> nw.Expr:
    """Whether f decides 1; of a row without a score or a threshold it says nothing."""
    p, t = given_score(patch.decision, score), threshold_expr(patch.decision)
    above: nw.Expr = patch.decision.decides(p, t)
    return denied_if_none(patch.decision, p, above)


def approved_expr(patch: Patch, score: str) -> nw.Expr:
    """Whether f favours a person."""
    above = above_expr(patch, score)
    return above if patch.decision.favourable else ~above


def _decided(patch: Patch, score: str, r: nw.Expr) -> nw.Expr:
    """The decision for a score: f's, reversed where r says so (``fairpatch.patch.decide``)."""
    approved = approved_expr(patch, score)
    changed = changes(approved, ~approved, r, patch.direction)
    if patch.decision.knocks_out:
        changed = changed & ~none_expr(given_score(patch.decision, score))
    decided: nw.Expr = above_expr(patch, score) != changed
    return decided


def favour_expr(patch: Patch, score: str, points: nw.Expr, confidence: nw.Expr) -> nw.Expr:
    """Whether the patched decision is the favourable one, for a score that is a probability.

    ``points`` and ``confidence`` are columns, which cards that differ in the points needed share.
    """
    if patch.card is None:
        decided = _decided(patch, score, points * patch.strength + 1.0)
    else:
        decided = above_expr(patch, score) != changed_expr(patch, score, points, confidence)
    return decided if patch.decision.favourable else ~decided


def score_expr(
    patch: Patch, score: str, ratio: nw.Expr | None = None, changed: nw.Expr | None = None
) -> nw.Expr:
    """The patched score g; null as the decision. Points are log-odds: g = t + r (s - t).

    Of a probability,

    logit g = r (logit p - logit t) + logit t, without a logarithm:
    g = 1 / (1 + ((1 - p) / p)^r (t / (1 - t))^(r - 1))
    A card's r is within -1 and 1. The paper's may be anything, and its powers too large for a
    double: there the exponent is worked out first, and kept within what a double holds.
    """
    p, t = given_score(patch.decision, score), threshold_expr(patch.decision)
    r = ratio_expr(patch, score) if ratio is None else ratio
    g = t + r * (p - t) if patch.decision.in_points else _patched_probability(patch, p, t, r)
    approved = approved_expr(patch, score)
    if changed is None:
        changed = changes(approved, ~approved, r, patch.direction)
    beside = t + (POINTS_BESIDE if patch.decision.in_points else BESIDE) * (
        -1 if patch.decision.at_least else 1
    )
    beside = beside if isinstance(beside, nw.Expr) else nw.lit(beside)
    g = nw.when((p == t) & changed).then(beside).otherwise(g)
    if not may_demote(patch.direction):
        g = nw.when(approved).then(p).otherwise(g)
    if not may_promote(patch.direction):
        g = nw.when(~approved).then(p).otherwise(g)
    return nw.when(known_expr(patch.decision, p)).then(g)


def _patched_probability(patch: Patch, p: nw.Expr, t: Any, r: nw.Expr) -> nw.Expr:
    """g of a score that is known; log-odds of the threshold are a number where there is one."""
    near = _first([(p < EDGE, EDGE), (p > 1 - EDGE, 1 - EDGE)], p)  # away from 0 and 1
    if patch.card is None:
        shift = ((1.0 - t) / t).log() if isinstance(t, nw.Expr) else log((1 - t) / t)
        z = r * (((1.0 - near) / near).log() - shift) + shift
        odds = _first([(z < -FARTHEST, -FARTHEST), (z > FARTHEST, FARTHEST)], z).exp()
        return 1.0 / (odds + 1.0)
    odds = ((1.0 - near) / near) ** r
    if isinstance(t, nw.Expr):
        odds = odds * (t / (1.0 - t)) ** (r - 1.0)
    elif t != 0.5:
        odds = odds * nw.lit(t / (1 - t)) ** (r - 1.0)
    # most people's r is 1, and powers are what costs
    return nw.when(r >= 1.0).then(near).otherwise(1.0 / (odds + 1.0))


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
        text = nw.concat_str(texts, separator="")
        without = nw.when(approved).then(nw.lit(BETWEEN + MISSED)).otherwise(
            nw.lit(BETWEEN + REACHED)
        )  # fmt: skip
        lacks = [_text_expr(line, approved) for line in lacking_lines(patch)]
        if lacks:
            lacking = nw.concat_str(lacks, separator="")
            without = nw.when(approved & (lacking != "")).then(lacking).otherwise(without)
        return nw.when(text != "").then(text).otherwise(without).str.slice(len(BETWEEN))
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
    points = _sum(merge([line.part]), whole=True)
    pushed = (approved & (points < 0)) | (~approved & (points > 0))
    return nw.when(pushed).then(nw.lit(BETWEEN + line.text)).otherwise(nw.lit(""))


def _sum(concept: Concept, *, whole: bool = False) -> nw.Expr:
    """The intercept and all terms; as whole numbers where all of them are."""
    parts = [
        *(_gap(n) if whole else _number(n) for n in concept.numbers),
        *(_ranges(r, whole=whole) for r in concept.ranges),
        *(_category(c, whole=whole) for c in concept.categories),
    ]
    if whole and parts:
        return reduce(lambda a, b: a + b, parts)
    return reduce(lambda a, b: a + b, parts, nw.lit(0 if whole else concept.intercept))


def _gap(part: NumberWeight) -> nw.Expr:
    """Of a number that only counts where it is missing."""
    x = nw.col(part.column).cast(nw.Float64)
    return _first([(x.is_null() | ~_known(x), part.missing)], nw.lit(0), whole=True)


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


def _ranges(part: RangesWeight, *, whole: bool = False) -> nw.Expr:
    x = nw.col(part.column).cast(nw.Float64)
    first = [(x.is_null() | ~_known(x), part.missing)]
    first += [(x == r.code, r.weight) for r in part.codes]
    return _by_range(x, part.quantities, first, whole=whole)


def _by_range(
    x: nw.Expr,
    ranges: Sequence[Range],
    first: list[tuple[nw.Expr, float]] | None = None,
    *,
    whole: bool = False,
    cuts: Cuts | None = None,
) -> nw.Expr:
    """The weight of the range that x lies in, from the lowest on: one comparison each.

    Between two ranges, and beyond them, the weight is 0; neighbours alike are asked about once.
    Ends are so far beyond each row's own threshold, where there are several.
    """
    steps: list[tuple[float, float]] = []  # up to where, and the weight below
    end = -inf
    for r in sorted(ranges, key=lambda r: -inf if r.at_least is None else r.at_least):
        low = -inf if r.at_least is None else r.at_least
        steps += [(low, 0.0)] if low > end else []
        end = inf if r.below is None else r.below
        steps.append((end, r.weight))
    steps += [(inf, 0.0)] if end < inf else []
    kept = [s for s, after in pairwise([*steps, (inf, nan)]) if s[1] != after[1]]
    ends = [upto if cuts is None else beyond(cuts, upto).expr() for upto, _ in kept[:-1]]
    return _steps(x, ends, [weight for _, weight in kept] or [0.0], first or [], whole=whole)


def _steps(
    x: nw.Expr,
    ends: list[Any],
    weights: list[float],
    first: list[tuple[nw.Expr, float]],
    *,
    whole: bool,
) -> nw.Expr:
    """One comparison after the other; of many, half of them at a time: no engine goes so deep."""
    if len(ends) <= IN_A_ROW:
        cases = [(x < end, weight) for end, weight in zip(ends, weights, strict=False)]
        return _first([*first, *cases], _lit(weights[-1], whole), whole=whole)
    middle = len(ends) // 2
    below = _steps(x, ends[:middle], weights[: middle + 1], [], whole=whole)
    above = _steps(x, ends[middle + 1 :], weights[middle + 1 :], [], whole=whole)
    return _first(first, nw.when(x < ends[middle]).then(below).otherwise(above), whole=whole)


def _category(part: CategoricalWeight, *, whole: bool = False) -> nw.Expr:
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
        return _first(gap, weight, whole=whole)
    cases = [  # one after the other: engines are slow with "or"
        (x == entry.category, entry.weight)
        for entry in part.categories
        if entry.weight != part.other or entry.category == ""
    ]
    return _first([*cases, *gap], _lit(part.other, whole), whole=whole)


def _lit(value: float, whole: bool) -> nw.Expr:
    return nw.lit(int(value) if whole else value)


def _first(
    cases: list[tuple[nw.Expr, float]], otherwise: nw.Expr, *, whole: bool = False
) -> nw.Expr:
    """The number of the first case that holds: one CASE, and not one inside the other."""
    if not cases:
        return otherwise
    (condition, value), *others = cases
    case = nw.when(condition).then(_lit(value, whole))
    for condition, value in others:
        case = case.when(condition).then(_lit(value, whole))
    return case.otherwise(otherwise)
