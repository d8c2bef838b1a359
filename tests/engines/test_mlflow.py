"""MLflow: saved, loaded, served over HTTP, logged. Everything on loopback and in a fresh folder."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from test_onnx import PIPELINES, encoded, patch_on, people

from fairpatch.engines.mlflow import log_model, save_model
from fairpatch.inputs.base import BaseModel
from fairpatch.patched import PatchedModel

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)


def test_a_saved_model_decides_as_the_patch_does(tmp_path):
    import mlflow

    X, y = people()
    f, patch = encoded(LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1)).fit(X, y), patch_on()
    folder = save_model(PatchedModel(BaseModel(f), patch), X, tmp_path / "model")
    assert not list(folder.rglob("*.pkl"))
    needed = (folder / "requirements.txt").read_text()
    assert "torch" not in needed
    found = mlflow.pyfunc.load_model(str(folder)).predict(X)
    decided = patch.decide(X, BaseModel(f).logits(X))
    assert (found["fairpatch_decision"].to_numpy() == decided).all()


def test_no_real_person_is_in_the_model(tmp_path):
    X, y = people(50, gaps=0.0)
    X["income"] += np.arange(len(X)) / 7
    f = PIPELINES["logistic"]().fit(X, y)
    folder = save_model(PatchedModel(BaseModel(f), patch_on()), X, tmp_path / "model")
    rows = json.loads((folder / "serving_input_example.json").read_text())
    example = pd.DataFrame(**rows["dataframe_split"])
    assert len(example) == 1
    assert not (X["income"] == example["income"][0]).any()


def test_served_on_loopback_and_asked_over_http(tmp_path):
    X, y = people(500)
    f, patch = PIPELINES["logistic"]().fit(X, y), patch_on()
    folder = save_model(PatchedModel(BaseModel(f), patch), X, tmp_path / "model")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(folder), "--port",
               str(port), "--host", "127.0.0.1", "--env-manager", "local"]  # fmt: skip
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PATH": path},
    )  # fmt: skip
    try:
        _wait(f"http://127.0.0.1:{port}/ping", server)
        split = json.loads(X.to_json(orient="split"))
        split.pop("index")
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/invocations",
            json.dumps({"dataframe_split": split}).encode(),
            {"Content-Type": "application/json"},
        )
        answer = json.load(urllib.request.urlopen(request, timeout=60))["predictions"]
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)
    decided = patch.decide(X, BaseModel(f).logits(X))
    assert [row["fairpatch_decision"] for row in answer] == decided.tolist()


def _wait(url, server):
    for _ in range(240):
        assert server.poll() is None, "the server stopped"
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except OSError:
            time.sleep(0.25)
        else:
            return
    raise TimeoutError(url)


@pytest.mark.slow
def test_a_model_is_logged_to_a_run():
    import mlflow

    X, _ = people(100)
    X["score"] = 0.4
    with mlflow.start_run():
        info = log_model(patch_on(), X)
    assert {"fairpatch_base_score", "age", "region"} == set(info.signature.inputs.input_names())
