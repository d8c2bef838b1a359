"""Asking for a P-Rule of 0.8: what is reached on new people, how surely, and against the bounds."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from benchmarks.datasets import load
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.tables import Table
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.front import FairPatch
from fairpatch.inputs.base import BaseModel
from fairpatch.measure import accuracy, change_rate, p_rule
from fairpatch.measure.bounds import bayes_changes, fewest_blind
from fairpatch.measure.cells import Direction
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

DATASETS = ("law_school", "compas", "adult", "acs_income")
MAX_ROWS = 30_000
EXCHANGE_RATES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 2.0, 5.0)


def one(name: str, seed: int, tau: float, direction: Direction) -> dict[str, Any]:
    """One split: f and the patch learned on 70 %, everything measured on the rest."""
    dataset = load(name)
    rows = np.random.default_rng(seed).permutation(len(dataset.y))[:MAX_ROWS]
    X, y = dataset.X.iloc[rows], dataset.y[rows]
    s = (dataset.sensitive.iloc[rows, 0] == dataset.sensitive.iloc[0, 0]).to_numpy(np.int64)
    X_train, X_test, y_train, y_test, s_train, s_test = train_test_split(
        X, y, s, test_size=0.3, random_state=seed
    )
    encoder = Encoder.fit(X_train, exclude=dataset.also_in_x)
    f, q, eta = (_model(encoder, X_train, labels) for labels in (y_train, s_train, y_train))
    g = FairPatch(
        f,
        Target(p_rule=tau, direction=direction),
        exclude=dataset.also_in_x,
        random_state=seed,
    )
    try:
        g.fit(X_train, y_train, sensitive_features=s_train)
    except TargetNotReachedError:
        return {"dataset": name, "seed": seed, "reached": False}
    decided = BaseModel(f).decisions(X_test)
    counts = Counts.from_arrays(
        decision=decided, new_decision=g.predict(X_test), y=y_test, sensitive_features=s_test
    )
    reached, ours = float(p_rule(counts)), float(accuracy(counts))
    known = P_RULE.fewest(counts, reached, direction=direction)
    return {
        "dataset": name,
        "seed": seed,
        "reached": True,
        "certified": g.certificate_ is not None and g.certificate_.verdict == "certified",
        "p_rule_f": float(p_rule(counts, model="f")),
        "p_rule": reached,
        "accuracy_f": float(accuracy(counts, model="f")),
        "accuracy": ours,
        "change_rate": float(change_rate(counts)),
        "known": None if known is None else known.change_rate,
        "blind": fewest_blind(q(X_test), decided, reached, direction=direction),
        "bayes": _bayes(q(X_test), eta(X_test), decided, reached, y_test, ours),
    }


def _model(encoder: Encoder, X: Any, labels: Ints) -> Any:
    model = LogisticRegression(max_iter=500).fit(encoder.transform(X), labels)
    return lambda rows: model.predict_proba(encoder.transform(rows))[:, 1]


def _bayes(
    q: Floats,
    eta: Floats,
    decided: Bools,
    tau: float,
    y: Ints,
    at_least: float,
) -> float | None:
    """Fewest changes of the Bayes rule at an accuracy within 0.01 of ours, or better."""
    found = []
    for rate in EXCHANGE_RATES:
        changed = bayes_changes(q, eta, decided, tau, lambda_ratio=rate)
        if changed is not None and np.mean((decided ^ changed) == y) >= at_least - 0.01:
            found.append(float(changed.mean()))
    return min(found) if found else None


def run(
    seeds: int = 20,
    p_rule: float = 0.8,
    direction: Direction = "both",
    datasets: tuple[str, ...] = DATASETS,
) -> dict[str, Any]:
    """All data sets and seeds."""
    return {
        "p_rule": p_rule,
        "direction": direction,
        "runs": [one(name, seed, p_rule, direction) for name in datasets for seed in range(seeds)],
    }


def show(result: dict[str, Any]) -> str:
    """Means over the seeds of each data set."""
    rows = []
    for name in dict.fromkeys(r["dataset"] for r in result["runs"]):
        runs = [r for r in result["runs"] if r["dataset"] == name]
        there = [r for r in runs if r["reached"]]

        def mean(key: str, there: list[dict[str, Any]] = there) -> float:
            values = [r[key] for r in there if r[key] is not None]
            return float(np.mean(values)) if values else np.nan

        both = [r for r in there if r["bayes"]]
        ratio = np.mean([r["change_rate"] for r in both]) / np.mean([r["bayes"] for r in both])
        rows.append(
            [
                name,
                f"{len(there)}/{len(runs)}",
                f"{mean('certified'):.2f}",
                f"{mean('p_rule_f'):.3f} > {mean('p_rule'):.3f}",
                f"{mean('accuracy_f'):.3f} > {mean('accuracy'):.3f}",
                f"{mean('change_rate'):.3f}",
                f"{mean('known'):.3f}",
                f"{mean('blind'):.3f}",
                f"{mean('bayes'):.3f}",
                f"{ratio:.2f}",
            ]
        )
    return Table(
        f"Target: P-Rule at least {result['p_rule']:g}, direction {result['direction']}; test rows",
        [
            "data set", "reached", "certified", "P-Rule", "accuracy", "changes", "S known",
            "blind", "Bayes", "ours / Bayes",
        ],
        rows,
        [
            "Bounds: fewest changes for the P-Rule that was reached, with S known; without S; and",
            "without S at an accuracy within 0.01 of ours (Bayes rule, P(S|x) and P(y|x) fitted).",
        ],
    ).text()  # fmt: skip
