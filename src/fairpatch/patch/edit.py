"""A person edits a card; the patch remembers it, and what was learned, and what differs."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.hints import did_you_mean
from fairpatch.measure.cells import may_promote
from fairpatch.patch.columns import Columns
from fairpatch.patch.learned import Fingerprint
from fairpatch.patch.lines import (
    MOST_CATEGORIES,
    OTHER,
    Line,
    is_any_of,
    lines_of,
    where,
    words_by_weight,
)
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import (
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    Provenance,
    merge,
)
from fairpatch.patch.terms import by_column
from fairpatch.patch.words import shown

# Whether a card's lines are those that were learned: a hash that goes with them.


def lines_hash(patch: Patch) -> str:
    """Of everything that gives points; not of names, price or direction."""
    lines = [
        {
            "numbers": [n.model_dump() for n in concept.numbers],
            "ranges": [r.model_dump() for r in concept.ranges],
            "categories": [c.model_dump() for c in concept.categories],
            "everybody": concept.intercept,
        }
        for concept in patch.concepts
    ]
    text = json.dumps([patch.offset, lines], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def seal(patch: Patch, settings: dict[str, Any]) -> Patch:
    """The same patch as it was learned, with the settings that made it."""
    sealed = {
        "lines_sha256": lines_hash(patch),
        "settings": {**patch.provenance.settings, **settings},
    }
    provenance = patch.provenance.model_copy(update=sealed)
    return patch.model_copy(update={"provenance": provenance})


def is_as_learned(patch: Patch) -> bool:
    """Whether nobody has changed the lines; True where nothing is known of how they were."""
    return patch.provenance.lines_sha256 in (None, lines_hash(patch))


# What differs between two patches, as weights of their ratios on raw values.


def difference(one: Patch, two: Patch) -> list[tuple[str, float, float]]:
    """Every weight that differs: what it is of, in the first patch, in the second."""
    a, b = _weights(one), _weights(two)
    return [
        (name, a.get(name, 0.0), b.get(name, 0.0))
        for name in sorted(a | b)
        if abs(a.get(name, 0.0) - b.get(name, 0.0)) > 1e-12
    ]


def _weights(patch: Patch) -> dict[str, float]:
    """A card's lines; or the ratio as one table of weights, strength and concepts multiplied in."""
    if patch.card is not None:
        return {
            **_thresholds(patch),
            "points to approve": float(patch.card.approve_at),
            "points to deny": float(patch.card.deny_at),
            **{f"confidence, score {where(band)}": band.weight for band in patch.card.bands},
            **{f"locked, {lock}": 1.0 for lock in patch.card.locked},
            "share of people it acts for": patch.pilot.share if patch.pilot else 1.0,
            "refers": float(patch.action == "refer"),
            "strength": patch.strength,
            **{line.name: line.points for line in patch.lines},
        }
    whole = merge(patch.concepts, patch.offset, patch.strength)
    weights = {"everybody": 1.0 + whole.intercept, **_thresholds(patch)}
    for number in whole.numbers:
        weights[f"{number.column}, each unit"] = number.coefficient
        weights[f"{number.column}, missing"] = number.missing
    for category in whole.categories:
        weights |= {f"{category.column} is {e.category!r}": e.weight for e in category.categories}
        weights[f"{category.column}, missing"] = category.missing
    return weights


def _thresholds(patch: Patch) -> dict[str, float]:
    cuts = patch.decision.cuts
    if cuts is None:
        return {"threshold": patch.decision.cut}
    return {f"threshold, {cuts.by} {cut.value!r}": cut.threshold for cut in cuts.at}


# Who is denied only because some lines of a card take points.


def taken(patch: Patch, X: Any) -> dict[str, Floats]:
    """By column, the points that lines take from each person: 0 or below.

    What is commonest has no points on a learned card, so less than none is less than most have.
    """
    merged = merge(patch.concepts, patch.offset)
    by = by_column(merged, patch.columns, Columns.of(X))
    return {column: np.minimum(values, 0.0) for column, values in by.items()}


def held_back(patch: Patch, X: Any, f_logit: Floats) -> Bools:
    """Who is denied, and would be approved if no line took points."""
    denied, after = f_logit <= 0, patch.decide(X, f_logit)
    if patch.card is None or not patch.lines:
        return np.zeros(len(after), bool)
    given = patch.points(X) - np.sum(list(taken(patch, X).values()), axis=0)
    sure = patch.confidence(f_logit, X)
    gains = denied & (given - sure >= patch.card.approve_at) & may_promote(patch.direction)
    stays = ~denied & (given + sure > patch.card.deny_at)
    return np.asarray(~after & (gains | stays))


# A person edits a card: strikes a line, or changes its points. The patch remembers it.


