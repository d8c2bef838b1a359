"""What a score is: its unit, how it goes with odds, and from where on it decides.

A probability p has log-odds logit(p). Points, as lenders print them, are log-odds on a scale of
their own: ``odds`` to 1 at ``base`` points, and twice that every ``double`` points more,

    log-odds(s) = ln(odds) + (s - base) ln(2) / double

Both ways round: decisions, bands and what is shown stay in the score's own unit, in every engine.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

Label = StrictBool | StrictInt | StrictFloat | StrictStr
Unit = Literal["probability", "percent", "points"]
MOST_CUTS = 200
"""Values of a column that have a threshold of their own, at most."""
LARGEST_SCORE = 1e9
"""Points are smaller than this in size; what is larger is no score."""


class PointScale(BaseModel):
    """How points go with the odds of the positive label.

    Parameters
    ----------
    base : float
        Points at which the odds are ``odds`` to 1.
    odds : float
        Those odds.
    double : float
        So many points more double the odds.
    origin : {"stated", "fitted", "assumed"}
        Whether somebody said so; or it was fitted to people with an outcome; or assumed, as there
        are none: then one standard deviation of the score is one unit of log-odds.

    Examples
    --------
    >>> scale = PointScale(base=600, odds=30, double=20)
    >>> [round(float(scale.log_odds(s)), 3) for s in (600, 620)]
    [3.401, 4.094]
    >>> round(float(scale.points(scale.log_odds(642.0))), 6)
    642.0
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: float = Field(allow_inf_nan=False)
    odds: float = Field(gt=0, allow_inf_nan=False)
    double: float = Field(gt=0, allow_inf_nan=False)
    origin: Literal["stated", "fitted", "assumed"] = "stated"

    @property
    def unit(self) -> float:
        """Log-odds of one point."""
        return log(2) / self.double

    def log_odds(self, points: Any) -> Any:
        """Of the positive label."""
        return log(self.odds) + (points - self.base) * self.unit

    def points(self, log_odds: Any) -> Any:
        """The other way round."""
        return self.base + (log_odds - log(self.odds)) / self.unit

    def __str__(self) -> str:
        known = {"stated": "", "fitted": " (fitted to known outcomes)", "assumed": " (assumed)"}
        return (
            f"{self.odds:.3g} to 1 at {self.base:g} points, doubled every {self.double:.3g}"
            f"{known[self.origin]}"
        )


class Cut(BaseModel):
    """The threshold of the rows with one value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Label
    threshold: float = Field(allow_inf_nan=False)


class Cuts(BaseModel):
    """A threshold for each value of a column, as a product's or a region's.

    >>> cuts = Cuts.of({"product": {"card": 640, "loan": 600}})
    >>> str(cuts), cuts.of_values(["loan", "card", "boat"]).tolist()
    ('by product (card 640, loan 600)', [600.0, 640.0, nan])
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: str
    at: tuple[Cut, ...] = Field(min_length=1, max_length=MOST_CUTS)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From ``{"product": {"card": 640, "loan": 600}}``."""
        (column, by_value), *others = given.items()
        if others or not isinstance(by_value, Mapping) or not by_value:
            raise ValueError(
                "thresholds by a column's values are given as {'product': {'card': 640, 'loan': "
                f"600}}}}; got {dict(given)!r}"
            )
        if len(by_value) > MOST_CUTS:
            raise ValueError(
                f"{column!r} has {len(by_value)} thresholds; at most {MOST_CUTS} can be named"
            )
        cuts = tuple(Cut(value=value, threshold=t) for value, t in by_value.items())
        return cls(by=column, at=cuts)

    @property
    def by_value(self) -> dict[Any, float]:
        """The thresholds by their values."""
        return {cut.value: cut.threshold for cut in self.at}

    def of_values(self, values: Iterable[Any]) -> Any:
        """The threshold of each row; NaN where its value has none."""
        known, missing = self.by_value, float("nan")
        return np.array([known.get(v, missing) for v in _plain(values)], np.float64)

    def expr(self) -> nw.Expr:
        """The threshold of each row of a table; null where its value has none."""
        first, *others = self.at
        case = nw.when(nw.col(self.by) == first.value).then(nw.lit(first.threshold))
        for cut in others:
            case = case.when(nw.col(self.by) == cut.value).then(nw.lit(cut.threshold))
        return case.otherwise(nw.lit(None, nw.Float64))

    def __str__(self) -> str:
        shown = [f"{cut.value} {cut.threshold:g}" for cut in self.at[:6]]
        more = f" and {len(self.at) - 6} more" if len(self.at) > 6 else ""
        return f"by {self.by} ({', '.join(shown)}{more})"


def _plain(values: Iterable[Any]) -> list[Any]:
    """Values as Python has them, and nothing that cannot be looked up."""
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    return [v if isinstance(v, str | int | float) else None for v in cells]


def check_threshold(value: Any, unit: Unit) -> None:
    """Refuse a threshold that the unit's scores cannot have."""
    if unit == "points":
        inside = isfinite(value) and abs(value) < LARGEST_SCORE
        wanted = "points as the score has them"
    else:
        inside = 1e-6 < value < 1 - 1e-6
        wanted = "a probability above 0 and below 1"
    if not inside:
        points = "" if unit == "points" or not value > 1 else (
            " (of a score in points, say score_unit='points')"
        )  # fmt: skip
        raise ValueError(f"threshold must be {wanted}; got {value!r}{points}")


def fitted_scale(scores: Sequence[float] | Any, good: Any, weight: Any) -> PointScale | None:
    """How points go with outcomes that are known, by logistic regression; None if that says little.

    Scores, labels and how many people stand behind each pair.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 half a second to import
    from scipy.special import expit  # noqa: PLC0415 half a second to import

    s, y, w = (np.asarray(v, np.float64) for v in (scores, good, weight))
    some = np.isfinite(s) & (w > 0)
    s, y, w = s[some], y[some], w[some]
    if min(w[y == 1].sum(), w[y == 0].sum()) < FEWEST:
        return None
    middle = float(np.average(s, weights=w))
    spread = float(np.sqrt(np.average((s - middle) ** 2, weights=w)))
    if not spread:
        return None
    z, sign = (s - middle) / spread, np.where(y == 1, 1.0, -1.0)

    def loss(beta: Any) -> tuple[float, Any]:
        margin = sign * (beta[0] + beta[1] * z)
        slope = -w * sign * expit(-margin)
        return float(w @ np.logaddexp(0, -margin)), np.array([slope.sum(), slope @ z])

    a, b = minimize(loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B").x
    if b <= LEAST_SLOPE:
        return None
    double = log(2) * spread / float(b)
    odds = float(np.exp(a))
    return PointScale(
        base=round(middle, 1), odds=_three(odds), double=_three(double), origin="fitted"
    )


FEWEST = 50
"""People of each outcome, from which on a scale is fitted."""
LEAST_SLOPE = 0.05
"""Log-odds of a standard deviation: a score that goes with outcomes less than this says nothing."""


def assumed_scale(middle: float, spread: float) -> PointScale:
    """Where nobody has an outcome: a standard deviation is one unit of log-odds."""
    return PointScale(
        base=round(middle, 1), odds=1.0, double=_three(log(2) * spread or 1.0), origin="assumed"
    )


def _three(value: float) -> float:
    """Three digits are as much as anybody states."""
    return float(f"{value:.3g}")
