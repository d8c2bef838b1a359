"""The base model of a run: a score column, a skops file or an ONNX file. Never a pickle."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpatch._extras import need
from fairpatch.cli.say import refuse

if TYPE_CHECKING:
    from fairpatch.cli.config import Config


def base_model(config: "Config") -> Any:
    """What ``Commod`` takes as its estimator."""
    if (config.score is None) == (config.model is None):
        refuse("name the base model: either --score COLUMN or --model FILE (.skops or .onnx)")
    if config.score is not None:
        return config.score
    path = Path(str(config.model))
    if not path.exists():
        refuse(f"there is no file {str(path)!r} for --model")
    if path.suffix == ".skops":
        skops = need("skops.io", extra="cli")
        unknown = skops.get_untrusted_types(file=path)
        if unknown:
            refuse(
                f"{path} holds types that could run code: {', '.join(unknown[:5])}. Score the "
                "table where the model lives and give --score instead"
            )
        return skops.load(path)
    if path.suffix == ".onnx":
        return _OnnxScores(path)
    return refuse(
        f"{path.name}: expected .skops or .onnx. A pickle runs code when it is read; score the "
        "table where the model lives and give --score instead"
    )


class _OnnxScores:
    """Probabilities of an ONNX graph that takes one input a column, or one matrix."""

    def __init__(self, path: Path) -> None:
        self.session = need("onnxruntime", extra="onnx").InferenceSession(
            str(path), providers=["CPUExecutionProvider"]
        )

    def __call__(self, X: Any) -> Any:
        import numpy as np

        inputs = self.session.get_inputs()
        if len(inputs) == 1:
            feed = {inputs[0].name: np.asarray(X, np.float32)}
        else:
            feed = {i.name: np.asarray(X[i.name], np.float32)[:, None] for i in inputs}
        found = self.session.run(None, feed)[-1]
        if isinstance(found, list):  # skl2onnx's ZipMap: one dictionary a row
            return np.array([list(row.values())[-1] for row in found], np.float64)
        found = np.asarray(found, np.float64)
        return found[:, -1] if found.ndim == 2 else found
