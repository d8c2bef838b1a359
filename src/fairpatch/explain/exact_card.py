"""The fewest changes of any small card with the same lines: an integer program, for comparison.

People whom f denies fall into cells: which of the card's lines apply to them, and how sure f is,
in a few steps. A card promotes a cell c where its points reach the price and what sureness costs,

    z_c = 1   iff   sum_i w_i a_ic - u b_c - t >= 0        w, u, t whole numbers

and every pair of groups keeps the limit, which is linear in z. HiGHS looks for the fewest people
promoted, and proves a bound below which no such card can go, on these very people.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from fairpatch._arrays import Floats
from fairpatch.data.rows import Rows
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import selection_rate
from fairpatch.patch import Patch
from fairpatch.patch.terms import activation

MOST_LINES, STEPS = 6, 4
"""Lines, and steps of f's sureness."""
HEAVIEST = 10
"""Points of a line, of the price and of a step: whole numbers up to this."""
NODES = 300
"""Places that the program looks at, at most; a limit of time would answer otherwise each time."""


@dataclass(frozen=True)
class ExactCard:
    """What the program found, and what it proved."""

    lines: int
    promoted: int | None
    """The fewest that it found; None where no such card meets the limit, as far as it looked."""
    bound: int
    """No such card promotes fewer."""


def exact_card(patch: Patch, rows: Rows, metric: Metric, limit: float) -> ExactCard | None:
    """The fewest promotions for a limit on rates of approval; None where that is not asked."""
    if not patch.lines or patch.card is None or patch.direction == "demote_only":
        return None
    if metric.rates != (selection_rate,):
        return None
    strongest = sorted(patch.lines, key=lambda line: -abs(line.points))[:MOST_LINES]
    members = np.stack(
        [
            line.points * activation(line.part, patch.columns, rows.X) > 0  # who is pushed by it
            for line in strongest
        ]
    ).T
    denied = (rows.f <= 0) & ~patch.locks(rows.X)
    steps = _steps(patch.confidence(rows.f, rows.X))
    pattern = np.column_stack([members, steps])[denied]
    cells, where = np.unique(pattern, axis=0, return_inverse=True)
    shares, base = [], []
    for feature in rows.s.features:
        code = rows.s.of_feature(feature)
        for g in range(int(code.max(initial=-1)) + 1):
            here = code == g
            inside = np.bincount(where.ravel()[here[denied]], minlength=len(cells))
            shares.append((feature, inside / max(here.sum(), 1)))
            base.append(float(np.mean(rows.f[here] > 0)))
    people = np.bincount(where.ravel(), minlength=len(cells)).astype(float)
    solution = _solve(cells, people, shares, np.array(base), metric, limit)
    return ExactCard(len(strongest), *solution)


def _steps(confidence: Floats) -> Floats:
    """How confident f is in whole steps, 0 to 3: of a hundred points of confidence each a quarter.

    Where no decision may change, nobody is promoted by any card: as far as can be.
    """
    return np.asarray(np.minimum(np.floor(confidence * STEPS / 100), STEPS - 1))


def _solve(
    cells: Floats,
    people: Floats,
    shares: list[tuple[str, Floats]],
    base: Floats,
    metric: Metric,
    limit: float,
) -> tuple[int | None, int]:
    """Variables: z of every cell, w of every line, u and t."""
    n, lines = len(cells), cells.shape[1] - 1
    most = HEAVIEST * (lines + STEPS + 1)
    points = np.column_stack([cells[:, :lines], -cells[:, lines], -np.ones(n)])  # w, u, t
    # points >= -M (1 - z) and points <= -1 + M z
    either = csr_array(np.column_stack([-most * np.eye(n), points]))
    rows = [LinearConstraint(either, -most, -1.0)]
    pairs, floors = [], []
    for i, (feature, one) in enumerate(shares):
        for j, (other_feature, two) in enumerate(shares):
            if i == j or feature != other_feature:
                continue
            # ratio: r_i >= tau r_j; gap: r_j - r_i <= limit
            tau = limit if metric.at_least else 1.0
            pairs.append(np.concatenate([one - tau * two, np.zeros(lines + 2)]))
            slack = 0.0 if metric.at_least else -limit
            floors.append(slack - base[i] + tau * base[j])
    rows.append(LinearConstraint(csr_array(np.array(pairs)), np.array(floors), np.inf))
    least = np.concatenate([np.zeros(n), np.full(lines, -HEAVIEST), [0.0, 1.0]])
    highest = np.concatenate([np.ones(n), np.full(lines + 2, HEAVIEST)])
    solution = milp(
        np.concatenate([people, np.zeros(lines + 2)]),
        integrality=np.ones(n + lines + 2),
        bounds=Bounds(least, highest),
        constraints=rows,
        options={"node_limit": NODES},
    )
    bound = getattr(solution, "mip_dual_bound", None)
    proved = 0 if bound is None or not np.isfinite(bound) else int(np.ceil(bound - 1e-6))
    return None if solution.x is None else round(float(solution.fun)), max(proved, 0)
