"""Data and base models from elsewhere: databases by URL, pickles only on request, MLflow."""

import json
import pickle
import sqlite3

import duckdb
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from test_cli import fairpatch

from fairpatch.datasets import Population
from fairpatch.engines.onnx import run_graph
from fairpatch.patch import load

COLUMNS = ["--label", "y", "--favourable", "1", "--sensitive", "group", "--ignore", "id"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same people as a file and in two databases, and a model of them."""
    path = tmp_path_factory.mktemp("sources")
    population = Population(
        p_rule=0.6, accuracy=0.8, missing=0.0, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)}
    )
    people = population.sample(4_000, seed=0).to_pandas()
    people = people.astype({c: str for c in people.columns if people[c].dtype.name == "category"})
    people.to_parquet(path / "people.parquet")
    with duckdb.connect(str(path / "base.duckdb")) as base:
        base.execute(f"CREATE TABLE people AS SELECT * FROM '{path}/people.parquet'")
    with sqlite3.connect(path / "base.sqlite") as base:
        people.to_sql("people", base, index=False)
    base.close()
    X = people[population.columns]
    encode = make_column_transformer(
        (OneHotEncoder(), [c for c in X.columns if c.startswith("cat_")]),
        (StandardScaler(), [c for c in X.columns if c.startswith("num_")]),
    )
    f = make_pipeline(encode, LogisticRegression()).fit(X, people["y"])
    (path / "f.pkl").write_bytes(pickle.dumps(f))
    return path


@pytest.mark.parametrize(
    "source",
    [
        "base.duckdb::people",
        pytest.param("duckdb://base.duckdb::people", marks=pytest.mark.slow),
        pytest.param("sqlite://base.sqlite::people", marks=pytest.mark.slow),
    ],
)
def test_a_database_gives_the_audit_and_the_decisions_of_the_file(folder, source):
    options = [*COLUMNS, "--score", "score"]
    audits = [
        json.loads(fairpatch("audit", "--data", s, *options, "--json", cwd=folder).stdout)
        for s in ("people.parquet", source)
    ]
    assert audits[0] == audits[1]
    if not (folder / "run").exists():
        (folder / "fast.yaml").write_text("seed: 1\n")
        fairpatch("fit", "-c", "fast.yaml", "--data", "people.parquet", *options, "--p-rule", "0.7",
                  "--out", "run", cwd=folder)  # fmt: skip
    for name, data in (("one", "people.parquet"), ("two", source)):
        fairpatch("apply", "run", data, f"{name}.parquet", "--reasons", "--force", cwd=folder)
    one, two = (pd.read_parquet(folder / f"{n}.parquet").sort_values("id") for n in ("one", "two"))
    for column in ("fairpatch_decision", "fairpatch_changed", "fairpatch_reason"):
        assert one[column].astype(str).tolist() == two[column].astype(str).tolist()


def test_a_pickle_is_read_only_on_request_and_its_graph_decides_alike(folder):
    options = ["--data", "people.parquet", *COLUMNS, "--ignore", "score"]
    (folder / "fast.yaml").write_text("seed: 1\n")
    fit = ["fit", "-c", "fast.yaml", *options, "--model", "f.pkl", "--p-rule", "0.7"]
    done = fairpatch(*fit, "--out", "no", cwd=folder, code=2)
    assert "give --trust-model" in done.stderr
    assert not (folder / "no").exists()
    done = fairpatch(*fit, "--out", "own", "--trust-model", cwd=folder)
    assert "warning: f.pkl is a pickle" in done.stderr
    fairpatch("deploy", "own", "whole.onnx", "--model", "f.pkl", "--trust-model", cwd=folder)
    people = pd.read_parquet(folder / "people.parquet")
    found = run_graph(folder / "whole.onnx", people)["fairpatch_decision"]
    f = pickle.loads((folder / "f.pkl").read_bytes())
    patch = load(folder / "own" / "patch.json")
    X = people[[c for c in people.columns if c[:4] in ("num_", "cat_")]]
    assert (found == patch.decide(X, f.decision_function(X))).all()
    done = fairpatch("deploy", "own", "whole.txt", "--to", "mlflow", cwd=folder, code=2)
    assert "ends in .onnx" in done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_mlflow_model_is_read_on_request_and_a_patched_one_is_written(folder, monkeypatch):
    import mlflow

    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    f = pickle.loads((folder / "f.pkl").read_bytes())
    mlflow.sklearn.save_model(f, str(folder / "f"), serialization_format="cloudpickle")
    options = ["--data", "people.parquet", *COLUMNS, "--model", "f"]
    assert "give --trust-model" in fairpatch("audit", *options, cwd=folder, code=2).stderr
    found = fairpatch("audit", *options, "--trust-model", "--json", cwd=folder)
    assert json.loads(found.stdout)
    if not (folder / "own").exists():
        test_a_pickle_is_read_only_on_request_and_its_graph_decides_alike(folder)
    model = ("--model", "f.pkl", "--trust-model")
    fairpatch("deploy", "own", "served", "--to", "mlflow", *model, cwd=folder)
    people = pd.read_parquet(folder / "people.parquet")
    served = mlflow.pyfunc.load_model(str(folder / "served"))
    inputs = served.metadata.signature.inputs.input_names()
    assert "group" not in inputs
    by_graph = run_graph(folder / "whole.onnx", people)["fairpatch_decision"]
    assert (served.predict(people[inputs])["fairpatch_decision"].to_numpy() == by_graph).all()
