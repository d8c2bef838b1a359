"""The groups before and after: sizes, rates, changes, and how the moved people turned out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.explain import change_audit
from fairpatch.measure.floor import MIN_PEOPLE, too_few
from fairpatch.report.figures import coarse, figure_data
from fairpatch.report.place_section import leaves
from fairpatch.report.suppress import hidden


def group_section(
    rows: Rows, after: Bools, feature: str, places_on: NDArray[np.intp]
) -> dict[str, Any]:
    """By group: sizes, rates and changes; then swap set and who is left out."""
    audit = change_audit(rows, after, feature, places_on=places_on)
    names = list(audit.sizes)
    sizes = [audit.sizes[name] for name in names]
    promoted = [audit.by_group[name].promoted for name in names]
    demoted = [audit.by_group[name].demoted for name in names]
    rare = hidden(sizes)
    hide_up, hide_down = hidden(promoted, sizes), hidden(demoted, sizes)
    compared = [name for name in names if audit.sizes[name] >= MIN_PEOPLE]
    best = {
        when: max((rates[name].value or 0.0 for name in compared), default=0.0)
        for when, rates in (("before", audit.rates_before), ("after", audit.rates_after))
    }
    found = []
    for i, name in enumerate(names):
        if too_few(sizes[i]):
            found.append({"group": name, "hidden": True})
            continue
        rates = {"before": audit.rates_before[name], "after": audit.rates_after[name]}
        found.append(
            {
                "group": name,
                "hidden": False,
                "people": None if rare[i] else sizes[i],
                # rounded: a rate to the last digit times the people would tell a hidden count
                **{
                    f"rate_{when}": coarse(rate, sizes[i])
                    if hide_up[i] or hide_down[i] or rare[i]
                    else figure_data(rate, digits=2)
                    for when, rate in rates.items()
                },
                **{
                    f"impact_ratio_{when}": round((rate.value or 0.0) / best[when], 2)
                    if best[when]
                    else None
                    for when, rate in rates.items()
                },
                "promoted": None if hide_up[i] or rare[i] else promoted[i],
                "demoted": None if hide_down[i] or rare[i] else demoted[i],
            }
        )
    swap = audit.swap
    hide_swap = hidden([s.people for s in swap])
    ones = [round((s.outcome_rate.value or 0.0) * s.people) for s in swap]
    hide_rate = hidden(ones, [s.people for s in swap])
    return {
        "rows": found,
        "swap": [
            {
                "what": s.what,
                "people": None if hide else s.people,
                "outcome_rate": None if hide or hide_too else figure_data(s.outcome_rate, digits=2),
            }
            for s, hide, hide_too in zip(swap, hide_swap, hide_rate, strict=True)
        ],
        "neglected": leaves(audit.neglected),
    }
