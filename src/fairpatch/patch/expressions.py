"""The patch as narwhals expressions: the same code on pandas, polars, DuckDB, Spark and Ibis.

A decision needs no logarithm: it is f's, reversed where r says so.
"""

from functools import reduce

import narwhals as nw

from fairpatch.patch.model import Patch
from fairpatch.patch.parts import CategoryWeight, NumberWeight, merge


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
    whole = merge(patch.concepts, patch.offset, patch.strength)
    parts = [*map(_number, whole.numbers), *map(_category, whole.categories)]
    return reduce(lambda a, b: a + b, parts, nw.lit(1.0 + whole.intercept))


def decision_expr(patch: Patch, score: str) -> nw.Expr:
    """The patched decision, over a table whose column ``score`` holds f's probability.

    Null where the score is missing or not a probability.
    """
    p = nw.col(score).cast(nw.Float64)
    r = ratio_expr(patch)
    approved, denied = p > patch.cutoff, p < patch.cutoff
    stay = approved & (r > 0) if patch.direction != "promote_only" else approved
    promoted = denied & (r < 0)
    decided = stay if patch.direction == "demote_only" else stay | promoted
    return nw.when(~p.is_null() & (p >= 0.0) & (p <= 1.0)).then(decided)


def _number(part: NumberWeight) -> nw.Expr:
    x = nw.col(part.column).cast(nw.Float64)
    gap = x.is_null() | (x != x)  # noqa: PLR0124 NaN, on engines that have no is_nan for it
    return nw.when(gap).then(nw.lit(part.missing)).otherwise(part.coefficient * x)


def _category(part: CategoryWeight) -> nw.Expr:
    x = nw.col(part.column)
    listed = reduce(
        lambda rest, entry: nw.when(x == entry.level).then(nw.lit(entry.weight)).otherwise(rest),
        part.levels,
        nw.lit(part.other),
    )
    return nw.when(x.is_null()).then(nw.lit(part.missing)).otherwise(listed)
