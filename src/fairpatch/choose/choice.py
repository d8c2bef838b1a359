"""The choice: the patch that meets the target with the fewest changes, or an honest no."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.candidates import Candidates
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.target import WORDS, Target
from fairpatch.measure.blind import fewest_blind
from fairpatch.measure.bounds import (
    Bound,
    fewest_for_mistreatment,
    fewest_for_p_rule,
    fewest_for_rate_difference,
    fewest_for_tpr_gap,
)
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch

FEWEST = {
    "p_rule": fewest_for_p_rule,
    "demographic_parity_difference": fewest_for_rate_difference,
    "equal_opportunity_difference": fewest_for_tpr_gap,
    "disparate_mistreatment": fewest_for_mistreatment,
}

Floats = NDArray[np.float64]

MARGINS = (0.25, 0.2, 0.15, 0.1, 0.075, 0.05, 0.025, 0.0)
"""How far inside the target the ladder starts, and its steps down to the target."""


FEW = 30
"""A group of fewer people is named where a target is not reached: its rate is mostly chance."""


class TargetNotReachedError(ValueError):
    """No patch on the frontier meets the target; the message says what could be had instead."""


@dataclass(frozen=True)
class Choice:
    """One candidate at one strength, and what it reaches on the selection rows."""

    model: int
    strength: float
    change_rate: float
    accuracy: float
    displacement: float
    """Mean distance of the patched from the base model's probability."""
    metrics: dict[str, dict[str, float]]
    """By sensitive feature."""
    bound: Bound | None = None
    """The fewest changes with which any method could meet the target, S known."""
    blind: float | None = None
    """The same for methods that do not read S, as a share: estimated, as P(S|x) is."""

    def __str__(self) -> str:
        reached = "; ".join(
            f"{feature}: " + ", ".join(f"{WORDS[k]} {v:.3f}" for k, v in values.items())
            for feature, values in self.metrics.items()
        )
        text = f"{reached}. {self.change_rate:.1%} of decisions change"
        if self.bound is not None:
            least = self.bound.change_rate
            text += f"; no method could meet the target with fewer than {least:.1%}"
        if self.blind is not None:
            text += f", and about {self.blind:.1%} are to be expected at best without reading S"
        return f"{text}. Accuracy {self.accuracy:.3f}, displacement {self.displacement:.3f}."

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def choose(frontier: Frontier, target: Target) -> list[Choice]:
    """The preferred patches that meet the target on the selection rows: the ladder.

    The last one meets the target itself; each one before meets it with more room. Those are what
    certification may have to fall back on. Raises where no patch meets the target.
    """
    by_feature = {feature: frontier.counts.by(feature) for feature in frontier.counts.features}
    known, blind = fewest(target, by_feature, frontier.q, frontier.f_logit > 0, frontier.weight)
    ladder: list[Choice] = []
    for margin in MARGINS:
        found = options(frontier, target.inside(margin) if margin else target)
        if not found:
            continue
        keys = {"changes": lambda c: c.change_rate, "accuracy": lambda c: -c.accuracy}
        best = min(found, key=lambda c: tuple(keys[p](c) for p in target.prefer))
        if not ladder or (best.model, best.strength) != (ladder[-1].model, ladder[-1].strength):
            ladder.append(best)
    if not ladder:
        raise TargetNotReachedError(_nearest(frontier, target))
    return [
        replace(
            c, bound=known, blind=blind, displacement=frontier.displacement(c.model, c.strength)
        )
        for c in ladder
    ]


def certify_choice(
    ladder: list[Choice],
    candidates: Candidates,
    target: Target,
    count: Callable[[list[Patch]], list[Counts]],
) -> tuple[Choice, Certificate]:
    """The weakest choice that is certified, and its certificate.

    The ladder was fixed on the selection rows, and is tested from its safest end until one fails
    (fixed-sequence testing): however many are tried, the chance of certifying a patch that violates
    the target stays below 1 - confidence. If not even the safest is certified, the choice that
    meets the target with the fewest changes stands, with its own verdict. ``count`` gives every
    patch's counts on rows that nothing else has seen.
    """
    patches = [candidates.patch(c.model).with_strength(c.strength) for c in ladder]
    certificates = [certify(counts, target) for counts in count(patches)]
    best = None
    for choice, certificate in zip(ladder, certificates, strict=True):
        if certificate.word != "certified":
            break
        best = choice, certificate
    if best:
        return best
    # The sequence has failed: a further test at full level could not certify any more.
    last = certificates[-1]
    words = [replace(v, word="too few data") if v.word == "certified" else v for v in last.verdicts]
    return ladder[-1], replace(last, verdicts=tuple(words)) if last.word == "certified" else last


