"""COMMOD and its rivals as sweeps: each gives many models, from no change to much fairness."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairpatch.base import BaseModel
from fairpatch.bench.paper import Split
from fairpatch.bench.part import Part
from fairpatch.choose.candidates import Candidates, train_candidates
from fairpatch.choose.rows import Rows
from fairpatch.learn.problem import Direction, Fairness, Grid, Settings
from fairpatch.patch.model import untouched
from fairpatch.rivals import (
    AdvDebias,
    AwareLpp,
    BayesRule,
    EqualizedThresholds,
    Frappe,
    Lpp,
    Oxon,
    Reductions,
    Rival,
    Roc,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RIVALS: dict[str, type[Rival]] = {
    "ROC (reads S)": Roc,
    "LPP (reads S)": AwareLpp,
    "Thresholds (reads S)": EqualizedThresholds,
    "LPP": Lpp,
    "AdvDebias": AdvDebias,
    "FRAPPE": Frappe,
    "ExpGradient": Reductions,
    "OxonFair": Oxon,
    "Bayes rule": BayesRule,
}
METHODS = (*RIVALS, "COMMOD")
ORACLES = tuple(name for name, kind in RIVALS.items() if kind.needs_sensitive_features)
PUBLISHED_BLIND = ("LPP", "AdvDebias", "FRAPPE", "ExpGradient", "OxonFair")


@dataclass(frozen=True, eq=False)
class Model:
    """One model of a sweep: what it was set to, and what it does."""

    settings: dict[str, float]
    decide: Callable[[Part], Bools]
    score: Callable[[Part], Floats] | None = None
    """Probabilities, where the method has them."""


def sweep(
    method: str, split: Split, fairness: Fairness, seed: int, *, grid: Grid, n_concepts: int
) -> Iterator[Model]:
    """All models of a method, trained on the split's training rows."""
    if method == "COMMOD":
        yield from commod_models(commod(split, fairness, grid, n_concepts))
        return
    kind = RIVALS[method]
    options = {"fairness": fairness, "random_state": seed}
    first = kind(split.f, **options) if kind.post_processing else kind(**options)
    values = [seed] if kind is EqualizedThresholds else list(kind.values)
    models = first.sweep(values, split.X_train, split.y_train, sensitive_features=split.s_train)
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
    rows = Rows(split.X_train, split.y_train, split.s_train)
    settings = Settings(fairness=fairness, n_concepts=n_concepts, direction=direction)
    return train_candidates(rows, BaseModel(split.f).logits(split.X_train), grid, settings)


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

    def logits(part: Part) -> Floats:
        r = 1 + strength * (candidates.ratios.a[m] + part.encoded(candidates.encoder) @ weights)
        return np.where(untouched(direction, part.f_logit), part.f_logit, r * part.f_logit)

    return Model(settings, lambda part: logits(part) > 0, lambda part: expit(logits(part)))


def _decide(model: Rival, part: Part) -> Bools:
    return model.decide_encoded(part.encoded(model.encoder_), part.f_logit, part.s)


def _score(model: Rival) -> Callable[[Part], Floats] | None:
    if isinstance(model, Frappe):
        return lambda part: expit(part.f_logit + model.term(part.encoded(model.encoder_)))
    if isinstance(model, AdvDebias):
        return lambda part: expit(model.logits(part.encoded(model.encoder_)))
    return None
