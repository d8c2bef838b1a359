"""A patch as an ONNX graph, alone on a score input or merged behind the base model's own graph.

Inputs are columns, one tensor of shape (rows, 1) each: double for numbers, string for categories.
Outputs: ratio, patched score, and decision: the base model's, reversed where r says so.
Everything is in double precision, so the decisions are those of numpy, to the last row.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logit

from fairpatch._tools.extras import need
from fairpatch._tools.files import whole_file
from fairpatch.decision import LARGEST_SCORE
from fairpatch.engines.onnx_base import base_logits
from fairpatch.engines.onnx_base import log_odds as odds_of
from fairpatch.engines.onnx_graph import Graph, as_text, by_range, category, joined, number, ranges
from fairpatch.inputs.base import BESIDE, POINTS_BESIDE
from fairpatch.inputs.past_decisions import beyond
from fairpatch.measure.cells import may_demote, may_promote
from fairpatch.patch import Patch
from fairpatch.patch.apply import DECISION, RATIO, REASON
from fairpatch.patch.apply import SCORE as PATCHED
from fairpatch.patch.columns import Columns, category_of, holds
from fairpatch.patch.expressions import EDGE
from fairpatch.patch.model import HALF, log_odds
from fairpatch.patch.parts import (
    NEVER,
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    Kind,
    merge,
)
from fairpatch.patch.words import MISSED, REACHED, lacking_lines, reason_lines
from fairpatch.patched import PatchedModel

SCORE = "fairpatch_base_score"
"""Name of the input that takes the base model's probability."""
VALID = "fairpatch_valid"
"""Output: whether the probability was one. Where not, there is no decision: ONNX has no null."""
CATEGORIES = "fairpatch.categories"
"""In the graph's metadata: of each category, whether it is text, numbers or both."""
TOLERANCE = 1e-6
"""How far a graph's probability may be from numpy's."""


def _check_decides(patch: Patch) -> None:
    """Refuse a patch that refers people: a graph has decisions, and no list for a person."""
    if patch.action == "refer":
        raise ValueError(
            "this patch refers people to a person and decides nothing: use apply or sql, which "
            "write the list"
        )
    if patch.pilot is not None:
        raise ValueError(
            "a pilot is drawn by a key, which a graph does not read: use apply, or deploy to a "
            "warehouse, or export the card for everybody"
        )


def patch_graph(patch: Patch, *, with_reason: bool = False) -> Any:
    """The patch alone: columns and the base model's probability in; ratio, score, decision out.

    With reasons one more output: of each person one text a line of the card, empty where the line
    did not push towards a change.
    """
    _check_decides(patch)
    graph = Graph(need("onnx", extra="onnx"))
    _check_names(patch)
    p = graph.input(SCORE, graph.onnx.TensorProto.DOUBLE)
    if patch.decision.score_unit == "percent":
        p = graph.node("Div", [p, graph.constant([100.0])])
    ends = ("GreaterOrEqual", 0.0), ("LessOrEqual", 1.0)
    if patch.decision.in_points:
        ends = ("Greater", -LARGEST_SCORE), ("Less", LARGEST_SCORE)
    low, high = (graph.node(op, [p, graph.constant([end])]) for op, end in ends)
    threshold, several = _threshold(graph, patch), patch.decision.cuts is not None
    if several:
        high = graph.node(
            "And", [high, graph.node("Less", [threshold, graph.constant([LARGEST_SCORE])])]
        )
    if patch.decision.knocks_out:  # no score is a denial, and not nobody's decision
        valid = graph.node("And", [low, high])
        none = graph.node("Or", [graph.node("IsNaN", [p]), graph.node("IsInf", [p])])
        graph.node("Or", [valid, none], output=VALID)
    else:
        graph.node("And", [low, high], output=VALID)
    approved, denied = _sides(graph, patch, p, threshold)
    if patch.decision.in_points:  # how far, whatever odds points stand for
        far = graph.node("Sub", [p, threshold])
        shift = threshold
    else:
        edges = [graph.constant([edge], scalar=True) for edge in (EDGE, 1 - EDGE)]
        inside = [graph.node("Clip", [score, *edges]) for score in (p, threshold)]
        odds, shift = (odds_of(graph, score) for score in inside)
        far = graph.node("Sub", [odds, shift])
    more = {VALID: graph.onnx.TensorProto.BOOL}

    def edge(value: float) -> str:
        return _threshold(graph, patch, value) if several else graph.constant([value])

    confidence = _confidence(graph, patch, p, edge)
    return _patched(
        graph, patch, far, shift, approved, denied, confidence, with_reason=with_reason, more=more
    )


