"""The groups before and after: sizes, rates, changes, and how the moved people turned out."""

from typing import Any

from fairpatch.measure.estimate import FEW_BEHIND, Estimate
from fairpatch.measure.protected import Protected
from fairpatch.measure.rates import demoted_rate, promoted_rate, selection_rate
from fairpatch.measure.reviewed import MOVES, move, outcome
from fairpatch.report.figures import figure_data


def group_section(table: Protected, feature: str) -> dict[str, Any]:
    """By group: sizes, rates and changes; then what becomes of everybody."""
    names = table.by(feature).group_names
    hidden = table.hidden(feature)
    rates = {
        when: [table.rate(rate, feature, group=i) for i in range(len(names))]
        for when, rate in (("before", selection_rate("f")), ("after", selection_rate("g")))
    }
    compared = table.compared(feature)
    found: list[dict[str, Any]] = []
    for i, name in enumerate(names):
        if hidden[i]:
            found.append({"group": name, "hidden": True})
            continue
        moved = {
            word: table.number(rate.hits, feature, group=i)
            for word, rate in (("promoted", promoted_rate()), ("demoted", demoted_rate()))
        }
        found.append(
            {
                "group": name,
                "hidden": False,
                "people": table.people(feature, group=i).data,
                **{f"rate_{when}": figure_data(own[i]) for when, own in rates.items()},
                **{
                    f"impact_ratio_{when}": figure_data(_impact(own[i], [own[j] for j in compared]))
                    for when, own in rates.items()
                },
                **{word: told.data for word, told in moved.items()},
            }
        )
    return {"rows": found}


def swap_section(table: Protected) -> list[dict[str, Any]]:
    """Who comes in, who goes out and who stays, and how they turned out."""
    return [
        {
            "what": what,
            "people": table.number(move(what).hits).data,
            "outcome_rate": figure_data(table.rate(outcome(what))),
        }
        for what in MOVES
    ]


def _impact(own: Estimate, compared: list[Estimate]) -> Estimate:
    """A group's rate over the highest group's."""
    if own.ends is None or not compared or any(r.ends is None for r in compared):
        return Estimate(None, reason=own.reason or FEW_BEHIND)
    ends = [r.ends for r in compared if r.ends is not None]
    low, high = max(e[0] for e in ends), max(e[1] for e in ends)
    if own.low is not None and all(r.low is not None for r in compared):
        return Estimate(own.ends[0] / high) if high else Estimate.undefined("nobody is approved")
    if not low:
        return Estimate(None, reason=FEW_BEHIND)
    return Estimate.somewhere(max(0.0, own.ends[0]) / high, min(1.0, own.ends[1] / low))
