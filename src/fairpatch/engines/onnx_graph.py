"""An ONNX graph in the making: fresh names, double precision, and what a patch's parts add."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairpatch.inputs.values import Value, plain
from fairpatch.patch.columns import holds
from fairpatch.patch.parts import CategoricalWeight, NumberWeight, Range, RangesWeight
from fairpatch.patch.terms import LARGEST, SMALLEST
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


# What a patch's parts add, as nodes of an ONNX graph: numbers, ranges, categories.


def number(graph: Graph, part: NumberWeight) -> str:
    """What a number adds."""
    x = graph.input(part.column, graph.onnx.TensorProto.DOUBLE)
    size = graph.node("Abs", [x])
    far = graph.node("GreaterOrEqual", [size, graph.constant([SMALLEST])])
    near = graph.node("Where", [far, x, graph.constant([0.0])])
    weighed = graph.node("Mul", [near, graph.constant([part.coefficient])])
    return graph.node("Where", [_known(graph, x), weighed, graph.constant([part.missing])])


def _known(graph: Graph, x: str) -> str:
    """Whether there is a number, and one that a person may have: no NaN, nothing beyond 1e100."""
    return graph.node("LessOrEqual", [graph.node("Abs", [x]), graph.constant([LARGEST])])


def ranges(graph: Graph, part: RangesWeight) -> str:
    """What a number adds by the range that it lies in."""
    x = graph.input(part.column, graph.onnx.TensorProto.DOUBLE)
    known = _known(graph, x)
    weight = by_range(graph, x, part.quantities, known, graph.constant([0.0]))
    for r in part.codes:
        here = graph.node("Equal", [x, graph.constant([float(r.code or 0.0)])])
        weight = graph.node("Where", [here, graph.constant([r.weight]), weight])
    return graph.node("Where", [known, weight, graph.constant([part.missing])])


def by_range(
    graph: Graph,
    x: str,
    ranges: Sequence[Range],
    known: str,
    weight: str,
    edge: Callable[[float], str] | None = None,
) -> str:
    """The weight of the range that x lies in, where it is known; elsewhere what was given.

    ``edge`` gives the node that a range's end is, where that is no constant.
    """
    end = edge or (lambda value: graph.constant([value]))
    for r in ranges:
        inside = known
        if r.at_least is not None:
            above = graph.node("GreaterOrEqual", [x, end(r.at_least)])
            inside = graph.node("And", [inside, above])
        if r.below is not None:
            below = graph.node("Less", [x, end(r.below)])
            inside = graph.node("And", [inside, below])
        weight = graph.node("Where", [inside, graph.constant([r.weight]), weight])
    return weight


def category(graph: Graph, part: CategoricalWeight) -> str:
    """A missing category is the empty string: ONNX has no null. Codes are numbers, as for f."""
    if _coded(part) or graph.is_number(part.column):
        return _codes(graph, part)
    x = graph.input(part.column, graph.onnx.TensorProto.STRING)
    weights = {as_text(plain(entry.category)): entry.weight for entry in part.categories}
    if len(weights) < len(part.categories):
        raise ValueError(
            f"column {part.column!r} has categories alike as text, which ONNX cannot tell "
            "apart: rename one of them"
        )
    if weights.setdefault("", part.missing) != part.missing:
        raise ValueError(
            f"column {part.column!r} has an empty string as a category, which ONNX cannot tell "
            "from a missing one: rename the category"
        )
    helper = graph.onnx.helper
    return graph.node(
        "LabelEncoder",
        [x],
        domain="ai.onnx.ml",
        keys_tensor=helper.make_tensor(
            "keys", graph.onnx.TensorProto.STRING, [len(weights)],
            [key.encode() for key in weights],
        ),
        values_tensor=helper.make_tensor(
            "values", graph.onnx.TensorProto.DOUBLE, [len(weights)], list(weights.values())
        ),
        default_tensor=helper.make_tensor(
            "default", graph.onnx.TensorProto.DOUBLE, [1], [part.other]
        ),
    )  # fmt: skip


def _coded(part: CategoricalWeight) -> bool:
    categories = [entry.category for entry in part.categories]
    return bool(categories) and holds(categories) == "numbers"


def _codes(graph: Graph, part: CategoricalWeight) -> str:
    x = graph.input(part.column, graph.onnx.TensorProto.DOUBLE)
    weight = graph.constant([part.other])
    for entry in part.categories:
        here = graph.node("Equal", [x, graph.constant([float(entry.category)])])
        weight = graph.node("Where", [here, graph.constant([entry.weight]), weight])
    return graph.node("Where", [_known(graph, x), weight, graph.constant([part.missing])])


def as_text(value: Value) -> str:
    r"""A category as the graph takes it: a number is no text, whatever it looks like.

    >>> as_text("1"), as_text(1), as_text(True), as_text(None)
    ('1', '\x001', '\x001', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return f"\x00{value}" if value.startswith("\x00") else value
    return f"\x00{value + 0}"
