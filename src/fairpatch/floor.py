"""The floor: groups of fewer people than this are neither shown nor described.

The number stands here and nowhere else; texts are made with it.
"""

MIN_PEOPLE = 10
SMALL_GROUP = f"a group of fewer than {MIN_PEOPLE}"
"""What a small group is called where its name may not be shown."""
COARSE = (
    f"Counts below {MIN_PEOPLE} are suppressed, and so is whatever would reveal them: other counts "
    "and rates are then shown as ranges."
)
"""Where something is suppressed."""
ROUNDED = (
    "A range without [limits] is rounded, so that nobody in a small group can be identified. The "
    "verdict is based on the exact figures and their limits."
)
"""Below a certificate beside small counts."""
UNPROTECTED = "Not protected: small counts are shown. For authorised readers only."
"""On every page that shows small counts."""


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
