"""What each condition costs in changes: three problems, the same rows, a P-Rule of 0.8 each time.

Chosen on rows that f learned from and measured on test rows by the true groups, so a condition that
makes the groups hard to see shows in the P-Rule that is reached. Within strata the P-Rule told is
that of the worst one that has 100 people.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.problems import parts
from benchmarks.sample import Sample
from fairpatch._tools.arrays import Floats
from fairpatch._tools.tables import Table
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.front import FairPatch
from fairpatch.inputs.roles import Roles
from fairpatch.measure import p_rule
from fairpatch.measure.counts import Counts
from fairpatch.target import Target

LEVEL, ENOUGH = 0.8, 100
STRATUM = {"adult, sex": "workclass", "acs_income": "COW", "compas": "c_charge_degree"}
LOCKED = {
    "adult, sex": {"workclass": ["Federal-gov", "State-gov", "Local-gov"]},
    "acs_income": {"COW": ["3", "4", "5"]},
    "compas": {"juv_fel_count": {"at_least": 1}},
}
AGE = {"adult, sex": "age", "acs_income": "AGEP", "compas": "age"}
BANDS, REFERENCE = [25, 40, 60], "40 to below 60"


def conditions(problem: str) -> dict[str, dict[str, Any]]:
    """What is asked for, by name: of the target, the decision and the people."""
    within = {"within": STRATUM[problem]}
    ages = {"bands": {AGE[problem]: BANDS}}
    return {
        "as it is": {},
        "some rows locked": {"target": {"locked": LOCKED[problem]}},
        "in each stratum": {"target": within},
        "standardised over strata": {"target": {**within, "strata": "standardised"}},
        "four age bands, all pairs": {"roles": ages, "age": True},
        "four age bands, a reference": {
            "target": {"reference": REFERENCE}, "roles": ages, "age": True,
        },
        "groups by probabilities": {
            "roles": {"probable": {"group": {"0": "p_0", "1": "p_1"}}},
        },
        "a second look": {"target": {"action": "refer"}},
        "a wrong approval costs 5": {
            "target": {"costs": {"wrong_approval": 5, "wrong_refusal": 1}},
        },
        "a third weighs three times": {"roles": {"weight": "weight"}},
    }  # fmt: skip


def run(splits: int = 2, problems: Sequence[str] = tuple(STRATUM)) -> dict[str, Any]:
    """Every condition on every split."""
    rows = []
    for problem in problems:
        for seed in range(splits):
            own = parts(problem, seed, "logistic")
            for name, asked in conditions(problem).items():
                found = _one(problem, own.both, own.test, asked, seed)
                rows.append({"problem": problem, "condition": name, **found})
    return {"rows": rows, "splits": splits}


def _one(problem: str, learned: Sample, test: Sample, asked: Any, seed: int) -> dict[str, Any]:
    X, s = _people(learned, seed), learned.s
    target = Target(p_rule=LEVEL, **asked.get("target", {}))
    roles = Roles(**asked.get("roles", {}))
    sensitive: Any = {"group": s}
    if asked.get("age"):
        sensitive = {AGE[problem]: learned.X[AGE[problem]]}
    elif roles.probable:
        sensitive = "group"
    scores = learned.f.scores
    g = FairPatch(
        lambda rows: scores(rows[list(learned.X)]), target, roles=roles,
        exclude=["p_0", "p_1", "weight"], splits=(0.6, 0.4, 0.0), random_state=seed,
    )  # fmt: skip
    try:
        g.fit(X, learned.y, sensitive_features=sensitive)
    except TargetNotReachedError:
        return {"reached": False}
    before, X = test.f_logit > 0, _people(test, seed)
    after = np.asarray(g.predict(X) == 1)
    if target.action == "refer":  # as if every person who is referred were approved
        after = before | np.asarray(g.patched_.refer(X))
    ages = np.digitize(test.X[AGE[problem]], BANDS) if asked.get("age") else test.s
    strata = test.X[STRATUM[problem]].fillna("missing").to_numpy(str)
    within = strata if "within" in asked.get("target", {}) else np.zeros(len(X))
    weight = X["weight"].to_numpy() if roles.weight else np.ones(len(X))
    return {
        "reached": True,
        "changes": float(np.average(before != after, weights=weight)),
        "approved": float(np.average(after, weights=weight) - np.average(before, weights=weight)),
        "p_rule": _worst(after, ages, within, weight),
    }


def _people(sample: Sample, seed: int) -> Any:
    """The rows with a weight, and probabilities of the groups as a good proxy gives them."""
    random = np.random.default_rng([seed, len(sample.y)])
    signal = np.where(sample.s == 1, 1.0, -1.0) + random.normal(size=len(sample.y))
    share = sample.s.mean()
    one: Floats = 1 / (1 + np.exp(-2 * signal) * (1 - share) / share)  # calibrated, by Bayes
    weight = np.where(random.random(len(one)) < 1 / 3, 3.0, 1.0)
    return sample.X.assign(p_0=1 - one, p_1=one, weight=weight)


def _worst(after: Any, s: Any, strata: Any, weight: Any) -> float:
    values = []
    for stratum in np.unique(strata):
        own = strata == stratum
        if own.sum() < ENOUGH or np.unique(s[own], return_counts=True)[1].min() < ENOUGH / 2:
            continue
        counts = Counts.from_arrays(
            decision=after[own], sensitive_features=s[own], sample_weight=weight[own]
        )
        values.append(p_rule(counts).value or 0.0)  # undefined, nobody approved: counted as 0
    return min(values)


def show(result: dict[str, Any]) -> str:
    """A line a condition: changes on each problem, with the P-Rule that is reached."""
    rows = result["rows"]
    problems = list(dict.fromkeys(r["problem"] for r in rows))
    lines = []
    for name in dict.fromkeys(r["condition"] for r in rows):
        cells = [name]
        for problem in problems:
            mine = [r for r in rows if (r["problem"], r["condition"]) == (problem, name)]
            good = [r for r in mine if r["reached"]]
            changes, reached = (
                f"{np.mean([r[k] for r in good]):.3f}" if good else "-"
                for k in ("changes", "p_rule")
            )
            few = "" if len(good) == len(mine) else f" ({len(good)} of {len(mine)})"
            cells.append(f"{changes} at {reached}{few}")
        lines.append(cells)
    title = f"Changes on test rows, at the P-Rule that is reached there; {result['splits']} splits"
    return Table(title, ["condition", *problems], lines).text()
