"""A patch as an ONNX graph, alone on a score input or merged behind the base model's own graph.

Inputs are columns, one tensor of shape (rows, 1) each: double for numbers, string for categories.
Outputs: ``fairpatch_ratio`` and ``fairpatch_decision``: the base model's, reversed where r says so.
Everything is in double precision, so the decisions are those of numpy, to the last row.
"""

from pathlib import Path
from typing import Any

import numpy as np

from fairpatch._extras import need
from fairpatch.engines.tables import DECISION, RATIO
from fairpatch.measure.sensitive import plain
from fairpatch.patch import Patch
from fairpatch.patch.arrays import LARGEST
from fairpatch.patch.file import whole_file
from fairpatch.patch.parts import CategoryWeight, NumberWeight, merge

SCORE = "fairpatch_base_score"
"""Name of the input that takes the base model's probability."""
OPSET, ML_OPSET = 17, 4  # LabelEncoder of doubles needs ai.onnx.ml 4


def patch_graph(patch: Patch) -> Any:
    """The patch alone: columns and the base model's probability in, ratio and decision out."""
    onnx = need("onnx", extra="onnx")
    graph = _Graph(onnx)
    total = graph.constant([1.0])
    whole = merge(patch.concepts, patch.offset, patch.strength)
    total = graph.node("Add", [total, graph.constant([whole.intercept])])
    for number in whole.numbers:
        total = graph.node("Add", [total, _number(graph, number)])
    for category in whole.categories:
        total = graph.node("Add", [total, _category(graph, category)])
    score = graph.input(SCORE, onnx.TensorProto.DOUBLE)
    zeros = graph.node("Mul", [score, graph.constant([0.0])])  # one row a person, in any case
    ratio = graph.node("Add", [total, zeros], output=RATIO)
    _decision(graph, patch, score, ratio)
    return graph.model(
        {RATIO: onnx.TensorProto.DOUBLE, DECISION: onnx.TensorProto.BOOL}, _about(patch)
    )


def save_graph(model: Any, path: str | Path) -> Path:
    """Check the graph and write it whole."""
    onnx = need("onnx", extra="onnx")
    onnx.checker.check_model(model)
    path = Path(path)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(model.SerializeToString())
    return path


def run_graph(path: str | Path, table: Any, *, score: str) -> dict[str, Any]:
    """Run a graph on a frame in memory: every output as an array of one value a row.

    ``score`` names the frame's column of the base model's probability.
    """
    session = need("onnxruntime", extra="onnx").InferenceSession(
        str(path), providers=["CPUExecutionProvider"]
    )
    feed = {}
    for entry in session.get_inputs():
        column = table[score if entry.name == SCORE else entry.name]
        if "string" in entry.type:
            known = [plain(v) for v in column]
            values = np.array(["" if v is None else str(v) for v in known], object)
        else:
            values = np.asarray(column, np.float64)
        feed[entry.name] = values[:, None]
    names = [output.name for output in session.get_outputs()]
    return {k: v[:, 0] for k, v in zip(names, session.run(names, feed), strict=True)}


def _decision(graph: "_Graph", patch: Patch, score: str, ratio: str) -> None:
    cutoff, zero = graph.constant([patch.cutoff]), graph.constant([0.0])
    approved, denied = (graph.node(op, [score, cutoff]) for op in ("Greater", "Less"))
    kept, turned = (graph.node(op, [ratio, zero]) for op in ("Greater", "Less"))
    stay = approved if patch.direction == "promote_only" else graph.node("And", [approved, kept])
    if patch.direction == "demote_only":
        graph.node("Identity", [stay], output=DECISION)
        return
    promoted = graph.node("And", [denied, turned])
    graph.node("Or", [stay, promoted], output=DECISION)


def _number(graph: "_Graph", part: NumberWeight) -> str:
    x = graph.input(part.column, graph.onnx.TensorProto.DOUBLE)
    known = graph.node("LessOrEqual", [x, graph.constant([LARGEST])])
    weighed = graph.node("Mul", [x, graph.constant([part.coefficient])])
    return graph.node("Where", [known, weighed, graph.constant([part.missing])])


def _category(graph: "_Graph", part: CategoryWeight) -> str:
    """A missing category is the empty string: ONNX has no null."""
    x = graph.input(part.column, graph.onnx.TensorProto.STRING)
    weights = {str(entry.level): entry.weight for entry in part.levels}
    if weights.setdefault("", part.missing) != part.missing:
        raise ValueError(
            f"column {part.column!r} has an empty string as a level, which ONNX cannot tell from a "
            "missing one: rename the level"
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


def _about(patch: Patch) -> dict[str, str]:
    return {"fairpatch.cutoff": repr(patch.cutoff), "fairpatch.direction": patch.direction}


class _Graph:
    """Nodes as they are made, each with a fresh name."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, Any] = {}

    def constant(self, values: list[float]) -> str:
        name = f"fairpatch/constant_{len(self.constants)}"
        self.constants.append(
            self.onnx.helper.make_tensor(
                name, self.onnx.TensorProto.DOUBLE, [1, len(values)], values
            )
        )
        return name

    def input(self, name: str, kind: int) -> str:
        if name not in self.inputs:
            self.inputs[name] = self.onnx.helper.make_tensor_value_info(name, kind, ["rows", 1])
        return name

    def node(self, op: str, inputs: list[str], *, output: str | None = None, **more: Any) -> str:
        name = output or f"fairpatch/step_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op, inputs, [name], **more))
        return name

    def model(self, outputs: dict[str, int], about: dict[str, str]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes,
            "fairpatch",
            list(self.inputs.values()),
            [helper.make_tensor_value_info(k, kind, ["rows", 1]) for k, kind in outputs.items()],
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
