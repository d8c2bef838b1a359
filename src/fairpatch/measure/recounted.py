"""Tables of counts made of others: people counted otherwise, or those of whom all is known."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations, product

import numpy as np
from scipy.special import ndtri

from fairpatch._tools.arrays import Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch._tools.verdict import Verdict, worst
from fairpatch.measure.cells import UNKNOWN, cells
from fairpatch.measure.counts import TABLES, Counts
from fairpatch.measure.hypothesis_tests import Judgement, gap_test, score_test
from fairpatch.measure.metric import Metric


def in_groups_of(counts: Counts, other: Counts) -> Counts:
    """The same people in the groups and strata of another table, which has all of them."""
    nobody = replace(
        other, n=0 * other.n, weight=0.0 * other.weight, weight_sq=0.0 * other.weight_sq,
        parts=None if other.parts is None else 0.0 * other.parts,
        persons=None if other.persons is None else 0 * other.persons,
    )  # fmt: skip
    return nobody + counts


def of_weights(counts: Counts) -> Counts:
    """People as their weights say, where those are 0 and 1: who is drawn, and who is not."""
    n = np.rint(counts.weight).astype(np.int64)
    return replace(counts, n=n, weight_sq=counts.weight)


def approved_in_part(counts: Counts, share: float) -> Counts:
    """The same people, of whom this share of the newly approved is; the others stay denied."""
    tables = {}
    for name in TABLES:
        if (table := getattr(counts, name)) is None:
            continue
        parted = table.astype(np.float64)
        moved = parted[:, :, :, 0, 1] * (1 - share)
        parted[:, :, :, 0, 1] -= moved
        parted[:, :, :, 0, 0] += moved
        tables[name] = parted
    return replace(counts, **tables)


# S or labels that are known of some people only: known equally often, whatever was decided.
#
# Whom one asks, and whose label comes, may depend on the decision: then rates among the known are
# not those of all. Of people with each pair of decisions (f's and g's) as large a share is kept as
# of those who are known least often, drawn at random: what is left is a sample of everybody, and
# counts as it is. That rests on nothing else deciding who is known. Where of some decision hardly
# anybody is known, as the labels of the denied often are, no drawing mends that, and the question
# is refused.

KNOWN_OF_ALL = 0.9
"""Labels of everybody are in when so many are: the others are not waited for."""
LEAST = 0.001
"""People with some decision who are fewer than this share may be left out."""


def _weighed(counts: Counts, factor: Floats) -> Counts:
    """The same people, those with each pair of decisions counting less."""
    return replace(
        counts, n=counts.n * factor, weight=counts.weight * factor,
        weight_sq=counts.weight_sq * factor**2,
        parts=None if counts.parts is None else counts.parts * factor[..., None],
    )  # fmt: skip


class NotKnownError(ValueError):
    """Too little is known of some people: an estimate would mislead."""


def evenly_known(counts: Counts, *, with_label: bool) -> Counts:
    """Counts of people whose S (and label) is known: of each decision as large a share.

    The same counts give the same people.

    >>> counts = Counts.from_arrays(decision=[1] * 40 + [0] * 60,
    ...     sensitive_features=["a"] * 10 + ["b"] * 10 + [None] * 20 + ["a"] * 40 + ["b"] * 20)
    >>> evenly_known(counts, with_label=False).along("before")[::-1]  # half of each
    array([20, 30])
    """
    if counts.weighted:
        raise NotKnownError(
            "rows weigh differently: over time, guarantees are judged from people, not from weights"
        )
    known = np.array([None not in group for group in counts.groups])
    seen = counts.among(~cells(label=UNKNOWN)) if with_label else counts
    some = seen.n * known.reshape(-1, 1, 1, 1, 1)
    everybody, asked = counts.along("before", "after"), some.sum((0, 1, 2))
    if (asked == everybody).all():
        return counts.where(known)
    counted = everybody > LEAST * everybody.sum()
    lacking = counted & (asked < np.minimum(MIN_PEOPLE, everybody))
    if lacking.any():
        f, g = (int(i) for i in np.argwhere(lacking)[0])
        what = "label" if with_label else "group"
        raise NotKnownError(
            f"of people with decision {f} before and {g} after the patch, hardly anybody's {what} "
            "is known, and the others' say nothing about theirs"
        )
    share = (asked / np.maximum(everybody, 1))[counted].min(initial=1.0)
    if counts.parts is not None:  # people have several rows: none is left out, all weigh less
        less = np.where(asked > 0, share * everybody / np.maximum(asked, 1), 0.0)
        return _weighed(seen, less).where(known)
    random = np.random.default_rng(
        list(hashlib.sha256(np.ascontiguousarray(counts.n, "<i8").tobytes()).digest())
    )
    kept = np.zeros_like(some)
    for f, g in np.ndindex(2, 2):
        cell = some[..., f, g].ravel()
        most = min(int(share * everybody[f, g] + 1e-9), int(cell.sum()))
        kept[..., f, g] = random.multivariate_hypergeometric(
            cell, most, method="marginals"
        ).reshape(some.shape[:3])
    weight = kept.astype(float)
    return replace(counts, n=kept, weight=weight, weight_sq=weight).where(known)


# Groups that are known of some people only: what a verdict then rests on, and what needs nothing.
#
# Whether somebody tells their group may go with the group, with the decision, or with both.
#
#     with the group alone       rates among those who tell are the groups' own
#     with the decision alone    those who tell are thinned out until every decision has as large a
#                                share of them (``evenly_known``)
#     with both                  nobody can say: between the ends that follow if the others were of
#                                whichever groups
#
# If it is the group alone, those who do not tell are a mixture of the groups, so that their rate
# lies between the groups' own: where it plainly does not, only the decision is left. No data tell
# more. A limit that holds at the worst end is certified; one that holds by every reading that is
# left rests on one of them, and its figures are those of the less favourable.

GROUP, DECISION = "on the group alone", "on the decision alone"
PLAINLY = 4.0
"""Standard errors that a rate lies beyond another."""
Narrowed = Callable[[Counts], Counts]
"""From the counts of a feature, the groups that are compared."""


@dataclass(frozen=True)
class Untold:
    """What is to be said where some people's group is not known."""

    share: float
    """Of all people, those whose group is not known."""
    low: float
    high: float
    """Where the value of these people lies, whatever the others' groups are."""
    readings: tuple[tuple[str, float], ...] = ()
    """The value if telling goes with the group alone, and if with the decision alone: those of the
    two that the data leave."""
    why_not: str | None = None
    """Why it cannot."""
    few: bool = False
    """Whether so few people are not known that their share would tell of them."""


