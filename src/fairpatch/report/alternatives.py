"""What else could have been done: other methods on the same people, at what was asked.

Each of them is learned on one half of the people and decides about the other, and the other way
round, so that nobody is decided by a rule that has seen them; its dial is set on the half it was
learned on, to the fewest changes that meet the target there. The patch itself has seen none of
them. All figures are by full tens of people.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch._extras import need
from fairpatch.baselines import Baseline, FewBayes, Lpp, Reductions
from fairpatch.choose.choice import choose
from fairpatch.choose.fit import Fitted
from fairpatch.choose.not_reached import TargetNotReachedError
from fairpatch.choose.target import Target
from fairpatch.data.outcomes import drawn
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.disclose.reviewed import outcome
from fairpatch.explain.exact_card import ExactCard, exact_card
from fairpatch.inputs.values import Value
from fairpatch.measure.counts import Counts
from fairpatch.measure.direction import Direction
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.fairness import Fairness
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import (
    Model,
    Rate,
    changed_rate,
    correct_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
from fairpatch.report.coarse import Beside, apart, decided
from fairpatch.report.figures import Count, Figure, Shown, Tens, count, figure
from fairpatch.report.sentences import ends

MOST_LEARNED, FEW_LEARNED = 4_000, 1_000
"""Rows that a baseline learns from, and a slow one, at most: a review is no benchmark."""
NOBODY = figure(Estimate.undefined("nobody"))
CUTS = 60
"""Thresholds that are tried."""


class Alternative(Shown):
    """One way to decide, and what it comes to."""

    name: str
    """What it is."""
    reads_s: bool
    """Whether it reads the sensitive feature when it decides."""
    readable: bool
    """Whether a person can read why a decision changes."""
    changed: Count
    """How many decisions change."""
    fairness: dict[str, Figure]
    """What was asked for first, by feature."""
    accuracy: Figure
    """Share of decisions that equal the outcome."""
    good_approved: Figure
    """Of those with the good outcome, the share with the favourable decision."""
    bad_approved: Figure
    """Of those without it, the same share."""
    promoted_outcome: Figure
    """Of those promoted, the share with the good outcome."""
    stability: float | None
    """Share of the same people who change when it is learned again, where that was tried."""
    misses: str
    """That it misses the limit on these people, where it surely does or may; empty otherwise."""


class Exact(Shown):
    """The fewest people that any small card with lines of this one would promote, here."""

    lines: int
    """How many of its lines such a card may have."""
    promoted: Count | None
    """The fewest found; null where none meets the limit, as far as was looked."""
    bound: Count
    """No such card promotes fewer: proved by an integer program."""


class Alternatives(Shown):
    """Other ways on the same people."""

    metric: str
    """What was asked for first."""
    limit: float | None
    """Its limit."""
    feature: str | None
    """The feature that rules for one feature were made for."""
    rows: list[Alternative]
    """The base model as it is first, the patch last."""
    retrained: bool
    """Whether a model was trained anew, too."""
    exact: Exact | None
    """What an exact search over small cards finds, where rates of approval are compared."""


def alternatives(
    patch: Patch,
    rows: Rows,
    target: Target,
    encoder: Encoder,
    fitted: Fitted | None,
    stability: float | None,
    beside: Beside,
    *,
    retrained: bool = False,
) -> Alternatives:
    """Every way that can be tried on these people; ``retrained`` adds one that is slow."""
    metric, limit = target.metrics[0], target.fairness_requirements[0].limit
    tens = beside.tens

    def row(
        name: str, decision: Bools, *, reads_s: bool = False, readable: bool = True,
    ) -> Alternative:  # fmt: skip
        counts = decided(rows, decision)
        up = decision & (rows.f <= 0)
        fairness = {f: apart(metric, counts, f, tens) for f in counts.features}
        return Alternative(
            name=name,
            reads_s=reads_s,
            readable=readable,
            changed=tens.count(np.sum(decision != (rows.f > 0))),
            fairness=fairness,
            misses=_misses(fairness, metric, limit),
            accuracy=beside.correct(rows, decision),
            good_approved=_overall(counts, true_positive_rate, tens),
            bad_approved=_overall(counts, false_positive_rate, tens),
            promoted_outcome=beside.turned_out(rows, up),
            stability=None,
        )

    halves = _halves(rows, encoder)
    ways = [_published("the model as it is", beside.table, metric, limit, "f", 1.0)]
    cut = _crossed(halves, partial(_one_threshold, target))
    if cut is not None:
        ways.append(row("one other threshold for all", cut))
    feature = rows.s.features[0]
    by_group = _crossed(halves, partial(_threshold_by_group, metric, limit, target.direction))
    if by_group is not None:
        ways.append(row(f"a threshold for each {feature}", by_group, reads_s=True))
    for name, baseline, values in _baselines(rows, metric, limit, retrained):
        decision = _crossed(halves, partial(_baseline, baseline, values, target))
        if decision is not None:
            ways.append(row(name, decision, readable=False))
    for name, other in _other_patches(fitted, target, patch):
        ways.append(row(name, other.decide(rows.X, rows.f)))
    ways.append(_published("this patch", beside.table, metric, limit, "g", stability))
    return Alternatives(
        metric=metric.words,
        limit=limit,
        feature=feature,
        rows=ways,
        retrained=retrained,
        exact=_exact(exact_card(patch, rows, metric, limit), tens),
    )


def _exact(search: ExactCard | None, tens: Tens) -> Exact | None:
    if search is None:
        return None
    best = None if search.promoted is None else tens.count(search.promoted)
    return Exact(lines=search.lines, promoted=best, bound=tens.count(search.bound))


def _published(
    name: str, table: Protected, metric: Metric, limit: float, model: Model, stable: float | None
) -> Alternative:
    """f or the patch, as the table of these people tells them."""
    changed = table.number(changed_rate().hits)
    fairness = {f: figure(table.metric(metric, f, model=model)) for f in table.counts.features}
    return Alternative(
        name=name,
        reads_s=False,
        readable=True,
        changed=count(changed) if model == "g" else 0,
        fairness=fairness,
        misses=_misses(fairness, metric, limit),
        accuracy=figure(table.rate(correct_rate(model))),
        good_approved=figure(table.rate(true_positive_rate(model))),
        bad_approved=figure(table.rate(false_positive_rate(model))),
        promoted_outcome=figure(table.rate(outcome("promoted"))) if model == "g" else NOBODY,
        stability=stable,
    )


def _misses(fairness: Mapping[str, Figure], metric: Metric, limit: float) -> str:
    """Whether a limit is missed, of the feature that is worst off."""
    known = [ends(figure) for figure in fairness.values() if figure.middle is not None]
    if not metric.at_least:
        known = [(-high, -low) for low, high in known]
        limit = -limit
    if any(high < limit for _, high in known):
        return "misses the target here"
    return "may miss the target here" if any(low < limit for low, _ in known) else ""


def _overall(counts: Counts, rate: Callable[[Model], Rate], tens: Tens) -> Figure:
    made, everybody = rate("g"), counts.by()
    k, n = (everybody.in_cells(mask).sum() for mask in (made.hits & made.among, made.among))
    return tens.share(float(k), float(n))


@dataclass(frozen=True, eq=False)
class _Half:
    """Some of the people, as rows and encoded."""

    who: NDArray[np.intp]
    rows: Rows
    Z: Floats


def _halves(rows: Rows, encoder: Encoder) -> tuple[_Half, _Half]:
    order, Z = np.random.default_rng(0).permutation(len(rows)), encoder.transform(rows.X)
    one, two = (np.sort(part) for part in np.array_split(order, 2))
    return _Half(one, rows.take(one), Z[one]), _Half(two, rows.take(two), Z[two])


def _crossed(
    halves: tuple[_Half, _Half], decide: Callable[[_Half, _Half], Bools | None]
) -> Bools | None:
    """Everybody decided by a rule of the other half."""
    decision = np.zeros(sum(len(half.who) for half in halves), bool)
    for one, two in (halves, halves[::-1]):
        decided_there = decide(one, two)
        if decided_there is None:
            return None
        decision[two.who] = decided_there
    return decision


def keeps(rows: Rows, decision: Bools, target: Target) -> tuple[bool, float]:
    """Whether decisions meet the target; and by how much they miss it, at worst."""
    counts, missed = decided(rows, decision), 0.0
    for r in target.fairness_requirements:
        for feature in counts.features:
            value = r.metric.of(counts.by(feature)).value  # type: ignore[union-attr]
            if value is None:
                return False, np.inf
            missed = max(missed, (r.limit - value) if r.metric.at_least else (value - r.limit))
    return missed <= 0, missed


def _fewest(rows: Rows, tried: Iterator[Bools], target: Target) -> int:
    """Of some ways to decide, the one that meets the target with the fewest changes, or nearly."""
    ranks = []
    for i, decision in enumerate(tried):
        met, missed = keeps(rows, decision, target)
        changes = float(np.sum(decision != (rows.f > 0)))
        ranks.append((0.0, changes, i) if met else (1.0, missed, i))
    return min(ranks)[2]


def _one_threshold(target: Target, one: _Half, two: _Half) -> Bools:
    """One threshold that is not f's, the same for all."""
    f = one.rows.f
    cuts = np.quantile(f, np.linspace(0, 1, CUTS))
    best = _fewest(one.rows, (f > cut for cut in cuts), target)
    return np.asarray(two.rows.f > cuts[best])


