"""Tables of counts made of others: people counted otherwise, or those of whom all is known."""

import hashlib
from dataclasses import replace

import numpy as np

from fairpatch._tools.arrays import Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.measure.cells import UNKNOWN, cells
from fairpatch.measure.counts import TABLES, Counts


def in_groups_of(counts: Counts, other: Counts) -> Counts:
    """The same people in the groups and strata of another table, which has all of them."""
    nobody = replace(
        other, n=0 * other.n, weight=0.0 * other.weight, weight_sq=0.0 * other.weight_sq,
        parts=None if other.parts is None else 0.0 * other.parts,
        persons=None if other.persons is None else 0 * other.persons,
    )  # fmt: skip
    return nobody + counts


def of_weights(counts: Counts) -> Counts:
    """People as their weights say, where those are 0 and 1: who is drawn, and who is not."""
    n = np.rint(counts.weight).astype(np.int64)
    return replace(counts, n=n, weight_sq=counts.weight)


def approved_in_part(counts: Counts, share: float) -> Counts:
    """The same people, of whom this share of the newly approved is; the others stay denied."""
    tables = {}
    for name in TABLES:
        if (table := getattr(counts, name)) is None:
            continue
        parted = table.astype(np.float64)
        moved = parted[:, :, :, 0, 1] * (1 - share)
        parted[:, :, :, 0, 1] -= moved
        parted[:, :, :, 0, 0] += moved
        tables[name] = parted
    return replace(counts, **tables)


# S or labels that are known of some people only: known equally often, whatever was decided.
#
# Whom one asks, and whose label comes, may depend on the decision: then rates among the known are
# not those of all. Of people with each pair of decisions (f's and g's) as large a share is kept as
# of those who are known least often, drawn at random: what is left is a sample of everybody, and
# counts as it is. That rests on nothing else deciding who is known. Where of some decision hardly
# anybody is known, as the labels of the denied often are, no drawing mends that, and the question
# is refused.

KNOWN_OF_ALL = 0.9
"""Labels of everybody are in when so many are: the others are not waited for."""
LEAST = 0.001
"""People with some decision who are fewer than this share may be left out."""


def _weighed(counts: Counts, factor: Floats) -> Counts:
    """The same people, those with each pair of decisions counting less."""
    return replace(
        counts, n=counts.n * factor, weight=counts.weight * factor,
        weight_sq=counts.weight_sq * factor**2,
        parts=None if counts.parts is None else counts.parts * factor[..., None],
    )  # fmt: skip


class NotKnownError(ValueError):
    """Too little is known of some people: an estimate would mislead."""


def evenly_known(counts: Counts, *, with_label: bool) -> Counts:
    """Counts of people whose S (and label) is known: of each decision as large a share.

    The same counts give the same people.

    >>> counts = Counts.from_arrays(decision=[1] * 40 + [0] * 60,
    ...     sensitive_features=["a"] * 10 + ["b"] * 10 + [None] * 20 + ["a"] * 40 + ["b"] * 20)
    >>> evenly_known(counts, with_label=False).along("before")[::-1]  # half of each
    array([20, 30])
    """
    if counts.weighted:
        raise NotKnownError(
            "rows weigh differently: over time, guarantees are judged from people, not from weights"
        )
    known = np.array([None not in group for group in counts.groups])
    seen = counts.among(~cells(label=UNKNOWN)) if with_label else counts
    some = seen.n * known.reshape(-1, 1, 1, 1, 1)
    everybody, asked = counts.along("before", "after"), some.sum((0, 1, 2))
    if (asked == everybody).all():
        return counts.where(known)
    counted = everybody > LEAST * everybody.sum()
    lacking = counted & (asked < np.minimum(MIN_PEOPLE, everybody))
    if lacking.any():
        f, g = (int(i) for i in np.argwhere(lacking)[0])
        what = "label" if with_label else "group"
        raise NotKnownError(
            f"of people with decision {f} before and {g} after the patch, hardly anybody's {what} "
            "is known, and the others' say nothing about theirs"
        )
    share = (asked / np.maximum(everybody, 1))[counted].min(initial=1.0)
    if counts.parts is not None:  # people have several rows: none is left out, all weigh less
        less = np.where(asked > 0, share * everybody / np.maximum(asked, 1), 0.0)
        return _weighed(seen, less).where(known)
    random = np.random.default_rng(
        list(hashlib.sha256(np.ascontiguousarray(counts.n, "<i8").tobytes()).digest())
    )
    kept = np.zeros_like(some)
    for f, g in np.ndindex(2, 2):
        cell = some[..., f, g].ravel()
        most = min(int(share * everybody[f, g] + 1e-9), int(cell.sum()))
        kept[..., f, g] = random.multivariate_hypergeometric(
            cell, most, method="marginals"
        ).reshape(some.shape[:3])
    weight = kept.astype(float)
    return replace(counts, n=kept, weight=weight, weight_sq=weight).where(known)
