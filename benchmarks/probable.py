"""Race hidden: what probabilities of it allow to say of the true ratio of approval rates.

The population is the HMDA table of Boston: lenders' own decisions and applicants' race. Samples are
drawn from it with replacement, and race is replaced by probabilities that a proxy would give: its
share among people alike in some columns. For each sample four ways to come to a 95 % interval, and
how often the true ratio of the population lies in it.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.datasets import load
from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.tables import Table
from fairpatch.inputs.probable import without_assumption
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE
from fairpatch.patch.encoding import Encoder

PROXIES = {
    "one column": ("single",),
    "three columns": ("single", "hschool", "phist"),
    "credit history": ("chist", "phist", "insurance"),
    "all columns": (),
}
WAYS = ("race itself", "likeliest race", "weighted", "drawn", "without assumption")


def run(draws: int = 500, rows: int = 2_000) -> dict[str, Any]:
    """Coverage and width of every way, for every proxy; and where decisions follow the proxy."""
    data = load("hmda_boston")
    minority = (data.sensitive["race"] == "African American").to_numpy()
    approved = data.y == 0
    found = []
    for name, columns in PROXIES.items():
        chance = _chances(data.X, minority, columns)
        for holds in (False, True):
            found += _cover(name, minority, approved, chance, draws, rows, holds=holds)
    return {"draws": draws, "rows": rows, "found": found}


def _chances(X: Any, minority: Bools, columns: tuple[str, ...]) -> Floats:
    """P(minority) among people alike; with all columns, by a regression's deciles."""
    if columns:
        groups = X.groupby(list(columns)).ngroup().to_numpy()
    else:
        Z = Encoder.fit(X).transform(X)
        score = LogisticRegression(max_iter=2_000).fit(Z, minority).decision_function(Z)
        groups = np.searchsorted(np.quantile(score, np.linspace(0, 1, 21)[1:-1]), score)
    people = np.bincount(groups)
    return np.asarray((np.bincount(groups, minority) / np.maximum(people, 1))[groups])


def _cover(
    name: str, minority: Bools, approved: Bools, chance: Floats, draws: int, rows: int, *,
    holds: bool,
) -> list[dict[str, Any]]:  # fmt: skip
    """One proxy. Where the assumption ``holds``, race is dealt by the probabilities each time."""
    random = np.random.default_rng(0)
    truth = _ratio(approved, chance if holds else minority.astype(float))
    inside: dict[str, list[bool]] = {way: [] for way in WAYS}
    width: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(draws):
        at = random.integers(0, len(chance), rows)
        race = random.random(rows) < chance[at] if holds else minority[at]
        for way, ends in _ways(race, approved[at], chance[at], random).items():
            if ends is not None:
                inside[way].append(ends[0] <= truth <= ends[1])
                width[way].append(ends[1] - ends[0])
    return [
        {
            "proxy": name, "assumption": "holds" if holds else "as it is", "truth": truth,
            "way": way, "coverage": float(np.mean(inside[way])) if inside[way] else None,
            "width": float(np.mean(width[way])) if width[way] else None,
        }
        for way in WAYS
    ]  # fmt: skip


def _ratio(approved: Bools, chance: Floats) -> float:
    """Of the population: people belong to the minority by these chances."""
    rates = [float(np.average(approved, weights=w)) for w in (1 - chance, chance)]
    return float(min(rates) / max(rates))


def _ways(
    minority: Bools, approved: Bools, chance: Floats, random: Any
) -> dict[str, tuple[float, float] | None]:
    both = np.column_stack([1 - chance, chance])
    n = len(chance)
    alone = without_assumption("race", both, np.zeros(n, bool), approved)
    weighed = Counts.from_arrays(
        decision=np.tile(approved, 2), sensitive_features=np.repeat([0, 1], n),
        membership=both.T.ravel(),
    )  # fmt: skip
    return {
        "race itself": _interval(approved, minority),
        "likeliest race": _interval(approved, chance > 0.5),
        "weighted": _ends(weighed),
        "drawn": _interval(approved, random.random(n) < chance),
        "without assumption": None if alone is None else (alone.low, alone.high),
    }


def _interval(approved: Bools, minority: Bools) -> tuple[float, float] | None:
    return _ends(Counts.from_arrays(decision=approved, sensitive_features=minority.astype(int)))


def _ends(counts: Counts) -> tuple[float, float] | None:
    found = P_RULE.of(counts)
    return None if found.low is None or found.high is None else (found.low, found.high)


def show(result: dict[str, Any]) -> str:
    """Coverage should be 0.95 or more; a wide interval is honest and says little."""
    rows = [
        [
            f["proxy"], f["assumption"], f"{f['truth']:.3f}", f["way"],
            "-" if f["coverage"] is None else f"{f['coverage']:.3f}",
            "-" if f["width"] is None else f"{f['width']:.3f}",
        ]
        for f in result["found"]
    ]  # fmt: skip
    header = ["proxy", "assumption", "true ratio", "way", "coverage", "width"]
    return Table(f"{result['draws']} samples of {result['rows']:,} people", header, rows).text()
