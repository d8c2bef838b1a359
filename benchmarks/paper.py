"""The paper's two data sets and starting models, to the last digit (METHOD section 10).

The paper names neither columns nor seeds; these are the ones that give every printed digit of its
starting models.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from fairpatch._tools.arrays import Ints
from fairpatch._tools.extras import need
from fairpatch.datasets import Dataset, load

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Split:
    """A data set split as in the paper, with its fitted starting model f."""

    X_train: "pd.DataFrame"
    X_test: "pd.DataFrame"
    y_train: Ints
    y_test: Ints
    s_train: Ints
    s_test: Ints
    f: Any


def frames(name: str) -> "tuple[pd.DataFrame, Ints, Ints, Any]":
    """Columns, labels, groups and the scaler of the paper's f, for ``law_school`` or ``compas``."""
    dataset = load(name)
    if name == "law_school":
        return dataset.X, dataset.y, _is(dataset, "White"), MinMaxScaler()
    if name == "compas":
        return _one_hot(dataset), dataset.y, _is(dataset, "Caucasian"), StandardScaler()
    raise ValueError(f"the paper has the data sets law_school and compas, not {name!r}")


def starting_model(name: str, split: int = 0) -> Split:
    """Split ``law_school`` or ``compas`` as the paper did, and fit its logistic regression.

    Split 0 is the paper's own; the others are as it would have been with another seed.
    """
    X, y, s, scaler = frames(name)
    options: dict[str, Any] = {"random_state": 1_000 + split if split else 11}
    if name == "compas":
        options = {"random_state": 1_000 + split if split else 42, "stratify": y}
    X_train, X_test, y_train, y_test, s_train, s_test = train_test_split(
        X, y, s, test_size=0.3, **options
    )
    f = make_pipeline(scaler, LogisticRegression()).fit(X_train, y_train)
    return Split(X_train, X_test, y_train, y_test, s_train, s_test, f)


def _is(dataset: Dataset, race: str) -> Ints:
    return np.asarray(dataset.sensitive["race"] == race, np.int64)


def _one_hot(dataset: Dataset) -> "pd.DataFrame":
    """COMPAS as 400 numeric columns: sex (1 = Male), five counts, three categories one-hot."""
    pandas = need("pandas", extra="datasets")
    categories = ["age_cat", "c_charge_degree", "c_charge_desc"]
    X = dataset.X.assign(sex=(dataset.X["sex"] == "Male").astype(int))
    encoded: pd.DataFrame = pandas.get_dummies(X, columns=categories, dtype=int)
    return encoded
