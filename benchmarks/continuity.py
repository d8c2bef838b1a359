"""f retrained on fresh rows: how many decisions differ from yesterday's, with and without care.

Both patches are learned for the same target on the same rows; one of them knows yesterday's model.
On rows that nobody chose on, the price of each is turned until the groups are as equal as they were
previous, so that only continuity differs. The old card with its price turned, and what the
retraining changes before any patch, stand beside them.
"""

from typing import Any

import numpy as np

from benchmarks.datasets import load
from benchmarks.problems import PROBLEMS, fitted_model
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.tables import Table
from fairpatch.choose.learner import Patches
from fairpatch.data.rows import Rows
from fairpatch.front import FairPatch
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.strength_curve import trace
from fairpatch.patch import Patch
from fairpatch.target import Target

FIVE = ("law_school", "compas", "adult, sex", "acs_income", "communities")
MOST, TRAINED = 40_000, 4_000
WAYS = ("without", "with", "turned")
ALL = (0.6, 0.4, 0.0)
"""Nobody certifies: all are chosen at the same limit, none with more room."""


def run(retrainings: int = 5, base: str = "logistic") -> dict[str, Any]:
    """Five data sets, each f retrained so many times."""
    rows = [one(problem, k, base) for problem in FIVE for k in range(retrainings)]
    return {"base": base, "retrainings": retrainings, "rows": rows}


def one(problem: str, k: int, base: str) -> dict[str, Any]:
    """One retraining: churn and changes of each way at equal fairness."""
    name, feature = PROBLEMS[problem]
    data = load(name)
    order = np.random.default_rng(0).permutation(len(data.y))[:MOST]
    X = data.X.drop(columns=data.also_in_x).iloc[order].reset_index(drop=True)
    y, values = data.y[order], data.sensitive[feature].iloc[order]
    s = (values == values.value_counts().index[0]).to_numpy(np.int64)
    n = min(TRAINED, len(y) // 6)
    fit, test = np.arange(2 * n, 4 * n), np.arange(4 * n, len(y))

    def trained(rows: Ints, seed: int) -> Any:
        return fitted_model(base, X.iloc[rows].reset_index(drop=True), y[rows], seed)

    def learned(f: Any, **more: Any) -> FairPatch:
        own = FairPatch(f, Target(p_rule=0.8), random_state=k, splits=ALL)
        part = X.iloc[fit].reset_index(drop=True)
        return own.fit(part, y[fit], sensitive_features=s[fit], **more)

    fresh = np.random.default_rng(10 + k).choice(2 * n, n, replace=False)
    old, new = trained(np.arange(n), 0), trained(fresh, k + 1)
    before = learned(old)
    free, near = learned(new), learned(new, previous=before.patched_)
    people = X.iloc[test].reset_index(drop=True)
    f_old, f_new = before.base_.logits(people), free.base_.logits(people)
    previous = before.patch_.decide(people, f_old)
    rates = [previous[s[test] == g].mean() for g in (0, 1)]
    level = min(rates) / max(rates)
    found: dict[str, Any] = {
        "problem": problem,
        "retraining": k,
        "p_rule": level,
        "f": float(np.mean((f_old > 0) != (f_new > 0))),
    }
    for way, patch in zip(WAYS, (free.patch_, near.patch_, before.patch_), strict=True):
        own = _at(patch, people, f_new, y[test], s[test], previous, level)
        found |= {f"{way}_churn": own[0], f"{way}_changes": own[1], f"{way}_accuracy": own[2]}
    return found


def _at(
    patch: Patch, X: Any, f: Floats, y: Ints, s: Ints, previous: Bools, level: float
) -> tuple[float, float, float]:
    """Churn, changes and accuracy of a card at the points needed for a P-Rule."""
    pool, (ratio,) = Patches.of([patch], Rows(X, y, f_logit=f))
    dial = trace(
        ratio, f, y.astype(float), s, direction=patch.direction, most=pool.strongest,
        previous=previous.astype(np.int64), strengths=pool.strengths,
    )  # fmt: skip
    met = np.flatnonzero(P_RULE.along(dial) >= level)
    if not len(met):
        return (float("nan"),) * 3
    m = met[0]
    return float(dial.churn[m]), float(dial.change_rate[m]), float(dial.accuracy[m])


def show(result: dict[str, Any]) -> str:
    """Means over the retrainings; a retraining in which one way reaches no level is left out."""
    rows = []
    for problem in FIVE:
        own = [r for r in result["rows"] if r["problem"] == problem]
        kept = [r for r in own if not np.isnan(sum(r[f"{way}_churn"] for way in WAYS))]
        if not kept:
            rows.append([problem, f"0 of {len(own)}", *[""] * 6])
            continue

        def mean(name: str, kept: list[dict[str, Any]] = kept) -> float:
            return float(np.mean([r[name] for r in kept]))

        without, care, f = mean("without_churn"), mean("with_churn"), mean("f")
        rows.append([
            problem,
            f"{len(kept)} of {len(own)}",
            f"{mean('p_rule'):.2f}",
            f"{f:.2%}",
            *(f"{mean(f'{way}_churn'):.2%} ({mean(f'{way}_changes'):.1%})" for way in WAYS),
            f"{1 - care / without:.0%}",
            f"{1 - (care - f) / (without - f):.0%}" if without > f else "",
        ])  # fmt: skip
    header = ["data", "retrainings", "P-Rule", "f's own", "without (changes)", "with (changes)",
              "old card turned", "less churn", "less beyond f's"]  # fmt: skip
    return Table(
        f"Decisions that differ from before, f retrained ({result['base']})", header, rows
    ).text()