def edit(
    patch: Patch, *, strike: Sequence[str] = (), points: Mapping[str, float] | None = None
) -> Patch:
    """The card with some lines struck and others given new points, both by their names.

    The names are those of ``patch.lines``, as the card prints them. The price stays: dial it again
    with ``PatchedModel.retune``, which also judges the edited card.

    Parameters
    ----------
    patch : Patch
        A card.
    strike : sequence of str
        Lines to strike.
    points : dict of line to float, optional
        Lines with their new points.

    Returns
    -------
    Patch
        The edited card; its provenance lists the edits.

    Examples
    --------
    >>> from fairpatch.patch import CardScale, Range, RangesWeight
    >>> old = RangesWeight(column="age", ranges=[Range(at_least=45, weight=-60)])
    >>> patch = Patch(columns=[Column(name="age", kind="number")],
    ...               concepts=[Concept(name="age", weight=1, intercept=0, ranges=[old])],
    ...               card=CardScale(approve_at=30))
    >>> edited = edit(patch, points={"age 45 and above": -20})
    >>> [(line.name, line.points) for line in edited.lines], edited.provenance.edits
    ([('age 45 and above', -20.0)], ('age 45 and above: -20 instead of -60',))
    """
    if patch.card is None:
        raise ValueError("only a card of points has lines to edit; this is a patch of the paper's")
    wanted = {**dict.fromkeys(strike, 0.0), **{k: float(v) for k, v in (points or {}).items()}}
    known = {line.name: line for line in patch.lines}
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise ValueError(f"the card has no line {name!r}{hint}; it has: {'; '.join(known)}")
    columns = {column.name: column for column in patch.columns}
    concepts = [_edited(concept, columns, wanted) for concept in patch.concepts]
    kept = tuple(c for c in concepts if c.columns)
    read = {name for concept in kept for name in concept.columns}
    read |= {lock.column for lock in patch.card.locked}
    made = [
        f"{name}: struck, was {shown(known[name].points)}" if not value
        else f"{name}: {shown(value)} instead of {shown(known[name].points)}"
        for name, value in wanted.items()
        if value != known[name].points
    ]  # fmt: skip
    provenance = Provenance(**{**dict(patch.provenance), "edits": (*patch.provenance.edits, *made)})
    columns_left = tuple(c for c in patch.columns if c.name in read)
    changed = {
        "concepts": kept,
        "columns": columns_left,
        "provenance": provenance,
        "fingerprint": _of_columns(patch.fingerprint, {c.name for c in columns_left}),
    }
    return Patch.model_validate({**dict(patch), **changed})


def _of_columns(known: Fingerprint | None, names: Collection[str]) -> Fingerprint | None:
    """The fingerprint of the columns that are still read."""
    if known is None:
        return None
    return known.model_copy(
        update={"columns": tuple(c for c in known.columns if c.column in names)}
    )


def _edited(concept: Concept, columns: dict[str, Column], wanted: Mapping[str, float]) -> Concept:
    """The concept with its lines' points as wanted; what has none is left out."""
    numbers, ranges, categories = [], [], []
    for n in concept.numbers:
        line = _only(concept, columns, numbers=(n.model_copy(update={"missing": 0.0}),))
        each = n.coefficient
        if line is not None and line.name in wanted:
            each *= wanted[line.name] / line.points
        missing = _gap(concept, columns[n.column], n.missing, wanted)
        if each or missing:
            numbers.append(n.model_copy(update={"coefficient": each, "missing": missing}))
    for r in concept.ranges:
        kept = []
        for part in r.ranges:
            one = r.model_copy(update={"ranges": (part,), "missing": 0.0})
            line = _only(concept, columns, ranges=(one,))
            weight = part.weight if line is None else wanted.get(line.name, part.weight)
            kept.append(part.model_copy(update={"weight": weight}))
        missing = _gap(concept, columns[r.column], r.missing, wanted)
        if missing or any(part.weight for part in kept):
            ranges.append(r.model_copy(update={"ranges": tuple(kept), "missing": missing}))
    for c in concept.categories:
        changed = _categories(c, columns[c.column], wanted)
        if any(e.weight for e in changed.categories) or changed.missing or changed.other:
            categories.append(changed)
    parts = {"numbers": tuple(numbers), "ranges": tuple(ranges), "categories": tuple(categories)}
    return concept.model_copy(update=parts)


def _categories(
    category: CategoricalWeight, column: Column, wanted: Mapping[str, float]
) -> CategoricalWeight:
    called = column.words or column.name
    new: dict[object, float] = {}
    for weight, categories in words_by_weight(category, column).items():
        names = list(categories)
        for k in range(0, len(names), MOST_CATEGORIES):
            chunk = names[k : k + MOST_CATEGORIES]
            name = Line("", called, is_any_of(chunk), 0.0).name
            for word in chunk:
                new |= dict.fromkeys(categories[word], wanted.get(name, weight))
    kept = [
        CategoryWeight(category=e.category, weight=new[e.category]) for e in category.categories
    ]
    changes = {"categories": tuple(e for e in kept if e.weight or _listed(category, e.category)),
               "missing": new.get(None, 0.0),
               "other": wanted.get(Line("", called, OTHER, 0.0).name, category.other)}  # fmt: skip
    return category.model_copy(update=changes)


def _listed(category: CategoricalWeight, value: object) -> bool:
    """Whether a category stood there with 0 points: as a reference it stays."""
    return any(e.category == value and not e.weight for e in category.categories)


def _gap(concept: Concept, column: Column, missing: float, wanted: Mapping[str, float]) -> float:
    name = Line(concept.name, column.words or column.name, "missing", 0.0).name
    return wanted.get(name, missing) if missing else missing


def _only(concept: Concept, columns: dict[str, Column], **parts: object) -> Line | None:
    """The one line of some part of a concept."""
    bare = {"numbers": (), "ranges": (), "categories": (), **parts}
    return next(iter(lines_of(concept.model_copy(update=bare), columns)), None)
