"""Raw columns -> encoded features z for training, and weights on z folded back onto raw columns.

    number:    z = (x - mean) / std, a gap counts as the mean; one more z says that there was a gap
    category:  one z a category; those of few rows, or never seen, are the reference and weigh 0

A number that is the same in all but a few rows, as the one-hot column of a rare code, is left out
for the same reason: what fewer than ten people have gets no weight of its own.

Every z is standardised, so weights compare. After training nothing of this is needed any more: a
concept W . z is the same number as an intercept plus a weight for each raw value (``fold``).
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats
from fairpatch._tools.hints import did_you_mean
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.inputs.values import Value, factorize
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import CategoricalWeight, CategoryWeight, Column, Concept, NumberWeight


@dataclass(frozen=True)
class Feature:
    """One encoded feature z of a column."""

    column: Column
    what: Literal["value", "missing", "category"]
    category: Value
    mean: float
    std: float


@dataclass(frozen=True)
class Encoder:
    """The encoded features, in the order of z's columns."""

    features: tuple[Feature, ...]

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        exclude: Collection[str] = (),
        categories: Collection[str] = (),
        strict: bool = True,
    ) -> "Encoder":
        """Learn the encoding of every column of X that is not excluded.

        ``categories`` are columns of numbers that are codes, and not more or less of something. Of
        a kind that cannot be read, a column is refused; or left out, where that is not ``strict``.
        """
        held = Columns.of(X)
        for what, named in (("exclude", exclude), ("categories", categories)):
            unknown = sorted(set(named) - set(held.names))
            if unknown:
                raise ValueError(
                    f"{what} names columns that X does not have: {unknown}"
                    + did_you_mean(unknown[0], held.names)
                )
        features: list[Feature] = []
        for column in held.described(exclude, categories, strict=strict):
            features += _features(column, held.values(column))
        if not features:
            raise ValueError(
                "no column is left for the patch to read: all are excluded or constant"
            )
        return cls(tuple(features))

    def only(self, names: Collection[str]) -> "Encoder":
        """The same encoding of some of the columns."""
        return Encoder(tuple(f for f in self.features if f.column.name in names))

    def transform(self, X: Any) -> Floats:
        """Encode the rows of X."""
        held = Columns.of(X)
        Z = np.empty((held.rows, len(self.features)))
        values: dict[str, Any] = {}
        for j, feature in enumerate(self.features):
            name = feature.column.name
            if name not in values:
                values = {name: held.values(feature.column)}  # features of a column are neighbours
                if feature.column.kind == "category":
                    values = {name: factorize(values[name])}
            Z[:, j] = (_raw(feature, values[name]) - feature.mean) / feature.std
        return Z

    def fold(self, W: Floats, weight: float, name: str) -> Concept:
        """Write the concept W . z as weights on raw columns, without those of weight 0."""
        intercept = 0.0
        numbers: dict[str, NumberWeight] = {}
        categories: dict[str, list[CategoryWeight]] = {}
        gaps: dict[str, float] = {}
        for w, feature in zip(W, self.features, strict=True):
            if not w:
                continue
            column, slope = feature.column.name, float(w / feature.std)
            intercept -= slope * feature.mean
            if feature.what == "value":  # a gap counts as the mean
                numbers[column] = NumberWeight(
                    column=column, coefficient=slope, missing=slope * feature.mean
                )
            elif feature.what == "category" and feature.category is not None:
                categories.setdefault(column, []).append(
                    CategoryWeight(category=feature.category, weight=slope)
                )
            else:
                gaps[column] = slope
                if feature.column.kind == "category":
                    categories.setdefault(column, [])
                else:
                    numbers.setdefault(
                        column, NumberWeight(column=column, coefficient=0.0, missing=0.0)
                    )
        return Concept(
            name=name,
            weight=weight,
            intercept=intercept,
            numbers=tuple(
                n.model_copy(update={"missing": n.missing + gaps.get(c, 0.0)})
                for c, n in numbers.items()
            ),
            categories=tuple(
                CategoricalWeight(column=c, categories=tuple(ls), missing=gaps.get(c, 0.0))
                for c, ls in categories.items()
            ),
        )


def _features(column: Column, values: NDArray[Any]) -> list[Feature]:
    """The encoded features of a column; one that never varies is none."""
    if column.kind == "number":
        gap = np.isnan(values)
        if gap.all():
            return []
        candidates: list[tuple[Literal["value", "missing", "category"], Value, Floats]] = [
            ("value", None, np.where(gap, values[~gap].mean(), values)),
            ("missing", None, gap.astype(float)),
        ]
    else:
        values_seen, code = factorize(values)
        size = Counter(code.tolist())
        keep = [i for i in range(len(values_seen)) if size[i] >= MIN_PEOPLE]
        keep.sort(key=lambda i: (values_seen[i] is None, str(values_seen[i])))
        candidates = [("category", values_seen[i], (code == i).astype(float)) for i in keep]
    return [
        Feature(column, what, category, float(z.mean()), float(z.std()))
        for what, category, z in candidates
        if z.std() > 1e-12 * max(1.0, float(np.abs(z).max()))
        and _unlike(z) >= min(MIN_PEOPLE, len(z) // 4)
    ]


def _unlike(z: Floats) -> int:
    """Rows that do not have the most common value."""
    return len(z) - int(np.unique(z, return_counts=True)[1].max())


def _raw(feature: Feature, values: Any) -> Floats:
    """The feature before it is standardised."""
    if feature.what == "category":
        values_seen, code = values
        is_category = np.array([float(v == feature.category) for v in values_seen] or [0.0])
        return np.asarray(is_category[code])
    gap = np.isnan(values)
    if feature.what == "missing":
        return np.asarray(gap, np.float64)
    return np.where(gap, feature.mean, values)
