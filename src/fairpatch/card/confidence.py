"""What f says, as tables: its confidence in score bands, and its order of a column's pieces.

A hundred points are the log-odds that one person in ten exceeds, so that points mean the same for
a model of few and of many columns. Bands end at scores that people use.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.card.bins import Field
from fairpatch.choose.learner import FARTHEST, Ask
from fairpatch.decision import Decision
from fairpatch.measure.cells import Direction, may_demote, may_promote
from fairpatch.measure.scores import Between, away
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.model import weights_of
from fairpatch.patch.parts import ScoreBand

STEPS = (*range(6, 60, 6), 66, 78, 90, 102, 116, FARTHEST)
"""Points of the bands, from the threshold outwards; nearest to it they are 0.

Sixes, where columns have points in fives: as on a vernier, the points needed can then be set by
ones, and each step changes the decisions of few. With fives, one step moved a P-Rule by a tenth.
"""
FINE = (*range(1, 60), *STEPS[9:])
"""The same of a card of so few columns that its points leave gaps: bands that decide alike are then
one, so that it reads no longer."""
FEW = 2
"""Columns of such a card, at most."""
QUANTILE = 0.9
EDGE = 2e-6
"""Nearer to 0 and 1 no band ends: log-odds are clipped there."""


def full_confidence(f_logit: Floats) -> float:
    """The log-odds that are worth a hundred points."""
    return float(np.quantile(np.abs(f_logit), QUANTILE)) or 1.0


def bands_of(
    f_logit: Floats,
    decision: Decision,
    direction: Direction,
    only: Between | None = None,
    steps: Sequence[int] = STEPS,
) -> tuple[ScoreBand, ...]:
    """The bands of the scores of whom a decision may change, from the lowest score."""
    hundred = full_confidence(f_logit)
    t, favourable = decision.cut, bool(decision.favourable)
    bands: list[ScoreBand] = []
    for denied in (True, False):
        if not (may_promote if denied else may_demote)(direction):
            continue
        below = denied == favourable  # the side of the threshold
        sign = -1 if below else 1
        edges = _edges(
            [away(decision, sign * hundred * s / 100) for s in steps], decision, sign, steps
        )
        bands += _side(t, edges, below=below, only=only)
    return tuple(sorted(bands, key=lambda b: -inf if b.at_least is None else b.at_least))


def _edges(
    scores: list[float], decision: Decision, sign: int, steps: Sequence[int]
) -> list[tuple[float, int]]:
    """Each band's end nearer to the threshold, rounded, and its points.

    Those that fall together are one band, of more points.
    """
    low, high = (-inf, inf) if decision.in_points or decision.cuts else (EDGE, 1 - EDGE)
    kept = {
        edge: points
        for edge, points in zip(scores, steps, strict=True)
        if sign * (edge - decision.cut) > 0 and low < edge < high
    }
    return sorted(kept.items(), key=lambda e: sign * e[0])


def _side(
    t: float, edges: list[tuple[float, int]], *, below: bool, only: Between | None
) -> list[ScoreBand]:
    """The bands of one side of the threshold; beyond ``only`` no decision changes."""
    ends: list[tuple[float, int | None]] = [(t, 0), *edges]
    if only is not None:
        limit = only[0] if below else only[1]
        ends = [e for e in ends if (e[0] > limit if below else e[0] < limit)] + [(limit, None)]
    bands = []
    for (near, points), beyond in zip(ends, [*[e for e, _ in ends[1:]], None], strict=True):
        low, high = (beyond, near) if below else (near, beyond)
        bands.append(ScoreBand(at_least=low, below=high, points=points))
    return bands


def opened(patch: Patch, f_logit: Floats, only: Between | None = None) -> Patch:
    """A card of few columns with bands as fine as those it was learned with.

    Merged at its own points needed, it would decide alike at nearly all others.
    """
    if patch.card is None or len(patch.concepts) > FEW:
        return patch
    bands = bands_of(f_logit, patch.decision, patch.direction, only, FINE)
    return patch.model_copy(update={"card": patch.card.model_copy(update={"confidence": bands})})


def closed(patch: Patch) -> Patch:
    """The same, where neighbouring bands that decide alike whatever points somebody has are one."""
    card, cut = patch.card, patch.decision.cut
    if card is None or len(patch.concepts) > FEW or not patch.strength:
        return patch
    totals = np.full(1, patch.offset)
    for concept in patch.concepts:
        points = np.unique([0.0, *weights_of(concept)]) + concept.intercept
        totals = np.unique(np.add.outer(totals, points))
    favourable = bool(patch.decision.favourable)

    def side(band: ScoreBand) -> bool:
        """Whether it lies below the threshold where low scores are denied, above it where not."""
        below = band.below is not None and band.below <= cut
        return below == favourable

    def deciding(band: ScoreBand) -> int:
        """How many totals change a decision there."""
        if band.points is None:
            return 0
        if side(band):
            return int(np.sum(totals - band.points >= card.approve_at))
        return int(np.sum(totals + band.points <= card.deny_at))

    kept: list[ScoreBand] = []
    for band in card.confidence:
        many = deciding(band)
        own = band if many else band.model_copy(update={"points": None})
        if kept and side(kept[-1]) == side(band) and deciding(kept[-1]) == many:
            nearer = own if side(band) == favourable else kept[-1]  # next to the threshold
            kept[-1] = nearer.model_copy(
                update={"at_least": kept[-1].at_least, "below": band.below}
            )
        else:
            kept.append(own)
    return patch.model_copy(update={"card": card.model_copy(update={"confidence": tuple(kept)})})


# f's own order of a column's pieces: which of them it likes better, asked of f itself.
#
# The points keep it: with a(v) f's mean log-odds when everybody's column is set to v, points never
# rank two pieces against a. So nobody is approved for what f counts against people, and nobody
# loses an approval by a number that f likes better. Two bins of a number whose answers overlap,
# because f goes up and down inside them, have the same points: either would turn somebody's order
# round. Where f cannot be asked, because it is a column of scores, an additive model of its log-
# odds answers.

ASKED = 300
"""People who are asked about."""
UNREAD = 0.1
"""Of the spread of f's log-odds: a column that moves a model of them by less is none of f's."""
SAME = 1e-9
"""Log-odds that differ by less are the same: f does not read the column."""
WITHIN = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the numbers in a bin, those that f is asked about."""

