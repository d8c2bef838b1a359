"""All methods on somebody's own rows, at equal fairness."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.compare import compare


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    s = random.choice(["a", "b"], 3_000)
    X = pd.DataFrame(
        {"skill": random.normal(size=3_000) - 0.8 * (s == "b"),
         "street": random.normal(size=3_000) + 2.0 * (s == "b")}
    )  # fmt: skip
    y = (X["skill"] + random.normal(size=3_000) > 0).astype(int)
    fitted = LogisticRegression().fit(X[["skill"]][:1_500], y[:1_500])
    return (
        lambda rows: fitted.predict_proba(rows[["skill"]]),
        (X[:1_500], y[:1_500], s[:1_500]),
        (X[1_500:], y[1_500:], s[1_500:]),
    )


def test_nobody_is_below_the_fewest_possible(people):
    methods = ["fairpatch", "LPP", "ROC (reads S)", "FairBayes (reads S)", "Plug-in"]
    table = compare(*people, level=0.8, methods=methods, seeds=2)
    rows = {row[0]: row for row in table.rows}
    assert set(rows) == {"fewest possible, S known", *methods}
    changes = [float(row[2].split()[0]) for row in table.rows]
    assert changes == sorted(changes)
    assert "At a P-Rule of 0.8" in table.text()


def test_what_cannot_be_compared_is_said(people):
    f, train, test = people
    with pytest.raises(ValueError, match="two groups without gaps"):
        compare(f, (train[0], train[1], np.full(1_500, "a")), (test[0], test[1], ["a"] * 1_500))
    with pytest.raises(ValueError, match="no method 'ROC'.*there are fairpatch"):
        compare(f, train, test, methods=["ROC"])
    with pytest.raises(ValueError, match="labels must be 0 and 1"):
        compare(f, (train[0], np.where(train[1], "yes", "no"), train[2]), test)
