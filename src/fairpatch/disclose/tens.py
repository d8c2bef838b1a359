"""Shares by full tens of people: what may be shown of people whom somebody may know one by one."""

from fairpatch.floor import MIN_PEOPLE, full_tens


def ends_of(
    hits: float, among: float, *, known: bool = False, exact: bool = False
) -> tuple[float, float]:
    """What a share lies between; ``known`` where it is no secret how many it is among.

    >>> ends_of(12, 40, known=True), ends_of(12, 40, exact=True)
    ((0.25, 0.475), (0.3, 0.3))
    """
    if exact:
        share = hits / among if among else 0.0
        return share, share
    k, n = (full_tens(round(x)) for x in (hits, among))
    if not n:
        return 0.0, 1.0
    if known:
        return k / among, min(1.0, (k + MIN_PEOPLE - 1) / among)
    return k / (n + MIN_PEOPLE - 1), min(1.0, (k + MIN_PEOPLE - 1) / n)
