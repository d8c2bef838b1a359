"""f in every form: estimator, callable, score column; never refitted, nobody moved by rounding."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier

from fairpatch.decision import Decision
from fairpatch.inputs.base import CLIP, BaseModel, scores_of

X, Y = make_classification(2_000, n_features=6, flip_y=0.2, random_state=0)


def catboost():
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=30, verbose=False, allow_writing_files=False)


MODELS = {
    "logistic": LogisticRegression,
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": lambda: RandomForestClassifier(30, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=20),
    "hist_boosting": lambda: HistGradientBoostingClassifier(max_iter=20),
    "xgboost": lambda: XGBClassifier(n_estimators=30, n_jobs=1),
    "lightgbm": lambda: LGBMClassifier(n_estimators=30, verbose=-1, n_jobs=1),
    "lightgbm_pipeline": lambda: make_pipeline(
        StandardScaler(), LGBMClassifier(n_estimators=30, verbose=-1, n_jobs=1)
    ).set_output(transform="pandas"),
}


@pytest.mark.parametrize("name", [*MODELS, pytest.param("catboost", marks=pytest.mark.slow)])
@pytest.mark.parametrize("threshold", [0.5, 0.3])
def test_decisions_and_logits_are_the_models_own(name, threshold):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    model = (catboost if name == "catboost" else MODELS[name])().fit(frame, Y)
    p = model.predict_proba(frame)[:, 1].astype(float)
    f = BaseModel(model, Decision(threshold=threshold))
    assert np.array_equal(f.decisions(frame), p > threshold)
    assert np.allclose(f.scores(frame), p, atol=2e-7)
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    expected = np.log(clipped / (1 - clipped)) - np.log(threshold / (1 - threshold))
    assert np.allclose(f.logits(frame), expected, rtol=1e-4, atol=1e-4)


def test_margins_keep_the_tail_that_float32_probabilities_lose():
    x = np.linspace(-3, 3, 4_000)[:, None]
    model = XGBClassifier(n_estimators=300, max_depth=2, learning_rate=0.5, n_jobs=1)
    model.fit(x, (x[:, 0] > 0).astype(int))
    exact = model.predict(x, output_margin=True).astype(float)
    inside = np.abs(exact) < CLIP
    assert np.array_equal(BaseModel(model).logits(x)[inside], exact[inside])


@given(
    st.floats(1e-5, 1 - 1e-5), st.lists(st.floats(0, 1), min_size=1, max_size=20),
    st.booleans(), st.sampled_from([0, 1]),
)  # fmt: skip
def test_the_sign_of_f_logit_is_the_decision_to_the_last_bit(threshold, p, at_least, favourable):
    p = np.array([*p, 0.0, 1.0, threshold, np.nextafter(threshold, 0), np.nextafter(threshold, 1)])
    said = Decision(threshold=threshold, at_least=at_least, favourable=favourable)
    f = BaseModel(lambda _: p, said)
    logits, decided = f.logits(None), p >= threshold if at_least else p > threshold
    assert np.isfinite(logits).all()
    assert np.array_equal(logits > 0, decided == bool(favourable))
    assert np.array_equal(logits < 0, decided != bool(favourable))
    assert np.array_equal(f.decisions(None), decided)
    # and back again: scores are on the side of the decision
    again = scores_of(logits, said)
    assert np.array_equal(again >= threshold if at_least else again > threshold, decided)


@pytest.mark.parametrize("native", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_score_column_of_any_frame(native):
    frame = native({"x": [1, 2, 3], "p": [0.0, 0.5, 1.0]})
    assert BaseModel("p").decisions(frame).tolist() == [False, False, True]


def test_the_expression_decides_as_the_array_and_leaves_gaps_open():
    frame = pl.DataFrame({"p": [0.1, 0.6, None, float("nan"), 1.5]})
    out = nw.from_native(frame).select(d=BaseModel("p", Decision(threshold=0.3)).decision_expr())
    assert out["d"].to_list() == [False, True, None, None, None]


def test_f_survives_clone_and_is_never_fitted():
    model = LogisticRegression().fit(X, Y)
    f = BaseModel(model)
    assert clone(f) is f
    assert not hasattr(f, "fit")


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: BaseModel(3), TypeError, "predict_proba, a callable"),
        (
            lambda: BaseModel("p", Decision(threshold=0)),
            ValueError,
            "threshold must be a probability",
        ),
        (
            lambda: BaseModel("p", Decision(threshold=1.0)),
            ValueError,
            "threshold must be a probability",
        ),
        (lambda: BaseModel("q").scores(pd.DataFrame({"p": [1]})), KeyError, "no score column 'q'"),
        (lambda: BaseModel("p").scores(np.zeros((2, 2))), TypeError, "X must be a frame"),
        (lambda: BaseModel("p").scores(pd.DataFrame({"p": [2.0]})), ValueError, "1 of 1 values"),
        (lambda: BaseModel("p").scores(pd.DataFrame({"p": [None]})), ValueError, "missing or out"),
        (lambda: BaseModel(lambda X: X).scores(np.zeros((2, 3))), ValueError, "one score a row"),
        (lambda: BaseModel(len).decision_expr(), TypeError, "name of its score column"),
        (
            lambda: BaseModel(LogisticRegression().fit([[0], [1], [2]], [0, 1, 2])),
            ValueError,
            "has 3",
        ),
        (lambda: BaseModel(SVC().fit(X, Y)), TypeError, "only has predict"),
    ],
)
def test_errors_say_what_to_do(build, error, message):
    with pytest.raises(error, match=message):
        build()


class ByPosition:
    """A model that knows its columns' names and reads by position, as LightGBM's text does."""

    classes_ = (0, 1)
    feature_names_in_ = np.array(["income", "debt"])

    def predict_proba(self, X):
        """The first column is the chance."""
        p = np.asarray(X, float)[:, 0]
        return np.column_stack([1 - p, p])


def test_columns_in_another_order_are_put_into_the_models_own():
    X = pd.DataFrame({"income": [0.9, 0.2], "debt": [0.1, 0.8]})
    f = BaseModel(ByPosition())
    for frame in (X, X[["debt", "income"]], X.assign(more=1.0)[["more", "debt", "income"]]):
        assert f.scores(frame).tolist() == pytest.approx([0.9, 0.2])


@pytest.mark.parametrize("every", [True, False])
def test_a_text_classifiers_answers_are_read(every):
    p = np.array([0.0, 0.2, 0.9, 1.0])

    def pipeline(X):
        both = [[{"label": "no", "score": 1 - v}, {"label": "yes", "score": v}] for v in X[:, 0]]
        return both if every else [max(row, key=lambda a: a["score"]) for row in both]

    yes = BaseModel(pipeline, Decision(positive="yes"))
    assert yes.scores(p[:, None]).tolist() == pytest.approx(p.tolist())
    with pytest.raises(
        ValueError, match="answers with the labels 'no', 'yes', and decision 1 is 1"
    ):
        BaseModel(pipeline).scores(p[:, None])
