"""Tables that agree with what is told and hold a secret at an end of its range: integer programs.

A module of its own, imported with SciPy's solver when there is a secret: most tables have none.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.disclose.published import PublishedCount, Secret

_SECONDS = 20.0
"""For one self."""


class Agreeing:
    """Tables z >= 0 of whole people: those that agree with what is told of the counts A z.

    Parameters
    ----------
    cells : the table itself.
    counts : A, a row of cells for each count.
    worth : how much each count matters to the reader.
    stated : what everybody knows of the secrets.
    same : pairs of sets of cells that hold the same people.
    """

    def __init__(
        self,
        cells: Ints,
        counts: Bools,
        worth: Floats,
        stated: Sequence[Secret],
        same: Sequence[tuple[Bools, Bools]],
    ) -> None:
        self.counts = csr_array(counts.astype(float))
        # what ten people matter to a count: the more of them it has, the less
        self.cost = worth / np.maximum(self.counts @ cells, 1.0)
        self.stated, self.same = stated, same

    def nearest(self, told: Sequence[PublishedCount], reach: Floats, end: float) -> Floats | None:
        """The whole table z with reach z <= end that strays least from what is told of each count.

        None where none is found in time.
        """
        n_counts, n_cells = self.counts.shape
        low = np.array([float(t.low) for t in told])
        high = np.array([np.inf if t.high is None else float(t.high) for t in told])
        # low <= A z + under - over <= high, and the straying is what it costs
        stray = csr_array(eye_array(n_counts))
        rows = [LinearConstraint(hstack([self.counts, stray, -stray], "csr"), low, high)]
        within = hstack([csr_array(reach[None]), csr_array((1, 2 * n_counts))], "csr")
        rows.append(LinearConstraint(within, -np.inf, end))
        solution = milp(
            np.concatenate([np.zeros(n_cells), self.cost, self.cost]),
            integrality=np.repeat([1, 0], [n_cells, 2 * n_counts]).astype(np.uint8),
            bounds=Bounds(0, np.inf),
            constraints=[*rows, *self._known(2 * n_counts)],
            options={"time_limit": _SECONDS},
        )
        return None if solution.x is None else np.asarray(np.rint(solution.x[:n_cells]))

    def possible(self, reach: Floats, end: float) -> float:
        """As near to an end as what is stated itself allows: of nine people, not each part has."""
        if not self.stated:
            return end
        solution = milp(
            reach,
            integrality=np.ones(len(reach), np.uint8),
            bounds=Bounds(0, np.inf),
            constraints=[
                *self._known(0),
                LinearConstraint(csr_array(reach[None]), end, np.inf),
            ],
            options={"time_limit": _SECONDS},
        )
        return end if solution.x is None else float(np.rint(reach @ solution.x))

    def _known(self, n_more: int) -> list[LinearConstraint]:
        """What is stated and what is the same, as rows of a program with some more columns."""
        forms = [s.cells.astype(np.float64) for s in self.stated]
        forms += [np.subtract(one, other, dtype=np.float64) for one, other in self.same]
        if not forms:
            return []
        none = csr_array((len(forms), n_more))
        zeros = [0.0] * len(self.same)
        return [
            LinearConstraint(
                hstack([csr_array(np.stack(forms)), none], "csr"),
                np.array([*(float(s.low) for s in self.stated), *zeros]),
                np.array([*(float(s.high) for s in self.stated), *zeros]),
            )
        ]
