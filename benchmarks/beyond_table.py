"""The tables of ``beyond``: who reaches a level, and what it takes where all of them do.

A mean over the splits that a method happens to reach flatters it: it drops the hard ones. So every
mean is over the splits that all compared methods reach, and reach comes first. A method that
reaches fewer than three quarters is told by that alone.
"""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.journal import read_results
from benchmarks.methods import ORACLES
from fairpatch._tools.tables import Table

YARDSTICKS = ("bound", "Bayes rule", "Bayes rule, few changes")
"""No baselines: what could be had."""
OURS = "fairpatch"
SELDOM = 0.75
KEYS = ["problem", "seed"]


def show(result: dict[str, Any]) -> str:
    """By base model: all methods at every level, then problem by problem."""
    frame = read_results(Path(result["out"]), "beyond")
    parts = []
    for (fairness, base), own in frame.groupby(["fairness", "base"], sort=False):
        what = "P-Rule" if fairness == "demographic_parity" else "DM, share of f's gone"
        for level in sorted(own["level"].unique()):
            here = own[own["level"] == level]
            title = f"{what} {level:g} on the test rows, {base} f, {own['seed'].nunique()} splits"
            shared = common(here)
            parts += [_methods(here, shared, title), _problems(shared, "changes", title)]
            parts += [_problems(shared, "accuracy", title), _outcomes(shared, title)]
    return "\n\n".join(parts)


def common(frame: Any) -> Any:
    """The records of the splits that every method reaches, of methods that reach most."""
    reach = frame.groupby("method", sort=False)["reached"].mean()
    compared = reach[reach >= SELDOM].index
    rows = frame[frame["method"].isin(compared)]
    return rows[rows.groupby(KEYS)["reached"].transform("all")]


def _methods(frame: Any, shared: Any, title: str) -> str:
    """Reach on all splits, means over the shared ones."""
    ranked = frame[~frame["method"].isin([*YARDSTICKS, *ORACLES])].copy()
    ranked["c"] = ranked["changes"].where(ranked["reached"], np.inf)  # behind all who reach
    ranked["rank"] = ranked.groupby(KEYS)["c"].rank(method="average")
    rank = ranked.groupby("method")["rank"].mean()
    rows = []
    for method, own in frame.groupby("method", sort=False):
        there = shared[shared["method"] == method]
        rows.append(
            [
                _name(method),
                f"{own['reached'].mean():.2f}",
                _pm(there["changes"]),
                _pm(there["accuracy"]),
                _cell(gain(there, "promoted", "denied")),
                _cell(own["agreement"].mean() if "agreement" in own else np.nan),
                f"{own['seconds'].median():.1f}",
                f"{rank[method]:.1f}" if method in rank else "",
            ]
        )
    header = ["method", "reached", "changes", "accuracy", "outcome", "agreement", "s", "rank"]
    splits = len(shared.drop_duplicates(KEYS))
    notes = [
        f"Means over the {splits} of {len(frame.drop_duplicates(KEYS))} splits that all reach "
        "(95 % interval); a method that reaches fewer than three quarters has none.",
        "outcome: y = 1 among the promoted less among those left denied, within groups.",
        "agreement: of those who change in either of two fits, who change in both.",
        "s: processor seconds of all its models. rank: by changes, of those that do not read S.",
        "The bound counts whole people; who is read between two models may lie a person below it.",
    ]
    return Table(title, header, rows, notes).text()


def gain(frame: Any, who: str, than: str) -> float:
    """How much more often y = 1 among the first than among the second, within groups.

    Groups count by how many of the first are in them.
    """
    total = weight = 0.0
    for g in (c.removeprefix(f"{who}_good_") for c in frame if c.startswith(f"{who}_good_")):
        sums = frame[[f"{who}_{g}", f"{who}_good_{g}", f"{than}_{g}", f"{than}_good_{g}"]].sum()
        first, first_good, second, second_good = sums
        if first > 0 and second > 0:
            total += first_good - first * second_good / second
            weight += first
    return total / weight if weight > 0 else np.nan


def _problems(shared: Any, what: str, title: str) -> str:
    """Means by problem, over the splits that all reach."""
    if shared.empty or shared[what].isna().all():
        return f"{what.capitalize()}: {title}\n  no split that all reach"
    table = shared.groupby(["method", "problem"], sort=False)[what].mean().unstack()
    splits = shared.drop_duplicates(KEYS)["problem"].value_counts()
    rows = [
        [_name(m), *(_cell(v) for v in table.loc[m])]
        for m in shared["method"].unique()
        if table.loc[m].notna().any()
    ]
    rows.append(["splits", *(str(splits[p]) for p in table.columns)])
    return Table(f"{what.capitalize()}: {title}", ["method", *table.columns], rows).text()


def _outcomes(shared: Any, title: str) -> str:
    """How those who change turn out against those of their group who do not, by problem."""
    ours = shared[shared["method"].isin([OURS, "COMMOD"])]
    rows = [
        [method, problem, _cell(gain(own, "promoted", "denied")),
         _cell(gain(own, "approved", "demoted")), _cell(own["changes"].mean())]
        for (method, problem), own in ours.groupby(["method", "problem"], sort=False)
    ]  # fmt: skip
    header = ["method", "problem", "promoted less left denied", "left approved less demoted",
              "changes"]  # fmt: skip
    notes = ["Differences of P(y = 1) within groups: above 0, the better ones are approved."]
    return Table(f"Outcomes: {title}", header, rows, notes).text()


def _name(method: str) -> str:
    return "bound, S known" if method == "bound" else method


def _cell(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _pm(values: Any) -> str:
    """Mean with its 95 % interval over the splits."""
    values = values.dropna()
    if len(values) < 2:
        return "-" if values.empty else f"{values.mean():.3f}"
    return f"{values.mean():.4f} ± {1.96 * values.std() / len(values) ** 0.5:.4f}"
