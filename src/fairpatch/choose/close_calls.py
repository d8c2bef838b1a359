"""Close calls: the scores of people whom the base model nearly decided the other way."""

from math import floor, log, log10

from scipy.special import expit, logit

from fairpatch.decision import Decision

Between = tuple[float, float]
ANY: Between = (0.0, 1.0)
"""Every score."""
CLOSE, CLOSER = 19.0, 9.0
"""A call is close where the odds are at most so many times those of the threshold."""


def close_calls(decision: Decision, odds: float = CLOSER) -> Between:
    """Between which scores a call is close.

    >>> close_calls(Decision()), close_calls(Decision(threshold=0.2), CLOSE)
    ((0.1, 0.9), (0.013, 0.83))
    """
    t, far = logit(decision.threshold), log(odds)
    return two_digits(float(expit(t - far))), two_digits(float(expit(t + far)))


def two_digits(score: float) -> float:
    """A score to two digits of its distance from 0 or 1.

    >>> two_digits(0.4378), two_digits(0.01234), two_digits(0.98766)
    (0.44, 0.012, 0.988)
    """
    far = min(score, 1 - score)
    digits = 1 - floor(log10(far)) if far > 0 else 6
    return round(score, digits)
