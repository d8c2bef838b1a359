"""The smallest count that is published: smaller groups are neither shown nor described.

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


# Shares by full tens of people: what may be shown of people whom somebody may know one by one.


def ends_of(
    hits: float, among: float, *, known: bool = False, exact: bool = False
) -> tuple[float, float]:
    """What a share lies between; ``known`` where it is no secret how many it is among.

    >>> ends_of(12, 40, known=True), ends_of(12, 40, exact=True)
    ((0.25, 0.475), (0.3, 0.3))

    Of 45, the hits may be 0 to 9, ..., 30 to 45: no fewer than ten numbers.

    >>> ends_of(44, 45, known=True) == ends_of(31, 45, known=True) == (30 / 45, 1.0)
    True
    """
    if exact:
        share = hits / among if among else 0.0
        return share, share
    k, n = (full_tens(round(x)) for x in (hits, among))
    if not n:
        return 0.0, 1.0
    if known:
        # those beyond the last whole ten join it: else few would be known not to be among the hits
        last = max(full_tens(round(among) + 1) - MIN_PEOPLE, 0)
        if k >= last:
            return last / among, 1.0
        return k / among, (k + MIN_PEOPLE - 1) / among
    return k / (n + MIN_PEOPLE - 1), min(1.0, (k + MIN_PEOPLE - 1) / n)
