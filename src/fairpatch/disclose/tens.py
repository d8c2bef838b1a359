"""Shares by full tens of people: what may be shown of people whom somebody may know one by one."""

from fairpatch.floor import MIN_PEOPLE, full_tens


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
