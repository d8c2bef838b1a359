"""Close calls: the scores of people whom the base model nearly decided the other way."""

from math import floor, log, log10

from scipy.special import expit, logit

from fairpatch.decision import Decision

Between = tuple[float, float]
ANY: Between = (0.0, 1.0)
"""Every score."""
WHOLE = 5.0
"""Where so many points double the odds, bands end at whole points."""
CLOSE, CLOSER = 19.0, 9.0
"""A call is close where the odds are at most so many times those of the threshold."""


def close_calls(decision: Decision, odds: float = CLOSER) -> Between:
    """Between which scores a call is close.

    >>> close_calls(Decision()), close_calls(Decision(threshold=0.2), CLOSE)
    ((0.1, 0.9), (0.013, 0.83))
    """
    low, high = (away(decision, far) for far in (-log(odds), log(odds)))
    return low, high


def away(decision: Decision, far: float) -> float:
    """The score so many log-odds from the threshold, round; of several thresholds the distance.

    >>> away(Decision(threshold=0.8), -0.5)
    0.71
    >>> away(Decision(score_unit="points", threshold=640,
    ...               points={"base": 600, "odds": 30, "double": 20}), -0.5)
    626.0
    """
    if decision.in_points:
        points = far / decision.scale.unit
        whole = decision.scale.double >= WHOLE  # as people read them
        digits = 0 if whole or not points else max(0, 1 - floor(log10(abs(points))))
        return float(decision.cut + round(points, digits))
    if decision.cuts is None:
        return two_digits(float(expit(logit(decision.cut) + far)))
    middle = sorted(decision.thresholds)[len(decision.thresholds) // 2]
    distance = float(expit(logit(middle) + far)) - middle
    return round(distance, 1 - floor(log10(abs(distance)))) if distance else 0.0


def two_digits(score: float) -> float:
    """A score to two digits of its distance from 0 or 1.

    >>> two_digits(0.4378), two_digits(0.01234), two_digits(0.98766)
    (0.44, 0.012, 0.988)
    """
    far = min(score, 1 - score)
    digits = 1 - floor(log10(far)) if far > 0 else 6
    return round(score, digits)
