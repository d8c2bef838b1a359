"""Rates and metrics as they may be shown: computed from the protected table of counts.

Every rate is two sets of cells, hits and those they are among; those counts, over everybody and in
every group that is shown, are what a page publishes. They are protected together, once
(``fairpatch.disclose.suppress``), and every figure is computed from what is told of them: with its
interval where both counts are told, else as what it lies between.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch.disclose.suppress import (
    MOST_CELLS,
    Program,
    PublishedCount,
    Secret,
    TooManyCellsError,
)
from fairpatch.measure import intervals
from fairpatch.measure.cells import UNKNOWN, atoms, cells
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import P_RULE, Metric
from fairpatch.measure.rates import (
    Model,
    Rate,
    changed_rate,
    correct_rate,
    demoted_rate,
    false_positive_rate,
    promoted_rate,
    selection_rate,
    share,
    true_positive_rate,
)

Margin = tuple[str, ...]
"""Some of the sensitive features; none of them is everybody."""
Name = tuple[Margin, int, bytes]
"""A count that is published: of which margin, of which group, of which cells."""
EVERYBODY: Margin = ()
_NOBODY = PublishedCount(0, None)
_WORTH_OF_ALL = 0.1
"""Totals are told more coarsely before groups are: it is the groups that are compared."""
_WORTH_OF_CROSSING = 0.01
"""And their crossing before the features by themselves."""
_WORTH_OF_DEAR = 10.0
"""And errors and outcomes before who is approved and who changes."""


@dataclass(frozen=True, eq=False)
class Protected:
    """The counts, and what may be told of each."""

    counts: Counts
    published: dict[Name, PublishedCount]
    small_shown: bool = False
    """Whether small counts are shown as they are: for people who are entitled to see them."""
    withheld: frozenset[Margin] = frozenset()
    """Tables that have too many cells to be protected."""
    _by: dict[Margin, Counts] = field(default_factory=dict, repr=False)

    def by(self, *margin: str) -> Counts:
        """The counts by some of the features."""
        if margin not in self._by:
            self._by[margin] = self.counts.by(*margin)
        return self._by[margin]

    def hidden(self, *margin: str) -> list[bool]:
        """Which groups are too small to be shown, in the order of the counts."""
        if margin in self.withheld:
            return [True] * len(self.by(*margin).groups)
        return [not self.small_shown and too_few(size) for size in self.by(*margin).heads]

    @cached_property
    def whole(self) -> bool:
        """Whether every count is told as it is."""
        return all(count.exact for count in self.published.values()) and not self.withheld

    def people(self, *margin: str, group: int = 0) -> PublishedCount:
        """How many people there are in a group, or at all."""
        return self.number(cells(), *margin, group=group)

    def number(self, mask: Bools, *margin: str, group: int = 0) -> PublishedCount:
        """How many people are in some cells (y, decision of f, decision of g) of a group."""
        return self.published.get((margin, group, np.ascontiguousarray(mask).tobytes()), _NOBODY)

    def rate(
        self,
        rate: Rate,
        *margin: str,
        group: int = 0,
        confidence: float = 0.95,
        method: intervals.Method = "wilson",
    ) -> Estimate:
        """A rate of a group, or over everybody."""
        why = rate.refused(self.counts)
        if why is not None:
            return Estimate.undefined(why)
        k, n = self._behind(rate, *margin, group=group)
        if k.exact and n.exact:
            hits, among = (by_group[group] for by_group in rate.per_group(self.by(*margin)))
            estimate = share(float(hits), float(among), rate.nobody, confidence, method)
            return estimate if self.whole or not self._weighted else _two_digits(estimate)
        if n.high is None or k.high is None or self._weighted:
            return Estimate.withhold()
        return Estimate.from_range(*self._ends(rate, *margin, group=group))

    def _behind(
        self, rate: Rate, *margin: str, group: int
    ) -> tuple[PublishedCount, PublishedCount]:
        """What is told of a rate's hits, and of those they are among."""
        masks = (rate.hits & rate.among, rate.among)
        hits, among = (self.number(mask, *margin, group=group) for mask in masks)
        return hits, among

    def _ends(self, rate: Rate, *margin: str, group: int) -> tuple[float, float]:
        """What follows for a rate from what is told of its counts."""
        k, n = self._behind(rate, *margin, group=group)
        if n.high is None or k.high is None or self._weighted:
            ends = self.rate(rate, *margin, group=group).ends
            return ends or (0.0, 1.0)
        low = k.low / n.high if n.high else 0.0
        return low, min(1.0, k.high / n.low if n.low else 1.0)

    @cached_property
    def _weighted(self) -> bool:
        return self.counts.weighted

    def compared(self, *margin: str, least: int = MIN_PEOPLE) -> list[int]:
        """The groups that a metric compares: known, and of at least so many people."""
        counts = self.by(*margin)
        return [
            i
            for i, (group, size) in enumerate(zip(counts.groups, counts.heads, strict=True))
            if None not in group and size >= least
        ]

    def metric(
        self,
        metric: Metric,
        *margin: str,
        model: Model = "g",
        confidence: float = 0.95,
        least: int = MIN_PEOPLE,
    ) -> Estimate:
        """How far apart the groups are."""
        groups, counts = self.compared(*margin, least=least), self.by(*margin)
        exact = metric.of(
            counts.where([i in groups for i in range(len(counts.groups))]),
            model=model,
            confidence=confidence,
        )
        if margin in self.withheld:
            return Estimate.withhold()
        made = [make(model) for make in metric.rates]
        estimates = [self.rate(rate, *margin, group=i) for rate in made for i in groups]
        if exact.value is None or all(r.low is not None for r in estimates):
            # without an interval, a rate is not told to the last digit, and no metric of it is
            return exact
        ends = [
            metric.between([self._ends(rate, *margin, group=i) for i in groups]) for rate in made
        ]
        return Estimate.from_range(sum(low for low, _ in ends), sum(high for _, high in ends))


