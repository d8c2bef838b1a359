"""What an MLflow server runs: an ONNX graph on a frame. Copied into the model as it stands."""

import json
from decimal import Decimal
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
        about = self.session.get_modelmeta().custom_metadata_map
        held = json.loads(about.get("fairpatch.categories", "{}"))
        for entry in self.session.get_inputs():
            name, values = entry.name, table[entry.name].tolist()
            if "string" in entry.type:
                texts = [_category(name, v, held.get(name, "both")) for v in values]
                feed[name] = np.array(texts, object)
            else:
                feed[name] = np.array([_number(name, v) for v in values], np.float64)
        names = [output.name for output in self.session.get_outputs()]
        outputs = self.session.run(names, {k: v[:, None] for k, v in feed.items()})
        frame = pd.DataFrame({k: _column(v) for k, v in zip(names, outputs, strict=True)})
        if "fairpatch_valid" in frame:  # where the score is no probability there is no decision
            valid = frame.pop("fairpatch_valid")
            if not valid.all():
                columns = ("fairpatch_score", "fairpatch_decision", "fairpatch_reason")
                wanted = [name for name in columns if name in frame]
                frame[wanted] = frame[wanted].astype(object).where(valid, None)
        return frame


def _number(name: str, value: Any) -> float:
    """A number; a gap is NaN. As ``fairpatch.patch.columns`` has it."""
    if value is None or value is pd.NA or value is pd.NaT:
        return float("nan")
    if isinstance(value, str | bytes | complex):
        raise TypeError(f"column {name!r} must be a number; got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return float("nan")
    except (TypeError, ValueError):
        raise TypeError(f"column {name!r} must be a number; got {value!r}") from None


def _category(name: str, value: Any, held: str) -> str:
    """A category as the graph takes it: a number is no text, whatever it looks like."""
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, str | bool | int | float | Decimal):
        raise TypeError(f"column {name!r} must be text, numbers or booleans; got {value!r}")
    if isinstance(value, str):
        if held == "numbers" and value:
            raise TypeError(f"column {name!r} must be a number; got {value!r}")
        return f"\x00{value}" if value.startswith("\x00") else value
    number = float(value) if isinstance(value, float | Decimal) else value
    if number != number:  # noqa: PLR0124 NaN
        return ""
    if held == "text":
        raise TypeError(f"column {name!r} must be text; got {value!r}")
    whole = isinstance(number, float) and number.is_integer()
    return f"\x00{int(number) if whole else number + 0}"


def _column(values: Any) -> Any:
    """One value a person; of reasons, each person's lines as one text."""
    if values.dtype != object:
        return values[:, 0]
    return ["; ".join(text for text in row if text) or None for row in values]


def _session(path: str) -> Any:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


mlflow.models.set_model(Patched())
