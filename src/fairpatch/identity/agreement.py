"""Whether a model decides what its score and threshold say: a patch corrects decisions.

Some models decide otherwise than their probability suggests: at a threshold of their own, or by
another rule altogether. A patch learned for p > 0.5 would then be of decisions that nobody makes.
"""

from typing import Any

import numpy as np

from fairpatch.base import BaseModel
from fairpatch.data.rows import take
from fairpatch.patch.columns import Columns

MOST_ASKED = 10_000
"""Rows on which the two are compared, at most."""


def check_agreement(base: BaseModel, X: Any) -> None:
    """Refuse a model whose ``predict`` differs from its score and a threshold nobody named."""
    f = base.estimator
    if isinstance(f, str) or not hasattr(f, "predict") or not hasattr(f, "predict_proba"):
        return
    if base.decision.has_threshold and not base.decides_for_itself:
        return  # a policy's threshold, which the model need not know
    n = Columns.of(X).rows
    some = X
    if n > MOST_ASKED:
        some = take(X, np.sort(np.random.default_rng(0).choice(n, MOST_ASKED, replace=False)))
    p = base.scores(some)
    predicted = base.predicted(some)
    decided = base.decision.decides(p, base.decision.cut)
    differs = float(np.mean(predicted != decided))
    if not differs:
        return
    raise ValueError(
        f"predict and the score disagree: {type(f).__name__}.predict decides 1 for "
        f"{predicted.mean():.1%} of these rows, a score {base.decision.rule} for "
        f"{np.mean(decided):.1%}, and they differ for {differs:.1%}. " + _advice(p, predicted)
    )


def _advice(p: Any, predicted: Any) -> str:
    """The threshold at which both would agree, where there is one."""
    highest_no = float(p[~predicted].max(initial=0.0))
    lowest_yes = float(p[predicted].min(initial=1.0))
    if highest_no < lowest_yes:
        middle = (highest_no + lowest_yes) / 2
        for digits in range(1, 17):
            threshold = round(middle, digits)
            if threshold > 0 and highest_no <= threshold < lowest_yes:
                return f"They agree at Decision(threshold={threshold!r}): name it"
    return (
        "No threshold makes them agree: decide by the score, naming the threshold that is used, "
        "as Decision(threshold=0.5)"
    )