Levels = tuple[tuple[int, ...], ...]
"""The pieces of a field from those that f likes least; () where it does not tell them apart."""


def orders_of(
    ask: Ask | None, X: Any, f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]
) -> list[Levels]:
    """By field: f's order of its pieces."""
    return [levels(*answers) for answers in answers_of(ask, X, f_logit, fields, pieces)]


def answers_of(
    ask: Ask | None, X: Any, f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]
) -> list[tuple[Floats, Floats]]:
    """By field: f's least and best mean log-odds of each piece, also of gaps that have points.

    NaN where nobody is in it.
    """
    if ask is None:
        return [(each, each) for each in _by_model(f_logit, fields, pieces)]
    some = np.random.default_rng(0).permutation(len(f_logit))[:ASKED]
    return [_asked(ask, X, some, field, piece) for field, piece in zip(fields, pieces, strict=True)]


def _asked(ask: Ask, X: Any, some: Ints, field: Field, piece: Ints) -> tuple[Floats, Floats]:
    """f's least and best mean answer when some people have a value of each piece, not their own.

    NaN where nobody is in it.
    """
    held = Columns.of(X).values(field.column)
    each: list[tuple[int, Any]] = []
    for k in range(field.pieces + field.gaps):
        inside = np.flatnonzero(piece == k)
        if len(inside):
            each += [(k, v) for v in ([None] if k == field.pieces else _typical(held[inside]))]
    low, high = np.full((2, field.pieces + field.gaps), np.nan)
    if not each:
        return low, high
    rows = with_values(X, some, field, [value for _, value in each])  # f is asked once
    for (k, _), answer in zip(each, ask(rows).reshape(len(each), -1).mean(1), strict=True):
        low[k], high[k] = np.fmin(low[k], answer), np.fmax(high[k], answer)
    return low, high


def _typical(values: Any) -> list[Any]:
    """Values that somebody has: numbers from low to high, the commonest category."""
    if values.dtype != object:
        return list(np.unique(np.quantile(values, WITHIN, method="nearest")))
    distinct, many = np.unique(values.astype(str), return_counts=True)
    return [next(v for v in values if str(v) == distinct[many.argmax()])]


def with_values(X: Any, some: Ints, field: Field, values: Sequence[Any]) -> Any:
    """Some rows, once for each value of a column, in the column's own type."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    rows = np.tile(some, len(values))
    plain = [v.item() if hasattr(v, "item") else v for v in values for _ in range(len(some))]
    if not isinstance(frame, nw.DataFrame):
        array = np.array(np.asarray(X)[rows])
        array[:, field.column.position] = [np.nan if v is None else v for v in plain]
        return array
    taken, name = frame[rows.tolist()], field.column.name
    if taken.implementation.is_pandas():  # which keeps the type, also of categories
        native = taken.to_native().copy()
        native[name] = np.array(plain, object)
        return native.astype({name: X[name].dtype})
    column = nw.new_series(name, plain, backend=taken.implementation)
    return taken.with_columns(column.cast(taken[name].dtype)).to_native()


def _by_model(f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]) -> list[Floats]:
    """The same by an additive model of f's log-odds on all pieces; alike where it is noise."""
    from sklearn.linear_model import Ridge  # noqa: PLC0415 two seconds to import

    blocks = [np.eye(field.pieces + 1)[piece] for field, piece in zip(fields, pieces, strict=True)]
    weights = Ridge(alpha=1.0).fit(np.hstack(blocks), f_logit).coef_
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    liked = [
        np.where(block.any(0), weights[a:b], np.nan)[: field.pieces + field.gaps]
        for field, block, a, b in zip(fields, blocks, ends[:-1], ends[1:], strict=True)
    ]
    unread = UNREAD * float(f_logit.std())
    return [each * (np.nanmax(each) - np.nanmin(each) > unread) for each in liked]


def levels(low: Floats, high: Floats) -> Levels:
    """The pieces from those that f likes least; pieces whose answers overlap are one level.

    >>> nobody = np.nan
    >>> levels(np.array([0.5, nobody, -1.0]), np.array([0.7, nobody, -0.9]))
    ((2,), (0,))
    >>> levels(np.array([0.0, 0.1, 2.0]), np.array([0.3, 0.2, 2.1]))
    ((0, 1), (2,))
    >>> levels(np.zeros(3), np.zeros(3))
    ()
    """
    known = np.flatnonzero(~np.isnan(low))
    if len(known) < 2 or high[known].max() - low[known].min() <= SAME:
        return ()
    found: list[list[int]] = []
    top = -np.inf
    for k in known[np.lexsort((high[known], low[known]))]:
        if found and low[k] < top - SAME:
            found[-1].append(int(k))
        else:
            found.append([int(k)])
        top = max(top, float(high[k]))
    return tuple(map(tuple, found))
