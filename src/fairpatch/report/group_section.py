"""The groups before and after, those that nobody named, and how the moved turned out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.outcomes import Expected, expected_of, overlap
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import MOVES, Protected, move, outcome
from fairpatch.inputs.base import NO_SCORE
from fairpatch.inputs.roles import names_of, proposed
from fairpatch.inputs.vocabulary import is_protected
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.rates import (
    SOME_ONLY,
    Model,
    Rate,
    correct_rate,
    demoted_rate,
    false_positive_rate,
    promoted_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.learned import Outlook
from fairpatch.patch.parts import Column
from fairpatch.report.figures import Count, Figure, ReviewPart, RoundedContext, Words, count, figure

COMPARED: dict[str, Callable[[Model], Rate]] = {
    "rate": selection_rate,
    "accuracy": correct_rate,
    "good_approved": true_positive_rate,
    "bad_approved": false_positive_rate,
}


class Pair(ReviewPart):
    """A figure before the patch and after it."""

    before: Figure
    """Of the base model."""
    after: Figure
    """Of the patched model."""


class GroupRow(ReviewPart):
    """One group; where it is hidden, its name is all that is told."""

    group: str
    """Its name."""
    hidden: bool
    """Whether it has too few people to be shown."""
    unknown: bool = False
    """Whether these are the people whose feature is missing."""
    people: Count | None = None
    """How many there are."""
    rate: Pair | None = None
    """Share with the favourable decision."""
    impact_ratio: Pair | None = None
    """That share over the highest group's."""
    accuracy: Pair | None = None
    """Share of decisions that equal the outcome."""
    good_approved: Pair | None = None
    """Of those with the good outcome, the share with the favourable decision."""
    bad_approved: Pair | None = None
    """Of those without it, the same share."""
    promoted: Count | None = None
    """How many get the favourable decision by the patch."""
    demoted: Count | None = None
    """How many lose it."""
    outcomes: dict[str, Figure] | None = None
    """Share with the good outcome of those promoted, demoted, left approved and left denied."""
    expected: dict[str, Figure] | None = None
    """Where outcomes are missing: what is expected of those promoted and left denied."""


class GroupsSection(ReviewPart):
    """The groups of one feature, or of a crossing of several."""

    features: list[str]
    """Whose groups they are."""
    rows: list[GroupRow]
    """One a group."""
    withheld: bool
    """Whether there are too many cells to be protected, so that no group is shown."""


class SwapSection(ReviewPart):
    """People of whom the same becomes, and how they turned out."""

    what: str
    """Promoted, demoted, left approved or left denied."""
    people: Count
    """How many."""
    outcome_rate: Figure
    """Share of them with the good outcome."""


def group_section(table: Protected, *features: str) -> GroupsSection:
    """By group: sizes, rates, errors, changes and outcomes."""
    counts = table.by(*features)
    hidden, compared = table.hidden(*features), table.compared(*features)
    rates = {
        (name, model): [
            table.rate(make(model), *features, group=i) for i in range(len(counts.groups))
        ]
        for name, make in COMPARED.items()
        for model in ("f", "g")
    }
    rows = []
    for i, name in enumerate(counts.group_names):
        unknown = None in counts.groups[i]
        if hidden[i]:
            rows.append(GroupRow(group=name, hidden=True, unknown=unknown))
            continue
        pairs: Any = {k: _pair(rates[k, "f"][i], rates[k, "g"][i]) for k in COMPARED}
        impact = [
            _impact(rates["rate", model][i], [rates["rate", model][j] for j in compared])
            for model in ("f", "g")
        ]
        rows.append(
            GroupRow(
                group=name,
                hidden=False,
                unknown=unknown,
                people=count(table.people(*features, group=i)),
                **pairs,
                impact_ratio=_pair(*impact),
                promoted=count(table.number(promoted_rate().hits, *features, group=i)),
                demoted=count(table.number(demoted_rate().hits, *features, group=i)),
                outcomes={
                    what: figure(table.rate(outcome(what), *features, group=i)) for what in MOVES
                },
            )
        )
    return GroupsSection(features=list(features), rows=rows, withheld=features in table.withheld)


def swap_section(table: Protected) -> list[SwapSection]:
    """Who comes in, who goes out and who stays, and how they turned out."""
    return [
        SwapSection(
            what=what,
            people=count(table.number(move(what).hits)),
            outcome_rate=figure(table.rate(outcome(what))),
        )
        for what in MOVES
    ]


def _pair(before: Estimate, after: Estimate) -> Pair:
    return Pair(before=figure(before), after=figure(after))


def _impact(estimate: Estimate, compared: list[Estimate]) -> Estimate:
    """A group's rate over the highest group's."""
    if estimate.ends is None or not compared or any(r.ends is None for r in compared):
        return Estimate.undefined(estimate.reason) if estimate.reason else Estimate.withhold()
    ends = [r.ends for r in compared if r.ends is not None]
    low, high = max(e[0] for e in ends), max(e[1] for e in ends)
    if estimate.low is not None and all(r.low is not None for r in compared):
        return (
            Estimate(estimate.ends[0] / high) if high else Estimate.undefined("nobody is approved")
        )
    if not low:
        return Estimate.withhold()
    return Estimate.from_range(max(0.0, estimate.ends[0]) / high, estimate.ends[1] / low)