def _threshold_by_group(
    metric: Metric, limit: float, direction: Direction, first: _Half, second: _Half
) -> Bools | None:
    """Of each group of the first feature, those f is least sure about: the fewest changes there."""
    one, two = first.rows, second.rows
    feature = one.s.features[0]
    counts = decided(one, one.f > 0).by(feature).known()
    bound = None if metric.given_y else metric.fewest(counts, limit, direction=direction)
    if bound is None:  # given y it would have to know the outcome
        return None
    decision = two.f > 0
    for i, (value,) in enumerate(counts.groups):
        here, there = (_members(rows, feature, value) for rows in (one, two))
        for changes, side in ((bound.promotions[i], False), (bound.demotions[i], True)):
            movable = np.sort(np.abs(one.f[here & ((one.f > 0) == side)]))
            if changes and len(movable):
                far = movable[min(changes, len(movable)) - 1]
                decision = decision ^ (there & ((two.f > 0) == side) & (np.abs(two.f) <= far))
    return np.asarray(decision)


def _members(rows: Rows, feature: str, value: Value) -> Bools:
    values = rows.s.values[rows.s.features.index(feature)]
    code = values.index(value) if value in values else -2
    return np.asarray(rows.s.of_feature(feature) == code)


def _baselines(
    rows: Rows, metric: Metric, limit: float, retrained: bool
) -> Iterator[tuple[str, Baseline, Sequence[float]]]:
    """Name, method, and the values of its dial that are tried."""
    fairness: Fairness = "equalized_odds" if metric.given_y else "demographic_parity"
    yield "the Bayes rule, without the group", FewBayes(fairness=fairness), FewBayes.values[::3]
    yield "LPP (linear program)", Lpp(fairness=fairness), Lpp.values[::4]
    if retrained:  # one value, the gap that the limit allows
        need("fairlearn.reductions", extra="bench")
        counts = decided(rows, rows.f > 0).by(rows.s.features[0]).known()
        hits, people = selection_rate("f").per_group(counts)
        highest = float(np.max(hits / np.maximum(people, 1.0), initial=0.0))
        gap = max((1 - limit) * highest if metric.at_least else limit, 0.01)
        yield "ExponentiatedGradient (trained anew)", Reductions(fairness=fairness), (gap,)