@dataclass(frozen=True)
class _Shown:
    """A table that is shown: by which features, of which block of the program, with which rates."""

    margin: Margin
    block: int
    rates: tuple[Rate, ...]


def protect(
    counts: Counts,
    rates: Sequence[Rate],
    margins: Sequence[Margin],
    *,
    of_everybody: Sequence[Rate] = (),
    crossed: bool = False,
    of_crossing: Sequence[Rate] | None = None,
    dear: Sequence[Rate] = (),
    show_small: bool = False,
) -> Protected:
    """Protect everything that will be published of a table: rates of groups and of everybody.

    Parameters
    ----------
    rates : those that are shown for the groups of every margin, and for everybody.
    margins : features, or crossings of features, whose groups are shown.
    of_everybody : rates that are shown for everybody only.
    crossed : whether a crossing of all features is among the margins, so that who knows it knows
        how the features hang together; otherwise each feature is a table of its own, with the same
        people.
    of_crossing : rates that are shown for the groups of the crossing; all of them unless said.
    dear : rates whose counts are the last to be told more coarsely.
    show_small : protect nothing.
    """
    blocks = [counts] if crossed else [counts.by(*margin) for margin in margins or [()]]
    of_both = rates if of_crossing is None else of_crossing
    tables = [
        _Shown(margin, 0 if crossed else i, tuple(rates if len(margin) < 2 else of_both))
        for i, margin in enumerate(margins)
    ]
    tables.insert(0, _Shown(EVERYBODY, 0, (*rates, *of_everybody)))
    published, few = _exactly(blocks, tables)
    if few and not show_small:
        try:
            program, secrets = _program(blocks, tables, frozenset(_masks(dear)))
            program.protect(secrets)
        except TooManyCellsError:
            return _less(counts, rates, margins, of_everybody, crossed, dear)
        published = program.published
    return Protected(counts, published, show_small)


def _exactly(
    blocks: Sequence[Counts], tables: Sequence[_Shown]
) -> tuple[dict[Name, PublishedCount], bool]:
    """Every count as it is, and whether any of them would tell of few people.

    Mostly none does, and then there is nothing to protect, however many groups there are.
    """
    published: dict[Name, PublishedCount] = {}
    few = False
    for table in tables:
        counts = blocks[table.block].by(*table.margin)
        for key, mask in _masks(table.rates).items():
            for group, count in enumerate(counts.in_cells(mask).tolist()):
                published[table.margin, group, key] = PublishedCount(count, count)
        secret = np.array([counts.heads_by(mask) for mask in _secret_masks(table.rates)])
        few |= bool(((secret > 0) & (secret < MIN_PEOPLE)).any())
    return published, few


