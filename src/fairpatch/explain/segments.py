"""Where decisions change, in conditions that a person can read."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.rows import Rows
from fairpatch.explain.concepts import push
from fairpatch.inputs.values import Value, factorize
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.rates import share
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


STEPS = 20
"""Of a number that a tree may cut at, at least, in most of a column."""
NEARLY = 1e-9
"""Steps by which a double may miss a round number."""

# Conditions on raw columns that a person can read, and the 0/1 and number features behind them.


@dataclass(frozen=True)
class Condition:
    """One condition on one column."""

    column: str
    kind: Literal["at most", "above", "is", "is not"]
    value: Value

    def holds(self, X: Any) -> Bools:
        """Whether it holds, row by row; a missing number counts as the column's median."""
        held = Columns.of(X)
        column = next(c for c in held.described() if c.name == self.column)
        values = held.values(column)
        if self.kind in ("is", "is not"):
            categories, code = factorize(values)
            same = np.array([v == self.value for v in categories] or [False])[code]
            return np.asarray(same == (self.kind == "is"))
        filled = _filled(values)
        limit = float(self.value)  # type: ignore[arg-type]
        return np.asarray(filled <= limit if self.kind == "at most" else filled > limit)

    def __str__(self) -> str:
        if self.kind in ("is", "is not"):
            return f"{self.column} {self.kind} {_short(self.value)}"
        return f"{self.column} {'<=' if self.kind == 'at most' else '>'} {self.value:.6g}"


@dataclass(frozen=True, eq=False)
class ReadableFeatures:
    """Features of raw columns for a tree: a number by round steps, a category's as 0 and 1.

    A tree cuts in the middle between two people: with all digits, such a cut tells their values.
    """

    names: list[tuple[str, Value]]
    """Column and category; the category of a number is None."""
    steps: list[float]
    """Of every feature, the step of its numbers; cuts lie on it."""
    matrix: Floats

    @classmethod
    def of(cls, X: Any, columns: Collection[str] | None = None) -> "ReadableFeatures":
        """Of the named columns, or of all."""
        held = Columns.of(X)
        names: list[tuple[str, Value]] = []
        features, steps = [], []
        for column in held.described():
            if columns is not None and column.name not in columns:
                continue
            values = held.values(column)
            if column.kind == "number":
                names.append((column.name, None))
                filled = _filled(values)
                steps.append(_step(filled))
                features.append(_up_to(filled, steps[-1]))
                continue
            categories, code = factorize(values)
            size = Counter(code.tolist())
            for i, category in enumerate(categories):
                if size[i] >= MIN_PEOPLE and category is not None:
                    names.append((column.name, category))
                    steps.append(1.0)
                    features.append((code == i).astype(float))
        if not features:  # nothing to ask about: a tree is then one leaf, everybody
            return cls([("nothing", None)], [1.0], np.zeros((held.rows, 1)))
        return cls(names, steps, np.column_stack(features))

    def like(self, X: Any) -> Floats:
        """The same features of other rows."""
        held = Columns.of(X)
        columns = {c.name: c for c in held.described()}
        features = []
        for (name, category), step in zip(self.names, self.steps, strict=True):
            if name not in columns:
                features.append(np.zeros(held.rows))
                continue
            values = held.values(columns[name])
            if category is None:
                features.append(_up_to(_filled(values), step))
            else:
                categories, code = factorize(values)
                features.append(np.array([float(v == category) for v in categories] or [0.0])[code])
        return np.column_stack(features)

    def condition(self, feature: int, cut: float, *, above: bool) -> Condition:
        """A tree's split in words."""
        column, category = self.names[feature]
        if category is not None:
            return Condition(column, "is" if above else "is not", category)
        step = self.steps[feature]  # between two of them: say the lower one
        value = round(float(np.floor(cut / step + NEARLY)) * step, 12)
        return Condition(column, "above" if above else "at most", value)


def _step(values: Floats) -> float:
    """A power of ten, of which there are 20 to 200 in most of a column; 1 or more of whole numbers.

    >>> _step(np.arange(100.0)), _step(np.linspace(0, 1, 1_000))
    (1.0, 0.01)
    """
    low, high = np.quantile(values, [0.05, 0.95])
    spread = float(high - low) or float(np.ptp(values))
    step = float(10.0 ** np.floor(np.log10(spread / STEPS))) if spread > 0 else 1.0
    return max(step, 1.0) if (values == np.rint(values)).all() else step