def _threshold(graph: Graph, patch: Patch, by: float = 0.0) -> str:
    """The one threshold, or each row's own; where a row has none, more than any score."""
    cuts = patch.decision.cuts
    if cuts is None:
        return graph.constant([patch.decision.cut])
    cuts = beyond(cuts, by) if by else cuts
    weights = tuple(CategoryWeight(category=c.value, weight=c.threshold) for c in cuts.at)
    none = 2 * LARGEST_SCORE
    return category(
        graph, CategoricalWeight(column=cuts.by, categories=weights, missing=none, other=none)
    )


def _sides(graph: Graph, patch: Patch, score: str, threshold: str) -> tuple[str, str]:
    """Whom f approves, and whom it denies: a score of exactly the threshold is one of them."""
    ways = ("GreaterOrEqual", "Less") if patch.decision.at_least else ("Greater", "LessOrEqual")
    one, zero = (graph.node(op, [score, threshold]) for op in ways)
    return (one, zero) if patch.decision.favourable else (zero, one)


def _check_names(patch: Patch) -> None:
    """Inputs and outputs of a graph share one space of names with what is ours."""
    for column in patch.columns:
        if column.name.lower().startswith("fairpatch"):
            raise ValueError(
                f"column {column.name!r} has a name of fairpatch's own: rename it in the table and "
                "in the data of the fit"
            )


def merged_graph(model: PatchedModel, X: Any, *, with_reason: bool = False) -> Any:
    """The base model and the patch as one graph: columns in; ratio, score, decision out.

    The base model is a fitted classifier: scikit-learn's, a pipeline, or boosted trees. ``X``, some
    rows of its data, give the columns' types; the graph is run on them, and refused where it does
    not decide as the patched model does.
    """
    _check_decides(model.patch)
    graph, patch = Graph(need("onnx", extra="onnx")), model.patch
    _check_names(patch)
    if patch.decision.cuts is not None:
        raise ValueError(
            "a graph of base model and patch has one threshold, and this patch has one for each "
            f"{patch.decision.cuts.by}: export the patch alone, on a score input"
        )
    f_logit = base_logits(graph, model.base, X)
    threshold = patch.decision.cut
    shift = graph.constant([float(logit(threshold))])
    zero = graph.constant([0.0])
    approved, denied = _sides(graph, patch, f_logit, zero)

    def edge(value: float) -> str:
        return graph.constant([float(log_odds(value, threshold, patch.decision))])

    confidence = _confidence(graph, patch, f_logit, edge)
    made = _patched(
        graph, patch, f_logit, shift, approved, denied, confidence, with_reason=with_reason
    )
    _check(made, model, X)
    return made


def _check(made: Any, model: PatchedModel, X: Any) -> None:
    outputs = run_graph(made.SerializeToString(), X)
    wrong = int((outputs[DECISION] != model.decide(X)).sum())
    off = float(np.abs(outputs[PATCHED] - model.predict_proba(X)[:, 1]).max(initial=0.0))
    if wrong or not off <= TOLERANCE:
        kind = type(model.base.estimator).__name__
        raise ValueError(
            f"the ONNX graph differs from {kind}: {wrong} decisions, and a probability by "
            f"{off:.2g}. Export the patch alone, on a score input, instead"
        )


def _patched(
    graph: Graph,
    patch: Patch,
    f_logit: str,
    shift: str,
    approved: str,
    denied: str,
    confidence: str,
    *,
    with_reason: bool,
    more: dict[str, int] | None = None,
) -> Any:
    """Put r, g and the decision behind f's."""
    double, boolean = graph.onnx.TensorProto.DOUBLE, graph.onnx.TensorProto.BOOL
    if patch.card is None:
        points = _total(graph, merge(patch.concepts, patch.offset))
        turned = graph.node("Mul", [points, graph.constant([patch.strength])])
        # one row a person in any case
        one = graph.node("Add", [graph.node("Mul", [f_logit, graph.constant([0.0])]),
                                 graph.constant([1.0])])  # fmt: skip
        ratio = graph.node("Add", [turned, one], output=RATIO)
    else:
        ratio = _card_ratio(graph, patch, approved, confidence)
    favoured = _decision(graph, patch, approved, denied, ratio)
    changed = graph.node("Xor", [approved, favoured])
    _score(graph, patch, f_logit, shift, approved, changed, ratio)
    outputs = {RATIO: double, PATCHED: double, DECISION: boolean, **(more or {})}
    if with_reason:
        _reasons(graph, patch, approved)
        outputs[REASON] = graph.onnx.TensorProto.STRING
    return graph.model(outputs, _about(patch))


