"""Section 6.4: how much of COMMOD's result follows from f and the lambdas; 20 splits, three R^2."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from benchmarks.journal import Records, Run
from benchmarks.methods import commod, commod_models
from benchmarks.paper import Split, frames
from benchmarks.quartiles import CONCEPTS
from benchmarks.sample import Sample
from benchmarks.score import score
from fairpatch.commod.problem import Grid
from fairpatch.inputs.base import BaseModel

GRID = Grid.of(np.linspace(0.5, 1.5, 6), np.linspace(0.01, 0.1, 4), (0.01,))
"""The ranges that the paper names. Its lambda_fair is not in our units, which are f's own."""
WHAT = ("change_rate", "accuracy", "p_rule")


def runs(datasets: Sequence[str], seeds: int) -> list[Run]:
    """One run a split."""
    return [
        {"experiment": "sensitivity", "dataset": d, "seed": seed}
        for d in datasets
        for seed in range(seeds)
    ]


def work(run: Run) -> Records:
    """A new split, a new f, and a grid of COMMOD around it."""
    X, y, s, scaler = frames(run["dataset"])
    X_train, X_test, y_train, y_test, s_train, s_test = train_test_split(
        X, y, s, test_size=0.3, random_state=run["seed"]
    )
    f = make_pipeline(scaler, LogisticRegression()).fit(X_train, y_train)
    split = Split(X_train, X_test, y_train, y_test, s_train, s_test, f)
    test = Sample(split.X_test, split.y_test, split.s_test, BaseModel(f))
    candidates = commod(split, "demographic_parity", GRID, CONCEPTS[run["dataset"]])
    models = list(commod_models(candidates))
    before = score(_nothing(models[0]), test)
    return [
        {
            "lambda_fair": model.settings["lambda_fair"],
            "lambda_ratio": model.settings["lambda_ratio"],
            "p_rule_f": before["p_rule"],
            "accuracy_f": before["accuracy"],
            **score(model, test),
        }
        for model in models
    ]


def regressions(frame: Any) -> dict[str, dict[str, float]]:
    """R^2 of the paper's three regressions; also uncentred, as a fit without intercept has it."""
    inputs = frame[["p_rule_f", "accuracy_f", "lambda_ratio", "lambda_fair"]].to_numpy()
    found = {}
    for what in WHAT:
        target = frame[what].to_numpy()
        model = LinearRegression().fit(inputs, target)
        left = float(np.sum((target - model.predict(inputs)) ** 2))
        found[what] = {
            "r2": 1 - left / float(np.sum((target - target.mean()) ** 2)),
            "r2_uncentred": 1 - left / float(np.sum(target**2)),
        }
    return found


def _nothing(model: Any) -> Any:
    """f itself as a model."""
    return type(model)({}, lambda sample: sample.f_logit > 0)
