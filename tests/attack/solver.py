"""What a reader with a solver can work out: all that was published, as an integer program.

Nothing here knows how the product hides: it reads the JSON, as whoever gets it would.
"""

from collections import defaultdict

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array


class Reader:
    """Unknown whole numbers, and what was read about sums of them."""

    def __init__(self):
        self.names, self.rows, self.stated = {}, [], []

    def unknown(self, name):
        return {self.names.setdefault(name, len(self.names)): 1.0}

    def sum(self, forms):
        total = defaultdict(float)
        for form in forms:
            for at, weight in form.items():
                total[at] += weight
        return dict(total)

    def read(self, form, low, high):
        """low <= form <= high."""
        self.rows.append((form, low, high))

    def state(self, form, low, high):
        """The same, where that is known before any figure is: a group is not shown."""
        self.stated.append((form, low, high))

    def count(self, form, told):
        """A count as it is published: a number, or what it lies between."""
        if isinstance(told, dict):
            high = np.inf if told["at_most"] is None else told["at_most"]
            self.read(form, told["at_least"], high)
        else:
            self.read(form, told, told)

    def rate(self, k, n, figure, most, interval):
        """A rate as it is published; its interval tells how many people it is of."""
        if figure is None or (figure["value"] is None and figure.get("at_least") is None):
            return
        if figure["value"] is not None and figure.get("low") is not None:
            sizes = behind(figure, most, interval)
            assert sizes, figure
            if len(sizes) == 1:
                self.read(n, *sizes * 2)
                self.read(k, *[round(figure["value"] * sizes[0])] * 2)
            ends = figure["value"] - 6e-7, figure["value"] + 6e-7
        elif figure["value"] is not None:
            ends = figure["value"] - 0.005, figure["value"] + 0.005
        else:
            ends = figure["at_least"], figure["at_most"]
        for end, sign in zip(ends, (1.0, -1.0), strict=True):  # sign (k - end n) >= 0
            less = {at: -end * weight for at, weight in n.items()}
            form = {at: sign * w for at, w in self.sum([k, less]).items()}
            self.read(form, -1e-7 * most, np.inf)

    def at(self, form, value, *, beyond, figures=True):
        """Whether a table that agrees with everything has the form at a value or beyond it."""
        limit = (form, value, np.inf) if beyond > 0 else (form, -np.inf, value)
        rows = [*self.stated, *(self.rows if figures else []), limit]
        matrix = lil_array((len(rows), len(self.names)))
        low, high = [], []
        for i, (own, least, most) in enumerate(rows):
            for at, weight in own.items():
                matrix[i, at] = weight
            low.append(least)
            high.append(most)
        found = milp(
            np.zeros(len(self.names)),
            integrality=np.ones(len(self.names)),
            bounds=Bounds(0, np.inf),
            constraints=LinearConstraint(matrix.tocsr(), low, high),
            options={"time_limit": 120},
        )
        assert found.status in (0, 2), found.message  # found, or shown not to be
        return found.status == 0

    def told(self, secrets):
        """Of the secrets (name, sum, low, high), those known better than stated."""
        assert self.at({}, 0, beyond=1), "what was published contradicts itself"
        known = []
        for name, form, low, high in secrets:
            # as far as what is stated itself allows: of nine people, not each half has nine
            while not self.at(form, low, beyond=-1, figures=False):
                low += 1  # noqa: PLW2901
            while not self.at(form, high, beyond=1, figures=False):
                high -= 1  # noqa: PLW2901
            if not (self.at(form, low, beyond=-1) and self.at(form, high, beyond=1)):
                known.append(name)
        return known


def behind(figure, most, interval):
    """The numbers of people of whom a share has this value and this interval."""
    n = np.arange(1, most + 1)
    k = np.rint(figure["value"] * n)
    low, high = interval(k.astype(float), n.astype(float))
    same = np.abs(k / n - figure["value"]) < 6e-7
    same &= (np.abs(low - figure["low"]) < 6e-7) & (np.abs(high - figure["high"]) < 6e-7)
    return n[same].tolist()
