"""The floor of ten: fewer people than this are neither shown nor described; they could be known."""

MIN_PEOPLE = 10


def too_few(people: float) -> bool:
    """Whether there is somebody, but too few to be shown.

    >>> [too_few(n) for n in (0, 1, 9, 10)]
    [False, True, True, False]
    """
    return 0 < people < MIN_PEOPLE
