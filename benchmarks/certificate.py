"""Whether certificates keep their promise: many fits on fresh samples of a known population.

Each fit asks for a P-Rule of 0.8 and certifies what it finds. A certified patch is then applied to
a large sample of the population: at most 5 % of all fits may certify a patch that violates the
target, and those among the certified are shown too.
"""

from typing import Any

import numpy as np

from fairpatch._table import Table
from fairpatch.choose.not_reached import TargetNotReachedError
from fairpatch.choose.target import Target
from fairpatch.datasets import Population
from fairpatch.front import FairPatch

POPULATION = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
TRUTH_ROWS = 200_000
NOT_FEATURES = ["id", "group", "y"]


def run(fits: int = 500, rows: int = 3_000, p_rule: float = 0.8) -> dict[str, Any]:
    """Fit, certify, and look at the truth."""
    truth = POPULATION.sample(TRUTH_ROWS, seed=10_000).to_pandas()
    X_truth, s_truth = truth.drop(columns=NOT_FEATURES), truth["group"].to_numpy()
    words = {
        "certified": 0,
        "inconclusive": 0,
        "not met": 0,
        "shown not to hold": 0,
        "not reached": 0,
    }
    violating = 0
    for seed in range(fits):
        people = POPULATION.sample(rows, seed=seed).to_pandas()
        g = FairPatch("score", Target(p_rule=p_rule), random_state=seed)
        try:
            g.fit(
                people.drop(columns=NOT_FEATURES), people["y"], sensitive_features=people["group"]
            )
        except TargetNotReachedError:
            words["not reached"] += 1
            continue
        word = g.certificate_.verdict if g.certificate_ else "not reached"
        words[word] += 1
        if word == "certified":
            decided = g.predict(X_truth)
            rates = [decided[s_truth == v].mean() for v in ("a", "b")]
            violating += min(rates) / max(rates) < p_rule
    return {"fits": fits, "rows": rows, "p_rule": p_rule, **words, "violating": int(violating)}


def show(result: dict[str, Any]) -> str:
    """Validity, and the power beside it."""
    certified = result["certified"]
    share = result["violating"] / certified if certified else np.nan
    return Table(
        f"{result['fits']} fits on {result['rows']:,} rows, P-Rule at least {result['p_rule']:g}",
        ["", "fits", "share"],
        [
            ["certified (power)", str(certified), f"{certified / result['fits']:.3f}"],
            ["  of these, violating in the population", str(result["violating"]), f"{share:.3f}"],
            *(
                [word, str(result[word]), f"{result[word] / result['fits']:.3f}"]
                for word in ("inconclusive", "not met", "shown not to hold", "not reached")
            ),
        ],
    ).text()
