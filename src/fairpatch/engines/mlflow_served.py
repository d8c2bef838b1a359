"""What an MLflow server runs: an ONNX graph on a frame. Copied into the model as it stands."""

from typing import Any

import mlflow
import numpy as np
import onnxruntime
import pandas as pd
from mlflow.pyfunc.model import PythonModel


class Patched(PythonModel):
    """Columns in; ratio, patched score and decision out."""

    def __init__(self, graph: str | None = None) -> None:
        self.session: Any = None if graph is None else _session(graph)

    def load_context(self, context: Any) -> None:
        """Open the graph that lies beside this file."""
        self.session = _session(context.artifacts["graph.onnx"])

    def predict(self, context: Any, model_input: pd.DataFrame, params: Any = None) -> pd.DataFrame:  # noqa: ARG002
        """One row a person."""
        return self.frame(model_input)

    def frame(self, table: pd.DataFrame) -> pd.DataFrame:
        """Run the graph; a gap is NaN in numbers and the empty string in text."""
        feed = {}
        for entry in self.session.get_inputs():
            column = table[entry.name]
            if "string" in entry.type:
                feed[entry.name] = np.array([_text(v) for v in column.tolist()], object)
            else:
                feed[entry.name] = column.astype("Float64").to_numpy(np.float64, na_value=np.nan)
        names = [output.name for output in self.session.get_outputs()]
        outputs = self.session.run(names, {k: v[:, None] for k, v in feed.items()})
        frame = pd.DataFrame({k: _column(v) for k, v in zip(names, outputs, strict=True)})
        if "fairpatch_valid" in frame:  # where the score is no probability there is no decision
            valid = frame.pop("fairpatch_valid")
            if not valid.all():
                wanted = ["fairpatch_score", "fairpatch_decision"]
                frame[wanted] = frame[wanted].astype(object).where(valid, None)
        return frame


def _text(value: Any) -> str:
    """A category as the graph takes it: a number is no text, whatever it looks like."""
    if value is None or value is pd.NA or value != value:  # noqa: PLR0124 NaN
        return ""
    return str(value) if isinstance(value, str | bool | np.bool_) else f"\x00{value}"


def _column(values: Any) -> Any:
    """One value a person; of reasons, each person's lines as one text."""
    if values.dtype != object:
        return values[:, 0]
    return ["; ".join(text for text in row if text) or None for row in values]


def _session(path: str) -> Any:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


mlflow.models.set_model(Patched())