def _less(
    counts: Counts,
    rates: Sequence[Rate],
    margins: Sequence[Margin],
    of_everybody: Sequence[Rate],
    crossed: bool,
    dear: Sequence[Rate],
) -> Protected:
    """Where all of it cannot be protected in time: without the crossing, then without groups."""
    if crossed:
        rest = [margin for margin in margins if len(margin) == 1]
        less = protect(counts, rates, rest, of_everybody=of_everybody, dear=dear)
        return replace(less, withheld=less.withheld | (set(margins) - set(rest)))
    if not margins:
        return Protected(counts, {})
    less = protect(counts, rates, [], of_everybody=of_everybody, dear=dear)
    return replace(less, withheld=frozenset(margins))


def _program(
    blocks: Sequence[Counts],
    shown: Sequence[_Shown],
    dear: frozenset[bytes],
) -> tuple[Program[Name], list[Secret]]:
    """The integer program of what is published: its counts, and the secrets among them."""
    # moves and labels that nobody at all has are known not to be
    there = blocks[0].along("label", "before", "after") > 0
    spots = [(int(y), int(f), int(g)) for y, f, g in np.argwhere(there)]
    starts = np.cumsum([0, *(len(block.groups) * len(spots) for block in blocks)])
    tables = [block.along("group", "label", "before", "after") for block in blocks]
    people = np.concatenate([table[:, there].ravel() for table in tables])
    if len(people) > MOST_CELLS:
        raise TooManyCellsError(f"{len(people):,} cells, at most {MOST_CELLS:,}")
    program: Program[Name] = Program(people)
    secrets: list[Secret] = []

    def spread(block: int, groups: Bools, mask: Bools) -> Bools:
        """Some groups' cells of a block, among all cells of the program."""
        marked = np.zeros(len(people), bool)
        inside = np.outer(groups, np.array([mask[s] for s in spots], bool)).ravel()
        marked[starts[block] : starts[block + 1]] = inside
        return marked

    def most(marked: Bools) -> int:
        """Of few people nobody may learn more than this; of few with many rows, how many those."""
        return max(
            MIN_PEOPLE - 1, int(people[marked].sum()) if blocks[0].persons is not None else 0
        )

    def publish(margin: Margin, group: int, block: int, members: Bools, rates: Any) -> None:
        """What is told of a group, or that it is small; and what must not follow."""
        own = blocks[block]
        small = margin != EVERYBODY and too_few(int(own.heads[members].sum()))
        if not small:
            worth = {0: _WORTH_OF_ALL, 1: 1.0}.get(len(margin), _WORTH_OF_CROSSING)
            for key, mask in _masks(rates).items():
                own_worth = worth * (_WORTH_OF_DEAR if key in dear else 1.0)
                program.publish((margin, group, key), spread(block, members, mask), own_worth)
        for mask in _secret_masks(rates):
            marked = spread(block, members, mask)
            if not marked.any():
                continue
            if small:
                # somebody is there, but nobody may learn what was decided of whom
                secrets.append(Secret(marked, 1 if mask.all() else 0, most(marked)))
                program.stated += [secrets[-1]] if mask.all() else []
            elif too_few(int(own.heads_by(mask)[members].sum())):
                secrets.append(Secret(marked, 1, most(marked)))
        for rate in () if small else rates:
            # that none of few has a label, or each of them, is known of everybody who is there
            if not too_few(int(people[spread(block, members, rate.among)].sum())):
                continue
            for mask in (rate.hits & rate.among, rate.among & ~rate.hits):
                marked = spread(block, members, mask)
                if marked.any() and not people[marked].any():
                    secrets.append(Secret(marked, 0, 1))

    everyone = [np.ones(len(block.groups), bool) for block in blocks]
    for table in shown:
        for group, members in _members(blocks[table.block], table.margin):
            publish(table.margin, group, table.block, members, table.rates)
    for b in range(1, len(blocks)):  # every block holds the same people
        for spot in spots:
            one = cells(*spot)
            program.same.append((spread(0, everyone[0], one), spread(b, everyone[b], one)))
    return program, secrets


