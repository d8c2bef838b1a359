"""The cards of Adult, COMPAS, Law School and ACS Income: what a user gets who asks for 0.8.

f is trained on some rows, the card is learned from others.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks.datasets import load
from fairpatch.front import FairPatch
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

DATASETS = {"adult": "sex", "compas": "race", "law_school": "race", "acs_income": "race"}
MOST = 30_000


def one(name: str, seed: int = 0) -> FairPatch:
    """The patched model of one data set, for the group that is most common and the others."""
    data = load(name)
    order = np.random.default_rng(seed).permutation(len(data.y))[:MOST]
    X = data.X.drop(columns=data.also_in_x).iloc[order].reset_index(drop=True)
    values, y = data.sensitive[DATASETS[name]].iloc[order], data.y[order]
    common = values.value_counts().index[0]
    s = np.where(values == common, str(common), "others")
    own = len(y) // 3
    encoder = Encoder.fit(X[:own])
    model = LogisticRegression(max_iter=1_000)
    f = make_pipeline(FunctionTransformer(encoder.transform), model).fit(X[:own], y[:own])
    g = FairPatch(f, Target(p_rule=0.8), splits=(0.6, 0.4, 0.0), random_state=seed)
    return g.fit(X[own:], y[own:], sensitive_features={DATASETS[name]: s[own:]})


def run() -> dict[str, Any]:
    """All four."""
    fitted = {name: one(name) for name in DATASETS}
    return {name: {"card": str(g.patch_), "choice": str(g.choice_)} for name, g in fitted.items()}


def show(result: dict[str, Any]) -> str:
    """Each card, and what it reaches."""
    return "\n\n".join(f"{name}\n{r['card']}\n{r['choice']}" for name, r in result.items())
