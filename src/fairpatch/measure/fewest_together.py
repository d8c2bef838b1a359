"""How few changes could do it where places are limited, or in strata? A program, S known.

With k_c approvals of the people in cell c (a group in a stratum, with an outcome), N_c people and
G_c approvals by f:

    least  sum |k_c - G_c|
    with   tau c N_g <= k_g <= c N_g                 a ratio of at least tau, c the highest rate
           b N_g <= k_g <= t N_g,  t - b <= e        a gap of at most e; of two, the sum of both
           low <= sum k <= high                      the places, everybody counted

In strata the limits hold in each; or k_g / N_g is sum_z P(z) k_gz / N_gz. Whoever no rate is about
(no group, another outcome, a stratum of few) is free to give and to take a place. All limits of a
feature are in one program; of several features, each has its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.measure.bounds import IMPOSSIBLE, NODES, SOLVED, Bound
from fairpatch.measure.cells import Direction, may_demote, may_promote
from fairpatch.measure.comparisons import ENOUGH, Comparisons
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import Metric

LOT = 1e4
"""People in a cell beyond whom they are counted in lots that may be broken: still a bound."""


@dataclass
class _Program:
    """Rows of constraints over promotions, demotions and the ends of rates, in the making."""

    cells: int
    rows: list[dict[int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    ends: int = 0

    def end(self) -> int:
        """One more unknown rate."""
        self.ends += 1
        return 2 * self.cells + self.ends - 1

    def within(
        self, approved: dict[int, float], end: dict[int, float], low: float, high: float
    ) -> None:
        """So much of the approvals of cells, beyond those of f, and of ends lies between these."""
        withdrawn = {self.cells + c: -v for c, v in approved.items()}
        self.rows.append(approved | withdrawn | end)
        self.low.append(low)
        self.high.append(high)


def fewest_together(
    counts: Counts, limits: Sequence[tuple[Metric, float]],
    places: tuple[float, float] | None = None, direction: Direction = "both",
    comparisons: Comparisons | None = None,
) -> Bound | None:  # fmt: skip
    """The fewest changes that keep some limits, of one feature, and approve a share in ``places``.

    None where none do, or a rate has nobody.
    """
    groups = counts.known()
    table = groups.along("group", "stratum", "label", "before").astype(np.float64)
    size, held = table.sum(3).ravel(), table[..., 1].ravel()
    everybody = counts.along("before").astype(np.float64)
    rest = everybody - table.sum((0, 1, 2))
    size, held = np.append(size, rest.sum()), np.append(held, rest[1])
    lot = max(1.0, size.max() / LOT)
    program = _Program(len(size))
    number = np.arange(table[..., 0].size).reshape(table.shape[:3])
    for cells, share in _compared(groups, number, comparisons):
        for metric, limit in limits:
            if not _add(program, metric, limit, size / lot, held / lot, cells, share):
                return None
    if places is not None:
        people, now = everybody.sum() / lot, everybody[1] / lot
        low, high = (part * people - now for part in places)
        if lot == 1:  # whole people: places are, too
            low, high = np.ceil(low - 1e-9), np.floor(high + 1e-9)
        program.within(dict.fromkeys(range(len(size)), 1.0), {}, low, high)
    moves = _solve(program, size / lot, held / lot, direction, whole=lot == 1)
    if moves is None:
        return None
    up, down = (np.rint(part * lot).astype(int) for part in np.split(moves, 2))
    by_group = [part[:-1].reshape(len(groups.groups), -1).sum(1) for part in (up, down)]
    return Bound(
        int(np.ceil(moves.sum() * lot - 1e-4)), counts.total,
        tuple(by_group[0].tolist()), tuple(by_group[1].tolist()),
    )  # fmt: skip


Compared = Iterator[tuple[Ints, Floats | None]]
"""Cells by group, stratum and label; and the share of each stratum, where rates are of its mix."""


def _compared(groups: Counts, number: Ints, comparisons: Comparisons | None) -> Compared:
    """The sets of cells that are compared with each other."""
    if comparisons is None:
        yield number, None
        return
    (feature,) = groups.features
    people, values = groups.along("group", "stratum"), [group[0] for group in groups.groups]
    known = np.array([None not in z for z in groups.strata], bool)
    enough = (people >= (ENOUGH if comparisons.columns else 1)) & known
    blocks = [(enough[:, z], [z]) for z in np.flatnonzero(known).tolist()]
    standardised = bool(comparisons.columns) and comparisons.how == "standardised"
    if standardised:
        large = people.sum(1) >= ENOUGH
        blocks = [(large, np.flatnonzero(enough[large].all(0)).tolist())]
    for which, strata in blocks:
        own = np.flatnonzero(which)
        if len(own) < 2 or not strata:
            continue
        mixed = people[own][:, strata].sum(0)
        share = mixed / mixed.sum() if standardised else None
        by_decision = groups.along("group", "stratum", "before")[own][:, strata].sum(1)
        rates = by_decision[:, 1].astype(float), by_decision.sum(1).astype(float)
        for _, pair in comparisons.pairs("", feature, [values[i] for i in own], rates):
            yield number[own[pair]][:, strata], share


def _add(
    program: _Program, metric: Metric, limit: float, size: Floats, held: Floats, number: Ints,
    share: Floats | None,
) -> bool:  # fmt: skip
    """The rows of one limit; False where a rate has nobody."""
    gap: dict[int, float] = {}
    for rate in metric.rates:
        labels = rate("f").labels
        whole = labels.all()  # then unknown outcomes count, too
        top = program.end()
        bottom = program.end() if metric.how == "gap" else None
        people = 1.0
        for own in number:
            cells = own if whole else own[:, : len(labels)][:, labels]
            by_stratum = size[cells].sum(1)
            if not by_stratum.all():
                return False
            # a rate in people: those of all strata, or of as many with everybody's mix
            n = float(by_stratum.sum())
            each = np.ones(len(cells)) if share is None else n * share / by_stratum
            approved = {int(c): float(v) for row, v in zip(cells, each, strict=True) for c in row}
            now = float(sum(held[c] * v for c, v in approved.items()))
            floor = {top: -limit * n} if bottom is None else {bottom: -n}
            program.within(approved, floor, -now, np.inf)
            program.within(approved, {top: -n}, -np.inf, -now)
            people = max(people, n)
        if bottom is None:  # somebody is approved: 0 / 0 is no ratio
            program.within({}, {top: people}, 1.0, np.inf)
        else:
            gap |= {top: 1.0, bottom: -1.0}
    if gap:
        scale = float(size.max())  # in people, as the other rows
        program.within({}, {k: v * scale for k, v in gap.items()}, -np.inf, limit * scale)
    return True


def _solve(
    program: _Program, size: Floats, held: Floats, direction: Direction, *, whole: bool
) -> Floats | None:
    """Promotions and demotions of each cell; in parts of people where whole ones take too long."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 slow to import

    n = 2 * program.cells + program.ends
    matrix = np.zeros((len(program.rows), n))
    for i, row in enumerate(program.rows):
        for j, value in row.items():
            matrix[i, j] = value
    most = np.concatenate([
        (size - held) * may_promote(direction), held * may_demote(direction), np.ones(program.ends)
    ])  # fmt: skip
    flips = np.append(np.ones(2 * program.cells), np.zeros(program.ends))
    for integral in (True, False) if whole else (False,):
        found = milp(
            flips, constraints=LinearConstraint(matrix, program.low, program.high),
            bounds=Bounds(np.zeros(n), most), integrality=(flips * integral).astype(np.int64),
            options={"mip_rel_gap": 0.0, "node_limit": NODES},
        )  # fmt: skip
        if found.status == SOLVED and found.x is not None:
            return np.asarray(found.x[: 2 * program.cells])
        if found.status == IMPOSSIBLE:
            return None
    return None