def _reasons(graph: Graph, patch: Patch, approved: str) -> None:
    """One column a line: its words where it pushed towards a change that was made, else nothing."""
    if patch.card is None or not patch.lines:
        raise ValueError("only a card of points gives reasons in ONNX: it has lines, this has none")
    zero, empty = graph.constant([0.0]), graph.text("")
    after = DECISION if patch.decision.favourable else graph.node("Not", [DECISION])
    changed, denied = graph.node("Xor", [approved, after]), graph.node("Not", [approved])
    texts = []
    silent = changed  # whose change no line has given a reason for so far
    for line in reason_lines(patch):
        points = _total(graph, merge([line.part]))
        gave = graph.node("And", [denied, graph.node("Greater", [points, zero])])
        took = graph.node("And", [approved, graph.node("Less", [points, zero])])
        pushed = graph.node("And", [changed, graph.node("Or", [gave, took])])
        texts.append(graph.node("Where", [pushed, graph.text(line.text), empty]))
        silent = graph.node("And", [silent, graph.node("Not", [pushed])])
    lost, still = graph.node("And", [silent, approved]), silent
    for line in lacking_lines(patch):
        lacks = graph.node("Less", [_total(graph, merge([line.part])), zero])
        lacks = graph.node("And", [lost, lacks])
        texts.append(graph.node("Where", [lacks, graph.text(line.text), empty]))
        still = graph.node("And", [still, graph.node("Not", [lacks])])
    for who, words in ((approved, MISSED), (denied, REACHED)):
        left = graph.node("And", [still, who])
        texts.append(graph.node("Where", [left, graph.text(words), empty]))
    graph.node("Concat", texts, output=REASON, axis=1)


def _total(graph: Graph, whole: Concept) -> str:
    """A concept: its intercept, then term by term."""
    total = graph.constant([whole.intercept])
    for part in [
        *(number(graph, n) for n in whole.numbers),
        *(ranges(graph, r) for r in whole.ranges),
        *(category(graph, c) for c in whole.categories),
    ]:
        total = graph.node("Add", [total, part])
    return total


def _confidence(graph: Graph, patch: Patch, score: str, edge: Callable[[float], str]) -> str:
    """The points of the band that a score lies in; ``edge`` gives a band's end as the score has it.

    One row a person in any case.
    """
    bands = [] if patch.card is None else patch.card.bands
    nothing = graph.node("Mul", [score, graph.constant([0.0])])
    points = by_range(graph, score, bands, graph.node("Equal", [score, score]), nothing, edge)
    lock = None if patch.card is None else patch.card.lock
    if lock is None:
        return points
    locked = graph.node("Greater", [_total(graph, lock), graph.constant([0.0])])
    return graph.node("Where", [locked, graph.constant([float(NEVER)]), points])


def _card_ratio(graph: Graph, patch: Patch, approved: str, confidence: str) -> str:
    """r = (short - 1/2) / needed, within -1 and 1 (see ``fairpatch.patch.model``)."""

    def by_side(value: Callable[[int], float]) -> str:
        gain, loss = patch.needed
        sides = [graph.constant([value(needed)]) for needed in (loss, gain)]
        return graph.node("Where", [approved, *sides])

    points = _total(graph, merge(patch.concepts, patch.offset))
    towards = graph.node("Mul", [points, graph.node(
        "Where", [approved, graph.constant([1.0]), graph.constant([-1.0])])])  # fmt: skip
    short = graph.node("Add", [graph.node("Add", [towards, confidence]),
                               by_side(lambda needed: needed - HALF)])  # fmt: skip
    ratio = graph.node("Div", [short, by_side(lambda needed: float(max(needed, 1)))])
    if not patch.strength:
        nothing = graph.node("Mul", [ratio, graph.constant([0.0])])
        ratio = graph.node("Add", [nothing, graph.constant([1.0])])
    edges = [graph.constant([edge], scalar=True) for edge in (-1.0, 1.0)]
    return graph.node("Clip", [ratio, *edges], output=RATIO)


