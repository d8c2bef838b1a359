"""The default frontier on all ten data sets: how far it reaches with no setting touched."""

import time
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.datasets import NAMES, load
from fairpatch._tools.tables import Table
from fairpatch.commod.adversarial import train_candidates
from fairpatch.commod.problem import Grid
from fairpatch.data.rows import Rows
from fairpatch.inputs.base import BaseModel
from fairpatch.measure import p_rule
from fairpatch.measure.counts import Counts
from fairpatch.patch.encoding import Encoder

MAX_ROWS = 20_000


def one(name: str, grid: Grid | None = None, max_rows: int = MAX_ROWS) -> dict[str, Any]:
    """Train the default grid on a data set with a logistic regression as f."""
    dataset = load(name)
    rows = np.random.default_rng(0).permutation(len(dataset.y))[:max_rows]
    X, y, s = dataset.X.iloc[rows], dataset.y[rows], dataset.sensitive.iloc[rows, 0]
    encoder = Encoder.fit(X, exclude=dataset.also_in_x)
    f = LogisticRegression(max_iter=1000).fit(encoder.transform(X), y)
    f_logit = BaseModel(f).logits(encoder.transform(X))
    start = time.perf_counter()
    candidates = train_candidates(
        Rows.of(X, y, s, f_logit=f_logit), grid or Grid.of(), encoder=encoder
    )
    seconds = time.perf_counter() - start
    rules, changes = [], []
    for decided in candidates.decide(X, f_logit):
        counts = Counts.from_arrays(
            decision=f_logit > 0, new_decision=decided, sensitive_features=s
        )
        found = p_rule(counts)
        rules.append(np.nan if found.value is None else found.value)
        changes.append(float(np.mean(decided != (f_logit > 0))))
    base = p_rule(Counts.from_arrays(decision=f_logit > 0, sensitive_features=s))
    best = int(np.nanargmax(rules))
    fair = np.array(rules) >= 0.9
    return {
        "dataset": name,
        "rows": len(rows),
        "columns": len(encoder.features),
        "models": len(candidates),
        "seconds": seconds,
        "p_rule_f": base.value,
        "p_rule_best": rules[best],
        "changes_at_0.9": float(np.array(changes)[fair].min()) if fair.any() else None,
    }


def run() -> dict[str, Any]:
    """All ten."""
    return {"datasets": [one(name) for name in NAMES]}


def show(result: dict[str, Any]) -> str:
    """One row a data set."""
    rows = [
        [
            d["dataset"],
            f"{d['rows']:,}",
            str(d["columns"]),
            f"{d['p_rule_f']:.3f}",
            f"{d['p_rule_best']:.3f}",
            "-" if d["changes_at_0.9"] is None else f"{d['changes_at_0.9']:.3f}",
            f"{d['seconds']:.1f}",
        ]
        for d in result["datasets"]
    ]
    return Table(
        "Training P-Rule over decision 1, default frontier, logistic regression as f",
        ["data set", "rows", "columns", "f", "best", "changes at 0.9", "seconds"],
        rows,
    ).text()
