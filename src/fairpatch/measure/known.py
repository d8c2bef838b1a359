"""Whose outcome is known, and whether that goes with what was decided.

A lender learns what becomes of the people it approves, and of nobody else. Rates of decisions are
of everybody all the same. What is counted among labels is a figure of those who have one: of
everybody only where labels are known as often, whatever was decided.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

from fairpatch._hints import hint
from fairpatch.inputs.roles import Outcomes
from fairpatch.measure.cells import UNKNOWN

CHANCE, SLIGHT = 4.0, 0.01
"""Standard errors and a share: from both on, labels are missing by decision."""


@dataclass(frozen=True)
class KnownLabels:
    """How many people f approved and denied, and of how many of each there is a label."""

    denied: float
    approved: float
    labelled_denied: float
    labelled_approved: float

    @classmethod
    def of(cls, by_label_and_decision: Any) -> "KnownLabels":
        """From counts along label and f's decision, 1 being the favourable one.

        >>> import numpy as np
        >>> KnownLabels.of(np.array([[0, 90], [0, 900], [990, 10]]))
        KnownLabels(denied=990.0, approved=1000.0, labelled_denied=0.0, labelled_approved=990.0)
        """
        people, known = by_label_and_decision.sum(0), by_label_and_decision[:UNKNOWN].sum(0)
        return cls(float(people[0]), float(people[1]), float(known[0]), float(known[1]))

    @property
    def shares(self) -> tuple[float, float]:
        """Of the approved and of the denied, how many have a label."""
        return (
            self.labelled_approved / max(self.approved, 1),
            self.labelled_denied / max(self.denied, 1),
        )

    @property
    def by_decision(self) -> bool:
        """Whether labels are missing more often after one decision than chance allows.

        >>> KnownLabels(990, 1000, 0, 990).by_decision, KnownLabels(100, 100, 90, 95).by_decision
        (True, False)
        """
        labelled, everybody = (
            self.labelled_approved + self.labelled_denied, self.approved + self.denied,
        )  # fmt: skip
        if not labelled or labelled == everybody or not min(self.approved, self.denied):
            return False
        one, other = self.shares
        share = labelled / everybody
        error = sqrt(share * (1 - share) * (1 / self.approved + 1 / self.denied))
        return abs(one - other) > max(CHANCE * error, SLIGHT)

    def check(self, said: Outcomes) -> None:
        """Refuse to take labels for everybody's that are missing by decision."""
        if said != "everybody" or not self.by_decision:
            return
        few = self.labelled_denied < SLIGHT * self.denied
        others = ". Where those of the denied who have one stand for the others with such scores, "
        others = "" if few else others + hint("Roles(outcomes='sample')", "outcomes: sample")
        raise ValueError(
            f"{self}, more than chance explains: whose outcomes are known? If that of the approved "
            "alone, say "
            + hint("Roles(outcomes='approved')", "outcomes: approved in columns, or --outcomes")
            + others
        )

    def __str__(self) -> str:
        """As "98% of the approved and none of the denied have an outcome"."""
        approved, denied = (_percent(share) for share in self.shares)
        return f"{approved} of the approved and {denied} of the denied have an outcome"


def _percent(share: float) -> str:
    """A share in whole percent; all and none only where it is all or none.

    >>> _percent(0.9999), _percent(1.0), _percent(0.001), _percent(0.0)
    ('99%', 'all', '1%', 'none')
    """
    if share in (0, 1):
        return "all" if share else "none"
    return f"{min(max(round(100 * share), 1), 99)}%"
