"""f's score as a column of a table: what it says, and of whom there is none."""

from typing import Any

import narwhals as nw
import numpy as np

from fairpatch.decision import Decision
from fairpatch.score import LARGEST_SCORE

LARGEST = float(np.finfo(np.float64).max)


def given_score(decision: Decision, score: str) -> nw.Expr:
    """f's score from its column, as thresholds are given: a probability, or points."""
    given: nw.Expr = decision.compared(nw.col(score).cast(nw.Float64))
    return given


def known_expr(decision: Decision, score: nw.Expr) -> nw.Expr:
    """Whether that is a score; null where there is none, or the row has no threshold."""
    if decision.in_points:
        known: nw.Expr = (score > -LARGEST_SCORE) & (score < LARGEST_SCORE)
    else:
        known = (score >= 0.0) & (score <= 1.0)
    cuts = decision.cuts
    return known if cuts is None else known & ~cuts.expr().is_null()


def none_expr(score: nw.Expr) -> nw.Expr:
    """Whether a row has no score at all, which is another thing than one that is no score."""
    # NaN is unlike itself, or above all numbers, which no score is
    missing: nw.Expr = score.is_null() | ~((score <= LARGEST) & (score >= -LARGEST))
    return missing


def has_decision_expr(decision: Decision, score: nw.Expr) -> nw.Expr:
    """Whether f decides at all: there is a score, or a knock-out where those are denials."""
    known = known_expr(decision, score)
    if not decision.knocks_out:
        return known
    decided: nw.Expr = nw.when(none_expr(score)).then(nw.lit(value=True)).otherwise(known)
    return decided


def denied_if_none(decision: Decision, score: nw.Expr, decided: nw.Expr) -> nw.Expr:
    """A decision, 1 or 0 as f's, which is the unfavourable one of somebody without a score."""
    if not decision.knocks_out:
        return decided
    return nw.when(none_expr(score)).then(nw.lit(not decision.favourable)).otherwise(decided)


def threshold_expr(decision: Decision) -> Any:
    """The threshold: one number, or an expression of each row's own."""
    cuts = decision.cuts
    return decision.cut if cuts is None else cuts.expr()
