"""Made-up people, and f's scores of them: they tell for certain whether f is another model.

Round quartiles and common categories of each column that f reads, combined in different rhythms. f
is asked about them once when a patch is learned; whoever has a model can ask again.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats
from fairpatch.base import BaseModel
from fairpatch.floor import MIN_PEOPLE
from fairpatch.identity.fingerprint import codes_of
from fairpatch.patch.columns import Columns
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import Category

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
