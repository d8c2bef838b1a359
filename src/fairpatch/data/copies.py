"""Rows that were copied: a certificate counts people, and twenty copies are one person.

People may be alike by chance, in a table of few coarse columns many are. But how often chance makes
them so has a shape: among independent people, the number of values that occur k times is a mixture
of Poisson counts, so with f_k values that occur k times

    E f_k <= sqrt((k + 1) / k * E f_(k-1) * E f_(k+1)),   k = 2, 3, ...

as k! E f_k are moments of a distribution (Cauchy and Schwarz). A table that was pasted twice has
values that occur 2, 4 and 6 times and none that occur 1, 3 and 5 times; one of which a fifth
overlaps with the month before has pairs and no triples. Both are seen; a single row that somebody
repeats is not, nor need it be: it moves no rate by much.
"""

from functools import reduce
from math import gcd, sqrt
from typing import Any

import narwhals as nw
import numpy as np
from scipy.stats import chi2

from fairpatch._tools.arrays import Bools, Ints
from fairpatch._tools.extras import row_of
from fairpatch.data.rows import Rows, contents, mixed, of_numbers
from fairpatch.inputs.roles import Roles

SURE = 1e-5
"""Of the limits of each count: so seldom chance is taken for copying."""


def copies_in(rows: Rows) -> Bools | None:
    """Which rows are copies of others, each person being counted once; None where none are."""
    if rows.person is not None:  # a person's rows are one person's anyway
        return None
    numbers = contents(rows.X, rows.groups) + mixed(of_numbers(rows.y))
    for column in (rows.sample_weight, rows.f_logit):
        if column is not None:
            numbers = mixed(numbers + of_numbers(column))
    _, first, whose, times = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    if not copied(times):
        return None
    kept = np.zeros(len(rows), bool)
    common = reduce(gcd, times.tolist())  # of a whole table, so often; what is alike besides stays
    if common == 1:
        kept[first] = True
    else:
        order = np.argsort(whose, kind="stable")
        turn = np.arange(len(order)) - np.repeat(np.cumsum(times) - times, times)
        kept[order] = turn < (times // common)[whose[order]]
    return ~kept


def said_of(copies: Bools) -> str:
    """In a sentence."""
    many = int(copies.sum())
    return f"Of {len(copies):,} rows, {many:,} are copies of others: each is counted once."


def copied(times: Ints) -> bool:
    """Whether so many rows are alike as chance does not make them; by how often each value occurs.

    >>> copied(np.full(100, 20)), copied(np.ones(100, int)), copied(np.array([1] * 80 + [2] * 3))
    (True, False, False)
    """
    occur, many = np.unique(times, return_counts=True)
    f = dict(zip(occur.tolist(), many.tolist(), strict=True))
    return any(
        _least(f[k]) > sqrt((k + 1) / k * _most(f.get(k - 1, 0)) * _most(f.get(k + 1, 0)))
        for k in f
        if k > 1
    )


def _least(n: int) -> float:
    """A Poisson mean is below this hardly ever, where n were counted."""
    return float(chi2.ppf(SURE, 2 * n) / 2)


def _most(n: int) -> float:
    """And above this hardly ever."""
    return float(chi2.isf(SURE, 2 * n + 2) / 2)


def check_key(X: Any, roles: Roles) -> None:
    """Refuse a key that several rows share: they may be one person, counted several times."""
    frame = nw.from_native(X, pass_through=True)
    if roles.key is None or roles.person is not None or not hasattr(frame, "lazy"):
        return
    if roles.key not in frame.collect_schema().names():
        return
    key = nw.col(roles.key)
    known = frame.lazy().filter(~key.is_null()).group_by(roles.key).agg(n=nw.len())
    found = row_of(known.filter(nw.col("n") > 1).select(rows=nw.col("n").sum(), keys=nw.len()))
    if found["keys"]:
        raise ValueError(
            f"{int(found['rows']):,} rows share their {roles.key!r}, the key that tells rows "
            f"apart: leave out what is there twice. If a person may have several rows, name "
            f"{roles.key!r} as the person (Roles(person={roles.key!r}), columns: {{person: "
            f"{roles.key}}}): everybody is then counted once"
        )