def judge_partly(
    metric: Metric, of_feature: Counts, narrowed: Narrowed, limit: float, confidence: float
) -> tuple[Judgement, Untold | None]:
    """Judge a limit on everybody's counts by one feature, which may have a group of unknown.

    The judgement's figures are those of the people who tell.
    """
    told = metric.judge(narrowed(of_feature), limit, confidence)
    unknown = [None in group for group in of_feature.groups]
    nobody = of_feature.where(unknown)
    if not any(unknown) or not nobody.total or told.estimate.value is None:
        return told, None
    pairs = _ends(metric, narrowed(of_feature), nobody)
    share = float(nobody.weight.sum() / of_feature.weight.sum())
    low, high = _values(metric, pairs)
    about = Untold(share, low, high, few=too_few(nobody.people))
    certain = _whatever(metric, pairs, limit, confidence)
    if certain is not None:
        return replace(told, verdict=certain), about
    try:
        evened = metric.judge(
            narrowed(evenly_known(of_feature, with_label=metric.given_y)), limit, confidence
        )
    except NotKnownError as error:
        return replace(told, verdict=Verdict.INCONCLUSIVE), replace(about, why_not=str(error))
    readings = {DECISION: evened}
    if not _beyond_all(metric, of_feature):
        readings[GROUP] = told
    least = max(readings.values(), key=partial(_unfavourable, metric))
    verdict = worst(judged.verdict for judged in readings.values())
    if verdict is Verdict.CERTIFIED:
        verdict = Verdict.CONDITIONAL
    elif verdict is Verdict.REFUTED:  # for sure only if it is whoever the others are
        verdict = Verdict.NOT_MET
    values = tuple(
        (name, float(judged.estimate.value))
        for name, judged in readings.items()
        if judged.estimate.value is not None
    )
    return replace(least, verdict=verdict), replace(about, readings=values)


