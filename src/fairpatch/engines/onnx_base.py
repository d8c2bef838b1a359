"""The base model f as nodes of an ONNX graph: columns in, f_logit out, in double precision.

scikit-learn's steps come from skl2onnx; boosted trees from ``trees``, in doubles.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import logit

from fairpatch._tools.extras import need
from fairpatch.engines.onnx_graph import OPSET, Graph
from fairpatch.inputs.base import CLIP, BaseModel, BoosterOfAFile, gives_log_odds
from fairpatch.inputs.vocabulary import columns_for
from fairpatch.patch.columns import Columns

# Boosted trees as plain arrays of doubles, for ONNX.
#
# The converters that exist round thresholds and sums to float32, and then a person next to a
# threshold goes the other way (docs/decisions/0007-onnx-and-mlflow.md). LightGBM and scikit-learn's
# histogram trees compare doubles; XGBoost compares float32, so its inputs are rounded first, as
# XGBoost does.

LEAF = -1


@dataclass
class Trees:
    """Nodes of all trees, one list each; the log-odds are ``base`` plus one leaf a tree."""

    base: float
    strict: bool
    """Left means below the threshold, not at it."""
    single: bool = False
    """Whether the inputs are rounded to float32 first."""
    tree: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    """LEAF where the node is one."""
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    def split(
        self, tree: int, node: int, feature: int, threshold: float, children: tuple[int, int],
        *, missing_left: bool,
    ) -> None:  # fmt: skip
        """Add a question."""
        self._add(tree, node, feature, threshold, children, 0.0, missing_left=missing_left)

    def leaf(self, tree: int, node: int, value: float) -> None:
        """Add an answer."""
        self._add(tree, node, LEAF, 0.0, (0, 0), value, missing_left=False)

    def _add(
        self, tree: int, node: int, feature: int, threshold: float, children: tuple[int, int],
        value: float, *, missing_left: bool,
    ) -> None:  # fmt: skip
        self.tree.append(tree)
        self.node.append(node)
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.left.append(children[0])
        self.right.append(children[1])
        self.missing_left.append(missing_left)
        self.value.append(value)


def trees_of(model: Any) -> Trees | None:
    """The trees of a boosted model; None of anything else."""
    readers = {
        "LGBMClassifier": _lightgbm,
        "XGBClassifier": _xgboost,
        "HistGradientBoostingClassifier": _histogram,
    }
    of_a_file = isinstance(model, BoosterOfAFile)
    reader = _lightgbm if of_a_file else readers.get(type(model).__name__)
    return None if reader is None else reader(model)


def _lightgbm(model: Any) -> Trees:
    dump = model.booster_.dump_model()
    if dump["objective"] != "binary sigmoid:1" or dump["average_output"]:
        raise ValueError(f"LightGBM's objective {dump['objective']!r} does not give log-odds")
    trees = Trees(base=0.0, strict=False)
    for i, info in enumerate(dump["tree_info"]):
        numbers = iter(range(2 * info["num_leaves"]))
        _lightgbm_node(trees, i, info["tree_structure"], numbers)
    return trees


def _lightgbm_node(trees: Trees, tree: int, entry: dict[str, Any], numbers: Iterator[int]) -> int:
    number = next(numbers)
    if "leaf_value" in entry:
        trees.leaf(tree, number, entry["leaf_value"])
        return number
    if entry["decision_type"] != "<=" or entry["missing_type"] == "Zero":
        raise ValueError("LightGBM's splits by category, and zeros as gaps, are not supported")
    at = len(trees.tree)  # a node stands before its children: onnxruntime starts at the first
    # Without gaps in training, LightGBM takes a gap for a zero.
    gap = entry["default_left"] if entry["missing_type"] == "NaN" else entry["threshold"] >= 0
    trees.split(tree, number, entry["split_feature"], entry["threshold"], (0, 0), missing_left=gap)
    trees.left[at] = _lightgbm_node(trees, tree, entry["left_child"], numbers)
    trees.right[at] = _lightgbm_node(trees, tree, entry["right_child"], numbers)
    return number


def _xgboost(model: Any) -> Trees:
    learner = json.loads(model.get_booster().save_raw("json"))["learner"]
    if learner["objective"]["name"] != "binary:logistic":
        raise ValueError(f"XGBoost's objective {learner['objective']['name']!r} is not supported")
    if learner["gradient_booster"]["name"] != "gbtree":
        raise ValueError("of XGBoost only booster='gbtree' is supported")
    p = float(learner["learner_model_param"]["base_score"].strip("[]"))
    trees = Trees(base=float(np.log(p / (1 - p))), strict=True, single=True)
    for i, tree in enumerate(learner["gradient_booster"]["model"]["trees"]):
        if any(tree["split_type"]):
            raise ValueError("XGBoost's splits by category are not supported")
        values = np.array(tree["split_conditions"], np.float32).astype(np.float64)
        for k, (left, right) in enumerate(
            zip(tree["left_children"], tree["right_children"], strict=True)
        ):
            if left < 0:
                trees.leaf(i, k, float(values[k]))
            else:
                gap = bool(tree["default_left"][k])
                trees.split(
                    i, k, tree["split_indices"][k], float(values[k]), (left, right),
                    missing_left=gap,
                )  # fmt: skip
    return trees


def _histogram(model: Any) -> Trees:
    trees = Trees(base=float(np.ravel(model._baseline_prediction)[0]), strict=False)
    for i, (predictor,) in enumerate(model._predictors):
        for k, node in enumerate(predictor.nodes):
            if node["is_leaf"]:
                trees.leaf(i, k, float(node["value"]))
            elif node["is_categorical"]:
                raise ValueError("splits by category are not supported")
            else:
                trees.split(
                    i, k, int(node["feature_idx"]), float(node["num_threshold"]),
                    (int(node["left"]), int(node["right"])),
                    missing_left=bool(node["missing_go_to_left"]),
                )  # fmt: skip
    return trees


# The base model f as nodes of an ONNX graph: columns in, f_logit out, in double precision.


def base_logits(graph: Graph, base: BaseModel, X: Any) -> str:
    """Add f to the graph; gives the name of its log-odds against the threshold: (rows, 1)."""
    if not base.of_first_class:
        return _logits(graph, base.estimator, X, base.decision.cut)
    return graph.node("Neg", [_logits(graph, base.estimator, X, 1.0 - base.decision.cut)])


def _logits(graph: Graph, model: Any, X: Any, threshold: float) -> str:
    """Of the second class."""
    *before, final = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    columns = _columns(model, X)
    if before:
        preparing = need("sklearn.pipeline", extra="onnx").make_pipeline(*before)
        by_name = type(before[0]).__name__ == "ColumnTransformer"
        inputs = _inputs(graph, columns) if by_name else {"X": _matrix(graph, columns)}
        texts = {name for name, text in columns.items() if text}
        matrix = _converted(graph, preparing, inputs, texts, {})
    else:
        matrix = _matrix(graph, columns)
    trees = trees_of(final)
    if trees is not None:
        return _boosted(graph, trees, matrix, float(logit(threshold)))
    margin = gives_log_odds(final)
    options = {"zipmap": False, "raw_scores": True} if margin else {"zipmap": False}
    width = final.n_features_in_
    both = _converted(graph, final, {"X": matrix}, set(), {id(final): options}, width)
    start, end, axis = (graph.whole(v) for v in ([-1], [np.iinfo(np.int64).max], [1]))
    odds = graph.node("Slice", [both, start, end, axis])
    if not margin:
        odds = log_odds(graph, _clip(graph, odds, 0.0, 1.0))
    odds = _clip(graph, odds, -CLIP, CLIP)
    return graph.node("Sub", [odds, graph.constant([float(logit(threshold))])])


def _boosted(graph: Graph, trees: Trees, columns: str, shift: float) -> str:
    """The threshold goes into the sum's start: rounding the sum to float32 then keeps its sign."""
    if trees.single:
        columns = _cast(graph, _cast(graph, columns, "FLOAT"), "DOUBLE")
    split = "BRANCH_LT" if trees.strict else "BRANCH_LEQ"
    feature = np.array(trees.feature)
    leaf = feature == LEAF
    node, tree = np.array(trees.node), np.array(trees.tree)
    total = graph.node(
        "TreeEnsembleRegressor",
        [columns],
        domain="ai.onnx.ml",
        aggregate_function="SUM",
        n_targets=1,
        post_transform="NONE",
        base_values_as_tensor=graph.tensor([trees.base - shift]),
        nodes_treeids=tree.tolist(),
        nodes_nodeids=node.tolist(),
        nodes_featureids=np.where(leaf, 0, feature).tolist(),
        nodes_modes=["LEAF" if at else split for at in leaf],
        nodes_values_as_tensor=graph.tensor(trees.threshold),
        nodes_truenodeids=trees.left,
        nodes_falsenodeids=trees.right,
        nodes_missing_value_tracks_true=[int(gap) for gap in trees.missing_left],
        target_treeids=tree[leaf].tolist(),
        target_nodeids=node[leaf].tolist(),
        target_ids=[0] * int(leaf.sum()),
        target_weights_as_tensor=graph.tensor(np.array(trees.value)[leaf].tolist()),
    )
    return _clip(graph, _cast(graph, total, "DOUBLE"), -CLIP - shift, CLIP - shift)


