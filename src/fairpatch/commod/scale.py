"""What an adversary can gain on f itself: the unit in which lambda_fair is measured.

    gain = H(S) - loss of the best h on f_logit = I(S; f_logit)    (given y, for equalized odds)

On one data set the score says much about S, on another next to nothing, and the same lambda would
be too much here and nothing there. Divided by the gain, one grid of lambdas serves all (METHOD 3).
"""

import numpy as np

from fairpatch._arrays import Floats, Ints

BINS = 16


def gain(
    f_logit: Floats,
    s: Ints,
    weight: Floats,
    y: Floats | None = None,
) -> float:
    """I(S; f_logit), or I(S; f_logit | y), in nats, by quantile bins; never below its own noise."""
    known = s >= 0
    f_logit, s, weight = f_logit[known], s[known], weight[known]
    strata = np.zeros(len(s), int) if y is None else y[known].astype(int)
    inner = np.quantile(f_logit, np.linspace(0, 1, BINS + 1)[1:-1])
    bins = np.searchsorted(inner, f_logit)
    total, noise = 0.0, 0.0
    for stratum in np.unique(strata):
        here = strata == stratum
        table = np.zeros((BINS, int(s.max()) + 1))
        np.add.at(table, (bins[here], s[here]), weight[here])
        total += weight[here].sum() / weight.sum() * _mutual_information(table)
        used_bins, used_values = (int((table.sum(axis) > 0).sum()) for axis in (1, 0))
        noise += (used_bins - 1) * (used_values - 1) / (2 * len(s))  # Miller and Madow's bias
    return max(total - noise, noise, 1e-6)


def _mutual_information(table: Floats) -> float:
    p = table / table.sum()
    independent = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    there = p > 0
    return float((p[there] * np.log(p[there] / independent[there])).sum())
