"""The groups before and after: sizes, rates, errors, changes, and how the moved turned out."""

from collections.abc import Callable
from typing import Any

from fairpatch.disclose.protected import Protected
from fairpatch.disclose.reviewed import MOVES, move, outcome
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import (
    Model,
    Rate,
    correct_rate,
    demoted_rate,
    false_positive_rate,
    promoted_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.report.figures import Count, Figure, Shown, count, figure

COMPARED: dict[str, Callable[[Model], Rate]] = {
    "rate": selection_rate,
    "accuracy": correct_rate,
    "good_approved": true_positive_rate,
    "bad_approved": false_positive_rate,
}


class Pair(Shown):
    """A figure before the patch and after it."""

    before: Figure
    """Of the base model."""
    after: Figure
    """Of the patched model."""


class GroupRow(Shown):
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


class GroupsSection(Shown):
    """The groups of one feature, or of a crossing of several."""

    features: list[str]
    """Whose groups they are."""
    rows: list[GroupRow]
    """One a group."""
    withheld: bool
    """Whether there are too many cells to be protected, so that no group is shown."""


class SwapSection(Shown):
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
    return Estimate.somewhere(max(0.0, estimate.ends[0]) / high, estimate.ends[1] / low)
