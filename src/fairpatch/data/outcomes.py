"""What becomes of people: known, or expected; and what a wrong decision costs.

Nothing in the fairness of rates needs an outcome. Errors and costs do, and so does what is said of
people whose decision changes. f's score is calibrated on those whose outcome is known and carried
on to the others (``fairpatch.patch.learned``). Where some of the denied have an outcome, and stand
for the others, each counts for as many as there are with such a score.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.hints import did_you_mean, hint
from fairpatch._tools.smallest_count import MIN_PEOPLE, full_tens
from fairpatch.data.rows import Rows
from fairpatch.data.splits import CertificationSample, Crossed, Splits
from fairpatch.decision import Decision
from fairpatch.inputs.base import NO_SCORE, threshold_odds, with_scores
from fairpatch.inputs.roles import DOUBT
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.labels import KnownLabels
from fairpatch.measure.strength_curve import Priced
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.learned import HUNDRED, Outlook

# What a wrong decision costs, and what a change does: in place of accuracy, where they differ.
#
#     loss = mean of  what approving costs   over those approved  (nothing where y = 1)
#                     what refusing costs    over those denied    (nothing where y = 0)
#
# Each is a number, or a column: the sum that is lost, the margin that is forgone. With costs of 1
# the loss is the share of wrong decisions, 1 - accuracy.

EXPECTED = (
    "costs must say what a wrong approval, a wrong refusal and a change cost, as "
    "{'wrong_approval': 5, 'wrong_refusal': 1}; each is a number or a column"
)


@dataclass(frozen=True)
class Costs:
    """What decisions cost: numbers, or columns of the table."""

    wrong_approval: float | str = 1.0
    wrong_refusal: float | str = 1.0
    change: float | str = 1.0

    @classmethod
    def of(cls, given: Any) -> "Costs":
        """What a target says.

        >>> Costs.of({"wrong_approval": 5}).wrong_refusal
        1.0
        """
        known = [f.name for f in fields(cls)]
        if not isinstance(given, Mapping) or not given:
            raise TypeError(f"{EXPECTED}; got {given!r}")
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"{EXPECTED}; got {name!r}{did_you_mean(str(name), known)}")
            if not isinstance(value, str):
                check.number(f"costs, {name}", value, 0)
        return cls(**given)

    def read(self, X: Any, good: Floats) -> "Priced":
        """What each row costs, of whom the good outcome is known, or expected by a chance."""
        approve, refuse, change = (self._values(f.name, X, len(good)) for f in fields(self))
        return Priced((1 - good) * approve, good * refuse, change)

    def _values(self, name: str, X: Any, rows: int) -> Floats:
        said = getattr(self, name)
        if not isinstance(said, str):
            return np.full(rows, float(said))
        held = Columns.of(X)
        if said not in held.names:
            raise ValueError(
                f"costs, {name}: there is no column {said!r}{did_you_mean(said, held.names)}"
            )
        try:
            values = np.array(held.raw(said), np.float64)
        except (TypeError, ValueError):
            values = np.array([np.nan])
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"costs, {name}: {said!r} must be finite numbers, at least 0")
        return values

    def __str__(self) -> str:
        named = (
            f"{f.name.replace('_', ' ')} {_number(getattr(self, f.name))}" for f in fields(self)
        )
        return f"costs: {', '.join(named)}"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


# What becomes of people: their label where it is known, what is expected of them where it is not.

ENOUGH, EACH = 50, 10
"""People with an outcome, and of each outcome, from which on the score is calibrated."""
BANDS = 10
"""Bands of the score in which the denied with an outcome stand for those without."""
SPREAD = (1.0, 0.5, 2.0)
"""How far the answers may be from the score's own before the data have to insist: standard
deviations of a, b, and c (for 100 points)."""
FINE = 1 / 1024
"""Chances are multiples of this: sums of them are exact, so that ties are ties."""


def check_outcomes(splits: Splits, *, given_y: bool) -> None:
    """Refuse labels that are missing by decision where nobody said so, and what they cannot say."""
    both, said = splits.both, splits.learn.outcomes
    counts = None if both is None else both.counts
    labels = _labels(learned_rows(splits)) if counts is None else counts.labels
    labels.check(said)
    if not given_y:
        return
    if said == "approved":
        raise ValueError(
            "the target compares people with the same outcome, and outcomes are known of the "
            "approved only: of the denied nobody can say who would have had the good one. Ask for "
            "approval rates (p_rule, demographic_parity_difference), or name a sample of the "
            "denied whose outcomes are known: "
            + hint("Roles(outcomes='sample')", "--outcomes sample")
        )
    if not labels.labelled_approved + labels.labelled_denied:
        raise ValueError(
            "the target compares people with the same outcome, and there are no outcomes: give y, "
            "or ask for approval rates (p_rule, demographic_parity_difference)"
        )


def _labels(rows: Rows) -> KnownLabels:
    """Of how many of the approved and of the denied a label is known."""
    table = np.zeros((3, 2))
    np.add.at(table, (rows.y, (rows.f > 0).astype(int)), 1)
    return KnownLabels.of(table)


def odds_of(rows: Rows, decision: Decision) -> Floats:
    """z: the log-odds of the good outcome that f's score gives, whatever its threshold."""
    return np.asarray(with_scores(rows.f) + threshold_odds(decision, rows.X))


