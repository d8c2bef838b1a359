"""Our certificate beside a margin that holds for any distribution: what each certifies, and costs.

Group-blind fair classification with finite samples (Hou and Zhang, arXiv 2410.16477) decides by

    2 eta(x) - 1 > lambda phi(x),    phi(x) = P(a | x) / P(a) - P(b | x) / P(b)

with the least lambda at which the rates of the calibration rows are within alpha - epsilon. The
margin here is Hoeffding's over a grid of M lambdas that is fixed before:

    epsilon = sqrt((1 / n_a + 1 / n_b) log(2 M / delta) / 2)

Its constants are ours; the paper's may differ. Both methods get the same rows of a population that
is known, and are asked for the same difference of approval rates.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.certificate import NOT_FEATURES, SETTINGS, TRUTH_ROWS, TRUTH_SEED, Setting, violates
from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.tables import Table
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.patch.encoding import Encoder

ROWS = (3_000, 10_000, 30_000)
SETTING = SETTINGS["difference of approval rates"]
ALPHA = float(SETTING.target["demographic_parity_difference"])
DELTA = 0.05
TRIED = np.linspace(0, 1, 41)
"""Lambdas: fixed before anything is seen."""
CALIBRATE = 0.5


def blind(setting: Setting, truth: Any, seed: int) -> dict[str, Any]:
    """The group-blind rule with its margin: whether it is certified, right, and what it changes."""
    people = setting.sample(setting.rows, seed)
    X, s = people.drop(columns=NOT_FEATURES), (people["group"] == "a").to_numpy(np.int64)
    held = np.random.default_rng(seed).random(len(s)) < CALIBRATE
    encoder = Encoder.fit(X[~held], exclude=["score"])
    model = LogisticRegression(max_iter=1_000).fit(encoder.transform(X[~held]), s[~held])
    share = s[~held].mean()

    def pull(rows: Any) -> Floats:
        p = model.predict_proba(encoder.transform(rows))[:, 1]
        return np.asarray(p / share - (1 - p) / (1 - share))

    def decide(rows: Any, weight: float) -> Bools:
        return np.asarray(2 * rows["score"].to_numpy() - 1 > weight * pull(rows))

    here, group = X[held], s[held]
    n = np.bincount(group, minlength=2)
    margin = np.sqrt((1 / n).sum() * np.log(2 * len(TRIED) / DELTA) / 2)
    for weight in TRIED:
        decided = decide(here, weight)
        if abs(decided[group == 1].mean() - decided[group == 0].mean()) <= ALPHA - margin:
            break
    else:
        return {"certified": False}
    everybody, favoured = truth.drop(columns=NOT_FEATURES), truth["group"] == "a"
    after = decide(everybody, float(weight))
    gap = abs(after[favoured].mean() - after[~favoured].mean())
    before = everybody["score"] > 0.5
    return {"certified": True, "violates": bool(gap > ALPHA),
            "changes": float(np.mean(after != before))}  # fmt: skip


def ours(setting: Setting, truth: Any, seed: int) -> dict[str, Any]:
    """A default scorecard and its certificate, on the same rows."""
    try:
        g = setting.fit(seed)
    except TargetNotReachedError:
        return {"certified": False}
    if g.certificate_ is None or str(g.certificate_.verdict) != "certified":
        return {"certified": False}
    X = truth.drop(columns=NOT_FEATURES)
    changed = (g.predict(X) == 1) != (X["score"] > 0.5).to_numpy()
    return {"certified": True, "violates": violates(g, truth), "changes": float(changed.mean())}


METHODS = {"fairpatch": ours, "blind rule with a margin": blind}


def run(fits: int = 100) -> dict[str, Any]:
    """Both methods on ever more rows."""
    truth = SETTING.sample(TRUTH_ROWS, TRUTH_SEED)
    return {
        "fits": fits,
        "runs": [
            {"method": name, "rows": rows, **method(replace(SETTING, rows=rows), truth, seed)}
            for rows in ROWS
            for name, method in METHODS.items()
            for seed in range(fits)
        ],
    }


def show(result: dict[str, Any]) -> str:
    """Certified, violating, and what it changes where it is certified."""
    lines = []
    for rows in ROWS:
        for method in METHODS:
            mine = [r for r in result["runs"] if (r["method"], r["rows"]) == (method, rows)]
            good = [r for r in mine if r["certified"]]
            wrong = sum(r["violates"] for r in good) / len(mine)
            changes = f"{np.mean([r['changes'] for r in good]):.3f}" if good else "-"
            lines.append(
                [f"{rows:,}", method, f"{len(good) / len(mine):.2f}", f"{wrong:.3f}", changes]
            )
    header = ["rows", "method", "certified", "of all, violating", "changes where certified"]
    title = f"Approval rates within {ALPHA:g}, with confidence {1 - DELTA:g}; {result['fits']} fits"
    return Table(title, header, lines).text()