# Groups that nobody named, before and after: by columns that look protected, or are by law.
#
# A decision depends on columns alone, so these rates tell nobody's sensitive feature.

MOST_GROUPS = 8
"""Of a column; of one with more, the commonest."""
MOST_CODES = 6
"""Values of a number that are groups by themselves."""
ENOUGH = 3 * MIN_PEOPLE
"""People of a group whose rate is compared."""


class OtherRow(ReviewPart):
    """One group of such a column."""

    group: str
    """Its value, or band of values."""
    people: Count
    """How many there are."""
    before: Figure
    """Share with the favourable decision, of the base model."""
    after: Figure
    """The same of the patched model."""


class OtherSection(ReviewPart):
    """One column that looks protected and is no target."""

    column: str
    """The column."""
    read: bool
    """Whether the patch reads it."""
    rows: list[OtherRow]
    """Its groups."""
    ratio_before: float | None
    """The lowest group's rate over the highest's, by the base model, to two digits."""
    ratio_after: float | None
    """The same by the patched model."""


def others_section(
    rows: Rows, after: Bools, protected: Sequence[str], read: Sequence[str], beside: RoundedContext
) -> list[OtherSection]:
    """Every column whose name says so, also one that the patch may not read."""
    if rows.sample_weight is not None:
        return []  # these count people, the tables weigh them
    held = Columns.of(rows.X)
    return [
        _section(column, rows, after, held, beside, column.name in read)
        for column in held.described()
        if is_protected(column.name, protected) and column.name not in rows.s.features
    ]


def _section(
    column: Column, rows: Rows, after: Bools, held: Columns, beside: RoundedContext, read: bool
) -> OtherSection:
    before, told, rates = rows.f > 0, [], []
    for name, here in _groups(column, held):
        k, n = (float(before[here].sum()), float(after[here].sum())), float(here.sum())
        told.append(
            OtherRow(
                group=name,
                people=beside.tens.count(n),
                before=beside.tens.share(k[0], n),
                after=beside.tens.share(k[1], n),
            )
        )
        if n >= ENOUGH:
            rates.append((k[0] / n, k[1] / n))
    ratios = [_ratio(each) for each in zip(*rates, strict=True)] if len(rates) > 1 else []
    first, last = ratios or (None, None)
    return OtherSection(
        column=column.name, read=read, rows=told, ratio_before=first, ratio_after=last
    )


def _ratio(rates: Sequence[float]) -> float | None:
    """The lowest over the highest, to two digits."""
    return round(min(rates) / max(rates), 2) if max(rates) else None


def _groups(column: Column, held: Columns) -> Iterator[tuple[str, Bools]]:
    """Values, or bands of a number, that at least ten people have: the commonest ones."""
    if column.kind == "number":
        values = np.asarray(held.values(column), np.float64)
        distinct = np.unique(values[np.isfinite(values)])
        if len(distinct) > MOST_CODES:
            edges = proposed(distinct.tolist())
            names, code = names_of(edges), np.searchsorted(edges, values, side="right")
            code = np.where(np.isfinite(values), code, -1)
        else:
            names, code = [f"{v:g}" for v in distinct], _place(values, distinct)
    else:
        found, code = held.codes(column)
        names = ["missing" if v in (None, "") else str(v) for v in found]
    many = np.bincount(code[code >= 0], minlength=len(names))
    shown = np.argsort(-many, kind="stable")[:MOST_GROUPS]
    for k in sorted(shown.tolist()) if column.kind == "number" else shown.tolist():
        if many[k] >= MIN_PEOPLE:
            yield names[k], np.asarray(code == k)


def _place(values: Floats, distinct: Floats) -> Ints:
    """Which of some values each is; -1 for none."""
    place = np.searchsorted(distinct, values)
    place = np.minimum(place, max(len(distinct) - 1, 0))
    return np.where(distinct[place] == values, place, -1) if len(distinct) else place - 1


# Whose outcomes are known, and what is expected of the people who have none.
#
# Below the threshold a lender has watched nobody. What is said of the newly approved is then what
# the patch was learned with: f's score and the card's points, calibrated on people whose outcome is
# known, with the range in which that may be off (``fairpatch.patch.learned``).

NOT_KNOWN = figure(Estimate.undefined(SOME_ONLY["approved"]))
"""A figure that nobody knows, as outcomes of the denied are missing."""
TOLD = ("promoted", "left denied")
"""Whom something is expected of."""


class ExpectedRow(ReviewPart):
    """What is expected of some people."""

    what: str
    """Promoted, or left denied."""
    feature: str | None
    """The sensitive feature; null for everybody."""
    group: str | None
    """The group."""
    expected: Figure
    """Share with the good outcome; its ends are the range in which the expectation may be off."""


