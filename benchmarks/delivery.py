"""Asking for a P-Rule of 0.8: what people get whom nobody has seen, on 100,000 of them or more.

The ratio is measured in the known direction: the rate of the group that f approves less over the
other's. The lowest over the highest rate would be lower by chance alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fairpatch._tools.tables import Table
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.datasets import Population, load
from fairpatch.front import FairPatch
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

SIZES = (2_000, 4_000, 10_000)
OWN = 5_000
"""Rows that f is trained on; nothing else is."""
TEST = 100_000
Source = tuple[Any, Any, Any, Any]
"""X, y, the groups (0 or 1), and f."""


def _loaded(name: str, feature: str) -> Callable[[int], Source]:
    def source(seed: int) -> Source:
        data = load(name)
        order = np.random.default_rng(seed).permutation(len(data.y))
        X = data.X.drop(columns=data.also_in_x).iloc[order].reset_index(drop=True)
        values = data.sensitive[feature].iloc[order]
        s = (values == values.value_counts().index[0]).to_numpy(np.int64)
        y = data.y[order]
        encoder = Encoder.fit(X[:OWN])
        model = LogisticRegression(max_iter=1_000)
        f = make_pipeline(FunctionTransformer(encoder.transform), model).fit(X[:OWN], y[:OWN])
        return X, y, s, f

    return source


def _generated(seed: int) -> Source:
    people = Population(
        p_rule=0.6, accuracy=0.8, proxy=2.0, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)}
    )
    table = people.sample(OWN + max(SIZES) + TEST, seed=seed).to_pandas()
    X = table.drop(columns=["id", "group", "y"])
    return X, table["y"].to_numpy(), (table["group"] == "b").to_numpy(np.int64), "score"


SOURCES: dict[str, Callable[[int], Source]] = {
    "acs_income": _loaded("acs_income", "race"),
    "generated": _generated,
    "adult": _loaded("adult", "sex"),
}


def one(source: str, seed: int, safety_margin: float) -> list[dict[str, Any]]:
    """Every number of rows, from one order of the people."""
    X, y, s, f = SOURCES[source](seed)
    fresh = slice(OWN + max(SIZES), OWN + max(SIZES) + TEST)
    found = []
    for n in SIZES:
        rows = slice(OWN, OWN + n)
        g = FairPatch(
            f,
            Target(p_rule=0.8, safety_margin=safety_margin),
            splits=(0.6, 0.4, 0.0),
            random_state=seed,
        )
        record: dict[str, Any] = {"source": source, "rows": n, "seed": seed}
        try:
            g.fit(X[rows], y[rows], sensitive_features=s[rows])
        except TargetNotReachedError:
            found.append({**record, "ratio": None})
            continue
        test, groups = X[fresh], s[fresh]
        before, after = g.base_.decisions(test), g.patched_.decide(test)
        rates = [(before[groups == v].mean(), after[groups == v].mean()) for v in (0, 1)]
        low, high = sorted(rates)
        found.append(
            {**record, "ratio": low[1] / high[1], "changes": float(np.mean(before != after))}
        )
    return found


def run(seeds: int = 20, safety_margin: float = 0.0) -> dict[str, Any]:
    """All sources and seeds."""
    found = [
        r for source in SOURCES for seed in range(seeds) for r in one(source, seed, safety_margin)
    ]
    return {"runs": found, "safety_margin": safety_margin}


def show(result: dict[str, Any]) -> str:
    """Mean and spread of the ratio by source and number of rows."""
    rows = []
    for source, n in dict.fromkeys((r["source"], r["rows"]) for r in result["runs"]):
        own = [r for r in result["runs"] if (r["source"], r["rows"]) == (source, n)]
        ratio = np.array([r["ratio"] for r in own if r["ratio"] is not None])
        rows.append(
            [
                source, f"{n:,}", f"{len(ratio)}/{len(own)}",
                f"{ratio.mean():.3f} ± {1.96 * ratio.std() / len(ratio) ** 0.5:.3f}",
                f"{ratio.std():.3f}", f"{np.mean(ratio < 0.8):.2f}", f"{np.mean(ratio < 0.75):.2f}",
            ]
        )  # fmt: skip
    return Table(
        f"Asked: P-Rule 0.8, a margin of {result['safety_margin']:g} standard errors; measured on "
        "fresh people",
        ["source", "rows", "reached", "mean ratio", "spread", "below 0.8", "below 0.75"],
        rows,
    ).text()
