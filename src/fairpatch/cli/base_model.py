"""The base model of a run: a score column, a skops or ONNX file, an MLflow model.

What can run code when it is read (a pickle, most MLflow models) is read only when asked to.
"""

import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpatch._extras import need
from fairpatch.cli.say import note, refuse

if TYPE_CHECKING:
    from fairpatch.cli.config import Config

INSTEAD = "score the table where the model lives and give --score instead"


def base_model(config: "Config") -> Any:
    """What ``Commod`` takes as its estimator."""
    if (config.score is None) == (config.model is None):
        refuse("name the base model: either --score COLUMN or --model FILE (.skops or .onnx)")
    return config.score or read_model(str(config.model), trust=config.trust_model)


def read_model(source: str, *, trust: bool) -> Any:
    """A fitted model, or a callable that gives probabilities."""
    registered = re.match(r"^(models|runs|mlflow-artifacts|s3|gs):/", source)
    if registered or (Path(source) / "MLmodel").exists():
        _need_trust(f"{source} is an MLflow model", trust=trust)
        return _from_mlflow(source)
    path = Path(source)
    if not path.exists():
        refuse(f"there is no file {source!r} for --model")
    if path.suffix == ".skops":
        skops = need("skops.io", extra="cli")
        unknown = skops.get_untrusted_types(file=path)
        if unknown:
            refuse(
                f"{path} holds types that could run code: {', '.join(unknown[:5])}. "
                f"Otherwise {INSTEAD}"
            )
        return skops.load(path)
    if path.suffix == ".onnx":
        return _OnnxScores(path)
    if path.suffix in (".pkl", ".pickle", ".joblib"):
        _need_trust(f"{path.name} is a pickle", trust=trust)
        if path.suffix == ".joblib":
            return need("joblib", extra="cli").load(path)
        return pickle.loads(path.read_bytes())  # noqa: S301 only with --trust-model
    return refuse(
        f"{path.name}: expected .skops, .onnx, an MLflow URI, or with --trust-model a pickle; "
        f"otherwise {INSTEAD}"
    )


def _need_trust(what: str, *, trust: bool) -> None:
    if not trust:
        refuse(
            f"{what}, which can run any code when it is read. If you trust where it comes from, "
            f"give --trust-model; otherwise {INSTEAD}"
        )
    note(f"warning: {what}: reading it runs code that came with it")


def _from_mlflow(uri: str) -> Any:
    """The model by its own library, which gives probabilities; any other as a function."""
    models = need("mlflow.models", extra="mlflow")
    flavours = models.get_model_info(uri).flavors
    for flavour in ("sklearn", "lightgbm", "xgboost", "catboost"):
        if flavour in flavours:
            found = need(f"mlflow.{flavour}", extra="mlflow").load_model(uri)
            if hasattr(found, "predict_proba"):
                return found
    return need("mlflow.pyfunc", extra="mlflow").load_model(uri).predict


class _OnnxScores:
    """Probabilities of an ONNX graph that takes one input a column, or one matrix."""

    def __init__(self, path: Path) -> None:
        self.session = need("onnxruntime", extra="onnx").InferenceSession(
            str(path), providers=["CPUExecutionProvider"]
        )

    def __call__(self, X: Any) -> Any:
        import numpy as np

        kinds = {
            "tensor(float)": np.float32,
            "tensor(double)": np.float64,
            "tensor(string)": object,
        }
        inputs = self.session.get_inputs()
        if len(inputs) == 1 and inputs[0].name not in list(X.columns):
            feed = {inputs[0].name: np.asarray(X, kinds[inputs[0].type])}
        else:
            feed = {i.name: np.asarray(X[i.name], kinds[i.type])[:, None] for i in inputs}
        found = self.session.run(None, feed)[-1]
        if isinstance(found, list):  # skl2onnx's ZipMap: one dictionary a row
            return np.array([list(row.values())[-1] for row in found], np.float64)
        found = np.asarray(found, np.float64)
        return found[:, -1] if found.ndim == 2 else found
