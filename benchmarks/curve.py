"""How many rows does learning need? The same choice and test rows, patches from few rows to many.

A patch has tens of weights. Learning rows grow, everything else stays: f, the rows to choose on
and the rows to measure on.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fairpatch._tools.tables import Table
from fairpatch.choose.fit import fit_target
from fairpatch.choose.learner import Task
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.commod.adversarial import Adversarial
from fairpatch.commod.problem import Grid
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Splits, count_rows
from fairpatch.datasets import Population, load
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.metric import change_rate, p_rule
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

SIZES = (2_000, 10_000, 50_000, 200_000, 1_000_000, 2_000_000)
SELECT, TEST = 20_000, 200_000
TARGET = Target(p_rule=0.8, direction="promote_only")
GRID = Grid.of(np.geomspace(0.3, 100, 12), (0.3, 1.0), (0.01,))


def run(seeds: int = 5, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Every size that the data have, for both sources."""
    found = []
    for source, rows_of in {"acs_income": _acs, "generated": _generated}.items():
        for seed in range(seeds):
            rows, base = rows_of(seed, max(sizes))
            found += [
                {"source": source, "seed": seed, "rows": n, **_one(rows, base, n, seed)}
                for n in sizes
                if n <= len(rows) - SELECT - TEST
            ]
    return {"seeds": seeds, "runs": found}


def _one(rows: Rows, base: BaseModel, n: int, seed: int) -> dict[str, float]:
    """Learn from n rows, choose on the same rows as always, measure on the same."""
    test, select = (
        rows.take(np.arange(a, b)).scored(base) for a, b in ((0, TEST), (TEST, TEST + SELECT))
    )
    learn = rows.take(np.arange(TEST + SELECT, TEST + SELECT + n)).scored(base)
    hidden = [base.score_column] if base.score_column else []
    encoder = Encoder.fit(learn.X, exclude=hidden)
    task = Task(Splits(learn, select), encoder, base.decision, TARGET, seed)
    try:
        fitted = fit_target(task, Adversarial(GRID))
    except TargetNotReachedError:
        return {"changes": np.nan, "p_rule": np.nan}
    counts = count_rows(test, fitted.patch)
    return {
        "changes": float(change_rate(counts)),
        "p_rule": float(p_rule(counts).value or np.nan),
    }


def _acs(seed: int, _: int) -> tuple[Rows, BaseModel]:
    data = load("acs_income")
    order = np.random.default_rng(seed).permutation(len(data.y))
    X = data.X.drop(columns=data.also_in_x).iloc[order]
    values = data.sensitive["race"].iloc[order]
    common = (values == values.value_counts().index[0]).to_numpy(np.int64)
    rows = Rows.of(X.iloc[50_000:], data.y[order][50_000:], {"race": common[50_000:]})
    first, y = X.iloc[:50_000], data.y[order][:50_000]
    encoder = Encoder.fit(first)
    f = make_pipeline(FunctionTransformer(encoder.transform), LogisticRegression(max_iter=1_000))
    return rows, BaseModel(f.fit(first, y))


def _generated(seed: int, most: int) -> tuple[Rows, BaseModel]:
    groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    population = Population(p_rule=0.6, accuracy=0.8, groups=groups)
    people = population.sample(most + SELECT + TEST, seed=seed).to_pandas()
    X = people.drop(columns=["id", "group", "y"])
    rows = Rows.of(X, people["y"].to_numpy(np.int64), {"group": people["group"].to_numpy()})
    return rows, BaseModel("score")


def show(result: dict[str, Any]) -> str:
    """Mean and spread over the seeds, by size."""
    rows = []
    for source in ("acs_income", "generated"):
        for n in SIZES:
            own = [r for r in result["runs"] if r["source"] == source and r["rows"] == n]
            if own:
                cells = [np.array([r[k] for r in own]) for k in ("changes", "p_rule")]
                rows.append(
                    [
                        source,
                        f"{n:,}",
                        *(f"{np.nanmean(c):.4f} ± {np.nanstd(c):.4f}" for c in cells),
                    ]
                )
    title = f"Learning rows: {TARGET} on {SELECT:,} rows, measured on {TEST:,}; spread of seeds"
    return Table(title, ["source", "rows to learn from", "changes", "P-Rule"], rows).text()
