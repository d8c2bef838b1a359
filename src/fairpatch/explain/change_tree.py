"""The decision tree that predicts the changes: where they happen, in a few conditions.

Its F1 by depth says how readable a patch is (the paper's Figure 4): changes that lie together in
the space of features are told by a shallow tree.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.explain.conditions import Condition, ReadableFeatures
from fairpatch.floor import MIN_PEOPLE

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


@dataclass(frozen=True)
class Leaf:
    """Some people, told by conditions, and how many of them change."""

    conditions: tuple[Condition, ...]
    people: int
    changed: int
    says_changed: bool

    @property
    def change_rate(self) -> float:
        """Share of the people here whose decision changes."""
        return self.changed / self.people

    def holds(self, X: Any) -> Bools:
        """Who is in it."""
        inside = [condition.holds(X) for condition in self.conditions]
        return np.logical_and.reduce(inside) if inside else np.ones(len(X), bool)

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "everybody"


@dataclass(frozen=True, eq=False)
class ChangeTree:
    """A decision tree on raw columns that predicts who changes."""

    features: ReadableFeatures
    model: "DecisionTreeClassifier"
    leaves: tuple[Leaf, ...]

    @classmethod
    def fit(
        cls,
        X: Any,
        changed: Bools,
        *,
        max_depth: int = 3,
        columns: Collection[str] | None = None,
    ) -> "ChangeTree":
        """Grow a tree of at most so many questions; no leaf has fewer than ten people."""
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 two seconds to import

        features = ReadableFeatures.of(X, columns)
        model = DecisionTreeClassifier(
            max_depth=max_depth, min_samples_leaf=MIN_PEOPLE, random_state=0
        ).fit(features.matrix, changed)
        return cls(features, model, tuple(_leaves(model, features, changed)))

    def predict(self, X: Any) -> Bools:
        """Whom the tree expects to change."""
        return np.asarray(self.model.predict(self.features.like(X)), bool)

    def f1(self, X: Any, changed: Bools) -> float:
        """F1 of its prediction."""
        from sklearn.metrics import f1_score  # noqa: PLC0415 two seconds to import

        return float(f1_score(changed, self.predict(X), zero_division=0.0))


def f1_by_depth(
    X: Any,
    changed: Bools,
    X_test: Any,
    changed_test: Bools,
    depths: Sequence[int] = (1, 2, 3, 4, 5, 6),
) -> dict[int, float]:
    """F1 on other rows of trees that grow deeper.

    Parameters
    ----------
    X : frame or array
        Rows to grow the trees on.
    changed : array of bool
        Which of them change.
    X_test : frame or array
        Other rows.
    changed_test : array of bool
        Which of those change.
    depths : sequence of int
        Depths to try.

    Returns
    -------
    dict of depth to float
    """
    return {
        depth: ChangeTree.fit(X, changed, max_depth=depth).f1(X_test, changed_test)
        for depth in depths
    }


def _leaves(
    model: "DecisionTreeClassifier", features: ReadableFeatures, changed: Bools
) -> list[Leaf]:
    """Every leaf with the conditions on the way to it, repeated ones on a column drawn together."""
    tree = model.tree_
    where = model.apply(features.matrix)
    leaves: list[Leaf] = []

    def visit(node: int, path: list[Condition]) -> None:
        if tree.children_left[node] < 0:
            here = where == node
            count = int(changed[here].sum())
            says = bool(model.classes_[tree.value[node][0].argmax()])
            leaves.append(Leaf(_tightest(path), int(here.sum()), count, says))
            return
        feature, cut = int(tree.feature[node]), float(tree.threshold[node])
        visit(tree.children_left[node], [*path, features.condition(feature, cut, above=False)])
        visit(tree.children_right[node], [*path, features.condition(feature, cut, above=True)])

    visit(0, [])
    return sorted(leaves, key=lambda leaf: -leaf.changed)


def _tightest(path: list[Condition]) -> tuple[Condition, ...]:
    """Of two limits of the same kind on a column only the tighter one."""
    kept: dict[tuple[str, str, Any], Condition] = {}
    for condition in path:
        numeric = condition.kind in ("at most", "above")
        kept[condition.column, condition.kind, None if numeric else condition.value] = condition
    return tuple(kept.values())
