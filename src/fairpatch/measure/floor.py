"""The floor of ten: fewer people than this are neither shown nor described; they could be known."""

MIN_PEOPLE = 10
COARSE = (
    "Counts below 10 people are not told, nor what would tell them: other counts and rates are "
    "then given as what they lie between."
)
"""Stands where something is hidden."""
ROUNDED = (
    "A range without [limits] is rounded, so that nobody in a small group can be worked out. The "
    "verdict is by the exact figures and their limits."
)
"""Said below a certificate beside small counts."""
UNPROTECTED = "Not protected: small counts are shown. Only for people who are entitled to see them."
"""Stands on every page that tells small counts."""


def full_tens(people: float) -> int:
    """The largest multiple of ten that is no more: all that may be told of a part of a count.

    >>> [full_tens(n) for n in (0, 9, 10, 123)]
    [0, 0, 10, 120]
    """
    return int(people // MIN_PEOPLE * MIN_PEOPLE)


def too_few(people: float) -> bool:
    """Whether there is somebody, but too few to be shown.

    >>> [too_few(n) for n in (0, 1, 9, 10)]
    [False, True, True, False]
    """
    return 0 < people < MIN_PEOPLE