def _unfavourable(metric: Metric, judged: Judgement) -> tuple[int, float]:
    """More for the judgement that speaks less for the target."""
    end = judged.estimate.low if metric.at_least else judged.estimate.high
    end = 0.0 if end is None else end
    return list(Verdict).index(judged.verdict), -end if metric.at_least else end


def _beyond_all(metric: Metric, of_feature: Counts) -> bool:
    """Whether the rate of those who do not tell plainly lies outside those of all groups."""
    unknown = np.array([None in group for group in of_feature.groups])
    for make in metric.rates:
        k, n = make("g").per_group(of_feature)
        if n[unknown].sum() < 1 or (n[~unknown] < 1).any():
            continue
        p, size = k[~unknown] / n[~unknown], n[~unknown]
        own = float(k[unknown].sum() / n[unknown].sum())
        for end, beyond in ((int(p.argmin()), -1.0), (int(p.argmax()), 1.0)):
            spread = own * (1 - own) / n[unknown].sum() + p[end] * (1 - p[end]) / size[end]
            if beyond * (own - p[end]) > PLAINLY * np.sqrt(max(spread, 1e-12)):
                return True
    return False


Corner = tuple[Floats, Floats]
"""Hits and people of two groups, the first one's first."""


def _ends(metric: Metric, told: Counts, nobody: Counts) -> list[list[Corner]]:
    """Of every rate and ordered pair of groups, what they would be if the others were theirs.

    The first of a pair has those who miss, or nobody more; the second those who hit, or nobody
    more: the lowest its rate can be against the highest of the other. Then the same turned round.
    """
    found = []
    told = told.known()
    for make in metric.rates:
        rate = make("g")
        k, n = rate.per_group(told)
        weight = np.maximum(told.in_cells(rate.among, of="weight"), 1e-12)
        hits = float(nobody.in_cells(rate.hits & rate.among, of="weight").sum())
        misses = float(nobody.in_cells(rate.among, of="weight").sum()) - hits
        scale = n / weight  # as many as weights are worth
        for i, j in permutations(range(len(n)), 2):
            corners = []
            for a, b in product((1.0, 0.0), repeat=2):
                corners.append(
                    (
                        np.array([k[i], k[j] + b * hits * scale[j]]),
                        np.array([n[i] + a * misses * scale[i], n[j] + b * hits * scale[j]]),
                    )
                )
            found.append(corners)
    return found


def _values(metric: Metric, pairs: list[list[Corner]]) -> tuple[float, float]:
    """The least and the most that the value of these very people can be."""
    firsts = [corners[0] for corners in pairs]
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = [(k / n).tolist() for k, n in firsts]
    if metric.how == "ratio":
        worst_end = min((low / high if high else 1.0) for low, high in rates)
        return float(min(worst_end, 1.0)), 1.0
    apart = [high - low for low, high in rates]
    each = len(apart) // len(metric.rates)
    most = sum(max(apart[r * each : (r + 1) * each]) for r in range(len(metric.rates)))
    return 0.0, float(min(max(most, 0.0), metric.highest))


def _whatever(
    metric: Metric, pairs: list[list[Corner]], limit: float, confidence: float
) -> Verdict | None:
    """Certified, if it is so at the worst end; None where that cannot be shown."""
    if len(metric.rates) > 1:
        return None
    enough = -ndtri(1 - confidence)
    if all(z >= enough for z in _tested(metric, pairs, limit)):
        return Verdict.CERTIFIED
    return None


def _tested(metric: Metric, pairs: list[list[Corner]], limit: float) -> Iterator[float]:
    for corners in pairs:
        for k, n in corners:
            if metric.how == "ratio":
                yield score_test(k[0], n[0], k[1], n[1], limit)
            else:
                yield gap_test(k[::-1], n[::-1], limit)
