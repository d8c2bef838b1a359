"""What may be shown beside the protected table: by full tens, never narrowing what it shows.

A line of the card, a typical case or a bar of a histogram counts some of the people of a count that
the table shows. Where the table shows that count as a range, a part of it must not reveal that the
range begins later.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.disclose.reviewed import move, outcome
from fairpatch.floor import MIN_PEOPLE, full_tens
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import (
    Model,
    Rate,
    correct_rate,
    demoted_rate,
    promoted_rate,
    selection_rate,
)
from fairpatch.report.figures import WITHHELD_FIGURE, Count, CountRange, Figure, Tens, figure

WITHHELD_COUNT = CountRange(at_least=0, at_most=None)


@dataclass(frozen=True, eq=False)
class Beside:
    """The table of some people, and tens for what is told beside it."""

    table: Protected
    tens: Tens

    def group(self, feature: str, value: object) -> tuple[str, int]:
        """A group as the table has it."""
        return feature, self.table.by(feature).groups.index((value,))

    def shown(self, rows: Rows) -> list[tuple[str, str, int, Bools]]:
        """The groups that are shown: feature, name, number in the table, and who is in it."""
        rows_shown = []
        for feature, values in zip(rows.s.features, rows.s.values, strict=True):
            hidden, names = self.table.hidden(feature), self.table.by(feature).group_names
            for i, value in enumerate(values):
                _, g = self.group(feature, value)
                if not hidden[g]:
                    here = rows.s.of_feature(feature) == i
                    rows_shown.append((feature, names[g], g, np.asarray(here)))
        return rows_shown

    def may_show(self, *rates: Rate, feature: str | None = None, group: int = 0) -> bool:
        """Whether the table tells all counts of some rates exactly."""
        margin = () if feature is None else (feature,)
        return self.tens.exact or all(
            self.table.number(cells, *margin, group=group).exact
            for rate in rates
            for cells in (rate.hits & rate.among, rate.among)
        )

    def part(self, people: float, *moves: str, feature: str | None = None, group: int = 0) -> Count:
        """Some of the people of whom the same becomes (``MOVES``), by the ten."""
        told = self.tens.count(people)
        least = self.least(*(move(name) for name in moves), feature=feature, group=group)
        if isinstance(told, int) or told.at_least <= least:
            return told
        return CountRange(at_least=full_tens(least), at_most=told.at_most)

    def rest(self, people: float) -> Count:
        """Who changes without a line: with those whom it moves, all who change."""
        moves = (promoted_rate(), demoted_rate())
        return self.tens.count(people) if self.may_show(*moves) else WITHHELD_COUNT

    def least(self, *rates: Rate, feature: str | None = None, group: int = 0) -> int:
        """No fewer people than this are among the hits of some rates together, as it is told."""
        margin = () if feature is None else (feature,)
        cells = [rate.hits & rate.among for rate in rates]
        return sum(self.table.number(mask, *margin, group=group).low for mask in cells)

    def turned_out(self, rows: Rows, who: Bools) -> Figure:
        """Of some of those who change, the share with the good outcome, of those who have one."""
        rates = (outcome("promoted"), outcome("demoted"))
        why = rates[0 if (rows.f[who] <= 0).any() else 1].refused(self.table.counts)
        if why is not None:
            return figure(Estimate.undefined(why))
        known = who & (rows.y != UNKNOWN)
        good, among = float(np.sum(rows.y[known] == 1)), float(known.sum())
        if self.may_show(*rates):
            return self.tens.share(good, among)
        # neither the good ones nor the others may be shown to be more than the table tells
        most_good = [self.table.number(rate.hits & rate.among).high for rate in rates]
        if None in most_good:
            return WITHHELD_FIGURE
        people = sum(self.table.number(rate.among).low for rate in rates)
        least_bad = people - sum(high for high in most_good if high is not None)
        fits = good <= self.least(*rates) and among - good <= least_bad
        return self.tens.share(good, among) if fits else WITHHELD_FIGURE

    def correct(self, rows: Rows, decision: Bools) -> Figure:
        """The share of some decisions that equal the outcome, of people who have one."""
        why = correct_rate("g").refused(self.table.counts)
        if why is not None:
            return figure(Estimate.undefined(why))
        known = rows.y != UNKNOWN
        right = float(np.sum((decision == (rows.y == 1)) & known))
        return self.tens.share(right, float(known.sum()))

    def compared(self, metric: Metric, decision: Counts, *, near: bool = False) -> Figure:
        """How far other decisions leave the groups apart, by the feature that is worst off.

        ``near`` where they are the patch's own but for a few people: then features whose rates the
        table does not tell are left out.
        """
        figures = []
        if self.table.counts.weighted:
            return WITHHELD_FIGURE  # these count people, the table weighs them
        for feature in decision.features:
            groups = self.table.compared(feature)
            rates = (selection_rate("f"), selection_rate("g"), *(r("g") for r in metric.rates))
            if near and not all(self.may_show(*rates, feature=feature, group=g) for g in groups):
                continue
            figures.append(apart(metric, decision, feature, self.tens))
        return _worst_off(metric, figures)


def decided(rows: Rows, decision: Bools) -> Counts:
    """Counts of f's decisions, and of some others in place of the patch's."""
    return Counts.from_arrays(
        decision=rows.f > 0,
        new_decision=decision,
        y=rows.labels,
        sensitive_features=rows.s,
        sample_weight=rows.sample_weight,
        outcomes=rows.outcomes,
    )


def apart(metric: Metric, counts: Counts, feature: str, tens: Tens) -> Figure:
    """How far apart the groups of at least ten known people are."""
    large = counts.by(feature).known().large(MIN_PEOPLE)
    if len(large.groups) < 2:
        return WITHHELD_FIGURE
    low = high = 0.0
    for make in metric.rates:
        rate = make("g")
        k, n = (large.in_cells(mask) for mask in (rate.hits & rate.among, rate.among))
        rates = [tens.ends(a, b, known=tens.sized) for a, b in zip(k, n, strict=True)]
        ends = metric.between(rates)
        low, high = low + ends[0], high + ends[1]
    return figure(Estimate.somewhere(low, high))


def figure_of(table: Protected, metric: Metric, model: Model) -> Figure:
    """The same of f or of the patch, as the table tells it, by the feature that is worst off."""
    figures = [
        figure(table.metric(metric, feature, model=model)) for feature in table.counts.features
    ]
    return _worst_off(metric, figures)


def _worst_off(metric: Metric, by_feature: Sequence[Figure]) -> Figure:
    """Of the features' figures, the worst that is told; else why the first is not."""
    known = [f for f in by_feature if f.middle is not None]
    pick = min if metric.at_least else max
    return pick(known, key=lambda f: f.middle or 0.0, default=[*by_feature, WITHHELD_FIGURE][0])
