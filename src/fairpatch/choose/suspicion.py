"""What looks odd about f on some rows: it knows them, or its score points the other way.

A model that was trained on rows is surer and more often right on them than on new people, so what
is certified on them does not hold for others. We cannot know; but where f is right far more often
than boosted trees that are cross-fitted on the same columns, it is said.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from fairpatch._hints import hint
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.patch.encoding import Encoder

MOST = 5_000
BETTER = 0.05
"""So many points of accuracy more than could be learned, and five standard errors, look odd."""
ERRORS = 5.0


AGAINST = 0.45
"""An AUC below this, and five standard errors below a half: the score points the other way."""


def check_points_right(rows: Rows, decision: Decision) -> None:
    """Refuse a score that is high where the positive label is rare."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 two seconds to import

    rows = rows.with_score.labelled
    known = np.bincount(rows.y, minlength=2)
    if known.min() < 10:
        return
    auc = float(roc_auc_score(rows.y, rows.f))
    error = float(np.sqrt((known.sum() + 1) / (12 * known[0] * known[1])))
    if auc >= AGAINST or auc >= 0.5 - ERRORS * error:
        return
    negative, positive = decision.outcomes
    raise ValueError(
        f"the score points against its label: the higher it is, the fewer have {positive} (AUC "
        f"{auc:.2f}). Is it the probability of {negative}? Then say so: "
        + hint(f"Decision(positive={decision.negative!r})", f"--positive {decision.negative}")
    )


def looks_known(rows: Rows) -> str | None:
    """What looks odd about f on these rows, in words; None where nothing does."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 two seconds to import
    from sklearn.model_selection import cross_val_predict  # noqa: PLC0415 two seconds to import

    some = rows.with_score.labelled.sample(MOST, seed=0)
    counts = np.bincount(some.y, minlength=2)
    if counts.min() < 50:
        return None
    right = (some.f > 0) == (some.y == 1)
    trees = HistGradientBoostingClassifier(
        learning_rate=0.2, max_iter=25, max_leaf_nodes=8, max_bins=63, random_state=0
    )  # a quarter of the time of 40 larger trees, and as often right
    Z = Encoder.fit(some.X, strict=False).transform(some.X)
    with threadpool_limits(1):  # a few thousand rows: threads that wait for each other cost minutes
        could = cross_val_predict(trees, Z, some.y, cv=5) == some.y
    more = right.astype(float) - could
    error = float(more.std() / np.sqrt(len(more))) or 1e-9
    if more.mean() < BETTER or more.mean() < ERRORS * error:
        return None
    return (
        f"the base model is right for {right.mean():.1%} of these people, where trees learned from "
        f"the same columns are right for {could.mean():.1%}: has it been trained on them? Then the "
        "certificate does not hold. Certify on other rows, or say which it knows: seen_by_base"
    )