def _converted(
    graph: Graph,
    step: Any,
    inputs: dict[str, str],
    texts: set[str],
    options: dict[int, Any],
    width: int | None = None,
) -> str:
    """Add the nodes that skl2onnx makes of a step; gives its last output, in doubles.

    They work in doubles where skl2onnx and onnxruntime can, else in float32; scikit-learn's own
    trees round their input to float32 in Python too.
    """
    single = type(step).__module__.startswith(("sklearn.ensemble", "sklearn.tree"))
    skl2onnx = need("skl2onnx", extra="onnx")
    kinds = need("skl2onnx.common.data_types", extra="onnx")
    impute = need("sklearn.impute", extra="onnx").SimpleImputer
    problem: Exception | None = None
    for wide in (not single, single):
        number = kinds.DoubleTensorType if wide else kinds.FloatTensorType
        one = 1 if "X" not in inputs else width or step.n_features_in_
        types = [
            (name, kinds.StringTensorType([None, 1]) if name in texts else number([None, one]))
            for name in inputs
        ]
        try:
            made = skl2onnx.convert_sklearn(
                step,
                initial_types=types,
                options=options,
                target_opset={"": OPSET, "ai.onnx.ml": 3},
                custom_conversion_functions={impute: _impute},
                custom_shape_calculators={impute: _same_shape},
            )
            need("onnxruntime", extra="onnx").InferenceSession(
                made.SerializeToString(), providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            problem = problem or error
            continue
        return _copied(graph, made, inputs, texts, wide=wide)
    text = str(problem).splitlines()[0][:200]
    raise ValueError(
        f"{type(step).__name__} could not be converted to ONNX ({text}). Export the patch alone, "
        "on a score input, and score where the model lives"
    ) from problem


def _copied(graph: Graph, made: Any, inputs: dict[str, str], texts: set[str], *, wide: bool) -> str:
    """Take over a step's nodes under names of their own, fed from this graph."""
    prefix = f"base_{len(graph.nodes)}/"
    made = graph.onnx.compose.add_prefix(made, prefix)
    read = {name for node in made.graph.node for name in node.input}
    # by their order: skl2onnx calls "size m" "size_m"
    called = {e.name for e in made.graph.input}
    input_names = [e.name for e in made.graph.input] if len(called) == len(inputs) else None
    for i, (name, source) in enumerate(inputs.items()):
        inner = prefix + name if input_names is None else input_names[i]
        if inner not in read:
            continue
        fed = source if wide or name in texts else _cast(graph, source, "FLOAT")
        graph.node("Identity", [fed], output=inner)
    graph.nodes.extend(made.graph.node)
    graph.constants.extend(made.graph.initializer)
    return _cast(graph, made.graph.output[-1].name, "DOUBLE")


def _impute(scope: Any, operator: Any, container: Any) -> None:
    """Gaps filled in doubles: onnxruntime's own Imputer knows only float32."""
    step, (source,) = operator.raw_operator, operator.inputs
    if step.add_indicator or not np.isnan(step.missing_values):
        raise NotImplementedError("SimpleImputer with an indicator, or with gaps other than NaN")
    filled, gap = (scope.get_unique_variable_name(name) for name in ("filled", "gap"))
    values = np.asarray(step.statistics_, np.float64)
    single = type(source.type).__name__ == "FloatTensorType"
    container.add_initializer(filled, 1 if single else 11, [1, len(values)], values.tolist())
    container.add_node("IsNaN", source.full_name, gap)
    container.add_node("Where", [gap, filled, source.full_name], operator.outputs[0].full_name)


def _same_shape(operator: Any) -> None:
    operator.outputs[0].type = operator.inputs[0].type


def _columns(model: Any, X: Any) -> dict[str, bool]:
    """The columns that the model was fitted on, in its order, and whether each is text."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return dict.fromkeys(Columns.of(X).names, False)
    names = getattr(model, "feature_names_in_", None)
    names = frame.columns if names is None else [str(name) for name in names]
    schema, meant = frame.schema, columns_for(names, frame.columns)
    kinds = {name: schema[meant.get(name, name)] for name in names}
    return {
        meant.get(name, name): not (kind.is_numeric() or kind == nw.Boolean)
        for name, kind in kinds.items()
    }


def _inputs(graph: Graph, columns: dict[str, bool]) -> dict[str, str]:
    kinds = graph.onnx.TensorProto
    return {
        name: graph.input(name, kinds.STRING if text else kinds.DOUBLE)
        for name, text in columns.items()
    }


def _matrix(graph: Graph, columns: dict[str, bool]) -> str:
    text = [name for name, is_text in columns.items() if is_text]
    if text:
        raise ValueError(f"column {text[0]!r} is text, but the model takes a matrix of numbers")
    return graph.node("Concat", list(_inputs(graph, columns).values()), axis=1)


def log_odds(graph: Graph, p: str) -> str:
    """Log p - log(1 - p)."""
    one = graph.constant([1.0])
    rest = graph.node("Sub", [one, p])
    return graph.node("Sub", [graph.node("Log", [p]), graph.node("Log", [rest])])


def _clip(graph: Graph, name: str, low: float, high: float) -> str:
    return graph.node("Clip", [name, *(graph.constant([v], scalar=True) for v in (low, high))])


def _cast(graph: Graph, name: str, kind: str) -> str:
    return graph.node("Cast", [name], to=getattr(graph.onnx.TensorProto, kind))
