"""Tables of counts made of others: the same people, counted as if something were otherwise."""

from dataclasses import replace

import numpy as np

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
