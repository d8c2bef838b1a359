"""q(x) = P(S | x), estimated by cross-fitting: nobody's q comes from a model that has seen him.

It is for the blind bound only: no patch is learned from it.
"""

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.data.rows import Rows
from fairpatch.patch.encoding import Encoder

FOLDS = 5
MOST = 10_000
"""Rows that one model learns from, at most."""


def group_probabilities(
    rows: Rows, encoder: Encoder, learned: Rows | None = None
) -> dict[str, Floats]:
    """P(second value | x) of every sensitive feature of two values, on ``rows``.

    ``learned`` are other rows that all models may learn from.
    """
    groups, Z = rows.s.comparable(), encoder.transform(rows.X)
    s = groups.codes
    more_Z, more_s = np.empty((0, Z.shape[1])), np.empty((0, s.shape[1]), np.int64)
    if learned is not None and groups.values == learned.s.values:  # or the codes would differ
        more_Z, more_s = encoder.transform(learned.X), learned.s.codes
    return {
        name: cross_fit(Z, s[:, j], more_Z, more_s[:, j])
        for j, name in enumerate(groups.features)
        if s[:, j].max() == 1 and np.bincount(s[s[:, j] >= 0, j]).min() >= 2 * FOLDS
    }


def cross_fit(Z: Floats, label: Ints, more_Z: Floats, more_label: Ints) -> Floats:
    """P(label = 1 | z) of each row from a logistic regression on the other folds' rows and more.

    A label of -1 is missing: such a row is not learned from.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 two seconds to import

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
