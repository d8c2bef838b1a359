"""The fingerprint of a fit: enough to tell later whether model and people are still the same.

Shares of people below round edges, and f's mean score between them: of the score itself and of
every column that the patch reads. Beside them f's scores of a few made-up people. Shares are
rounded to ten people, edges to three digits; categories and bands of fewer than ten are left out.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.rows import take
from fairpatch.decision import Decision
from fairpatch.inputs.base import BaseModel, scores_of
from fairpatch.inputs.values import Value
from fairpatch.patch.columns import Columns
from fairpatch.patch.learned import ColumnPrint, Fingerprint
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import Category, Column

# Scores as models are compared by them: whatever their unit, about 0 to 1.


def scores_alike(f_logit: Floats, decision: Decision, thresholds: Any) -> Floats:
    """Scores again of log-odds, by which models are compared: without what rounding has added.

    A coarse score lies at the edges that it is compared by.
    """
    scores = np.round(scores_of(f_logit, decision, thresholds), 12)
    return np.asarray(likeness(decision, scores))


def likeness(decision: Decision, score: Any) -> Any:
    """A score, numbers or an expression, by which models are compared: about 0 to 1.

    Points are laid along the middle of a probability, four units of log-odds from end to end.
    """
    if not decision.in_points:
        return score
    along = (score - decision.scale.base) * (decision.scale.unit / 4) + 0.5
    return along.clip(0.0, 1.0) if isinstance(along, nw.Expr) else np.clip(along, 0.0, 1.0)


# The fingerprint of a fit: enough to tell later whether scores and columns still look the same.

DECILES = np.arange(0.1, 0.95, 0.1)
MOST_CATEGORIES = 30


def fingerprint_of(
    X: Any, scores: Floats, columns: Sequence[Column], weight: Floats | None = None
) -> Fingerprint:
    """Of the rows that a patch was learned from."""
    w = np.ones(len(scores)) if weight is None else np.asarray(weight, np.float64)
    edges = _edges(scores, w)
    held = Columns.of(X)
    return Fingerprint(
        people=len(scores),
        edges=edges,
        shares=_rounded([_share(scores <= e, w) for e in edges], len(scores)),
        mean=round(float(np.average(scores, weights=w)), 4),
        columns=tuple(_print(c, held, scores, w) for c in columns),
    )


def _print(column: Column, held: Columns, scores: Floats, w: Floats) -> ColumnPrint:
    if column.kind == "number":
        x = held.values(column)
        known = np.isfinite(x)
        edges = _edges(x[known], w[known])
        inside = [known & (x <= e) for e in edges]
        bands = [b & ~a for a, b in zip([np.zeros_like(known), *inside], inside, strict=False)]
        categories: tuple[Category, ...] = ()
    else:
        values, code = codes_of(held, column)
        known = np.array([v is not None for v in values])[code]
        size = np.bincount(code[w > 0], minlength=len(values))
        order = sorted(range(len(values)), key=lambda i: (-size[i], str(values[i])))
        kept = [i for i in order if values[i] is not None and size[i] >= MIN_PEOPLE][
            :MOST_CATEGORIES
        ]
        categories, edges = tuple(v for i in kept if (v := values[i]) is not None), ()
        inside = bands = [code == i for i in kept]
    found_shares = [_share(part[known], w[known]) for part in inside]
    shares, others = _rounded(found_shares, len(w)), 0.0
    if categories:
        (others,) = _rounded([1 - sum(found_shares)], len(w))
    return ColumnPrint(
        column=column.name,
        edges=edges,
        categories=categories,
        shares=shares,
        others=max(0.0, others),
        missing=_rounded([_share(~known, w)], len(w))[0],
        means=tuple(
            round(float(np.average(scores[b], weights=w[b])), 3)
            if b.sum() >= MIN_PEOPLE and w[b].any()
            else None
            for b in bands
        ),
    )


def codes_of(held: Columns, column: Column) -> tuple[list[Value], NDArray[np.intp]]:
    """Categories and everybody's place among them; a gap is the last."""
    categories, code = held.codes(column)
    return categories, np.where(code < 0, len(categories) - 1, code)


def _edges(values: Floats, w: Floats) -> tuple[float, ...]:
    """Deciles, rounded to three digits, each of them once; none where a band would be few."""
    if len(values) < len(DECILES) * 2 * MIN_PEOPLE or not w.any():
        return ()
    order = np.argsort(values, kind="stable")
    total = np.cumsum(w[order])
    at = np.searchsorted(total / total[-1], DECILES)
    return tuple(sorted({float(f"{values[order[k]]:.3g}") for k in at}))


def _share(here: Any, w: Floats) -> float:
    return float(w[here].sum() / w.sum()) if len(w) and w.any() else 0.0


def step_of(people: int) -> float:
    """Shares are rounded to hundredths, and to ten people: no smaller number follows from them."""
    return max(0.01, MIN_PEOPLE / max(people, 1))


def _rounded(values: list[float], people: int) -> tuple[float, ...]:
    step = step_of(people)
    return tuple(round(min(1.0, round(v / step) * step), 4) for v in values)


# Made-up people, and f's scores of them: they tell for certain whether f is another model.
#
# Round quartiles and common categories of each column that f reads, combined in different rhythms.
# f is asked about them once when a patch is learned; whoever has a model can ask again.

MOST_PROBED = 100
"""Columns of a base model of which made-up people are made, at most."""
PROBES = 16


