"""The concepts of a patch in words, and what each column adds to a person's ratio."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.lines import lines_of
from fairpatch.patch.parts import CategoricalWeight, Concept, RangesWeight, merge
from fairpatch.patch.terms import activation, by_column

MOST = 4
"""Columns that are printed of a concept."""


@dataclass(frozen=True)
class Ingredient:
    """A column's part in a concept."""

    column: str
    effect: float
    """How much one standard deviation of it moves the ratio."""
    towards_change: str
    """Which values push towards a change: low, high, or the categories that do most."""


@dataclass(frozen=True)
class ConceptView:
    """One concept: its weight, what it is made of, and the share of the changes it drives."""

    name: str
    plain_name: str
    """Made from its strongest columns; rename with ``patch.with_names``."""
    weight: float
    ingredients: tuple[Ingredient, ...]
    share_of_changes: float
    """Of the changed people, for how many this concept pushes hardest."""

    def __str__(self) -> str:
        parts = ", ".join(
            f"{i.column} ({i.effect:.2f}, {i.towards_change})" for i in self.ingredients[:MOST]
        )
        more = len(self.ingredients) - MOST
        return (
            f"{self.name}: {self.plain_name}; pushes {self.share_of_changes:.0%} of the changes "
            f"hardest. Moves r by: {parts}{f' and {more} more' if more > 0 else ''}"
        )


def concepts(
    patch: Patch, X: Any, changed: Bools, f_logit: Floats | None = None
) -> list[ConceptView]:
    """Describe every concept on some rows, of which ``changed`` change.

    Parameters
    ----------
    patch : Patch
        The patch.
    X : frame or array
        Rows with the patch's columns.
    changed : array of bool
        Which rows change.
    f_logit : array, optional
        Log-odds of the base model, which a card needs.

    Returns
    -------
    list of ConceptView
        One for each concept.
    """
    pushes = push(patch, X, f_logit)
    driver = pushes[:, changed].argmin(0) if changed.any() and len(pushes) else np.empty(0, int)
    views = []
    for j, concept in enumerate(patch.concepts):
        ingredients = _ingredients(patch, j, X)
        named = concept.name if not concept.name.startswith("concept ") else _name(ingredients)
        share = float(np.mean(driver == j)) if len(driver) else 0.0
        views.append(ConceptView(concept.name, named, concept.weight, ingredients, share))
    return views


def push(patch: Patch, X: Any, f_logit: Floats | None = None) -> Floats:
    """What each concept adds to the ratio: (concepts, rows).

    From its mean over the rows, as the paper's concepts have no zero of their own; a card's points
    have one.
    """
    each, _ = patch.effect(f_logit, X)
    parts = [
        each * concept.weight * activation(concept, patch.columns, X) for concept in patch.concepts
    ]
    table = np.array(parts) if parts else np.empty((0, Columns.of(X).rows))
    return table if patch.card else np.asarray(table - table.mean(1, keepdims=True))


def _ingredients(patch: Patch, j: int, X: Any) -> tuple[Ingredient, ...]:
    concept = patch.concepts[j]
    parts = by_column(concept, patch.columns, Columns.of(X))
    # Towards a change: of the paper's ratio what lowers it; of a card what has points, for denied
    # people (the approved are pushed by what takes points away).
    if patch.card is None:
        each, sign = patch.strength * concept.weight, 1.0
    else:
        each, sign = patch.strength / max(patch.card.approve_at, 1), -1.0
    towards = {
        **{n.column: _side(sign * each * n.coefficient) for n in concept.numbers},
        **{c.column: _pushing(c, sign * each) for c in concept.categories},
        **{r.column: _ranges(concept, r, patch) for r in concept.ranges},
    }
    ingredients = [
        Ingredient(name, float(abs(each) * parts[name].std()), towards[name]) for name in towards
    ]
    return tuple(sorted(ingredients, key=lambda i: -i.effect))


def _side(slope: float) -> str:
    return "missing" if not slope else "low" if slope > 0 else "high"


def _pushing(category: CategoricalWeight, weight: float) -> str:
    worst = sorted(category.categories, key=lambda entry: weight * entry.weight)
    categories = [str(e.category) for e in worst if weight * e.weight < 0][:2]
    if weight * category.missing < 0:
        categories.append("missing")
    return ", ".join(categories) or "categories that are not listed"


def _ranges(concept: Concept, part: RangesWeight, patch: Patch) -> str:
    """Where the points are, in the words of the card."""
    columns = {column.name: column for column in patch.columns}
    alone = concept.model_copy(update={"numbers": (), "categories": (), "ranges": (part,)})
    lines = [line for line in lines_of(alone, columns) if line.points > 0]
    return ", ".join(line.where for line in lines) or "outside of the ranges listed"


def _name(ingredients: tuple[Ingredient, ...]) -> str:
    """The strongest columns, and the next ones where they count nearly as much."""
    if not ingredients:
        return "nothing"
    leading = [i for i in ingredients[:2] if i.effect >= 0.5 * ingredients[0].effect]
    return " and ".join(
        f"{i.towards_change} {i.column}"
        if i.towards_change in ("low", "high", "missing")
        else f"{i.column} {i.towards_change}"
        for i in leading
    )


# What each column adds to a person's ratio: r(x) - 1 = baseline + sum of contributions, exactly.
#
# A contribution is measured from the average person of some reference rows, so that a positive one
# says: this value makes the base model's decision safer than it is for most, a negative one the
# opposite. The baseline is the average person's r - 1.

CONFIDENCE = "confidence of the base model"
"""What a card adds beside its columns: the points of the score's band."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """Of every column, row by row: ``values`` is (rows, columns)."""

    columns: tuple[str, ...]
    values: Floats
    baseline: float

    @property
    def ratio(self) -> Floats:
        """r(x), put together again; a card's before it is kept within -1 and 1."""
        return np.asarray(1 + self.baseline + self.values.sum(1))


def contributions(
    patch: Patch, X: Any, reference: Any = None, *, f_logit: Any = None
) -> Contributions:
    """Contributions of the rows of X, measured from the average row of ``reference`` (or of X).

    On a card nobody is compared with an average person: a line's points count as they are, and how
    sure f is stands beside them, from f's log-odds.

    Parameters
    ----------
    patch : Patch
        The patch.
    X : frame or array
        Rows with the patch's columns.
    reference : frame or array, optional
        Rows whose average is the zero; X where they are not given.
    f_logit : array, optional
        Log-odds of the base model, which a card needs.

    Returns
    -------
    Contributions
        What each column adds to the ratio, row by row.
    """
    whole = merge(patch.concepts, patch.offset)
    each, rest = patch.effect(f_logit, X)
    held = Columns.of(X)
    by_name = {k: each * v for k, v in by_column(whole, patch.columns, held).items()}
    if patch.card is not None:  # a card's points count from 0, and confidence beside them
        return Contributions(
            (*by_name, CONFIDENCE), _table({**by_name, CONFIDENCE: rest}, held.rows), 0.0
        )
    others = by_name
    if reference is not None:
        there = by_column(whole, patch.columns, Columns.of(reference))
        others = {k: each * v for k, v in there.items()}
    means = {name: float(values.mean()) for name, values in others.items()}
    moved = {name: values - means[name] for name, values in by_name.items()}
    baseline = each * whole.intercept + sum(means.values())
    return Contributions(tuple(moved), _table(moved, held.rows), baseline)


def _table(columns: dict[str, Floats], rows: int) -> Floats:
    return np.column_stack([*columns.values()]) if columns else np.empty((rows, 0))