def save_graph(model: Any, path: str | Path) -> Path:
    """Check the graph and write it whole."""
    onnx = need("onnx", extra="onnx")
    onnx.checker.check_model(model)
    path = Path(path)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(model.SerializeToString())
    return path


def run_graph(graph: str | Path | bytes, table: Any, *, score: str | None = None) -> dict[str, Any]:
    """Run a graph on a frame or array in memory: every output as an array of one value a row.

    ``score`` names the frame's column of the base model's probability, where the graph asks for it.
    """
    session = need("onnxruntime", extra="onnx").InferenceSession(
        graph if isinstance(graph, bytes) else str(graph), providers=["CPUExecutionProvider"]
    )
    entries = {entry.name: "string" in entry.type for entry in session.get_inputs()}
    if SCORE in entries and score is None:
        raise ValueError("the graph is of a patch alone: name the column of f's probability, score")
    held, feed = Columns.of(table), {}
    told: Any = json.loads(session.get_modelmeta().custom_metadata_map.get(CATEGORIES, "{}"))
    for name, text in entries.items():
        source = score if name == SCORE and score is not None else name
        place = None if held.array is None else held.names.index(source)
        kind: Kind = "category" if text or name in told else "number"
        values = held.values(Column(name=source, kind=kind, position=place))
        if kind == "category":
            known = [category_of(source, v, told.get(name, "both")) for v in values]
            values = np.array(
                [as_text(v) for v in known]
                if text
                else [np.nan if v is None else float(v) for v in known],
                object if text else np.float64,
            )
        feed[name] = values[:, None]
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, feed), strict=True))
    outputs = {k: joined(v) if k == REASON else v[:, 0] for k, v in outputs.items()}
    valid = outputs.pop(VALID, None)
    if valid is not None and not valid.all():  # as a null in other engines
        outputs[DECISION] = np.where(valid, outputs[DECISION].astype(object), None)
        outputs[PATCHED] = np.where(valid, outputs[PATCHED], np.nan)
        if REASON in outputs:
            outputs[REASON] = np.where(valid, outputs[REASON], None)
    return outputs


def _decision(graph: Graph, patch: Patch, approved: str, denied: str, ratio: str) -> str:
    zero = graph.constant([0.0])
    kept, turned = (graph.node(op, [ratio, zero]) for op in ("Greater", "Less"))
    stay = graph.node("And", [approved, kept]) if may_demote(patch.direction) else approved
    favoured = stay
    if may_promote(patch.direction):
        favoured = graph.node("Or", [stay, graph.node("And", [denied, turned])])
    as_f = "Identity" if patch.decision.favourable else "Not"
    graph.node(as_f, [favoured], output=DECISION)
    return favoured


def _score(
    graph: Graph, patch: Patch, f_logit: str, shift: str, approved: str, changed: str, ratio: str
) -> None:
    """g = sigmoid(r f_logit + logit t), f's own where the direction leaves a person alone.

    Of points, g = r (s - t) + t.
    """
    moved = graph.node("Mul", [ratio, f_logit])
    if not may_demote(patch.direction):
        moved = graph.node("Where", [approved, f_logit, moved])
    if not may_promote(patch.direction):
        moved = graph.node("Where", [approved, moved, f_logit])
    moved = graph.node("Add", [moved, shift])
    g = moved if patch.decision.in_points else graph.node("Sigmoid", [moved])
    beside = (POINTS_BESIDE if patch.decision.in_points else BESIDE) * (
        -1.0 if patch.decision.at_least else 1.0
    )
    t = shift if patch.decision.in_points else graph.node("Sigmoid", [shift])
    turned = graph.node("And", [graph.node("Equal", [f_logit, graph.constant([0.0])]), changed])
    there = graph.node("Add", [t, graph.constant([beside])])
    graph.node("Where", [turned, there, g], output=PATCHED)


def _about(patch: Patch) -> dict[str, str]:
    lock = None if patch.card is None else patch.card.lock
    held: dict[str, str] = {}
    for concept in (*patch.concepts, *([lock] if lock else [])):
        for part in concept.categories:  # one that is strict is enough to refuse
            own = holds(entry.category for entry in part.categories)
            held[part.column] = held.get(part.column, own) if own == "both" else own
    return {
        "fairpatch.threshold": patch.decision.above, "fairpatch.direction": patch.direction,
        CATEGORIES: json.dumps(held),
    }  # fmt: skip
