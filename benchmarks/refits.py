"""Would the same people change if we learned again? Whole fits on bootstraps, on the same people.

The Jaccard index of the changed people, of every pair of refits: shared over all.
"""

from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.datasets import load
from benchmarks.problems import PROBLEMS, fitted_model
from fairpatch._tools.tables import Table
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.front import FairPatch
from fairpatch.inputs.base import BaseModel
from fairpatch.target import Target

ROWS = {"adult, sex": 20_000, "acs_income": 20_000, "law_school": 20_000, "compas": 20_000}
"""To learn from, at most; a third of the data are kept to look at."""


def one(problem: str, refits: int) -> dict[str, Any]:
    """Fit again and again, and compare whom the refits change."""
    name, feature = PROBLEMS[problem]
    data = load(name)
    order = np.random.default_rng(0).permutation(len(data.y))
    X = data.X.drop(columns=data.also_in_x).iloc[order].reset_index(drop=True)
    y, values = data.y[order], data.sensitive[feature].iloc[order]
    s = (values == values.value_counts().index[0]).to_numpy(np.int64)
    n = len(y)
    own = min(n // 3, 5_000)
    learn = np.arange(own, min(own + ROWS[problem], 2 * n // 3))
    test = np.arange(2 * n // 3, n)[:20_000]
    f = BaseModel(fitted_model("logistic", X[:own], y[:own], 0))
    changed = []
    for k in range(refits):
        drawn = np.random.default_rng(k).choice(learn, len(learn))
        g = FairPatch(f.estimator, Target(p_rule=0.8), splits=(0.6, 0.4, 0.0), random_state=k)
        try:
            g.fit(X.iloc[drawn].reset_index(drop=True), y[drawn], sensitive_features=s[drawn])
        except TargetNotReachedError:
            continue
        rows = X.iloc[test]
        changed.append(g.patched_.decide(rows) != f.decisions(rows))
    shared = [float((a & b).sum() / max((a | b).sum(), 1)) for a, b in combinations(changed, 2)]
    return {
        "problem": problem,
        "rows": len(learn),
        "refits": len(changed),
        "jaccard": float(np.mean(shared)),
        "changes": float(np.mean(changed)),
    }


def run(refits: int = 10, problems: tuple[str, ...] = tuple(ROWS)) -> dict[str, Any]:
    """All problems."""
    return {"runs": [one(problem, refits) for problem in problems]}


def show(result: dict[str, Any]) -> str:
    """One line a problem."""
    rows = [
        [r["problem"], f"{r['rows']:,}", str(r["refits"]), f"{r['changes']:.3f}",
         f"{r['jaccard']:.2f}"]
        for r in result["runs"]
    ]  # fmt: skip
    header = ["problem", "rows to learn from", "refits", "changes", "Jaccard"]
    return Table("The same people? P-Rule at least 0.8, bootstrap refits", header, rows).text()
