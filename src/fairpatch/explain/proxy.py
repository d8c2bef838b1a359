"""How well a column, the ratio and the change itself tell S: what a patch might be a proxy of."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools, Ints
from fairpatch.inputs.values import factorize
from fairpatch.measure.groups import Groups
from fairpatch.measure.scores import mann_whitney, told_best
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
    error: float = 0.0
    """Its standard error (Hanley and McNeil)."""


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
            risks.append(_risk(what, feature, np.asarray(score, np.float64), group, read=False))
        risks += [
            _risk(c.name, feature, held.values(c), group, c.kind == "category", read=c.name in read)
            for c in held.described()
        ]
    return sorted(risks, key=lambda risk: -risk.auc)


def _risk(
    what: str, feature: str, values: Any, group: Ints, category: bool = False, *, read: bool
) -> ProxyRisk:
    """Of the group that is told best."""
    known = group >= 0 if category else (group >= 0) & ~np.isnan(np.asarray(values, np.float64))
    values, group = values[known], group[known]
    of = _category_auc if category else mann_whitney
    auc, g = told_best(group, lambda inside: of(values, inside))
    inside = int(np.sum(group == g))
    error = 0.0 if auc == 0.5 else _error(auc, inside, len(group) - inside)  # chance is no group's
    return ProxyRisk(what, feature, auc, read, error)


def _error(auc: float, n: int, m: int) -> float:
    """Standard error of an AUC of n against m: of two of one group, both or neither win."""
    one, two = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    own = auc * (1 - auc) + (n - 1) * (one - auc**2) + (m - 1) * (two - auc**2)
    return float(np.sqrt(max(own, 0.0) / (n * m)))


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
