"""Beyond the paper: all methods on nine problems and many seeds, chosen on held-out rows.

Every method learns on half of the rows, is chosen on a quarter and measured on the last quarter.
Choosing is the same for all: of the models that meet the P-Rule on the selection rows at an
accuracy within 0.02 of the best one that does, the one with the fewest changes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fairpatch._extras import need
from fairpatch.base import BaseModel
from fairpatch.bench.journal import Records, Run, execute, read_results, write_results
from fairpatch.bench.methods import METHODS, ORACLES, Model, at_strength, sweep
from fairpatch.bench.paper import Split
from fairpatch.bench.sample import Sample
from fairpatch.bench.score import score
from fairpatch.choose.choice import Choice, options
from fairpatch.choose.fit import Learner, train_frontier
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Splits
from fairpatch.datasets import load
from fairpatch.learn.problem import Grid
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.show import Table
from fairpatch.patch.encoding import Encoder

PROBLEMS = {
    "law_school": ("law_school", "race"),
    "compas": ("compas", "race"),
    "adult, sex": ("adult", "sex"),
    "adult, race": ("adult", "race"),
    "acs_income": ("acs_income", "race"),
    "bank_marketing": ("bank_marketing", "age"),
    "communities": ("communities_crime", "share_black"),
    "census_income": ("census_income_kdd", "sex"),
    "hmda": ("hmda_boston", "race"),
}
LEVELS = (0.7, 0.8, 0.9)
MAX_ROWS = 4_000
WITHIN = 0.02
GRID = Grid.of(np.geomspace(0.3, 100, 16), (0.3, 1.0), (0.01,))


def runs(problems: list[str], seeds: int, bases: list[str], methods: list[str]) -> list[Run]:
    """Data sets x methods x seeds x base models, as a declaration."""
    return [
        {"experiment": "beyond", "problem": p, "base": base, "seed": seed, "method": method}
        for base in bases
        for seed in range(seeds)
        for p in problems
        for method in methods
    ]


def work(run: Run) -> Records:
    """One method on one split: all its models, on the selection and on the test rows."""
    split, samples = _samples(run)
    if run["method"] == "bound":
        return _bounds(samples["test"])
    if run["method"] == "COMMOD":
        models = _commod(split, samples["select"])
    else:
        models = sweep(
            run["method"], split, "demographic_parity", run["seed"], grid=GRID, n_concepts=3
        )
    found = []
    for model in models:
        record: dict[str, Any] = {"setting": next(iter(model.settings.values()))}
        for name, sample in samples.items():
            record |= {f"{k}_{name}": v for k, v in score(model, sample).items()}
        found.append(record)
    return found


def _commod(split: Split, select: Sample) -> Iterator[Model]:
    """COMMOD's candidates, each at the strength at which it first meets a level, as in a fit."""
    splits = Splits(
        Rows.of(split.X_train, split.y_train, split.s_train).scored(select.f),
        Rows.of(select.X, select.y, select.s, f_logit=select.f_logit),
    )
    targets = [Target(p_rule=level) for level in LEVELS]
    encoder = Encoder.fit(split.X_train)
    frontier = train_frontier(splits, encoder, 0.5, targets[0], Learner(GRID))
    for found in options(frontier, targets):
        for choice in _undominated(found):
            settings = {"setting": float(choice.model)}
            yield at_strength(frontier.candidates, choice.model, choice.strength, settings)


def _bounds(test: Sample) -> Records:
    """The fewest changes with S known for each level."""
    counts = Counts.from_arrays(decision=test.f_logit > 0, y=test.y, sensitive_features=test.s)
    found = [(level, P_RULE.fewest(counts, level)) for level in LEVELS]
    return [{"level": level, "known": None if b is None else b.change_rate} for level, b in found]


def _undominated(choices: list[Choice]) -> list[Choice]:
    """Those that no other beats in changes and accuracy: the rest would never be chosen."""
    kept: list[Choice] = []
    for choice in sorted(choices, key=lambda c: (c.change_rate, -c.accuracy)):
        if not kept or choice.accuracy > kept[-1].accuracy:
            kept.append(choice)
    return kept


def _samples(run: Run) -> tuple[Split, dict[str, Sample]]:
    """The rows of a run, split in three, and f fitted on the first part; f does not read S."""
    name, feature = PROBLEMS[run["problem"]]
    dataset = load(name)
    rows = np.random.default_rng(run["seed"]).permutation(len(dataset.y))[:MAX_ROWS]
    X, y = dataset.X.drop(columns=dataset.also_in_x).iloc[rows], dataset.y[rows]
    values = dataset.sensitive[feature]
    s = (values.iloc[rows] == values.value_counts().index[0]).to_numpy(np.int64)
    X_train, X_rest, y_train, y_rest, s_train, s_rest = train_test_split(
        X, y, s, test_size=0.5, random_state=run["seed"]
    )
    X_select, X_test, y_select, y_test, s_select, s_test = train_test_split(
        X_rest, y_rest, s_rest, test_size=0.5, random_state=run["seed"]
    )
    encoder = Encoder.fit(X_train)
    if run["base"] == "boosted":
        model = need("lightgbm", extra="test").LGBMClassifier(
            n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1, random_state=run["seed"]
        )
    else:
        model = LogisticRegression(max_iter=1_000)
    f = make_pipeline(FunctionTransformer(encoder.transform), model).fit(X_train, y_train)
    base = BaseModel(f)
    return Split(X_train, X_test, y_train, y_test, s_train, s_test, f), {
        "select": Sample(X_select, y_select, s_select, base),
        "test": Sample(X_test, y_test, s_test, base),
    }


