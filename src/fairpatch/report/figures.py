"""What figures and findings of a review are: typed, so that page, JSON and card say the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE, ends_of, full_tens
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.disclose.protected import Protected, move, outcome
from fairpatch.disclose.suppress import PublishedCount
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import (
    Model,
    Rate,
    correct_rate,
    demoted_rate,
    promoted_rate,
    selection_rate,
)
from fairpatch.patch.parts import Part


class ReviewPart(Part):
    """Something that a review tells; every field says what it is, and the schema with it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class CountRange(ReviewPart):
    """A count of which no more is told than what it lies between."""

    at_least: int
    """No fewer than this."""
    at_most: int | None
    """No more than this; null where it is not told at all."""


Count = int | CountRange
"""How many people: a number, or what it lies between."""


class Figure(ReviewPart):
    """A rate, a ratio or a gap, with as many digits as may be told."""

    value: float | None
    """The value; null where it is told by at_least and at_most, or not at all."""
    low: float | None
    """The lower end of its interval, at 95 % unless said."""
    high: float | None
    """The upper end of its interval."""
    at_least: float | None
    """The value is no lower, where no more may be told."""
    at_most: float | None
    """The value is no higher, where no more may be told."""
    reason: str | None
    """Why there is no value."""
    withheld: bool = False
    """Whether there is one that is not given in full, to protect small groups."""
    groups: str
    """The groups that a comparison depends on, in words: lowest against highest."""
    between: tuple[str, str] | None
    """The same as a pair."""

    @property
    def middle(self) -> float | None:
        """About where it is."""
        if self.value is not None or self.at_least is None or self.at_most is None:
            return self.value
        return (self.at_least + self.at_most) / 2

    @property
    def informative(self) -> bool:
        """Whether anything is known of a share: "0 to 100 of 100" is nothing."""
        return self.middle is not None and (self.at_least, self.at_most) != (0, 1)


class Words(ReviewPart):
    """What the user calls the decisions and the outcomes."""

    favoured: str
    """The favourable decision, as tables have it."""
    good_outcome: str
    """The outcome that goes with it."""
    bad_outcome: str
    """The other one."""
    approved: str
    """What somebody is who has the favourable decision."""
    denied: str
    """What somebody is who has the other one."""


def words_of(decision: Decision) -> Words:
    """What a decision's user calls it; plain words where nobody has said."""
    approved, denied = decision.sides
    unnamed = decision.good_outcome.startswith("y = ")
    return Words(
        favoured=approved if decision.favoured.startswith("decision ") else decision.favoured,
        good_outcome="the good outcome" if unnamed else decision.good_outcome,
        bad_outcome="the bad outcome" if unnamed else decision.bad_outcome,
        approved=approved,
        denied=denied,
    )


def in_words(people: Count) -> str:
    """A count as people read it: a wide one by its middle, where its ends are close together."""
    if isinstance(people, int):
        return f"{people:,}"
    low, high = people.at_least, people.at_most
    if high is not None and low and high - low < 0.05 * high:
        return f"about {(low + high + 1) // 2:,}"
    return str(PublishedCount(low, high))


def count(shown: PublishedCount) -> Count:
    """What is told of a count, as data."""
    return shown.low if shown.exact else CountRange(at_least=shown.low, at_most=shown.high)


def figure(estimate: Estimate, digits: int = 6) -> Figure:
    """An estimate as data."""
    at_least, at_most = estimate.within or (None, None)
    numbers = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "at_least": at_least,
        "at_most": at_most,
    }
    rounded = {k: None if v is None else round(v, digits) for k, v in numbers.items()}
    return Figure(
        **rounded,
        reason=estimate.reason,
        withheld=estimate.withheld,
        groups=estimate.groups,
        between=estimate.between,
    )


WITHHELD_FIGURE = figure(Estimate.withhold())


class CountRounding(ReviewPart):
    """Counts by the full ten that they lie in: for what is told beside the protected table.

    Whoever knows a person's columns knows which line moves them, or at which strength they change;
    a count that steps by one there would tell their group and outcome. Tens do not.
    """

    exact: bool = False
    """Whether small counts are shown as they are."""
    sized: bool = False
    """Whether it is told elsewhere how many people each group has."""

    def count(self, people: float) -> Count:
        """How many, by the ten."""
        whole = round(people)
        if self.exact:
            return whole
        low = full_tens(whole)
        return CountRange(at_least=low, at_most=low + MIN_PEOPLE - 1)

    def ends(self, hits: float, among: float, *, known: bool = False) -> tuple[float, float]:
        """What a share lies between; ``known`` where it is no secret how many it is among."""
        return ends_of(hits, among, known=known, exact=self.exact)

    def share(self, hits: float, among: float) -> Figure:
        """A share of people, as much of it as tens tell."""
        if among < (1 if self.exact else MIN_PEOPLE):
            return WITHHELD_FIGURE
        return figure(Estimate.from_range(*self.ends(hits, among)))