def outlook_of(
    rows: Rows, decision: Decision, patch: Patch | None = None, doubt: float = DOUBT
) -> Outlook:
    """How the score goes with the outcomes of these rows; and the points of a scorecard, too."""
    counted = _counted(rows)
    told = np.flatnonzero(counted > 0)
    good = rows.y[told] == 1
    if len(told) < ENOUGH or min(good.sum(), (~good).sum()) < EACH:
        return Outlook(outcomes=rows.outcomes, people=0, doubt=doubt)
    z = odds_of(rows, decision)[told]
    a, b = _regression(z[:, None], good, counted[told])
    with_points: tuple[float, float, float] | None = None
    if patch is not None and patch.card is not None:
        points = patch.points(rows.take(told).X) / HUNDRED
        a_with, b_with, c = _regression(np.column_stack([z, points]), good, counted[told])
        with_points = (a_with, b_with, c)
    return Outlook(
        outcomes=rows.outcomes, people=full_tens(len(told)), by_score=(a, b), by_points=with_points,
        doubt=doubt,
    )  # fmt: skip


def _counted(rows: Rows) -> Floats:
    """How much each row counts in calibrating: nothing without an outcome that says something."""
    known = (rows.y != UNKNOWN) & (rows.f != NO_SCORE)
    weight = np.ones(len(rows)) if rows.sample_weight is None else np.array(rows.sample_weight)
    weight = np.where(known, weight, 0.0)
    if rows.outcomes == "approved":
        return np.where(rows.f > 0, weight, 0.0)
    return weight * stands_for(rows) if rows.outcomes == "sample" else weight


def stands_for(rows: Rows) -> Floats:
    """For how many of the denied each of those with an outcome stands, by bands of the score.

    1 for everybody else. In a band where fewer than ten have an outcome, nobody stands for more
    than themselves: what is said of the rest is extrapolated.
    """
    counts, denied = np.ones(len(rows)), rows.f <= 0
    known = denied & (rows.y != UNKNOWN)
    for band in _bands(rows.f, denied):
        told = band & known
        if told.sum() >= EACH:
            counts[told] = band.sum() / told.sum()
    return counts


def _bands(f_logit: Floats, some: Bools) -> list[Bools]:
    """Some people by bands of their score, of about as many each."""
    if not some.any():
        return []
    edges = np.quantile(f_logit[some], np.arange(1, BANDS) / BANDS)
    place = np.searchsorted(edges, f_logit, side="right")
    return [some & (place == k) for k in range(BANDS)]


