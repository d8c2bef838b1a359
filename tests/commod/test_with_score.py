"""r(x, f_logit): f's log-odds as a column of an ordinary patch."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch.commod import Commod, Training
from fairpatch.commod.estimator import WithScore
from fairpatch.explain import reasons

TRAINING = Training.as_printed(n_concepts=1, n_steps=600)


@pytest.fixture(scope="module")
def people():
    """Group b is scored low; nothing but the score tells who should change."""
    random = np.random.default_rng(0)
    n = 3_000
    s = random.choice(["a", "b"], n)
    X = pd.DataFrame(
        {"skill": random.normal(size=n) - 1.2 * (s == "b"), "noise": random.normal(size=n)}
    )
    y = (X["skill"] + random.normal(size=n) > 0).astype(int)
    return X, y, s, lambda rows: 1 / (1 + np.exp(-2 * np.asarray(rows["skill"])))


def test_r_reads_the_score_and_f_does_not(people):
    X, y, s, f = people
    given = WithScore(f)
    with_score = given.add(X)
    g = Commod(given, lambda_fair=3.0, lambda_ratio=0.05, lambda_concepts=0.001, training=TRAINING)
    g.fit(with_score, y, sensitive_features=s)
    assert "f_logit" in {column.name for column in g.patch_.columns}
    turned = with_score.assign(f_logit=-with_score["f_logit"])
    assert (g.base_.logits(turned) == g.base_.logits(with_score)).all()
    assert (g.predict_ratio(turned) != g.predict_ratio(with_score)).any()
    changed = g.predict(with_score) != (f(X) > 0.5)
    assert len(reasons(g.patched_, with_score)) == changed.sum()


def test_frames_of_other_kinds_and_orders(people):
    X, _, _, f = people
    shuffled = X.sample(frac=1, random_state=1)
    given = WithScore(f)
    assert (given.add(shuffled)["f_logit"] == given.add(X)["f_logit"].loc[shuffled.index]).all()
    frame = given.add(pl.from_pandas(X))
    assert frame["f_logit"].to_numpy() == pytest.approx(given.add(X)["f_logit"].to_numpy())
    with pytest.raises(ValueError, match="has a column 'f_logit' already"):
        given.add(frame)
