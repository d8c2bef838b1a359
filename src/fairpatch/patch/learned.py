"""What a patch remembers of its fit: how scores and columns looked, and what was expected.

    log-odds of the good outcome = a + b z + c points / 100

z are the log-odds that f's own score gives it. The numbers come from people whose outcome is known,
and are carried on to the others: below the threshold nobody was watched, so what is expected is a
range as well. Of three answers, the score as it is, the score calibrated, and the score calibrated
with the card's points, it goes from the worst with odds that are worse by a factor (``doubt``) to
the best with odds that are better by it.
"""

from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.special import expit

from fairpatch._tools.arrays import Floats
from fairpatch.inputs.roles import DOUBT, Outcomes
from fairpatch.patch.parts import Category, Number, Part

# What f's scores and the columns looked like when the patch was learned: part of its file.
#
# ``fairpatch.identity`` works it out, and compares with it later.


class ColumnPrint(Part):
    """What a column looked like."""

    column: str
    edges: tuple[Number, ...] = ()
    """Of a number: round values near its deciles."""
    categories: tuple[Category, ...] = ()
    """Of a category: those of at least ten people."""
    shares: tuple[Number, ...] = ()
    """Of the people with a value: at most each edge; or of each category."""
    others: Number = 0.0
    """Of them, those with a category that is not listed."""
    missing: Number = 0.0
    means: tuple[Number | None, ...] = ()
    """f's mean score up to each edge, from the one before; or of each category. None where few."""


class Fingerprint(Part):
    """What f's scores and the columns looked like."""

    people: int
    edges: tuple[Number, ...]
    """Round values near the deciles of f's score."""
    shares: tuple[Number, ...]
    """Of people with a score of at most each edge."""
    mean: Number
    columns: tuple[ColumnPrint, ...] = ()
    probe: dict[str, tuple[Category | None, ...]] = Field(default_factory=dict)
    """Values of which made-up people are made."""
    probe_scores: tuple[Number, ...] = ()
    """f's scores of them."""
    model_sha256: str | None = None
    """Of the base model's file, where it came from one."""


# What was expected of people whose outcome nobody has seen, when the patch was learned.

HUNDRED = 100.0


class Outlook(Part):
    """How the score, and the card's points, go with outcomes that are known.

    >>> same = Outlook(outcomes="approved", people=500)
    >>> same.chances(np.array([0.0, 2.0])).round(2)
    array([0.5 , 0.88])
    >>> [end.round(2).tolist() for end in same.ends(np.array([0.0]))]
    [[0.4], [0.6]]
    """

    outcomes: Outcomes
    """Whose outcome was known."""
    people: int
    """How many people with an outcome it rests on, in full tens; 0: on the score alone."""
    by_score: tuple[Number, Number] = (0.0, 1.0)
    """a and b without points."""
    by_points: tuple[Number, Number, Number] | None = None
    """a, b and c, of a scorecard."""
    doubt: Annotated[Number, Field(ge=1.0)] = DOUBT
    """By which factor odds may be better or worse than any of the three."""

    def chances(self, z: Floats, points: Floats | None = None) -> Floats:
        """P(good outcome) of each person; by the points too, where they are given."""
        return np.asarray(expit(self._answers(z, points)[-1]))

    def ends(self, z: Floats, points: Floats | None = None) -> tuple[Floats, Floats]:
        """What each person's chance lies between."""
        answers, wider = np.array(self._answers(z, points)), float(np.log(self.doubt))
        low, high = expit(answers.min(0) - wider), expit(answers.max(0) + wider)
        return np.asarray(low), np.asarray(high)

    def _answers(self, z: Floats, points: Floats | None) -> list[Floats]:
        """Log-odds by the score as it is, calibrated, and with points; the best answer last."""
        a, b = self.by_score
        answers = [np.asarray(z, np.float64), np.asarray(a + b * z)]
        if self.by_points is not None and points is not None:
            a, b, c = self.by_points
            answers.append(np.asarray(a + b * z + c * points / HUNDRED))
        return answers
