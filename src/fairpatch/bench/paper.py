"""The paper's two data sets and starting models, to the last digit (METHOD section 10).

The paper names neither columns nor seeds; these are the ones that give every printed digit of its
starting models.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from fairpatch._extras import need
from fairpatch.datasets import Dataset, load

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Split:
    """A data set split as in the paper, with its fitted starting model f."""

    X_train: "pd.DataFrame"
    X_test: "pd.DataFrame"
    y_train: NDArray[np.int64]
    y_test: NDArray[np.int64]
    s_train: NDArray[np.int64]
    s_test: NDArray[np.int64]
    f: Any


def starting_model(name: str) -> Split:
    """Split ``law_school`` or ``compas`` as the paper did, and fit its logistic regression."""
    dataset = load(name)
    if name == "law_school":
        s, X, scaler = dataset.sensitive["race"] == "White", dataset.X, MinMaxScaler()
        options: dict[str, Any] = {"random_state": 11}
    elif name == "compas":
        s, X, scaler = dataset.sensitive["race"] == "Caucasian", _one_hot(dataset), StandardScaler()
        options = {"random_state": 42, "stratify": dataset.y}
    else:
        raise ValueError(f"the paper has the data sets law_school and compas, not {name!r}")
    X_train, X_test, y_train, y_test, s_train, s_test = train_test_split(
        X, dataset.y, s.to_numpy(np.int64), test_size=0.3, **options
    )
    f = make_pipeline(scaler, LogisticRegression()).fit(X_train, y_train)
    return Split(X_train, X_test, y_train, y_test, s_train, s_test, f)


def _one_hot(dataset: Dataset) -> "pd.DataFrame":
    """COMPAS as 400 numeric columns: sex (1 = Male), five counts, three categories one-hot."""
    pandas = need("pandas", extra="datasets")
    categories = ["age_cat", "c_charge_degree", "c_charge_desc"]
    X = dataset.X.assign(sex=(dataset.X["sex"] == "Male").astype(int))
    encoded: pd.DataFrame = pandas.get_dummies(X, columns=categories, dtype=int)
    return encoded
