"""An ONNX graph in the making: nodes as they come, each with a fresh name, in double precision."""

from typing import Any

import numpy as np

from fairpatch.patch.words import BETWEEN

OPSET, ML_OPSET = 17, 4  # LabelEncoder of doubles needs ai.onnx.ml 4


class Graph:
    """Nodes as they are made, each with a fresh name."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, Any] = {}

    def constant(self, values: list[float], *, scalar: bool = False) -> str:
        """Numbers that stand in the graph, as one row, or as a scalar."""
        return self._keep(self.tensor(values, shape=[] if scalar else [1, len(values)]))

    def text(self, value: str) -> str:
        """A text that stands in the graph."""
        kind = self.onnx.TensorProto.STRING
        return self._keep(self.onnx.helper.make_tensor("", kind, [1, 1], [value.encode()]))

    def whole(self, values: list[int]) -> str:
        """Whole numbers that stand in the graph: positions and axes."""
        return self._keep(
            self.onnx.helper.make_tensor("", self.onnx.TensorProto.INT64, [len(values)], values)
        )

    def tensor(self, values: list[float], shape: list[int] | None = None) -> Any:
        """Doubles as an attribute has them."""
        shape = [len(values)] if shape is None else shape
        return self.onnx.helper.make_tensor("", self.onnx.TensorProto.DOUBLE, shape, values)

    def _keep(self, tensor: Any) -> str:
        tensor.name = f"fairpatch/constant_{len(self.constants)}"
        self.constants.append(tensor)
        return str(tensor.name)

    def input(self, name: str, kind: int) -> str:
        """A column that the graph asks for, once."""
        if name not in self.inputs:
            self.inputs[name] = self.onnx.helper.make_tensor_value_info(name, kind, ["rows", 1])
        return name

    def is_number(self, name: str) -> bool:
        """Whether a column is asked for already, as numbers."""
        known = self.inputs.get(name)
        kind = None if known is None else known.type.tensor_type.elem_type
        return bool(kind == self.onnx.TensorProto.DOUBLE)

    def node(self, op: str, inputs: list[str], *, output: str | None = None, **more: Any) -> str:
        """One step; gives the name of what it makes."""
        name = output or f"fairpatch/step_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op, inputs, [name], **more))
        return name

    def _width(self, kind: int) -> int | str:
        """Texts are one column a line of the card, everything else is one column."""
        return "lines" if kind == self.onnx.TensorProto.STRING else 1

    def model(self, outputs: dict[str, int], about: dict[str, str]) -> Any:
        """The finished model."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes,
            "fairpatch",
            list(self.inputs.values()),
            [
                helper.make_tensor_value_info(k, kind, ["rows", self._width(kind)])
                for k, kind in outputs.items()
            ],
            self.constants,
        )
        model = helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("ai.onnx.ml", ML_OPSET),
            ],
        )
        model.ir_version = 8
        helper.set_model_props(model, about)
        return model


def joined(texts: Any) -> Any:
    """Each person's texts as one, None where there is none.

    >>> joined(np.array([["age", "", "job"], ["", "", ""]], object)).tolist()
    ['age; job', None]
    """
    return np.array([BETWEEN.join(t for t in row if t) or None for row in texts], object)