def bands(ends: Floats, highest: float = 1.0) -> dict[str, list[Any]]:
    """Both ends of a line to two digits, outwards; (steps, 2)."""
    low, high = np.floor(ends[:, 0] * 100 + 1e-9) / 100, np.ceil(ends[:, 1] * 100 - 1e-9) / 100
    both = {"at_least": np.maximum(low, 0.0), "at_most": np.minimum(high, highest)}
    return {
        k: [None if np.isnan(v) else round(float(v), 2) for v in end] for k, end in both.items()
    }


def count_text(people: Count) -> str:
    """A count in a sentence."""
    return in_words(people).replace("below", "fewer than").replace("not shown", "some")


def least(people: int | CountRange) -> int:
    """No fewer than this."""
    return people if isinstance(people, int) else people.at_least


def figure_text(figure: Figure, digits: int = 2) -> str:
    """A figure in a sentence."""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else 2}f}"
    if figure.at_least is None:
        return "withheld"
    return _in_between(f"{figure.at_least + 0.0:.2f}", f"{figure.at_most:.2f}")


def percent(figure: Figure, digits: int = 0) -> str:
    """A share in a sentence."""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else 0}%}"
    if figure.at_least is None or figure.at_most is None:
        return "a withheld share"
    return _in_between(f"{100 * figure.at_least:.0f}", f"{100 * figure.at_most:.0f}") + "%"


def estimated(share: float) -> str:
    """An estimate as exactly as it is told: in whole per cent where small counts are hidden.

    >>> estimated(0.03), estimated(0.026)
    ('about 3%', '2.6%')
    """
    return f"about {share:.0%}" if abs(share - round(share, 2)) < 1e-9 else f"{share:.1%}"


def _in_between(low: str, high: str) -> str:
    """The same in a sentence, where "from 1 to 2 to 3 to 4" cannot be read."""
    return f"about {low}" if low == high else f"between {low} and {high}"


def between_text(low: str, high: str) -> str:
    """What lies between two figures; ends that are printed alike are one.

    >>> between_text("0.82", "0.82"), between_text("0.80", "0.82")
    ('about 0.82', '0.80 to 0.82')
    """
    return f"about {low}" if low == high else f"{low} to {high}"


def ends(figure: Figure) -> tuple[float, float]:
    """What a share lies between, as far as it is told."""
    if figure.value is not None:
        return figure.value, figure.value
    if figure.at_least is None or figure.at_most is None:
        return 0.0, 1.0
    return figure.at_least, figure.at_most


# What may be shown beside the protected table: by full tens, never narrowing what it shows.
#
# A line of the card, a typical case or a bar of a histogram counts some of the people of a count
# that the table shows. Where the table shows that count as a range, a part of it must not reveal
# that the range begins later.

WITHHELD_COUNT = CountRange(at_least=0, at_most=None)


@dataclass(frozen=True, eq=False)
class RoundedContext:
    """The table of some people, and tens for what is told beside it."""

    table: Protected
    tens: CountRounding

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


def apart(metric: Metric, counts: Counts, feature: str, tens: CountRounding) -> Figure:
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
    return figure(Estimate.from_range(low, high))


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


# One thing that a validator should look at before signing, and how grave it is.

Level = Literal["stop", "look", "not judged", "note", "fine"]
LEVELS: tuple[Level, ...] = ("stop", "look", "not judged", "note", "fine")
"""The gravest first."""
OPEN: tuple[Level, ...] = ("stop", "look", "not judged")
"""Those that somebody must decide on."""


class Finding(ReviewPart):
    """One thing to look at, or one that was looked at and is fine."""

    name: str
    """Which check."""
    level: Level
    """stop: it speaks against signing; look: decide on it; not judged: nobody could tell, here;
    note: know it; fine: nothing found."""
    text: str
    """What was found."""
    todo: str = ""
    """What to do about it."""

    @property
    def open(self) -> bool:
        """Whether somebody must decide on it before the patch is signed."""
        return self.level in OPEN


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The gravest first."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))
