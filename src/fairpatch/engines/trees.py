"""Boosted trees as plain arrays of doubles, for ONNX.

The converters that exist round thresholds and sums to float32, and then a person next to a
threshold goes the other way (docs/decisions/0007-onnx-and-mlflow.md). LightGBM and
scikit-learn's histogram trees compare doubles; XGBoost compares float32, so its inputs are rounded
first, as XGBoost does.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
        "LightGbmFile": _lightgbm,
        "XGBClassifier": _xgboost,
        "HistGradientBoostingClassifier": _histogram,
    }
    reader = readers.get(type(model).__name__)
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