def run(
    out: Path = Path("build/beyond"),
    seeds: int = 20,
    problems: list[str] | None = None,
    bases: list[str] | None = None,
    jobs: int = 2,
) -> dict[str, Any]:
    """Everything that the journal does not have yet."""
    todo = runs(problems or list(PROBLEMS), seeds, bases or ["logistic"], ["bound", *METHODS])
    entries = execute(todo, work, out / "journal.jsonl", jobs=jobs, progress=True)
    write_results(entries, out)
    return {"out": str(out)}


def chosen(frame: Any, level: float) -> Any:
    """The choice of every method on every split: one row each, empty where it does not reach."""
    pandas = need("pandas", extra="bench")
    keys = ["base", "problem", "seed"]
    models = frame[(frame["method"] != "bound")]
    ok = models[models["p_rule_select"] >= level]
    blind = ok[~ok["method"].isin([*ORACLES, "Bayes rule"])]
    best = blind.groupby(keys)["accuracy_select"].max().rename("best")
    ok = ok.join(best, on=keys)
    ok = ok[ok["accuracy_select"] >= ok["best"] - WITHIN]
    first = ok.sort_values(["change_rate_select", "accuracy_select"], ascending=[True, False])
    picked = first.groupby([*keys, "method"], as_index=False).first()
    every = pandas.MultiIndex.from_product(
        [*(sorted(models[k].unique()) for k in keys), list(METHODS)], names=[*keys, "method"]
    )
    return picked.set_index([*keys, "method"]).reindex(every).reset_index()


def show(result: dict[str, Any]) -> str:
    """Mean rank by changes, and what each method does, at every level."""
    frame = read_results(Path(result["out"]), "beyond")
    return "\n\n".join(
        _table(frame[frame["base"] == base], base, level)
        for base in frame["base"].unique()
        for level in LEVELS
    )


def _table(frame: Any, base: str, level: float) -> str:
    picked = chosen(frame, level)
    blind = picked[~picked["method"].isin([*ORACLES, "Bayes rule"])].copy()
    # who does not reach ranks behind all who do
    blind["rank"] = (
        blind.assign(c=blind["change_rate_test"].fillna(np.inf))
        .groupby(["problem", "seed"])["c"]
        .rank(method="average")
    )
    rank = blind.groupby("method")["rank"].mean()
    rows = []
    for method in METHODS:
        own = picked[picked["method"] == method]
        by_problem = own.groupby("problem")["change_rate_test"].mean()
        rows.append(
            [
                method,
                f"{rank[method]:.2f}" if method in rank else "",
                f"{own['change_rate_test'].notna().mean():.2f}",
                _pm(own["change_rate_test"]),
                _pm(own["p_rule_test"]),
                _pm(own["accuracy_test"]),
                f"{own['demoted_test'].mean():.3f}",
                f"{own['displacement_test'].mean():.3f}",
                f"{own['rank_inversions_test'].mean():.3f}",
                *(f"{by_problem.get(p, np.nan):.3f}" for p in picked["problem"].unique()),
            ]
        )
    known = frame[(frame["method"] == "bound") & (frame["level"] == level)]
    by_problem = known.groupby("problem")["known"].mean()
    rows.append(
        ["bound, S known", "", "", _pm(known["known"]), "", "", "", "", "",
         *(f"{by_problem.get(p, np.nan):.3f}" for p in picked["problem"].unique())]
    )  # fmt: skip
    return Table(
        f"P-Rule at least {level:g} on the selection rows, {base} f; test rows, "
        f"{picked['seed'].nunique()} seeds",
        [
            "method",
            "rank",
            "reached",
            "changes",
            "P-Rule",
            "accuracy",
            "demoted",
            "moved",
            "reversed",
            *picked["problem"].unique(),
        ],
        rows,
        ["rank: among methods that do not read S; by problem: mean changes where it is reached."],
    ).text()


def _pm(values: Any) -> str:
    """Mean with its 95 % interval over the runs."""
    values = values.dropna()
    if len(values) < 2:
        return "-" if values.empty else f"{values.mean():.3f}"
    return f"{values.mean():.3f} ± {1.96 * values.std() / len(values) ** 0.5:.3f}"
