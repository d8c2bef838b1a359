"""The paper's segments as printed (appendix C.3) and its Table 1: what ours is held against."""

import numpy as np
from numpy.typing import NDArray

from fairpatch.learn.problem import Fairness

CONCEPTS = {"law_school": 2, "compas": 5}

# Inner edges of the quartiles. P-Rule: higher is fairer; DM: lower is fairer, so edges fall.
FAIRNESS_EDGES: dict[tuple[str, Fairness], list[float]] = {
    ("law_school", "demographic_parity"): [0.5587, 0.7212, 0.8719],
    ("compas", "demographic_parity"): [0.7345, 0.7695, 0.8058],
    ("law_school", "equalized_odds"): [0.3429, 0.2415, 0.1503],
    ("compas", "equalized_odds"): [0.2198, 0.2079, 0.1869],
}
ACCURACY_EDGES: dict[tuple[str, Fairness], list[float]] = {
    ("law_school", "demographic_parity"): [0.6709, 0.7294, 0.7550],
    ("compas", "demographic_parity"): [0.6242, 0.6391, 0.6537],
    ("law_school", "equalized_odds"): [0.7230, 0.7458, 0.7577],
    ("compas", "equalized_odds"): [0.6242, 0.6391, 0.6537],
}
# Table 1, row COMMOD: (fairness quartile, accuracy quartile) -> mean share of changed decisions.
PAPER: dict[str, dict[tuple[int, int], float]] = {
    "law_school": {
        (1, 3): 0.07, (1, 4): 0.01, (2, 2): 0.10, (2, 3): 0.08, (3, 2): 0.13, (4, 1): 0.24,
        (4, 2): 0.18,
    },
    "compas": {
        (1, 3): 0.05, (1, 4): 0.01, (2, 2): 0.09, (2, 3): 0.09, (3, 2): 0.05, (4, 1): 0.20,
        (4, 2): 0.06,
    },
}  # fmt: skip


def quartiles(
    dataset: str,
    fairness: Fairness,
    metric: NDArray[np.float64],
    accuracy: NDArray[np.float64],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Fairness and accuracy quartile, 1 to 4, of each model; 4 is the fairest and most accurate.

    >>> dm, accuracy = np.array([0.5, 0.1503]), np.array([0.72, 0.8])
    >>> q = quartiles("law_school", "equalized_odds", dm, accuracy)
    >>> [column.tolist() for column in q]
    [[1, 4], [1, 4]]
    """
    edges = FAIRNESS_EDGES[dataset, fairness]
    if fairness == "equalized_odds":  # (0.3429, 1], (0.2415, 0.3429], ...: closed above
        by_fairness = np.digitize(-metric, [-edge for edge in edges])
    else:
        by_fairness = np.digitize(metric, edges)
    return by_fairness + 1, np.digitize(accuracy, ACCURACY_EDGES[dataset, fairness]) + 1
