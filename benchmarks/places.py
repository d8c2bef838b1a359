"""Limited places: nine problems with as many approvals as before, and what that costs.

Beside it: promote only, no limit, and a rule that reads S. That is the idea of Aequitas'
``BalancedGroupThreshold(top_k)``: of each group the highest scores, as many as there are places in
all. It is built here from that sentence, at the very P-Rule that the scorecard reaches on the test
rows, and once more with equal rates, as its name says.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.problems import PROBLEMS, parts
from benchmarks.sample import Sample
from fairpatch._tools.arrays import Bools
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.front import FairPatch
from fairpatch.measure import accuracy, p_rule
from fairpatch.measure.counts import Counts
from fairpatch.measure.fewest_together import fewest_together
from fairpatch.measure.metric import P_RULE
from fairpatch.target import Target

LEVEL = 0.8
WISHES: dict[str, dict[str, Any]] = {
    "as many approvals": {"approvals": "keep"},
    "promote only": {"direction": "promote_only"},
    "no limit": {},
}


def run(splits: int = 3, problems: Sequence[str] = tuple(PROBLEMS), base: str = "logistic") -> Any:
    """Every wish and both rivals on the test rows of every split."""
    rows = []
    for problem in problems:
        for seed in range(splits):
            own = parts(problem, seed, base)
            test, learned = own.test, own.both
            before = test.f_logit > 0
            for name, wish in WISHES.items():
                after = _patched(learned, test, wish)
                rows.append(_row(problem, seed, name, test, after))
                if name != "as many approvals":
                    continue
                level = None if after is None else rows[-1]["p_rule"]
                for rival, at in (("group thresholds", level), ("equal rates, top_k", 1.0)):
                    cut = None if at is None else _thresholds(test, at, int(before.sum()))
                    rows.append(_row(problem, seed, rival, test, cut))
                rows.append({**rows[-1], "method": "bound", **_bound(test, level)})
    return {"rows": rows, "splits": splits, "base": base}


def _patched(learned: Sample, test: Sample, wish: dict[str, Any]) -> Bools | None:
    model = FairPatch(learned.f.estimator, Target(p_rule=LEVEL, **wish), splits=(0.6, 0.4, 0.0))
    try:
        model.fit(learned.X, learned.y, sensitive_features=learned.s)
    except TargetNotReachedError:
        return None
    return np.asarray(model.predict(test.X) == 1)


def _thresholds(test: Sample, level: float, places: int) -> Bools:
    """The highest scores of each group: rates c and level c, as many as there are places."""
    s, before = test.s, test.f_logit > 0
    sizes = np.bincount(s)
    low = int(np.argmin(np.bincount(s, before) / sizes))
    share = np.where(np.arange(len(sizes)) == low, level, 1.0)
    c = places / float((share * sizes).sum())
    after = np.zeros(len(s), bool)
    for g, n in enumerate(sizes):
        rows = np.flatnonzero(s == g)
        after[rows[np.argsort(-test.f_logit[rows], kind="stable")[: round(c * share[g] * n)]]] = (
            True
        )
    return after


def _bound(test: Sample, level: float | None) -> dict[str, Any]:
    if level is None:
        return {"reached": False}
    before = test.f_logit > 0
    counts = Counts.from_arrays(decision=before, y=test.y, sensitive_features=test.s)
    share = float(before.mean())
    found = fewest_together(counts, [(P_RULE, level)], (share - 0.02, share + 0.02))
    return {"reached": found is not None, "changes": found and found.change_rate}


def _row(problem: str, seed: int, name: str, test: Sample, after: Bools | None) -> dict[str, Any]:
    about = {"problem": problem, "split": seed, "method": name}
    if after is None:
        return {**about, "reached": False}
    before = test.f_logit > 0
    counts = Counts.from_arrays(
        decision=before, new_decision=after, y=test.y, sensitive_features=test.s
    )
    up, left = after & ~before, ~after & ~before
    down, kept = before & ~after, before & after
    return {
        **about,
        "reached": True,
        "p_rule": p_rule(counts).value,
        "before": float(before.mean()),
        "after": float(after.mean()),
        "changes": float((before != after).mean()),
        "accuracy": accuracy(counts).value,
        "gained": _outcome(test, up, left),
        "lost": _outcome(test, down, kept),
    }


def _outcome(test: Sample, some: Bools, others: Bools) -> float | None:
    """How much more often y = 1 among some than among others."""
    if min(some.sum(), others.sum()) < 20:
        return None
    return float(test.y[some].mean() - test.y[others].mean())


def show(result: dict[str, Any]) -> str:
    """Reached first, then means over the splits that a method reaches."""
    lines = [
        "| problem | method | reached | P-Rule | approved before | after | changes | accuracy "
        "| outcome of the gained | of the lost |", "|---" * 10 + "|",
    ]  # fmt: skip
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in result["rows"]:
        groups.setdefault((row["problem"], row["method"]), []).append(row)
    names = ("p_rule", "before", "after", "changes", "accuracy", "gained", "lost")
    for (problem, method), mine in groups.items():
        good = [r for r in mine if r["reached"]]
        cells = [_mean([r.get(k) for r in good]) for k in names]
        if method == "bound":
            cells = ["", "", "", cells[3], "", "", ""]
        lines.append(f"| {' | '.join([problem, method, f'{len(good)} of {len(mine)}', *cells])} |")
    return "\n".join(lines)


def _mean(values: list[Any]) -> str:
    known = [v for v in values if v is not None]
    return f"{np.mean(known):.3f}" if known else "-"
