"""What a patch's parts add, as nodes of an ONNX graph: numbers, ranges, categories."""

from collections.abc import Callable, Sequence

from fairpatch.engines.onnx_graph import Graph
from fairpatch.inputs.values import Value, plain
from fairpatch.patch.kinds import holds
from fairpatch.patch.parts import CategoricalWeight, NumberWeight, Range, RangesWeight
from fairpatch.patch.terms import LARGEST, SMALLEST


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
