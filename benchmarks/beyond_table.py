"""The tables of ``beyond``: changes and accuracy where every method has reached the same level."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.journal import read_results
from benchmarks.methods import ORACLES
from fairpatch._extras import need
from fairpatch._table import Table

YARDSTICKS = ("bound", "Bayes rule", "Bayes rule, few changes")
"""No baselines: what could be had."""
OURS = "fairpatch"


def show(result: dict[str, Any]) -> str:
    """By base model: all methods at every level, then problem by problem."""
    frame = read_results(Path(result["out"]), "beyond")
    parts = []
    for (fairness, base), own in frame.groupby(["fairness", "base"], sort=False):
        what = "P-Rule" if fairness == "demographic_parity" else "of f's DM gone"
        for level in sorted(own["level"].unique()):
            here = own[own["level"] == level]
            title = f"{what} {level:g} on the test rows, {base} f, {own['seed'].nunique()} seeds"
            parts += [_methods(here, title), _problems(here, "changes", f"Changes: {title}")]
            parts.append(_problems(here, "accuracy", f"Accuracy: {title}"))
            parts.append(_outcomes(here, title))
    return "\n\n".join(parts)


def _methods(frame: Any, title: str) -> str:
    """Means over all splits where a method reaches, and against COMMOD where both do."""
    ranked = frame[~frame["method"].isin([*YARDSTICKS, *ORACLES]) & ~_variant(frame)].copy()
    keys = ["problem", "seed"]
    ranked["c"] = ranked["changes"].where(ranked["reached"], np.inf)  # behind all who reach
    ranked["rank"] = ranked.groupby(keys)["c"].rank(method="average")
    rank = ranked.groupby("method")["rank"].mean()
    game = frame[(frame["method"] == "COMMOD") & frame["reached"]]
    rows = []
    for method in frame["method"].unique():
        own = frame[frame["method"] == method]
        there = own[own["reached"]]
        both = there.merge(game, on=keys, suffixes=("", "_game"))
        more = (both["accuracy"] - both["accuracy_game"]).mean()
        times = both["changes"].mean() / both["changes_game"].mean() if len(both) else np.nan
        rows.append(
            [
                "bound, S known" if method == "bound" else method,
                f"{rank[method]:.2f}" if method in rank else "",
                f"{own['reached'].mean():.2f}",
                _pm(there["changes"]),
                _pm(there["accuracy"]),
                "" if np.isnan(times) else f"{times:.2f}",
                "" if np.isnan(more) else f"{100 * more:+.1f}",
            ]
        )
    header = ["method", "rank", "reached", "changes", "accuracy", "x COMMOD", "points more"]
    notes = [
        "rank: by changes, among published methods that do not read S, and ours.",
        "x COMMOD, points more: against the paper's learner, where both reach.",
    ]
    return Table(title, header, rows, notes).text()


def _variant(frame: Any) -> Any:
    """Our own variants do not compete with ours."""
    return frame["method"].str.startswith(f"{OURS},")


def _problems(frame: Any, what: str, title: str) -> str:
    """Means by problem, over the splits where a method reaches."""
    there = frame[frame["reached"]]
    table = there.groupby(["method", "problem"])[what].mean().unstack()
    rows = [
        ["bound, S known" if m == "bound" else m, *(_cell(v) for v in table.loc[m])]
        for m in frame["method"].unique()
        if m in table.index and table.loc[m].notna().any()
    ]
    return Table(title, ["method", *table.columns], rows).text()


def _outcomes(frame: Any, title: str) -> str:
    """How the promoted turn out against those left denied, and what preferring accuracy costs."""
    pandas = need("pandas", extra="bench")
    ours = frame[frame["method"].isin([OURS, f"{OURS}, accurate", "COMMOD"]) & frame["reached"]]
    sums = ours.groupby(["method", "problem"])[
        ["promoted", "promoted_good", "denied", "denied_good", "changes"]
    ].mean()
    found = pandas.DataFrame(
        {
            "promoted": sums["promoted_good"] / sums["promoted"].where(sums["promoted"] > 0.001),
            "denied": sums["denied_good"] / sums["denied"],
            "changes": sums["changes"],
        }
    )
    rows = [
        [method, problem, _cell(r["promoted"]), _cell(r["denied"]), _cell(r["changes"])]
        for (method, problem), r in found.iterrows()
    ]
    header = ["method", "problem", "promoted: y = 1", "left denied: y = 1", "changes"]
    return Table(f"Who is promoted: {title}", header, rows, ["-: nearly nobody is."]).text()


def _cell(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _pm(values: Any) -> str:
    """Mean with its 95 % interval over the runs."""
    values = values.dropna()
    if len(values) < 2:
        return "-" if values.empty else f"{values.mean():.3f}"
    return f"{values.mean():.4f} ± {1.96 * values.std() / len(values) ** 0.5:.4f}"