class OutcomeSection(ReviewPart):
    """Whose outcomes are known, and what is expected of the others."""

    known: Literal["everybody", "approved", "sample", "nobody"]
    """Whose outcomes: nobody's where there are no labels."""
    observed: bool
    """Whether errors and outcomes are measured on everybody; what needs that is left out if not."""
    sentences: list[str]
    """In words."""
    rests_on: int
    """People with an outcome that expectations were calibrated on, in full tens."""
    doubt: float
    """The factor by which odds may be off, at the ends of a range."""
    rows: list[ExpectedRow]
    """What is expected; none where everybody's outcome is known."""

    def of(self, what: str, feature: str | None = None, group: str | None = None) -> Figure | None:
        """What is expected of some people; None where nothing is said of them."""
        key = (what, feature, group)
        return next((r.expected for r in self.rows if (r.what, r.feature, r.group) == key), None)


def outcome_section(
    patch: Patch, rows: Rows, after: Bools, beside: RoundedContext, words: Words
) -> OutcomeSection:
    """Of the people who are reviewed."""
    counts = beside.table.counts
    labelled = bool(counts.along("label")[:UNKNOWN].sum())
    known = counts.outcomes if labelled else "nobody"
    outlook = patch.outlook or Outlook(outcomes="everybody", people=0)
    told = [] if known == "everybody" else list(_rows(patch, rows, after, beside))
    return OutcomeSection(
        known=known or "everybody",
        observed=known == "everybody",
        sentences=list(_sentences(counts, known, outlook, told, rows, after, words)),
        rests_on=outlook.people,
        doubt=outlook.doubt,
        rows=told,
    )


def _rows(patch: Patch, rows: Rows, after: Bools, beside: RoundedContext) -> Iterator[ExpectedRow]:
    """Everybody, then every group that is shown; no group where one of them is few people."""
    for what in TOLD:
        moved = _moved(rows, after, what)
        everybody = expected_of(rows, patch, moved)
        if everybody is None:
            continue
        yield ExpectedRow(what=what, feature=None, group=None, expected=_figure(everybody))
        for feature in rows.s.features:
            of_feature = [
                (name, moved & here) for f, name, _, here in beside.shown(rows) if f == feature
            ]
            rest = moved & ~np.logical_or.reduce([here for _, here in of_feature] or [~moved])
            sizes = [int(here.sum()) for here in (*(here for _, here in of_feature), rest)]
            if any(0 < size < MIN_PEOPLE for size in sizes) and not beside.tens.exact:
                continue
            for name, here in of_feature:
                found = expected_of(rows, patch, here)
                if found is not None:
                    yield ExpectedRow(
                        what=what, feature=feature, group=name, expected=_figure(found)
                    )


def _moved(rows: Rows, after: Bools, what: str) -> Bools:
    before, then = MOVES[what]
    return np.asarray(((rows.f > 0) == bool(before)) & (after == bool(then)))


def _figure(expected: Expected) -> Figure:
    """To two digits: scores of people are behind it."""
    return figure(Estimate(expected.value, expected.low, expected.high), digits=2)


def _sentences(
    counts: Counts, known: str | None, outlook: Outlook, told: list[ExpectedRow], rows: Rows,
    after: Bools, words: Words,
) -> Iterator[str]:  # fmt: skip
    if known == "everybody":
        return
    if known == "nobody":
        yield "There are no outcomes: what would rest on them is left out."
    else:
        whose = str(counts.labels)
        yield f"{whose[:1].upper()}{whose[1:]}; errors, which need everybody's, are left out."
    first = next((r.expected for r in told if r.what == "promoted"), None)
    if first is not None:
        promoted = _moved(rows, after, "promoted") & (rows.f != NO_SCORE)
        observed = float(np.mean(rows.y[promoted] != UNKNOWN))
        yield f"{expected_text(first, words)}{_basis(outlook, observed)}"
    if known == "sample":
        yield (
            f"Of the {words.denied}, {overlap(rows):.0%} have scores at which at least "
            f"{MIN_PEOPLE} outcomes are known; of the others, expectations are extrapolated."
        )


def expected_text(expected: Figure, words: Words) -> str:
    """As "Of the newly approved, 86% are expected to have repaid (67% to 90%)"."""
    text = (
        f"Of the newly {words.approved}, {expected.value:.0%} are expected to have "
        f"{words.good_outcome}"
    )
    if expected.low is None or expected.low == expected.high:
        return text
    return f"{text} ({expected.low:.0%} to {expected.high:.0%})"


def _basis(outlook: Outlook, observed: float) -> str:
    """What that is expected by, and of how many of them it has been seen."""
    if observed == 1:
        return ": all of them have an outcome."
    seen = f"an outcome is known of {observed:.0%}" if observed else "none has been observed"
    nobody = (
        f"; of them, {seen}. The range takes odds up to {outlook.doubt:g} times better or worse "
        "and is no confidence interval"
    )
    if not outlook.people:
        return f": as your model's score says{nobody}."
    by = "score" if outlook.by_points is None else "score and the card's points"
    return f": your model's {by}, calibrated on {outlook.people:,} people with an outcome{nobody}."
