"""How well a column, the ratio and the change itself tell S: what a patch might be a proxy of."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.inputs.values import factorize
from fairpatch.measure.groups import Groups
from fairpatch.measure.telling import group_auc, mann_whitney
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns

FOLDS = 5


@dataclass(frozen=True)
class ProxyRisk:
    """AUC of telling a group from the others: 0.5 is no better than chance, 1 is certain."""

    what: str
    feature: str
    auc: float
    read_by_patch: bool


def proxy_risk(patch: Patch, X: Any, changed: Bools, *, sensitive_features: Any) -> list[ProxyRisk]:
    """Every column of X, the points and the change, for each sensitive feature; strongest first.

    Parameters
    ----------
    patch : Patch
        The patch.
    X : frame or array
        Rows with the patch's columns.
    changed : array of bool
        Which rows change.
    sensitive_features : frame, series, dict or array
        To be predicted.

    Returns
    -------
    list of ProxyRisk
        Strongest first.
    """
    held = Columns.of(X)
    groups = Groups.of(sensitive_features).comparable()
    read = {column.name for column in patch.columns}
    risks = []
    for feature in groups.features:
        group = groups.of_feature(feature)
        for what, score in (
            ("whether the decision changes", changed),
            ("the points" if patch.card else "the ratio", patch.points(X)),
        ):
            auc = group_auc(np.asarray(score, np.float64), group)
            risks.append(ProxyRisk(what, feature, auc, read_by_patch=False))
        for column in held.described():
            values = held.values(column)
            if column.kind == "category":
                auc = max(_category_auc(values, group == g) for g in range(group.max() + 1))
            else:
                auc = group_auc(np.asarray(values, np.float64), group)
            risks.append(ProxyRisk(column.name, feature, auc, column.name in read))
    return sorted(risks, key=lambda risk: -risk.auc)


def _category_auc(values: Any, inside: Bools) -> float:
    """AUC of P(group | category), from other folds: rare categories must not look telling."""
    _, code = factorize(values)
    fold = np.random.default_rng(0).permutation(len(code)) % FOLDS
    score = np.empty(len(code))
    categories = int(code.max(initial=0)) + 1
    for k in range(FOLDS):
        rest = fold != k
        ones = np.bincount(code[rest], inside[rest], categories)
        people = np.bincount(code[rest], minlength=categories)
        rate = (ones + inside[rest].mean()) / (people + 1)
        score[fold == k] = rate[code[fold == k]]
    return max(0.5, mann_whitney(score, inside))
