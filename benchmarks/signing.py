"""Would you sign it? What a default scorecard does to people, at equal fairness on other rows.

f, the patch and the test have rows of their own. Every patch is turned until the test rows reach
the P-Rule that was asked for; between two points needed, figures are interpolated.
"""

from itertools import combinations, permutations
from math import inf
from typing import Any

import numpy as np

from benchmarks.datasets import load
from benchmarks.problems import PROBLEMS, fitted_model
from benchmarks.roles import every_column
from fairpatch._tools.tables import Table
from fairpatch.card.learner import Card
from fairpatch.choose.learner import Learner, dial_ratio
from fairpatch.choose.menu import FINER, WIDEST
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.front import FairPatch
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.cells import untouched
from fairpatch.measure.scores import group_auc
from fairpatch.patch import Patch
from fairpatch.target import Target

LEARN, TEST, P_RULE = 3_000, 10_000, 0.8
FIRST_SEED = 730
"""Splits that nothing was tried on."""
FEWEST = 10
BELOW = 0.1
ASKED = 1_000
FREE = {"price_per_change": inf, "max_columns": WIDEST}
VARIANTS: dict[str, tuple[Learner, dict[str, Any]]] = {
    "default": (Card(), {}),
    "in order": (Card(keep_order="all"), {}),
    "fewest": (Card(**FINER), FREE),
    "close calls only": (Card(), {"only_between": (0.1, 0.9)}),
}


