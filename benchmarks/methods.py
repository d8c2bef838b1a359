"""COMMOD and its baselines as sweeps: each gives many models, from no change to much fairness."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.baselines import (
    AdvDebias,
    AwareLpp,
    Baseline,
    BayesRule,
    Coin,
    EqualizedThresholds,
    FairBayes,
    FewBayes,
    Frappe,
    Lpp,
    Oxon,
    PlugIn,
    Reductions,
    Roc,
)
from benchmarks.paper import Split
from benchmarks.sample import Sample
from fairpatch._tools.arrays import Bools, Floats
from fairpatch.commod.adversarial import Candidates, train_candidates
from fairpatch.commod.problem import Grid, Training
from fairpatch.data.rows import Rows
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.cells import Direction, untouched
from fairpatch.measure.metric import Fairness

BASELINES: dict[str, type[Baseline]] = {
    "ROC (reads S)": Roc,
    "LPP (reads S)": AwareLpp,
    "Thresholds (reads S)": EqualizedThresholds,
    "FairBayes (reads S)": FairBayes,
    "Coin (reads S)": Coin,
    "LPP": Lpp,
    "AdvDebias": AdvDebias,
    "FRAPPE": Frappe,
    "ExpGradient": Reductions,
    "OxonFair": Oxon,
    "Plug-in": PlugIn,
    "Bayes rule": BayesRule,
    "Bayes rule, few changes": FewBayes,
}
FINER: dict[str, Sequence[float]] = {
    "LPP (reads S)": tuple(np.geomspace(0.6, 0.001, 30)),
    "LPP": tuple(np.geomspace(0.6, 0.001, 30)),
    "AdvDebias": (0.0, *np.geomspace(0.01, 100, 29)),
    "FRAPPE": tuple(np.geomspace(10.0, 0.001, 24)),
    "ExpGradient": tuple(np.geomspace(0.4, 0.005, 12)),
    "OxonFair": tuple(np.geomspace(0.4, 0.005, 24)),
    "Thresholds (reads S)": (0.3, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.04, 0.02, 0.01, 0.0),
}
"""Dials in finer steps and wider, for comparisons along the whole curve."""
LONGER: dict[str, dict[str, float]] = {"FRAPPE": {"rate": 0.1}}
"""Trained otherwise than published there: at its own rate FRAPPE hardly moves in so many epochs."""
METHODS = (
    "ROC (reads S)", "LPP (reads S)", "Thresholds (reads S)", "LPP", "AdvDebias", "FRAPPE",
    "ExpGradient", "OxonFair", "Bayes rule", "COMMOD",
)  # fmt: skip
"""Of the paper's comparison, and four beside it; others are compared beyond it."""
ORACLES = tuple(name for name, kind in BASELINES.items() if kind.needs_sensitive_features)
PUBLISHED_BLIND = ("LPP", "AdvDebias", "FRAPPE", "ExpGradient", "OxonFair")


@dataclass(frozen=True, eq=False)
class Model:
    """One model of a sweep: what it was set to, and what it does."""

    settings: dict[str, float]
    decide: Callable[[Sample], Bools]
    score: Callable[[Sample], Floats] | None = None
    """Probabilities, where the method has them."""


def sweep(
    method: str,
    split: Split,
    fairness: Fairness,
    seed: int,
    *,
    grid: Grid,
    n_concepts: int,
    values: Sequence[float] | None = None,
) -> Iterator[Model]:
    """All models of a method, trained on the split's training rows."""
    if method == "COMMOD":
        yield from commod_models(commod(split, fairness, grid, n_concepts))
        return
    kind = BASELINES[method]
    options: dict[str, Any] = {"fairness": fairness, "random_state": seed}
    options |= LONGER.get(method, {}) if values is not None else {}
    first = kind(split.f, **options) if kind.post_processing else kind(**options)
    dialled = list(values or kind.values)
    models = first.sweep(dialled, split.X_train, split.y_train, sensitive_features=split.s_train)
    for model in models:
        settings = {kind.dial: float(getattr(model, kind.dial))}
        yield Model(settings, partial(_decide, model), _score(model))


def commod(
    split: Split,
    fairness: Fairness,
    grid: Grid,
    n_concepts: int,
    direction: Direction = "both",
) -> Candidates:
    """A grid of COMMOD's candidates on the training rows."""
    rows = Rows.of(split.X_train, split.y_train, split.s_train).scored(BaseModel(split.f))
    training = Training(n_concepts=n_concepts)
    return train_candidates(rows, grid, training, fairness=fairness, direction=direction)


def commod_models(candidates: Candidates) -> Iterator[Model]:
    """Each candidate as trained."""
    grid = candidates.grid
    for m in range(len(candidates)):
        settings = {
            "lambda_fair": float(grid.fair[m]),
            "lambda_ratio": float(grid.ratio[m]),
            "lambda_concepts": float(grid.concepts[m]),
        }
        yield at_strength(candidates, m, 1.0, settings)


def at_strength(
    candidates: Candidates, m: int, strength: float, settings: dict[str, float]
) -> Model:
    """Candidate m with its dial turned."""
    weights = candidates.ratios.v[m] @ candidates.ratios.W[m]
    direction = candidates.directions[m]

    def logits(sample: Sample) -> Floats:
        r = 1 + strength * (candidates.ratios.a[m] + sample.encoded(candidates.encoder) @ weights)
        return np.where(
            untouched(direction, sample.f_logit > 0), sample.f_logit, r * sample.f_logit
        )

    return Model(settings, lambda sample: logits(sample) > 0, lambda sample: expit(logits(sample)))


def _decide(model: Baseline, sample: Sample) -> Bools:
    return model.decide_encoded(sample.encoded(model.encoder_), sample.f_logit, sample.s)


def _score(model: Baseline) -> Callable[[Sample], Floats] | None:
    if isinstance(model, Frappe):
        return lambda sample: expit(sample.f_logit + model.term(sample.encoded(model.encoder_)))
    if isinstance(model, AdvDebias):
        return lambda sample: expit(model.logits(sample.encoded(model.encoder_)))
    return None
