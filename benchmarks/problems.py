"""Nine problems: data sets with a sensitive feature of two values, split, with a base model f.

f and every method learn from the same rows. Tests are on up to 10,000 others: a P-Rule of few
people says little.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks.datasets import load
from benchmarks.paper import Split
from benchmarks.sample import Sample
from fairpatch._tools.extras import need
from fairpatch.inputs.base import BaseModel
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
SEVERAL = {"acs_income, 3 groups": ("acs_income", "race", 3)}
"""The most common groups each by itself: for methods that take more than two."""
LEARN, SELECT, TEST = 2_000, 1_000, 10_000


@dataclass(frozen=True, eq=False)
class Parts:
    """The rows of a problem in three parts; f was fitted on the first."""

    learn: Sample
    select: Sample
    test: Sample

    @property
    def both(self) -> Sample:
        """What a method that needs no rows to choose on may learn from."""
        pandas = need("pandas", extra="bench")
        one, two = self.learn, self.select
        return Sample(
            pandas.concat([one.X, two.X], ignore_index=True),
            np.concatenate([one.y, two.y]),
            np.concatenate([one.s, two.s]),
            one.f,
        )

    def redrawn(self, seed: int) -> "Parts":
        """A bootstrap of the rows to learn from, and of those to choose on; f and tests stay."""
        random = np.random.default_rng(1_000 + seed)

        def drawn(sample: Sample) -> Sample:
            rows = random.choice(len(sample.y), len(sample.y))
            X = sample.X.iloc[rows].reset_index(drop=True)
            return Sample(X, sample.y[rows], sample.s[rows], sample.f)

        return Parts(drawn(self.learn), drawn(self.select), self.test)

    def split(self, learned: Sample) -> Split:
        """As the sweeps of the methods take them."""
        test, f = self.test, self.test.f.estimator
        return Split(learned.X, test.X, learned.y, test.y, learned.s, test.s, f)


def parts(problem: str, seed: int, base: str) -> Parts:
    """The parts of a problem, in a random order that belongs to the seed; f does not read S."""
    name, feature, groups = SEVERAL.get(problem) or (*PROBLEMS[problem], 2)
    dataset = load(name)
    values = dataset.sensitive[feature]
    common = values.value_counts().index[:groups]
    kept = np.flatnonzero(values.isin(common)) if groups > 2 else np.arange(len(dataset.y))
    n = len(kept)
    learn, select = (LEARN, SELECT) if n >= 2 * (LEARN + SELECT) else (n // 2, n // 4)
    rows = kept[np.random.default_rng(seed).permutation(n)[: learn + select + TEST]]
    X = dataset.X.drop(columns=dataset.also_in_x).iloc[rows].reset_index(drop=True)
    y, own = dataset.y[rows], values.iloc[rows]
    s = (own == common[0]).to_numpy(np.int64)  # the most common one is 1, all others 0
    if groups > 2:
        s = own.map({value: i for i, value in enumerate(common)}).to_numpy(np.int64)
    f = BaseModel(fitted_model(base, X[:learn], y[:learn], seed))
    first, second, last = (
        Sample(X[a:b].reset_index(drop=True), y[a:b], s[a:b], f)
        for a, b in ((0, learn), (learn, learn + select), (learn + select, len(y)))
    )
    return Parts(first, second, last)


def fitted_model(base: str, X: Any, y: Any, seed: int) -> Any:
    """A base model of some kind, on encoded columns."""
    model: Any = LogisticRegression(max_iter=1_000)
    if base == "boosted":
        model = need("lightgbm", extra="test").LGBMClassifier(
            n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1, random_state=seed
        )
    encoder = Encoder.fit(X)
    return make_pipeline(FunctionTransformer(encoder.transform), model).fit(X, y)
