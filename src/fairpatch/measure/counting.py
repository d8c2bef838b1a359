"""Filling the table of counts: from arrays in memory, and from the rows of one GROUP BY."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats
from fairpatch._tools.extras import row_of, rows_of
from fairpatch._tools.hints import hint
from fairpatch.inputs.values import PARTS, Value, factorize, part_of, plain
from fairpatch.inputs.values import part as part_expr
from fairpatch.measure.cells import CELLS, UNKNOWN
from fairpatch.measure.groups import Group, Groups, ordered

NO_STRATA: tuple[Group, ...] = ((),)
"""One stratum, of everybody."""
OWN = "__fairpatch_"
"""Prefix of the columns that are added to a table."""
Tables = dict[str, Any]
"""Fields of ``Counts``, by name."""


def count_arrays(
    decision: Any,
    new_decision: Any,
    y: Any,
    sensitive_features: Any,
    strata: Any,
    sample_weight: Any,
    membership: Any,
    person: Any = None,
) -> Tables:
    """Count rows held in memory."""
    f = _decisions(decision, "decision")
    g = f if new_decision is None else _decisions(new_decision, "new_decision")
    labels = np.full(len(f), UNKNOWN) if y is None else _labels(y)
    weight = np.ones(len(f)) if sample_weight is None else _weights(sample_weight)
    part = np.ones(len(f)) if membership is None else _weights(membership)
    parsed = Groups.of(sensitive_features)
    layers = None if strata is None else Groups.of(strata)
    for name, column in [
        ("new_decision", g),
        ("y", labels),
        ("sample_weight", weight),
        ("membership", part),
        ("sensitive_features", parsed),
        ("strata", parsed if layers is None else layers),
        ("person", f if person is None else person),
    ]:
        if len(column) != len(f):
            raise ValueError(f"{name} has {len(column)} rows, decision has {len(f)}")
    groups, code = parsed.joint
    names, stratum = NO_STRATA, np.zeros_like(code)
    if layers is not None:
        names, stratum = layers.joint
    shape = (len(groups), len(names), *CELLS)
    cell = np.ravel_multi_index((code, stratum, labels, f, g), shape)

    def total(values: Any) -> Any:
        return np.bincount(cell, values, minlength=int(np.prod(shape))).reshape(shape)

    n = total(None).astype(np.int64) if membership is None else total(part)
    w, ww = n.astype(float), n.astype(float)
    if sample_weight is not None or membership is not None:
        w, ww = total(weight * part), total((weight * part) ** 2)
    found: Tables = {
        "features": parsed.features, "groups": groups, "n": n, "weight": w, "weight_sq": ww,
        "strata_features": () if layers is None else layers.features, "strata": names,
    }  # fmt: skip
    if person is not None:
        whose = np.asarray(person, np.int64)
        spot = cell * PARTS + part_of(whose)
        parts = np.bincount(spot, weight * part, minlength=int(np.prod(shape)) * PARTS)
        pairs = np.unique(np.stack([code, whose]), axis=1)
        found["parts"] = parts.reshape(*shape, PARTS)
        found["persons"] = np.bincount(pairs[0], minlength=len(groups))
        found["in_all"] = len(np.unique(whose))
    return found


def tables_of(features: tuple[str, ...], rows: Any, strata: tuple[str, ...] = ()) -> Tables:
    """Put the rows of the GROUP BY into the table."""
    fetched: list[dict[str, Any]] = [
        {name: plain(value) for name, value in row.items()} for row in rows
    ]
    in_group = [tuple(row[name] for name in features) for row in fetched]
    in_stratum = [tuple(row[name] for name in strata) for row in fetched]
    groups, layers = ordered(set(in_group)), ordered(set(in_stratum) or {()})
    at = {group: i for i, group in enumerate(groups)}
    on = {stratum: i for i, stratum in enumerate(layers)}
    shape = (len(groups), len(layers), *CELLS)
    n, w, ww = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    by_part = np.zeros((*shape, PARTS)) if f"{OWN}p" in (fetched or [{}])[0] else None
    nobody = sum(row[f"{OWN}n"] or 0 for row in fetched if row[f"{OWN}f"] is None)
    for group, stratum, row in zip(in_group, in_stratum, fetched, strict=True):
        here = row[f"{OWN}n"]
        f, y = row[f"{OWN}f"], row.get(f"{OWN}y")
        g = row.get(f"{OWN}g", f)
        for name, value in (("decision", f), ("new_decision", g)):
            if value not in (0, 1):
                raise ValueError(
                    f"{name} must be 0 or 1 in every row, but {nobody or here} rows have "
                    f"{value!r}. A missing score has no decision, and neither has one that is "
                    "not a probability: correct those rows first. Whoever was denied before "
                    "anybody was scored, by a knock-out, counts as denied: "
                    + hint("Decision(no_score='denied')", "decision: {no_score: denied}")
                    + "; whoever nobody has decided yet is part of no rate: "
                    + hint("Decision(no_score='left_out')", "no_score: left_out")
                )
        if y not in (0, 1, None):
            raise ValueError(_label_error(y))
        place = at[group], on[stratum], UNKNOWN if y is None else int(y), int(f or 0), int(g)
        n[place] += here
        w[place] += row.get(f"{OWN}w", here)
        ww[place] += row.get(f"{OWN}ww", here)
        if by_part is not None:
            by_part[(*place, int(row[f"{OWN}p"]))] += row.get(f"{OWN}w", here)
    whole = bool((n == np.round(n)).all())
    found: Tables = {
        "features": features, "groups": groups, "n": n.astype(np.int64) if whole else n,
        "weight": w, "weight_sq": ww, "strata_features": strata, "strata": layers,
    }  # fmt: skip
    return found if by_part is None else {**found, "parts": by_part}


def group_by(
    frame: Any,
    columns: tuple[str, ...],
    keys: dict[str, str | nw.Expr],
    sample_weight: str | None = None,
    membership: str | None = None,
    person: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Rows of the GROUP BY, under names of our own."""
    exprs = {f"{OWN}{k}": as_expr(v) for k, v in keys.items()}
    if person is not None:
        exprs[f"{OWN}p"] = part_expr(person)
    sums = [nw.len().alias(f"{OWN}n")]
    table = nw.from_native(frame).lazy().with_columns(**exprs)
    weighs = [nw.col(c).cast(nw.Float64) for c in (sample_weight, membership) if c is not None]
    if membership is not None:
        sums = [weighs[-1].sum().alias(f"{OWN}n")]
    if weighs:
        w = reduce(lambda a, b: a * b, weighs)
        table = table.with_columns(**{f"{OWN}w": w, f"{OWN}ww": w * w})
        sums += [nw.col(f"{OWN}w").sum(), nw.col(f"{OWN}ww").sum()]
    return iter(rows_of(table.group_by(*columns, *exprs).agg(*sums)))


