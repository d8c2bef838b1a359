"""What a loader returns."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch._extras import need

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """A binary decision problem with sensitive features, as its source published it.

    Attributes
    ----------
    name : as in ``fairpatch.datasets.NAMES``.
    X : raw columns; the sensitive features are in it only where ``also_in_x`` says so.
    y : 0 or 1 a row; ``label`` says what 1 means.
    sensitive : sensitive features, a column each; the first is the usual one.
    favourable : the label that is good for a person.
    label, source, terms : in words.
    weight : survey weights, where the source has them.
    """

    name: str
    X: "pd.DataFrame"
    y: Ints
    sensitive: "pd.DataFrame"
    favourable: int
    label: str
    source: str
    terms: str
    weight: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.y) == len(self.sensitive):
            raise ValueError(f"{self.name}: X, y and sensitive differ in length")
        if set(np.unique(self.y)) != {0, 1}:
            raise ValueError(f"{self.name}: y must have the labels 0 and 1")

    @property
    def also_in_x(self) -> list[str]:
        """Sensitive features that the base models of the literature read too."""
        return [name for name in self.sensitive.columns if name in self.X.columns]

    def __repr__(self) -> str:
        return (
            f"Dataset {self.name}: {len(self.X):,} rows, {self.X.shape[1]} columns\n"
            f"  y = 1: {self.label} ({self.y.mean():.3f}); favourable: {self.favourable}\n"
            f"  sensitive: {', '.join(self.sensitive.columns)}\n"
            f"  source: {self.source}\n"
            f"  terms: {self.terms}"
        )


def read_csv(*args: Any, **options: Any) -> "pd.DataFrame":
    """``pandas.read_csv`` that takes no word for a missing value unless told to."""
    pandas = need("pandas", extra="datasets")
    options = {"keep_default_na": False, "na_values": [""]} | options
    frame: pd.DataFrame = pandas.read_csv(*args, **options)
    return frame
