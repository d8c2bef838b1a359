"""The paper's segments as printed (appendix C.3) and its Table 1: what ours is held against."""

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats
from fairpatch.measure.metric import Fairness

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
# Definitions 2 and 3 (appendix C.1): quartiles of LPP's and of ROC's results, Law School, DP.
OTHER_EDGES: dict[str, tuple[list[float], list[float]]] = {
    "definition 2": ([0.4709, 0.5918, 0.7763], [0.7459, 0.7541, 0.7723]),
    "definition 3": ([0.3247, 0.4127, 0.5695], [0.7033, 0.7559, 0.7793]),
}
# Table 1: (fairness quartile, accuracy quartile), and each method's mean share of changed decisions
# as printed; None where no model of it fell into the cell.
CELLS = ((1, 3), (1, 4), (2, 2), (2, 3), (3, 2), (4, 1), (4, 2))
PAPER: dict[str, dict[str, tuple[float | None, ...]]] = {
    "law_school": {
        "ROC (reads S)": (0.18, 0.08, 0.26, None, None, 0.33, None),
        "LPP (reads S)": (None, 0.08, None, 0.12, None, None, None),
        "LPP": (0.11, 0.07, 0.15, None, 0.19, 0.23, 0.21),
        "AdvDebias": (0.17, 0.12, 0.23, 0.18, 0.28, 0.34, 0.28),
        "FRAPPE": (None, 0.03, 0.16, None, 0.18, 0.24, 0.21),
        "COMMOD": (0.07, 0.01, 0.10, 0.08, 0.13, 0.24, 0.18),
    },
    "compas": {
        "ROC (reads S)": (0.02, 0.03, None, 0.05, 0.06, None, 0.09),
        "LPP (reads S)": (0.02, 0.01, None, 0.03, 0.03, None, 0.06),
        "LPP": (0.08, 0.04, 0.14, 0.12, None, None, None),
        "AdvDebias": (0.09, 0.07, 0.16, 0.12, 0.14, 0.20, 0.16),
        "FRAPPE": (None, 0.18, 0.24, None, 0.21, 0.28, None),
        "COMMOD": (0.05, 0.01, 0.09, 0.09, 0.05, 0.20, 0.06),
    },
}


def quartiles(
    dataset: str,
    fairness: Fairness,
    metric: Floats,
    accuracy: Floats,
    definition: str = "definition 1",
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Fairness and accuracy quartile, 1 to 4, of each model; 4 is the fairest and most accurate.

    >>> dm, accuracy = np.array([0.5, 0.1503]), np.array([0.72, 0.8])
    >>> q = quartiles("law_school", "equalized_odds", dm, accuracy)
    >>> [column.tolist() for column in q]
    [[1, 4], [1, 4]]
    """
    edges, accuracy_edges = FAIRNESS_EDGES[dataset, fairness], ACCURACY_EDGES[dataset, fairness]
    if definition in OTHER_EDGES:
        edges, accuracy_edges = OTHER_EDGES[definition]
    if fairness == "equalized_odds":  # (0.3429, 1], (0.2415, 0.3429], ...: closed above
        by_fairness = np.digitize(-metric, [-edge for edge in edges])
    else:
        by_fairness = np.digitize(metric, edges)
    return by_fairness + 1, np.digitize(accuracy, accuracy_edges) + 1