def overlap(rows: Rows) -> float:
    """The share of the denied in bands of the score where at least ten have an outcome."""
    denied = rows.f <= 0
    known = denied & (rows.y != UNKNOWN)
    bands = [band for band in _bands(rows.f, denied) if (band & known).sum() >= EACH]
    return sum(int(band.sum()) for band in bands) / max(int(denied.sum()), 1)


def _regression(columns: Floats, good: Bools, weight: Floats) -> tuple[float, ...]:
    """A logistic regression that is held near the score's own answer (0, 1, 0) by a weak prior."""
    A = np.column_stack([np.ones(len(columns)), columns])
    start = np.array([0.0, 1.0, 0.0])[: A.shape[1]]
    spread = np.array(SPREAD)[: A.shape[1]]
    w, sign = weight / weight.mean(), np.where(good, 1.0, -1.0)

    def loss(beta: Floats) -> tuple[float, Floats]:
        margin, off = sign * (A @ beta), (beta - start) / spread
        slope = -(w * sign * expit(-margin)) @ A + off / spread
        return float(w @ np.logaddexp(0.0, -margin) + off @ off / 2), slope

    found = minimize(loss, start, jac=True, method="L-BFGS-B")
    return tuple(float(v) for v in found.x)


def expecting(rows: Rows, outlook: Outlook, decision: Decision) -> Rows:
    """The rows with what is expected of those without an outcome."""
    if (rows.y != UNKNOWN).all():
        return rows
    return replace(rows, expected=fine(outlook.chances(odds_of(rows, decision))))


@dataclass(frozen=True)
class Expected:
    """The share of some people with the good outcome: of those who have none, what is expected."""

    value: float
    low: float
    high: float
    observed: float
    """The share of them whose outcome is known."""

    def __str__(self) -> str:
        """As "81% (71% to 89%)"; where every outcome is known there is no range."""
        if self.observed == 1:
            return f"{self.value:.0%}"
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


def expected_of(rows: Rows, patch: Patch, who: Bools) -> Expected | None:
    """What is expected of some of the rows, by what the patch was learned with; None if few."""
    some = rows.take(np.flatnonzero(who)).with_score
    if len(some) < MIN_PEOPLE or patch.outlook is None:
        return None
    points = None if patch.card is None else patch.points(some.X)
    z = odds_of(some, patch.decision)
    chances = patch.outlook.chances(z, points)
    known = some.y != UNKNOWN

    def mean(expected: Floats) -> float:
        return float(np.average(np.where(known, some.y, expected), weights=some.sample_weight))

    low, high = (mean(end) for end in patch.outlook.ends(z, points))
    return Expected(mean(chances), low, high, float(known.mean()))


def drawn(rows: Rows) -> Ints:
    """Labels, drawn by what is expected where they are missing: for methods that take no chance."""
    chance = np.random.default_rng(0).random(len(rows))
    return np.asarray(chance < rows.good, np.int64)


def fine(chances: Floats) -> Floats:
    """Chances whose sums are exact."""
    return np.asarray(np.round(chances / FINE) * FINE)


def splits_expecting(splits: Splits, decision: Decision, doubt: float = DOUBT) -> Splits:
    """The splits with what is expected of those without an outcome, by the rows to learn from."""
    outlook = outlook_of(learned_rows(splits), decision, doubt=doubt)

    def expected(rows: Rows) -> Rows:
        return expecting(rows, outlook, decision)

    both, fresh = splits.both, splits.fresh
    return replace(
        splits,
        learn=expected(splits.learn),
        select=expected(splits.select),
        both=None if both is None else replace(both, rows=expected(both.rows)),
        fresh=CertificationSample(expected(fresh.rows))
        if isinstance(fresh, CertificationSample)
        else fresh,
    )


def learned_rows(splits: Splits) -> Rows:
    """People to calibrate on: learned from, and not known to f, who is too sure of those."""
    both: Crossed | None = splits.both
    if both is None:
        return splits.learn
    if both.known_to_f is None:
        return both.rows
    return both.rows.take(np.flatnonzero(~both.known_to_f))
