"""f and patch as one ONNX graph: every base model decides as it does in Python."""

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from scipy.special import expit, logit
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from fairpatch.decision import Decision
from fairpatch.engines.onnx import merged_graph, patch_graph, run_graph, save_graph
from fairpatch.engines.onnx_base import trees_of
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CategoricalWeight, CategoryWeight, Column, Concept, NumberWeight, Patch
from fairpatch.patched import PatchedModel


def patched(f, patch):
    return PatchedModel(BaseModel(f, Decision(threshold=patch.threshold)), patch)


DIRECTIONS = ("both", "promote_only", "demote_only")


def people(n=4_000, gaps=0.1, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": np.exp(random.normal(10, 1, n)),
            "age": random.integers(18, 80, n).astype(float),
            "region": random.choice(["north", "south", "west"], n),
        }
    )
    z = np.log(X["income"]) - 10 + (X["age"] - 45) / 20 + (X["region"] == "north")
    y = (z + random.normal(size=n) > 0.3).astype(int)
    X.loc[random.random(n) < gaps, "income"] = np.nan
    return X, y


def patch_on(direction="both", threshold=0.5, arrays=False):
    number = NumberWeight(column="x1" if arrays else "age", coefficient=-0.05, missing=0.4)
    category = CategoryWeight(category="north", weight=-1.0)
    category = CategoricalWeight(column="region", categories=(category,), missing=0.2)
    columns = [Column(name="x1", kind="number", position=1)] if arrays else [
        Column(name="age", kind="number"), Column(name="region", kind="category")
    ]  # fmt: skip
    return Patch(
        columns=columns,
        concepts=[
            Concept(
                name="c",
                weight=1.0,
                intercept=1.0,
                numbers=(number,),
                categories=() if arrays else (category,),
            )
        ],
        direction=direction,
        threshold=threshold,
    )


def encoded(final):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, ["income", "age"]), (OneHotEncoder(handle_unknown="ignore"), ["region"])
    )
    return make_pipeline(columns, final)


PIPELINES = {
    "logistic": lambda: encoded(LogisticRegression()),
    "lightgbm": lambda: encoded(LGBMClassifier(n_estimators=30, verbose=-1, n_jobs=1)),
    "xgboost": lambda: encoded(XGBClassifier(n_estimators=30, n_jobs=1)),
    "gradient boosting": lambda: encoded(GradientBoostingClassifier(n_estimators=20)),
    "forest": lambda: encoded(RandomForestClassifier(n_estimators=21, random_state=0)),
}
MATRICES = {
    "lightgbm": lambda: LGBMClassifier(n_estimators=50, verbose=-1, n_jobs=1),
    "xgboost": lambda: XGBClassifier(n_estimators=50, n_jobs=1),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=50),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("threshold", [0.5, 0.37])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_and_its_patch(name, threshold, tmp_path):
    X, y = people()
    f = PIPELINES[name]().fit(X, y)
    fresh, _ = people(20_000, seed=1)
    for direction in DIRECTIONS:
        patch = patch_on(direction, threshold)
        path = save_graph(
            merged_graph(patched(f, patch), X.head(500)),
            tmp_path / "f.onnx",
        )
        found = run_graph(path, fresh)
        f_logit = BaseModel(f, Decision(threshold=threshold)).logits(fresh)
        assert (found["fairpatch_decision"] == patch.decide(fresh, f_logit)).all()
        assert np.abs(found["fairpatch_ratio"] - patch.ratio(fresh)).max() < 1e-9
        expected = expit(patch.logits(fresh, f_logit) + logit(threshold))
        assert np.abs(found["fairpatch_score"] - expected).max() < 1e-6


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("name", MATRICES)
def test_boosted_trees_with_gaps_and_people_on_a_threshold(name, arrays):
    X, y = people()
    X = X[["income", "age"]]
    f = MATRICES[name]().fit(X.to_numpy() if arrays else X, y)
    trees = trees_of(f)
    on = [t for t, k in zip(trees.threshold, trees.feature, strict=True) if k == 0]
    beside = pd.DataFrame({"income": [*on, *np.nextafter(on, np.inf), *np.nextafter(on, -np.inf)]})
    beside["age"] = 40.0
    fresh = pd.concat([people(5_000, seed=1)[0][["income", "age"]], beside])
    fresh = fresh.to_numpy() if arrays else fresh
    patch = patch_on(arrays=True) if arrays else Patch(
        columns=[Column(name="age", kind="number")], concepts=patch_on(arrays=True).concepts[:0]
    )  # fmt: skip
    found = run_graph(
        merged_graph(patched(f, patch), fresh[:50]).SerializeToString(),
        fresh,
    )
    f_logit = BaseModel(f).logits(fresh)
    assert (found["fairpatch_decision"] == patch.decide(fresh, f_logit)).all()
    expected = expit(patch.logits(fresh, f_logit))
    assert np.abs(found["fairpatch_score"] - expected).max() < 1e-6


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_patch_alone_has_numpys_score(direction):
    X, _ = people()
    X["p"] = np.random.default_rng(2).random(len(X))
    patch = patch_on(direction, 0.37)
    found = run_graph(patch_graph(patch).SerializeToString(), X, score="p")
    f_logit = BaseModel("p", Decision(threshold=0.37)).logits(X)
    assert (found["fairpatch_decision"] == patch.decide(X, f_logit)).all()
    expected = expit(patch.logits(X, f_logit) + logit(0.37))
    assert np.abs(found["fairpatch_score"] - expected).max() < 1e-9


def test_a_model_that_cannot_be_converted_is_refused_with_advice():
    X, y = people(gaps=0.0)
    X = X[["income", "age"]]
    f = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="Export the patch alone, on a score input"):
        merged_graph(patched(f, patch_on(arrays=True)), X)


def test_a_graph_that_decides_otherwise_is_refused(monkeypatch):
    X, y = people(gaps=0.0)
    X = X[["income", "age"]].to_numpy()
    f = LogisticRegression().fit(X, y)
    whole = merged_graph(patched(f, patch_on(arrays=True)), X)
    onnx.checker.check_model(whole, full_check=True)
    assert onnxruntime.InferenceSession(whole.SerializeToString())
    monkeypatch.setattr("fairpatch.engines.onnx.base_logits", wrong_sign)
    with pytest.raises(ValueError, match="differs from LogisticRegression: .* decisions"):
        merged_graph(patched(f, patch_on(arrays=True)), X)


def wrong_sign(graph, base, X):
    from fairpatch.engines.onnx_base import base_logits

    return graph.node("Neg", [base_logits(graph, base, X)])