def with_probe(patch: Patch, base: BaseModel, X: Any) -> Patch:
    """The patch with f's scores of made-up people in its fingerprint, where f is a model."""
    if patch.fingerprint is None or base.score_column is not None:
        return patch
    values = probe_values(X, base.columns)
    scores = probe_scores(values, base, X)
    if scores is None:
        return patch
    probe = {"probe": values, "probe_scores": tuple(round(float(p), 9) for p in scores)}
    return patch.model_copy(update={"fingerprint": patch.fingerprint.model_copy(update=probe)})


def probe_distance(patch: Patch, base: BaseModel, X: Any) -> float | None:
    """How far f's scores of the made-up people are from those then, at most; None if unknown.

    ``X``, some rows of its data, give the kind of frame and the columns' types.
    """
    known = patch.fingerprint
    if known is None or not known.probe_scores or base.score_column is not None:
        return None
    scores = probe_scores(known.probe, base, X)
    return None if scores is None else float(np.abs(scores - np.array(known.probe_scores)).max())


def probe_scores(
    values: dict[str, tuple[Category | None, ...]], base: BaseModel, X: Any
) -> Floats | None:
    """f's scores of the made-up people; None where it cannot be asked about them."""
    if not values:
        return None
    rows = probe_rows(values)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    try:
        if not isinstance(frame, nw.DataFrame):
            return base.scores(np.array([*rows.values()], np.float64).T)
        backend = nw.get_native_namespace(frame)
        made = [
            nw.new_series(name, column, backend=backend).cast(frame[name].dtype)
            for name, column in rows.items()
        ]
        return base.scores(made[0].to_frame().with_columns(*made[1:]).to_native())
    except Exception:  # f is anybody's code, and these people are made up
        return None


def probe_values(X: Any, names: Sequence[str] | None) -> dict[str, tuple[Category | None, ...]]:
    """Of each column that f reads: round quartiles, or its commonest categories; {} where idle.

    Dates and the like cannot be made up: then there is no probe.
    """
    held = Columns.of(X)
    wanted = list(held.names) if names is None else list(names)
    if len(wanted) > MOST_PROBED or not set(wanted) <= set(held.names):
        return {}
    try:
        described = held.described(set(held.names) - set(wanted), strict=True)
    except TypeError:
        return {}
    by_column: dict[str, tuple[Category | None, ...]] = {}
    for column in described:
        if column.kind == "number":
            x = held.values(column)
            x = x[np.isfinite(x)]
            if len(x) < 8 * MIN_PEOPLE:  # a quartile of few would be somebody's own
                by_column[column.name] = (None,)
                continue
            whole = bool((x == np.round(x)).all())
            values = [float(f"{v:.3g}") for v in np.quantile(x, [0.25, 0.5, 0.75])]
            by_column[column.name] = tuple(round(v) if whole else v for v in values)
        else:
            categories, code = codes_of(held, column)
            size = np.bincount(code, minlength=len(categories))
            order = sorted(range(len(categories)), key=lambda i: (-size[i], str(categories[i])))
            kept = [
                categories[i] for i in order if size[i] >= MIN_PEOPLE and categories[i] is not None
            ]
            if not kept:
                return {}
            by_column[column.name] = tuple(kept[:3])
    return by_column


def probe_rows(values: dict[str, tuple[Category | None, ...]]) -> dict[str, list[Category | None]]:
    """The made-up people, column by column: every value of a column, in a different rhythm."""
    return {
        name: [choices[(i // (1 + j % 4) + i * j) % len(choices)] for i in range(PROBES)]
        for j, (name, choices) in enumerate(values.items())
    }


# Whether a model decides what its score and threshold say: a patch corrects decisions.
#
# Some models decide otherwise than their probability suggests: at a threshold of their own, or by
# another rule altogether. A patch learned for p > 0.5 would then be of decisions that nobody makes.

MOST_ASKED = 10_000
"""Rows on which the two are compared, at most."""


def check_agreement(base: BaseModel, X: Any) -> None:
    """Refuse a model whose ``predict`` differs from its score and a threshold nobody named."""
    f = base.estimator
    if isinstance(f, str) or not hasattr(f, "predict") or not hasattr(f, "predict_proba"):
        return
    if base.decision.has_threshold and not base.decides_for_itself:
        return  # a policy's threshold, which the model need not know
    n = Columns.of(X).rows
    some = X
    if n > MOST_ASKED:
        some = take(X, np.sort(np.random.default_rng(0).choice(n, MOST_ASKED, replace=False)))
    p = base.scores(some)
    predicted = base.predicted(some)
    decided = base.decision.decides(p, base.decision.cut)
    differs = float(np.mean(predicted != decided))
    if not differs:
        return
    raise ValueError(
        f"predict and the score disagree: {type(f).__name__}.predict decides 1 for "
        f"{predicted.mean():.1%} of these rows, a score {base.decision.rule} for "
        f"{np.mean(decided):.1%}, and they differ for {differs:.1%}. " + _advice(p, predicted)
    )


def _advice(p: Any, predicted: Any) -> str:
    """The threshold at which both would agree, where there is one."""
    highest_no = float(p[~predicted].max(initial=0.0))
    lowest_yes = float(p[predicted].min(initial=1.0))
    if highest_no < lowest_yes:
        middle = (highest_no + lowest_yes) / 2
        for digits in range(1, 17):
            threshold = round(middle, digits)
            if threshold > 0 and highest_no <= threshold < lowest_yes:
                return f"They agree at Decision(threshold={threshold!r}): name it"
    return (
        "No threshold makes them agree: decide by the score, naming the threshold that is used, "
        "as Decision(threshold=0.5)"
    )