def _up_to(values: Floats, step: float) -> Floats:
    """The step that each value is at most."""
    return np.asarray(np.ceil(values / step - NEARLY) * step)


def _filled(values: Any) -> Floats:
    """Numbers with gaps filled by the median."""
    values = np.asarray(values, np.float64)
    gap = np.isnan(values)
    if gap.all():
        return np.zeros(len(values))
    return np.asarray(np.where(gap, np.median(values[~gap]), values))


def _short(value: Value) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else text[:59] + "…")


# The decision tree that predicts the changes: where they happen, in a few conditions.
#
# Its F1 by depth says how readable a patch is (the paper's Figure 4): changes that lie together in
# the space of features are told by a shallow tree.


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


# Where a concept is active, in conditions, and how likely a change is inside and outside.

ACTIVE = 0.25
"""A concept is most active for this share of the people."""


@dataclass(frozen=True)
class Segment:
    """People for whom a concept is most active, on one of its sides."""

    concept: str
    towards_change: bool
    """Whether the concept pushes towards a change here, or holds decisions in place."""
    leaf: Leaf
    """The conditions: who meets them, and how they read."""
    people: int
    others: int
    inside: Estimate
    """P(change) for the people who meet the conditions."""
    outside: Estimate

    @property
    def who(self) -> str:
        """The conditions, in words."""
        return str(self.leaf)

    def __str__(self) -> str:
        side = "towards a change" if self.towards_change else "against one"
        return (
            f"{self.concept}, {side}: {self.who}; {self.people} people, P(change) "
            f"{self.inside.value:.2f} inside, {self.outside.value:.2f} outside"
        )


def segments(
    patch: Patch, X: Any, changed: Bools, f_logit: Floats | None = None, *, max_depth: int = 2
) -> list[Segment]:
    """Two segments a concept: where it pushes hardest, and where it holds hardest.

    The conditions are those of a small tree on the concept's own columns; P(change) is counted for
    the people who meet the conditions, not for those who made them.

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
    max_depth : int
        Conditions of a segment, at most.

    Returns
    -------
    list of Segment
    """
    segments_found = []
    for concept, pushed in zip(patch.concepts, push(patch, X, f_logit), strict=True):
        for towards in (True, False):
            strength = -pushed if towards else pushed
            active = strength > np.quantile(strength, 1 - ACTIVE)
            if active.all() or not active.any():
                continue
            tree = ChangeTree.fit(X, active, max_depth=max_depth, columns=concept.columns)
            leaf = max(tree.leaves, key=lambda leaf: (leaf.says_changed, leaf.changed))
            inside = leaf.holds(X)
            segments_found.append(
                Segment(
                    concept.name,
                    towards,
                    leaf,
                    int(inside.sum()),
                    int((~inside).sum()),
                    share(changed[inside].sum(), inside.sum(), "nobody is here"),
                    share(changed[~inside].sum(), (~inside).sum(), "nobody is here"),
                )
            )
    return segments_found


def neglected(
    rows: Rows, after: Bools, feature: str
) -> tuple[int, NDArray[np.intp], tuple[Leaf, ...]]:
    """Leaves with hardly any promotion among the people of the lowest group whom f denies.

    First which group that is, and who these people are, among the rows.
    """
    group, before = rows.s.of_feature(feature), rows.f > 0
    rates = [before[group == g].mean() for g in range(group.max() + 1)]
    lowest = int(np.argmin(rates))
    here = np.flatnonzero((group == lowest) & ~before)
    if len(here) < 2 * MIN_PEOPLE:
        return lowest, here, ()
    promoted = after[here]
    tree = ChangeTree.fit(rows.take(here).X, promoted, max_depth=2)
    average = promoted.mean()
    left_out = [leaf for leaf in tree.leaves if leaf.change_rate < average / 2]
    return lowest, here, tuple(sorted(left_out, key=lambda leaf: -leaf.people))
