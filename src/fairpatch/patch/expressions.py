"""The patch as narwhals expressions: the same code on pandas, polars, DuckDB, Spark and Ibis.

A decision needs no logarithm: it is f's, reversed where r says so.
"""

from functools import reduce

import narwhals as nw

from fairpatch.measure.direction import may_demote, may_promote
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import CategoryWeight, Concept, NumberWeight, merge
from fairpatch.patch.terms import LARGEST

EDGE = 1e-6
"""Probabilities are kept this far from 0 and 1, as ``fairpatch.base`` keeps log-odds."""


def ratio_expr(patch: Patch) -> nw.Expr:
    """r(x) over a table that has the patch's columns.

    >>> import polars as pl
    >>> from fairpatch.patch import Column, Concept, NumberWeight
    >>> patch = Patch(columns=[Column(name="a", kind="number")], concepts=[Concept(
    ...     name="c", weight=2.0, intercept=0.0,
    ...     numbers=[NumberWeight(column="a", coefficient=1.0, missing=-1.0)])])
    >>> nw.from_native(pl.DataFrame({"a": [1.0, None]})).select(r=ratio_expr(patch))["r"].to_list()
    [3.0, -1.0]
    """
    return _sum(merge(patch.concepts, patch.offset, patch.strength), 1.0)


def decision_expr(patch: Patch, score: str, ratio: nw.Expr | None = None) -> nw.Expr:
    """The patched decision, over a table whose column ``score`` holds f's probability.

    Null where the score is missing or not a probability. ``ratio`` where it is a column already.
    """
    p = nw.col(score).cast(nw.Float64)
    r = ratio_expr(patch) if ratio is None else ratio
    # r (p - t) > 0: approved and r > 0, or denied and r < 0. One product, so that an engine works
    # the ratio out once; its sign is exact.
    decided = r * (p - patch.cutoff) > 0.0
    if not may_demote(patch.direction):
        decided = decided | (p > patch.cutoff)
    if not may_promote(patch.direction):
        decided = decided & (p > patch.cutoff)
    return nw.when(~p.is_null() & (p >= 0.0) & (p <= 1.0)).then(decided)


def score_expr(patch: Patch, score: str, ratio: nw.Expr | None = None) -> nw.Expr:
    """The patched probability g; null as the decision.

    logit g = r (logit p - logit t) + logit t, without a logarithm:
    g = 1 / (1 + ((1 - p) / p)^r (t / (1 - t))^(r - 1))
    """
    p = nw.col(score).cast(nw.Float64)
    r = ratio_expr(patch) if ratio is None else ratio
    near = nw.when(p < EDGE).then(nw.lit(EDGE)).otherwise(p)
    near = nw.when(near > 1 - EDGE).then(nw.lit(1 - EDGE)).otherwise(near)
    odds = ((1.0 - near) / near) ** r
    if patch.cutoff != 0.5:
        odds = odds * nw.lit(patch.cutoff / (1 - patch.cutoff)) ** (r - 1.0)
    g = 1.0 / (odds + 1.0)
    if not may_demote(patch.direction):
        g = nw.when(p > patch.cutoff).then(p).otherwise(g)
    if not may_promote(patch.direction):
        g = nw.when(p <= patch.cutoff).then(p).otherwise(g)
    return nw.when(~p.is_null() & (p >= 0.0) & (p <= 1.0)).then(g)


def reason_expr(patch: Patch) -> nw.Expr:
    """The name of the concept that pushes the ratio down most.

    r - 1 = strength * (offset + sum_j v_j c_j), and every c_j has mean 0 on the training rows: so
    v_j c_j is what concept j adds for this person beyond the average one.
    """
    pushes = [_sum(merge([concept], 0.0, patch.strength)) for concept in patch.concepts]
    found = nw.lit(None, nw.String)
    for concept, own in reversed([*zip(patch.concepts, pushes, strict=True)]):
        others = [own <= other for other in pushes if other is not own]
        first = reduce(lambda a, b: a & b, others, own < 0)
        found = nw.when(first).then(nw.lit(concept.name)).otherwise(found)
    return found


def _sum(concept: Concept, start: float = 0.0) -> nw.Expr:
    parts = [*map(_number, concept.numbers), *map(_category, concept.categories)]
    return reduce(lambda a, b: a + b, parts, nw.lit(start + concept.intercept))


def _number(part: NumberWeight) -> nw.Expr:
    x = nw.col(part.column).cast(nw.Float64)
    # NaN is not at most the largest number: where it is unlike itself, and where it is above all
    # numbers (DuckDB, Spark, Postgres) alike. Nor is a null.
    return nw.when(x <= LARGEST).then(part.coefficient * x).otherwise(nw.lit(part.missing))


def _category(part: CategoryWeight) -> nw.Expr:
    x = nw.col(part.column)
    unlisted = nw.when(x.is_null()).then(nw.lit(part.missing)).otherwise(nw.lit(part.other))
    return reduce(
        lambda rest, entry: nw.when(x == entry.level).then(nw.lit(entry.weight)).otherwise(rest),
        part.levels,
        unlisted,
    )
