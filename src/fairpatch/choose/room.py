"""How far inside its limits a patch lies, in standard errors.

A ladder is tested from its safest end until one rung fails. Safe is what all requirements have room
for: the fairest rung changes the most decisions, and is the first to miss a limit on those, or on
the number of approvals.
"""

from collections.abc import Sequence

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.dial import Dial
from fairpatch.choose.target import Requirement
from fairpatch.measure.metric import Metric
from fairpatch.measure.places import Places


def room_along(requirement: Requirement, dial: Dial) -> Floats:
    """At every step of a dial; below 0 where the limit is not kept."""
    metric, limit, values = requirement.metric, requirement.limit, requirement.along(dial)
    if isinstance(metric, Metric):
        inside = values - limit if metric.at_least else limit - values
        return np.asarray(inside / np.maximum(metric.error_along(dial), 1e-12))
    spread = values * (1 - values)
    inside = limit - values
    if isinstance(metric, Places):
        inside = np.minimum(values - metric.low, metric.high - values)
        if metric.kept:  # promoted less demoted, of the same people twice
            spread = dial.changed / dial.people - values**2
    error = np.sqrt((np.maximum(spread, 0.0) + 1 / dial.people) / dial.people)
    return np.asarray(inside / error)


def safest_first(
    steps: Sequence[int], requirements: Sequence[Requirement], dials: Sequence[Dial]
) -> list[int]:
    """Places among some steps, of which the first is preferred: by the room of what has least.

    The preferred one comes last; what is no safer than it is left out, being dearer as well.
    """
    rooms = np.min([room_along(r, dial) for r in requirements for dial in dials], axis=0)
    safer = [i for i, k in enumerate(steps) if rooms[k] > rooms[steps[0]]]
    return [*sorted(safer, key=lambda i: -float(rooms[steps[i]])), 0]
