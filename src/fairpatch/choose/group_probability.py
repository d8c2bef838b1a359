"""q(x) = P(S | x), estimated by cross-fitting: nobody's q comes from a model that has seen him.

It is for the blind bound only: no patch is learned from it.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from fairpatch.choose.rows import Rows, codes
from fairpatch.measure.sensitive import Value, factorize, named_columns
from fairpatch.patch.encoding import Encoder

Floats = NDArray[np.float64]
FOLDS = 5
MOST = 50_000
"""Rows that one model learns from, at most."""


def group_probabilities(
    rows: Rows, encoder: Encoder, learned: Rows | None = None
) -> dict[str, Floats]:
    """P(second value | x) of every sensitive feature of two values, on ``rows``.

    ``learned`` are other rows that all models may learn from.
    """
    names, s = codes(rows.sensitive_features, len(rows))
    Z = encoder.transform(rows.X)
    more_Z, more_s = np.empty((0, Z.shape[1])), np.empty((0, s.shape[1]), np.int64)
    if learned is not None and _values(rows) == _values(learned):  # or the codes would differ
        _, more_s = codes(learned.sensitive_features, len(learned))
        more_Z = encoder.transform(learned.X)
    return {
        name: cross_fit(Z, s[:, j], more_Z, more_s[:, j])
        for j, name in enumerate(names)
        if s[:, j].max() == 1 and np.bincount(s[s[:, j] >= 0, j]).min() >= 2 * FOLDS
    }


def _values(rows: Rows) -> list[set[Value]]:
    """The values that each sensitive feature has."""
    return [
        set(factorize(column)[0]) - {None}
        for column in named_columns(rows.sensitive_features).values()
    ]


def cross_fit(
    Z: Floats, label: NDArray[np.int64], more_Z: Floats, more_label: NDArray[np.int64]
) -> Floats:
    """P(label = 1 | z) of each row from a logistic regression on the other folds' rows and more.

    A label of -1 is missing: such a row is not learned from.
    """
    random = np.random.default_rng(0)
    fold = np.empty(len(Z), np.int64)
    for value in np.unique(label):  # every value in every fold
        of_value = np.flatnonzero(label == value)
        fold[of_value] = random.permutation(len(of_value)) % FOLDS
    q = np.empty(len(Z))
    for k in range(FOLDS):
        z = np.concatenate([Z[fold != k], more_Z])
        known = np.concatenate([label[fold != k], more_label])
        rows = np.flatnonzero(known >= 0)
        if len(rows) > MOST:
            rows = random.choice(rows, MOST, replace=False)
        model = LogisticRegression(max_iter=1_000).fit(z[rows], known[rows])
        q[fold == k] = model.predict_proba(Z[fold == k])[:, 1]
    return q