def fewest(
    target: Target,
    counts: dict[str, Counts],
    q: dict[str, Floats],
    decided: NDArray[np.bool_],
    weight: Floats | None = None,
) -> tuple[Bound | None, float | None]:
    """The fewest changes for the target on some rows: with S known, and without reading it.

    Each requirement of each feature needs so many; the most of these is a bound for all together.
    The blind one is for features of two values, P-Rule and rate difference.
    """
    known: list[Bound | None] = []
    blind: list[float | None] = []
    way = target.direction
    for feature, own in counts.items():
        chance = q.get(feature)
        for requirement in target.fairness_requirements:
            with suppress(ValueError):  # a group without the label: there is nothing to bound
                known.append(FEWEST[requirement.name](own, requirement.limit, direction=way))
            if chance is None:
                continue
            if requirement.name == "p_rule":
                limit = requirement.limit
                blind.append(fewest_blind(chance, decided, limit, direction=way, weight=weight))
            elif requirement.name == "demographic_parity_difference":
                slack = requirement.limit
                blind.append(
                    fewest_blind(chance, decided, 1.0, slack=slack, direction=way, weight=weight)
                )
    most = max((b for b in known if b), key=lambda b: b.changes, default=None)
    expected = [b for b in blind if b is not None]
    if most is None or not expected:
        return most, max(expected, default=None)
    return most, max(*expected, most.change_rate)  # an estimate, never below what is possible


def options(frontier: Frontier, target: Target) -> list[Choice]:
    """Each candidate at the first strength that meets the target.

    Changes and displacement only grow along a dial, so that is its best one. Displacement is worked
    out where the target limits it, and NaN elsewhere: it is a pass over all rows for each.
    """
    found = []
    for m in range(len(frontier.paths)):
        met = np.flatnonzero(frontier.met(m, target))
        if len(met):
            found.append(_option(frontier, m, int(met[0]), target))
    most = target.max_displacement
    if most is None:
        return found
    moved = [replace(o, displacement=frontier.displacement(o.model, o.strength)) for o in found]
    return [option for option in moved if option.displacement <= most]


def _option(frontier: Frontier, m: int, k: int, target: Target) -> Choice:
    by_feature = frontier.paths[m]
    first = next(iter(by_feature.values()))
    return Choice(
        model=m,
        strength=float(first.strength[k]),
        change_rate=float(first.change_rate[k]),
        accuracy=float(first.accuracy[k]),
        displacement=np.nan,
        metrics={
            feature: {r.name: float(r.values(path)[k]) for r in target.fairness_requirements}
            for feature, path in by_feature.items()
        },
    )


def _nearest(frontier: Frontier, target: Target) -> str:
    """What could be had instead, in each direction."""
    advice = []
    if target.max_displacement is not None:
        moved = [o.displacement for o in options(frontier, replace(target, max_displacement=1.0))]
        if moved:
            nearest = np.ceil(min(moved) * 1000) / 1000
            return (
                f"no patch meets the target ({target}) with a displacement of at most "
                f"{target.max_displacement:g}; with max_displacement={nearest:g} it can be met"
            )
    cheapest = np.inf
    for m, by_feature in enumerate(frontier.paths):
        met = np.flatnonzero(frontier.met(m, target, changes=False))
        if len(met):
            cheapest = min(cheapest, next(iter(by_feature.values())).change_rate[met[0]])
    if np.isfinite(cheapest):
        advice.append(f"with max_changes={np.ceil(cheapest * 1000) / 1000:g} it can be met")
    for requirement in target.fairness_requirements:
        best = np.nan
        for by_feature in frontier.paths:
            paths = list(by_feature.values())
            allowed = np.ones(len(paths[0].strength), bool)
            if target.max_changes is not None:
                allowed = paths[0].change_rate <= target.max_changes
            values = np.array([requirement.values(path) for path in paths])
            worst = values.min(0) if requirement.at_least else values.max(0)
            reach = worst[allowed & ~np.isnan(worst)]
            if len(reach):
                own = reach.max() if requirement.at_least else reach.min()
                best = np.fmax(best, own) if requirement.at_least else np.fmin(best, own)
        advice.append(f"the best {WORDS[requirement.name]} within the rest is {best:.3f}")
    if target.max_columns is not None:
        advice.append("more columns may help")
    for feature in frontier.counts.features:
        smallest = int(frontier.counts.by(feature).known().sizes.min())
        if smallest < FEW:
            size = "fewer than 10" if smallest < 10 else str(smallest)
            advice.append(
                f"the smallest group of {feature} has {size} people here, so few that its rate is "
                "chance: merge it with another, or set it to missing"
            )
    return f"no patch meets the target ({target}) on the selection rows: {'; '.join(advice)}"
