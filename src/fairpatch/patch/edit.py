"""A person edits a card: strikes a line, or changes its points. The patch remembers it."""

from collections.abc import Mapping, Sequence

from fairpatch._hints import did_you_mean
from fairpatch.patch.lines import (
    MOST_CATEGORIES,
    OTHER,
    Line,
    is_any_of,
    lines_of,
    words_by_weight,
)
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import CategoricalWeight, CategoryWeight, Column, Concept, Provenance
from fairpatch.patch.words import shown


def edit(
    patch: Patch, *, strike: Sequence[str] = (), points: Mapping[str, float] | None = None
) -> Patch:
    """The card with some lines struck and others given new points, both by their names.

    The names are those of ``patch.lines``, as the card prints them. The price stays: dial it again
    with ``PatchedModel.redial``, which also judges the edited card.

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
    changed = {
        "concepts": kept,
        "columns": tuple(c for c in patch.columns if c.name in read),
        "provenance": provenance,
    }
    return Patch.model_validate({**dict(patch), **changed})


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