def rows_of(problem: str, seed: int) -> tuple[Any, Any, Any, list[Any]]:
    """X, y, s (1 for the commonest group), and three disjoint sets of rows."""
    name, feature = PROBLEMS[problem]
    data = load(name)
    values = data.sensitive[feature]
    order = np.random.default_rng(seed).permutation(len(data.y))
    own = min(LEARN, len(order) // 3)
    X = data.X.drop(columns=data.also_in_x)
    s = (values == values.value_counts().index[0]).to_numpy(np.int64)
    return X, data.y, s, [order[:own], order[own : 2 * own], order[2 * own : 2 * own + TEST]]


def changes_at(patch: Patch, X: Any, f: Any, s: Any, asked: float = P_RULE) -> Any:
    """Whether each person changes where the P-Rule is as asked; a part between two steps."""
    approved = f > 0
    ratio = dial_ratio(patch, patch.points(X), f)
    may = (ratio < 1) & (f != 0) & ~untouched(patch.direction, approved)
    level = np.where(may, np.round(1 - ratio, 6), -np.inf)

    def rule(changed: Any) -> float:
        after = approved ^ changed
        rates = [after[s == g].mean() for g in (0, 1)]
        return float(min(rates) / max(*rates, 1e-12))

    before, last = np.zeros(len(f), bool), rule(np.zeros(len(f), bool))
    if last >= asked:
        return np.zeros(len(f))
    for step in np.unique(level[may])[::-1]:
        now = level >= step
        here = rule(now)
        if here >= asked:
            return before + (asked - last) / (here - last) * (now & ~before)
        before, last = now, here
    return None


def figures(weight: Any, f: Any, y: Any, s: Any) -> dict[str, float]:
    """What the changes do to people."""
    approved = f > 0
    up, left = weight * ~approved, (1 - weight) * ~approved
    worse = min((0, 1), key=lambda g: approved[s == g].mean())
    mine = s == worse

    def good(who: Any) -> float:
        return float(who @ y / who.sum()) if who.sum() >= FEWEST else np.nan

    right = weight * (approved != y) + (1 - weight) * (approved == y)
    score = 1 / (1 + np.exp(-f))
    return {
        "changes": float(weight.mean()),
        "accuracy": float(right.mean()),
        "promoted": good(up * mine),
        "left": good(left * mine),
        "below": float(up @ (score < BELOW) / up.sum()) if up.sum() >= FEWEST else np.nan,
    }


def turned_round(g: FairPatch, X: Any) -> int:
    """People, of a thousand, who lose an approval by a number that f likes better.

    Every number is set to five values; from one to another that f likes better on average, and for
    this very person no less, nobody may lose.
    """
    some = X.iloc[:ASKED].reset_index(drop=True)
    wrong = np.zeros(len(some), bool)
    for column in g.patch_.columns:
        if column.kind != "number":
            continue
        values = X[column.name].dropna().to_numpy()
        stops = np.unique(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest"))
        rows = [some.assign(**{column.name: stop}) for stop in stops]
        asked = [(g.base_.logits(r), g.patched_.decide(r)) for r in rows]
        for (f, before), (liked, after) in permutations(asked, 2):
            if liked.mean() > f.mean():
                wrong |= (liked >= f) & before & ~after
    return int(wrong.sum())


def one(problem: str, base: str, seed: int, variant: str, refits: int = 4) -> dict[str, Any]:
    """One fit and its refits on bootstraps."""
    X, y, s, (first, second, third) = rows_of(problem, seed)
    f = fitted_model(base, X.iloc[first], y[first], seed)
    learner, wishes = VARIANTS[variant]
    test, truth, group = X.iloc[third].reset_index(drop=True), y[third], s[third]
    logits = BaseModel(f).logits(test)

    def fitted(rows: Any) -> FairPatch:
        target = Target(p_rule=P_RULE, **wishes)
        g = FairPatch(
            f, target, learner=learner, splits=(0.6, 0.4, 0.0), random_state=seed,
            roles=every_column(X),
        )  # fmt: skip
        return g.fit(X.iloc[rows].reset_index(drop=True), y[rows], sensitive_features=s[rows])

    record: dict[str, Any] = {"problem": problem, "base": base, "seed": seed, "variant": variant}
    try:
        g = fitted(second)
    except TargetNotReachedError:
        return {**record, "reached": False}
    weight = changes_at(g.patch_.with_strength(1.0), test, logits, group)
    record |= {
        "columns": len(g.patch_.columns), "lines": len(g.patch_.lines),
        "auc": group_auc(g.patch_.points(test), group), "direction": g.patch_.direction,
        "turned_round": turned_round(g, test), "settings": g.patch_.provenance.settings,
    }  # fmt: skip
    if weight is None:
        return {**record, "reached": False}
    sets = []
    for k in range(refits):
        drawn = np.random.default_rng(1000 + k).choice(second, len(second))
        try:
            again = changes_at(fitted(drawn).patch_.with_strength(1.0), test, logits, group)
        except TargetNotReachedError:
            continue
        sets += [] if again is None else [again]
    shared = [
        float(np.minimum(a, b).sum() / max(np.maximum(a, b).sum(), 1e-9))
        for a, b in combinations(sets, 2)
    ]
    record["agreement"] = float(np.mean(shared)) if shared else np.nan
    return {**record, "reached": True, **figures(weight, logits, truth, group)}


def run(
    seeds: int = 5, problems: tuple[str, ...] = tuple(PROBLEMS),
    bases: tuple[str, ...] = ("logistic", "boosted"), variants: tuple[str, ...] = ("default",),
    refits: int = 4,
) -> dict[str, Any]:  # fmt: skip
    """All problems, bases, variants and seeds."""
    return {
        "runs": [
            one(problem, base, FIRST_SEED + seed, variant, refits)
            for problem in problems
            for base in bases
            for variant in variants
            for seed in range(seeds)
        ]
    }


def show(result: dict[str, Any]) -> str:
    """Means over seeds."""
    names = ("changes", "accuracy", "promoted", "left", "below", "agreement", "columns", "lines",
             "auc", "turned_round")  # fmt: skip
    rows = []
    keys = list(dict.fromkeys((r["problem"], r["base"], r["variant"]) for r in result["runs"]))
    for key in keys:
        mine = [r for r in result["runs"] if (r["problem"], r["base"], r["variant"]) == key]
        values = [[r[n] for r in mine if r.get(n) is not None] for n in names]
        means = [f"{np.nanmean(v):.3f}" if np.isfinite(v).any() else "-" for v in values]
        rows.append([", ".join(key), *means, f"{sum(r['reached'] for r in mine)}/{len(mine)}"])
    return Table(
        f"At a P-Rule of {P_RULE:g} on the test rows", ["fit", *names, "reached"], rows
    ).text()
