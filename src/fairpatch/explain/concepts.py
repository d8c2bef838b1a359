"""The concepts of a patch in words: what each is made of, and which of the changes it drives."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.terms import activation, category_term, number_term


@dataclass(frozen=True)
class Ingredient:
    """A column's part in a concept."""

    column: str
    effect: float
    """How much one standard deviation of it moves the ratio."""
    towards_change: str
    """Which values push towards a change: low, high, or the levels that do most."""


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


def concepts(patch: Patch, X: Any, changed: Bools) -> list[ConceptView]:
    """Describe every concept on some rows, of which ``changed`` change."""
    pushes = push(patch, X)
    driver = pushes[:, changed].argmin(0) if changed.any() and len(pushes) else np.empty(0, int)
    found = []
    for j, concept in enumerate(patch.concepts):
        ingredients = _ingredients(patch, j, X)
        named = concept.name if not concept.name.startswith("concept ") else _name(ingredients)
        share = float(np.mean(driver == j)) if len(driver) else 0.0
        found.append(ConceptView(concept.name, named, concept.weight, ingredients, share))
    return found


def push(patch: Patch, X: Any) -> Floats:
    """What each concept adds to the ratio, from its mean over the rows: (concepts, rows)."""
    parts = [
        patch.strength * concept.weight * activation(concept, patch.columns, X)
        for concept in patch.concepts
    ]
    table = np.array(parts) if parts else np.empty((0, Columns.of(X).rows))
    return np.asarray(table - table.mean(1, keepdims=True))


def _ingredients(patch: Patch, j: int, X: Any) -> tuple[Ingredient, ...]:
    concept = patch.concepts[j]
    held, columns = Columns.of(X), {c.name: c for c in patch.columns}
    weight = patch.strength * concept.weight
    found = []
    for number in concept.numbers:
        part = weight * number_term(number, held.values(columns[number.column]))
        side = "low" if weight * number.coefficient > 0 else "high"
        if not number.coefficient:
            side = "missing"
        found.append(Ingredient(number.column, float(part.std()), side))
    for category in concept.categories:
        part = weight * category_term(category, *held.codes(columns[category.column]))
        worst = sorted(category.levels, key=lambda entry: weight * entry.weight)
        levels = [str(e.level) for e in worst if weight * e.weight < 0][:2]
        if weight * category.missing < 0:
            levels.append("missing")
        said = ", ".join(levels) or "levels that are not listed"
        found.append(Ingredient(category.column, float(part.std()), said))
    return tuple(sorted(found, key=lambda i: -i.effect))


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
