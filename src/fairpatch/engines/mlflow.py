"""A patch in MLflow: a pyfunc model that serves an ONNX graph, and a run's figures and files.

What is served needs neither fairpatch nor torch on the server: ``mlflow_served.py`` goes with the
model as text, and no pickle is written or read.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fairpatch._tools.extras import need
from fairpatch._tools.files import whole_folder
from fairpatch.engines.onnx import SCORE, merged_graph, patch_graph, save_graph
from fairpatch.inputs.values import plain
from fairpatch.patch import Patch, save
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column, Kind
from fairpatch.patched import PatchedModel

SERVED = ("mlflow", "numpy", "onnxruntime", "pandas")
"""What the server needs."""


def save_model(
    model: PatchedModel | Patch, X: Any, path: str | Path, *, with_reason: bool = False
) -> Path:
    """Write an MLflow model to a folder; ``mlflow models serve -m FOLDER`` serves it.

    Of a patched model, the base model is inside: columns in, patched decisions out. Of a patch
    alone, or where f is a score column, the base model's probability is one more column,
    ``fairpatch_base_score``. ``X``, some rows of the data, gives the columns' types; none of them
    is stored. The model takes the very table that it was written with, integers included.
    """
    path = Path(path)
    if path.exists():
        raise ValueError(f"{path} exists: name a new folder")
    with _contents(model, X, with_reason=with_reason) as contents, whole_folder(path) as unfinished:
        need("mlflow.pyfunc", extra="mlflow").save_model(path=str(unfinished), **contents)
    return path


def log_model(
    model: PatchedModel | Patch, X: Any, *, name: str = "fairpatch", with_reason: bool = False
) -> Any:
    """Log the model to MLflow's active run; gives its ModelInfo."""
    with _contents(model, X, with_reason=with_reason) as contents:
        return need("mlflow.pyfunc", extra="mlflow").log_model(name=name, **contents)


@contextmanager
def _contents(
    model: PatchedModel | Patch, X: Any, *, with_reason: bool
) -> Iterator[dict[str, Any]]:
    models = need("mlflow.models", extra="mlflow")
    patch = model if isinstance(model, Patch) else model.patch
    if isinstance(model, Patch) or model.base.score_column is not None:
        graph = patch_graph(patch, with_reason=with_reason)
    else:
        graph = merged_graph(model, X, with_reason=with_reason)
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        save_graph(graph, files / "graph.onnx")
        save(patch, files / "patch.json")
        example = _average_person(graph, X)
        from fairpatch.engines import mlflow_served as code  # noqa: PLC0415 imports mlflow itself

        served = code.Patched(str(files / "graph.onnx"))
        yield {
            "python_model": code.__file__,
            "artifacts": {name: str(files / name) for name in ("graph.onnx", "patch.json")},
            "signature": _signature(models.infer_signature(example, served.frame(example))),
            "input_example": example,
            "pip_requirements": [f"{name}=={version(name)}" for name in SERVED],
            "metadata": {
                "fairpatch": {"threshold": patch.decision.above, "direction": patch.direction}
            },
        }


def _signature(outputs: Any) -> Any:
    """Numbers of any kind: MLflow lets no whole number into a column of doubles."""
    types = need("mlflow.types.schema", extra="mlflow")
    number = types.DataType.double
    outputs.inputs = types.Schema(
        [
            types.ColSpec(types.AnyType(), c.name, required=True) if c.type == number else c
            for c in outputs.inputs.inputs
        ]
    )
    return outputs


def _average_person(graph: Any, X: Any) -> Any:
    """One made-up row: medians and the commonest categories. A real person's would be a leak."""
    pandas = need("pandas", extra="mlflow")
    held = Columns.of(X)
    text = need("onnx", extra="onnx").TensorProto.STRING
    row: dict[str, list[Any]] = {}
    for entry in graph.graph.input:
        if entry.name == SCORE:
            row[entry.name] = [0.5]
            continue
        place = None if held.array is None else held.names.index(entry.name)
        kind: Kind = "category" if entry.type.tensor_type.elem_type == text else "number"
        values = held.values(Column(name=entry.name, kind=kind, position=place))
        if kind == "number":
            known = values[~np.isnan(values)]
            row[entry.name] = [float(np.median(known)) if len(known) else 0.0]
        else:
            common = Counter(str(v) for v in map(plain, values) if v is not None).most_common(1)
            row[entry.name] = [common[0][0] if common else ""]
    return pandas.DataFrame(row)
