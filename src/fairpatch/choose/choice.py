"""The choice: the patch that meets the target with the fewest changes, or an honest no."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.rows import Rows
from fairpatch.choose.target import WORDS, Target
from fairpatch.measure.bounds import Bound, fewest_for_p_rule
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch

MARGINS = (0.25, 0.2, 0.15, 0.1, 0.075, 0.05, 0.025, 0.0)
"""How far inside the target the ladder of strengths starts, and its steps down to the target."""


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
    """The fewest changes with which any method could meet the P-Rule, S known."""

    def __str__(self) -> str:
        reached = "; ".join(
            f"{feature}: " + ", ".join(f"{WORDS[k]} {v:.3f}" for k, v in values.items())
            for feature, values in self.metrics.items()
        )
        text = f"{reached}. {self.change_rate:.1%} of decisions change"
        if self.bound is not None:
            least = self.bound.change_rate
            text += f"; no method could do it with fewer than {least:.1%}"
        return f"{text}. Accuracy {self.accuracy:.3f}, displacement {self.displacement:.3f}."


def choose(frontier: Frontier, target: Target, counts: Counts) -> Choice:
    """The preferred patch among those that meet the target on the selection rows.

    Changes only grow along a dial, so each candidate's best strength is the first that meets the
    target. ``counts`` are f's decisions on the selection rows, for the bound.
    """
    options = []
    for m in range(len(frontier.paths)):
        met = np.flatnonzero(frontier.met(m, target))
        if len(met):
            options.append(_option(frontier, m, int(met[0]), target))
    if not options:
        raise TargetNotReachedError(_nearest(frontier, target))
    least = min(option.displacement for option in options)
    if target.max_displacement is not None:  # it grows along a dial, so the first stop is least
        options = [o for o in options if o.displacement <= target.max_displacement]
    if not options:
        raise TargetNotReachedError(
            f"no patch meets the target ({target}) with a displacement of at most "
            f"{target.max_displacement:g}; with max_displacement={np.ceil(least * 1000) / 1000:g} "
            "it can be met"
        )
    keys = {"changes": lambda c: c.change_rate, "accuracy": lambda c: -c.accuracy}
    best = min(options, key=lambda c: tuple(keys[p](c) for p in target.prefer))
    return replace(best, bound=_bound(target, counts))


def certify_choice(
    patch: Patch,
    frontier: Frontier,
    choice: Choice,
    target: Target,
    rows: Rows,
    f_logit: NDArray[np.float64],
) -> tuple[Patch, Certificate]:
    """The weakest strength of the chosen patch that is certified, and its certificate.

    Strengths are fixed on the selection rows, from well inside the target down to the choice, and
    tested in that order until one fails (fixed-sequence testing): however many are tried, the
    chance of certifying a patch that violates the target stays below 1 - confidence. If not even
    the strongest is certified, the choice stands with its own verdict.
    """

    def judge(strength: float) -> tuple[Patch, Certificate]:
        turned = patch.with_strength(strength)
        counts = Counts.from_arrays(
            decision=f_logit > 0,
            new_decision=turned.decide(rows.X, f_logit),
            y=rows.y,
            sensitive_features=rows.sensitive_features,
        )
        return turned, certify(counts, target)

    best = None
    for strength in _ladder(frontier, choice, target):
        turned, certificate = judge(strength)
        if certificate.word != "certified":
            break
        best = turned, certificate
    return best or judge(choice.strength)


def _ladder(frontier: Frontier, choice: Choice, target: Target) -> list[float]:
    """Strengths to test, strongest first; each meets the whole target on the selection rows."""
    by_feature = frontier.paths[choice.model]
    first = next(iter(by_feature.values()))
    whole = frontier.met(choice.model, target)
    strengths = []
    for margin in MARGINS:
        inside = whole.copy()
        for requirement in target.fairness_requirements:
            for path in by_feature.values():
                values = requirement.values(path)
                slack = (
                    values - requirement.limit
                    if requirement.at_least
                    else (requirement.limit - values)
                )
                room = (1 - requirement.limit) if requirement.at_least else requirement.limit
                inside &= slack >= min(margin, 0.9 * room)
        if inside.any():
            strengths.append(float(first.strength[np.flatnonzero(inside)[0]]))
    return sorted(set(strengths), reverse=True)


def _bound(target: Target, counts: Counts) -> Bound | None:
    """The fewest changes for the P-Rule, of the sensitive feature that needs the most."""
    if target.p_rule is None:
        return None
    found = [
        fewest_for_p_rule(counts.by(feature), target.p_rule, direction=target.direction)
        for feature in counts.features
    ]
    return max((b for b in found if b), key=lambda b: b.changes, default=None)


def _option(frontier: Frontier, m: int, k: int, target: Target) -> Choice:
    by_feature = frontier.paths[m]
    first = next(iter(by_feature.values()))
    return Choice(
        model=m,
        strength=float(first.strength[k]),
        change_rate=float(first.change_rate[k]),
        accuracy=float(first.accuracy[k]),
        displacement=frontier.displacement(m, float(first.strength[k])),
        metrics={
            feature: {r.name: float(r.values(path)[k]) for r in target.fairness_requirements}
            for feature, path in by_feature.items()
        },
    )


def _nearest(frontier: Frontier, target: Target) -> str:
    """What could be had instead, in each direction."""
    advice = []
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
    return f"no patch meets the target ({target}) on the selection rows: {'; '.join(advice)}"
