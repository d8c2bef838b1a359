"""The review that the landing page links to: the README's model, reviewed as a bank would.

Without the real data a generated population stands in, so that the link always leads somewhere.
"""

import os
from pathlib import Path

from sklearn.ensemble import HistGradientBoostingClassifier

from fairpatch import About, FairPatch, Target
from fairpatch.datasets import Population, load

ABOUT = {
    "owner": "fairpatch developers",
    "purpose": "a sample, to show what a review looks like",
}


def write(path: Path) -> None:
    """Fit, review, write the page."""
    if os.environ.get("FAIRPATCH_DATA"):
        adult = load("adult")
        X, y, S = adult.X, adult.y, {"sex": adult.sensitive["sex"]}
        X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
        f = HistGradientBoostingClassifier(random_state=0).fit(X[:10_000], y[:10_000])
        model = "Income above 50,000 dollars, US census of 1994"
        new, later = slice(10_000, 20_000), slice(20_000, 30_000)
    else:
        groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
        people = Population(p_rule=0.6, accuracy=0.8, groups=groups).sample(16_000, seed=1)
        people = people.to_pandas()
        X, y, S = people.drop(columns=["id", "group", "y"]), people["y"], {"group": people["group"]}
        f, model = "score", "A generated population"
        new, later = slice(0, 8_000), slice(8_000, None)
    g = FairPatch(f, Target(p_rule=0.8, direction="promote_only"))
    g = g.fit(X[new], y[new], sensitive_features={k: v[new] for k, v in S.items()})
    found = g.review(
        X[later], y[later], sensitive_features={k: v[later] for k, v in S.items()}, refits=2,
        about=About(model=model, **ABOUT),
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    found.to_html(path)