def people_of(
    frame: Any, columns: tuple[str, ...], person: str
) -> tuple[dict[Group, int], int]:  # fmt: skip
    """How many people each group has, and how many there are: some may be in several."""
    heads, lazy = nw.col(person).n_unique().alias(f"{OWN}n"), nw.from_native(frame).lazy()
    rows = rows_of(lazy.group_by(*columns).agg(heads))
    of = {tuple(plain(row[c]) for c in columns): int(row[f"{OWN}n"]) for row in rows}
    return of, int(row_of(lazy.select(heads))[f"{OWN}n"] or 0)


def bit(i: int, _: Any, key: Any) -> int | None:
    """One decision of those that a key holds, whatever f's is."""
    return None if key is None else int(key) >> i & 1


def as_expr(column: str | nw.Expr) -> nw.Expr:
    """A column by its name, or an expression as it is."""
    return nw.col(column) if isinstance(column, str) else column


def _decisions(values: Any, name: str) -> NDArray[np.int8]:
    array = np.asarray(values)
    if not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be 0 or 1 (or boolean) in every row")
    return array.astype(np.int8)


def _labels(y: Any) -> NDArray[np.int8]:
    values, code = factorize(np.asarray(y))
    for value in values:
        if value not in (0, 1, None):
            raise ValueError(_label_error(value))
    return np.array([UNKNOWN if v is None else int(v) for v in values], np.int8)[code]


def _label_error(value: Value) -> str:
    return (
        f"y must be 0, 1 or missing, got {value!r}. "
        "Say which label is the positive one, for instance y = (labels == 'yes')."
    )


def _weights(sample_weight: Any) -> Floats:
    weight = np.asarray(sample_weight, float)
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight must be a finite number, at least 0, in every row")
    return weight


def heads_of(
    frame: Any, features: tuple[str, ...], person: str | None, tables: dict[str, Any]
) -> dict[str, Any]:
    """How many people every group of a table in an engine has, where they have several rows."""
    if person is None:
        return {}
    heads, in_all = people_of(frame, features, person)
    of = [heads[group] for group in tables["groups"]]
    return {"persons": np.array(of, np.int64), "in_all": in_all}
