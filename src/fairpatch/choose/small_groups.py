"""Groups too small to judge, and handfuls of people who decide for everybody.

The certificate is of every group. One of which little can be shown makes it ask for more and more,
up to nearly everybody's approval, for the sake of people of whom it still shows nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from fairpatch._tools.hints import did_you_mean, hint
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch.data.rows import Rows
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import Rate
from fairpatch.target import Requirement, Target

A_HANDFUL = 0.05
"""Of all people, the share of a group from which on it is no handful."""
MORE, AT_LEAST = 1.25, 0.005
"""Times as many changes, and share of decisions, that a handful must not cost unnoticed."""
MOST_TRIED = 3
"""Groups without which the choice is made again, the smallest first."""


@dataclass(frozen=True)
class TooSmall:
    """A group of which a requirement cannot be shown, even if it were treated exactly alike."""

    feature: str
    group: str
    people: int
    """About so many, by the rows that learned."""
    requirement: Requirement
    needed: int

    def __str__(self) -> str:
        few = "about ten" if too_few(self.people - MIN_PEOPLE) else f"about {self.people:,}"
        return f"{self.group!r} ({self.feature}): {few} people, {self.needed:,} needed"


def check_small_groups(rows: Rows, target: Target, people: int, fresh: int) -> None:
    """Refuse groups too small to judge beside two that are not, unless they are left out by name.

    The rows stand for all ``people``, of whom so many are ``fresh`` and certify. Who is compared
    with one group, or within strata, has rules of its own.
    """
    rows.s.comparable()  # an amount is no group, however few have each
    for feature in target.not_compared or {}:
        if feature not in rows.s.features:
            raise ValueError(
                f"not_compared names {feature!r}, which is no sensitive feature"
                + did_you_mean(feature, rows.s.features)
            )
    if target.comparisons is not None or not fresh:
        return
    found = list(_too_small(rows, target, people, fresh))
    if not found:
        return
    names = {feature: list(groups) for feature, groups in (target.not_compared or {}).items()}
    for small in found:
        of_feature = names.setdefault(small.feature, [])
        if small.group not in of_feature:
            of_feature.append(small.group)
    shell = f"--target 'not_compared={_as_yaml(names)}'"
    raise ValueError(
        f"groups too small to judge by {found[0].requirement}: {'; '.join(map(str, found))}. Even "
        "if all groups were decided alike, their interval would be wider than that; so the patch "
        "would change ever more decisions for their sake, and show nothing of them. "
        f"Leave them out, which the certificate then says: "
        f"{hint(f'Target(..., not_compared={names})', shell)}. Or give more people, or merge "
        "groups that belong together"
    )


def _as_yaml(names: dict[str, list[str]]) -> str:
    inside = ", ".join(f"{f}: [{', '.join(g)}]" for f, g in names.items())
    return f"{{{inside}}}"


def _too_small(rows: Rows, target: Target, everybody: int, fresh: int) -> Iterator[TooSmall]:
    """By each feature and requirement; none where fewer than two groups would be left."""
    for requirement in target.fairness_requirements:
        metric = requirement.metric
        if not isinstance(metric, Metric):
            continue
        enough = _enough(metric, requirement.limit, rows, target.confidence)
        if enough is None:
            continue
        for k, feature in enumerate(rows.s.features):
            out = [str(g) for g in (target.not_compared or {}).get(feature, ())]
            names = [str(v) for v in rows.s.values[k]]
            sizes = np.bincount(rows.s.codes[rows.s.codes[:, k] >= 0, k], minlength=len(names))
            certifying, people = (sizes * n / len(rows) for n in (fresh, everybody))
            small = (certifying < enough) & (people >= MIN_PEOPLE)  # fewer are never compared
            fine, named = certifying >= max(enough, MIN_PEOPLE), np.isin(names, out)
            if np.sum(fine & ~named) < 2:
                continue
            needed = _about(enough * everybody / fresh)
            for g in np.flatnonzero(small & ~named):
                yield TooSmall(feature, names[g], round(people[g]), requirement, needed)


def _enough(metric: Metric, limit: float, rows: Rows, confidence: float) -> float | None:
    """People of a group of fewer than whom a limit is never shown, if all rates are alike.

    A rate p of n people has the variance p (1 - p) / n, and with z of the confidence the interval
    is wider than the limit where z sqrt(p (1 - p) / n) > limit; for a ratio tau, where
    z sqrt((1 - p) / (n p)) > -ln tau. None where a limit asks for nothing, or rates are not known.
    """
    z2, of_label = ndtri(confidence) ** 2, []
    for of in metric.rates:
        rate = of("f")
        p, share = _rate(rate, rows)
        if not 0 < p < 1 or not share:
            return None
        of_label.append((p, share))
    if metric.how == "ratio":
        ((p, share),) = of_label
        if not 0 < limit < 1:
            return None
        return enough_for_ratio(p, limit, confidence) / share
    if not limit:
        return None
    return float(z2 * sum(p * (1 - p) / share for p, share in of_label) / limit**2)


def enough_for_ratio(p: float, limit: float, confidence: float) -> float:
    """The same for a ratio of rates p.

    >>> round(enough_for_ratio(0.45, 0.8, 0.95)), round(enough_for_ratio(0.45, 0.9, 0.95))
    (66, 298)
    """
    return float(ndtri(confidence) ** 2 * (1 - p) / p / np.log(limit) ** 2)


def _rate(rate: Rate, rows: Rows) -> tuple[float, float]:
    """The rate of f among everybody, and the share of people that it is among."""
    among = np.ones(len(rows), bool)
    if not rate.labels.all():
        among = np.isin(rows.y, np.flatnonzero(rate.labels))
    if not among.any():
        return 0.0, 0.0
    return float(np.mean(rows.f[among] > 0)), float(among.mean())


def handfuls(rows: Rows, target: Target) -> Iterator[tuple[str, str, float]]:
    """Groups of few people beside two others: feature, name, share; the smallest first."""
    if target.comparisons is not None:
        return
    found = []
    for k, feature in enumerate(rows.s.features):
        code = rows.s.codes[:, k]
        sizes = np.bincount(code[code >= 0], minlength=len(rows.s.values[k]))
        for value, size in zip(rows.s.values[k], sizes, strict=True):
            share = size / max(sizes.sum(), 1)
            if len(sizes) > 2 and size >= MIN_PEOPLE and share < A_HANDFUL:
                found.append((feature, str(value), float(share)))
    yield from sorted(found, key=lambda f: f[2])[:MOST_TRIED]


def said_of_handful(
    feature: str, group: str, share: float, now: float, without: float
) -> str | None:
    """In words, where it costs much; None where it does not."""
    if now <= MORE * without or now - without < AT_LEAST:
        return None
    return (
        f"{group!r} ({feature}), {share:.1%} of the people, decides for everybody: if it were not "
        f"compared, {without:.1%} of decisions would change, and now {now:.1%} do"
    )


def _about(people: float) -> int:
    """To two digits, upwards."""
    step = 10 ** max(int(np.log10(max(people, 1))) - 1, 0)
    return int(-(-people // step) * step)