def _baseline(
    baseline: Baseline,
    values: Sequence[float],
    target: Target,
    first: _Half,
    second: _Half,
) -> Bools | None:
    """A baseline at the fewest changes that meet the target on the half it was learned on."""
    one, two = first.rows, second.rows
    s = one.s.of_feature(one.s.features[0])
    known = np.flatnonzero(s >= 0)
    most = MOST_LEARNED if isinstance(baseline, FewBayes) else FEW_LEARNED
    if len(known) > most:
        known = np.sort(np.random.default_rng(0).choice(known, most, replace=False))
    y = drawn(one)
    if len(np.unique(s[known])) < 2 or len(np.unique(y[known])) < 2:
        return None
    models = [type(baseline)(**{**baseline.get_params(), baseline.dial: value}) for value in values]
    try:
        arrays: tuple[Floats, Floats, Ints, Ints] = (
            first.Z[known], one.f[known], y[known], s[known],
        )  # fmt: skip
        models[0]._fit(models, *arrays)
    except ValueError:  # as of a feature of three values
        return None
    nobody = np.zeros(0, np.int64)
    best = _fewest(one, (m.decide_encoded(first.Z, one.f, nobody) for m in models), target)
    return models[best].decide_encoded(second.Z, two.f, nobody)


def _other_patches(
    fitted: Fitted | None, target: Target, patch: Patch
) -> Iterator[tuple[str, Patch]]:
    """Of the same search: the fewest changes, and the most accurate."""
    if fitted is None or fitted.frontier is None or fitted.target is None:
        return
    others = [("the fewest changes of this search", "changes")]
    if fitted.frontier.observed:  # an expected accuracy rewards whatever approves everybody
        others.append(("the most accurate of this search", "accuracy"))
    for name, first in others:
        try:
            asked = target.replace(prefer=(first,), price_per_change=1.0)
            choice = choose(fitted.frontier, asked)[-1]
        except TargetNotReachedError:
            continue
        other = fitted.frontier.candidates.patch(choice.model, choice.strength)
        if other.card != patch.card or other.concepts != patch.concepts:
            yield name, other