def _members(block: Counts, margin: Margin) -> Iterator[tuple[int, Bools]]:
    """Every group of a margin: its number, and who of the block's groups belong to it."""
    pick = [block.features.index(name) for name in margin]
    values = [tuple(g[i] for i in pick) for g in block.groups]
    for i, group in enumerate(block.by(*margin).groups):
        yield i, np.array([v == group for v in values])


def _masks(rates: Sequence[Rate]) -> dict[bytes, Bools]:
    """The counts behind rates: hits, those they are among, and everybody."""
    masks = [cells()]
    for rate in rates:
        masks += [rate.hits & rate.among, rate.among]
    return {m.tobytes(): np.ascontiguousarray(m) for m in masks}


def _secret_masks(rates: Sequence[Rate]) -> list[Bools]:
    """What must not be told of few: the counts, those without them, and whatever they divide into.

    Cells that are in the same counts cannot be told apart; the others can, by subtraction.
    """
    published = _masks(rates)
    masks = dict(published)
    for rate in rates:
        for rest in (rate.among & ~rate.hits, ~rate.among):
            masks[rest.tobytes()] = np.ascontiguousarray(rest)
    for atom in atoms(np.stack(list(published.values()))):
        masks[atom.tobytes()] = np.ascontiguousarray(atom)
    return [m for m in masks.values() if m.any()]


def _two_digits(estimate: Estimate) -> Estimate:
    """Weighted rates tell of weights, not of people: no more than two digits beside hidden ones."""
    return estimate if estimate.value is None else Estimate(round(estimate.value, 2))


# What a certificate and a review publish of the same people: one list, so protected alike.

MOST_CROSSED = 40
"""Groups of a crossing of all features, at most: of more, hardly one could be shown."""
MOVES = {
    "promoted": (0, 1),
    "demoted": (1, 0),
    "left approved": (1, 1),
    "left denied": (0, 0),
}
"""What may become of a person: decisions of f and of g."""


def move(name: str) -> Rate:
    """The share of everybody of whom this becomes."""
    return Rate(_cells(name), cells(), "there are no rows")


def outcome(name: str) -> Rate:
    """Of the people of whom this becomes, the share with y = 1."""
    known = _cells(name)
    known[UNKNOWN] = False
    good = known.copy()
    good[0] = False
    return Rate(good, known, "nobody")


def reviewed(
    counts: Counts,
    metrics: Iterable[Metric],
    *,
    show_small: bool = False,
) -> Protected:
    """The groups of each feature and of their crossing before and after, and where changes lie."""
    compared = dict.fromkeys([P_RULE, *metrics])
    made: list[Callable[[Model], Rate]] = [selection_rate, correct_rate]
    made += [true_positive_rate, false_positive_rate]
    made += [rate for metric in compared for rate in metric.rates]
    models: tuple[Model, ...] = ("f", "g")
    rates = [promoted_rate(), demoted_rate(), *(outcome(name) for name in MOVES)]
    rates += [rate(model) for rate in dict.fromkeys(made) for model in models]
    who = [selection_rate("f"), selection_rate("g"), promoted_rate(), demoted_rate()]
    crossed = len(counts.features) > 1 and len(counts.groups) <= MOST_CROSSED
    margins = [(feature,) for feature in counts.features]
    return protect(
        counts,
        rates,
        [*margins, counts.features] if crossed else margins,
        of_everybody=[changed_rate(), *(move(name) for name in MOVES)],
        crossed=crossed,
        of_crossing=who,
        dear=[*who, changed_rate()],
        show_small=show_small,
    )


def of_pair(metric: Metric, counts: Counts, estimate: Estimate, model: Model = "g") -> Estimate:
    """A metric of a comparison that is told nowhere else, in a stratum or against a reference.

    To two digits, and only where nobody can be told from it: of every group there are enough hits
    and enough others.
    """
    for make in metric.rates:
        rate = make(model)
        hits, among = (counts.in_cells(c) for c in (rate.hits & rate.among, rate.among))
        if min(hits.min(), (among - hits).min()) < MIN_PEOPLE:
            return Estimate.withhold()
    return estimate.rounded()


def _cells(name: str) -> Bools:
    before, after = MOVES[name]
    return cells(before=before, after=after)
