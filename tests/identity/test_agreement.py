"""What f decides, not only what it scores: thresholds of wrappers, predict against the score."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpatch import BaseModel, Decision, FairPatch, Target, audit
from fairpatch.identity.fingerprint import _advice, check_agreement


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    s = random.integers(0, 2, 6_000)
    X = pd.DataFrame({"a": random.normal(size=6_000) + 0.7 * s, "b": random.normal(size=6_000),
                      "c": random.normal(size=6_000) + s})  # fmt: skip
    y = (random.random(6_000) < 1 / (1 + np.exp(-(X["a"] + X["b"] - 1.3)))).astype(int)
    return X, y.to_numpy(), s


class Cautious(LogisticRegression):
    """Its predict has a threshold that nobody can ask it for."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.31).astype(int)]


def wrappers():
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.2)
    yield "fixed", fixed
    yield "in a pipeline", make_pipeline(StandardScaler(), fixed)
    yield "tuned", TunedThresholdClassifierCV(LogisticRegression(), scoring="f1")
    yield "of a search", GridSearchCV(fixed, {"threshold": [0.2]})


@pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in wrappers()])
def test_a_wrapper_keeps_its_threshold(people, f):
    X, y, s = people
    f.fit(X[:2_000], y[:2_000])
    base = BaseModel(f)
    assert base.threshold != 0.5
    assert np.array_equal(base.decisions(X), f.predict(X) == 1)
    g = FairPatch(f, Target(p_rule=0.7)).fit(X[2_000:], y[2_000:], sensitive_features=s[2_000:])
    assert g.patch_.threshold == base.threshold
    changed = g.predict(X) != f.predict(X)
    assert np.array_equal(changed, g.patch_.decide(X, base.logits(X)) != base.decisions(X))
    found = audit(X, y, sensitive_features=s, estimator=f)
    assert found.threshold == base.threshold
    assert float(found.selection_rate) == pytest.approx(f.predict(X).mean())
    with pytest.raises(ValueError, match="decides at its own threshold"):
        BaseModel(f, Decision(threshold=0.9))


def test_a_model_that_decides_otherwise_is_refused_with_the_threshold_that_would_agree(people):
    X, y, s = people
    f = Cautious().fit(X[:2_000], y[:2_000])
    with pytest.raises(
        ValueError, match=r"predict and the score disagree.*Decision\(threshold=0.31"
    ) as no:
        FairPatch(f, Target(p_rule=0.7)).fit(X, y, sensitive_features=s)
    learned = X.iloc[: len(X) // 3]  # about as many of them are approved
    text, p = str(no.value), f.predict_proba(learned)[:, 1]
    shares = [float(n) / 100 for n in re.findall(r"([0-9.]+)%", text)]
    said, scored, differ = (
        f.predict(learned).mean(),
        (p > 0.5).mean(),
        np.mean((p > 0.31) & (p <= 0.5)),
    )
    assert shares == pytest.approx([said, scored, differ], abs=0.04)
    with pytest.raises(ValueError, match="predict and the score disagree"):
        audit(X, y, sensitive_features=s, estimator=f)
    named = FairPatch(f, Target(p_rule=0.7), decision=Decision(threshold=0.31))
    assert named.fit(X, y, sensitive_features=s).patch_.threshold == 0.31


def test_a_policy_may_have_a_threshold_that_the_model_does_not_know(people):
    X, y, _ = people
    f = LogisticRegression().fit(X, y)
    check_agreement(BaseModel(f, Decision(threshold=0.2)), X)
    check_agreement(BaseModel(f), X)
    check_agreement(BaseModel("a"), X)
    check_agreement(BaseModel(lambda rows: np.full(len(rows), 0.5)), X)


class Contrary(LogisticRegression):
    """Its predict follows another rule than its probability."""

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


def test_no_threshold_may_agree(people):
    X, y, _ = people
    f = Contrary().fit(X, y)
    with pytest.raises(ValueError, match="No threshold makes them agree"):
        check_agreement(BaseModel(f), X)


def test_text_labels_and_the_first_class_are_compared_alike(people):
    X, y, _ = people
    f = LogisticRegression().fit(X, np.where(y == 1, "paid", "lost"))
    for positive in ("paid", "lost"):
        check_agreement(BaseModel(f, Decision(positive=positive)), X)


def test_the_threshold_that_is_advised_is_one_that_may_be_named():
    advice = _advice(np.array([0.04, 0.2, 0.9]), np.array([True, True, True]))
    named = float(re.search(r"threshold=([0-9.]+)", advice)[1])
    assert Decision(threshold=named).threshold < 0.04
