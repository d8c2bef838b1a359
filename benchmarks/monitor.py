"""Streams of months with a promise that is kept, just missed, or broken: false alarms and delays.

Beside ours: a 95 % test every month, METHOD section 16's first form (a projection that is searched
for), and the months that a test with a fixed end and 80 % power would take.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import norm

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch._tools.tables import Table
from fairpatch.measure.metric import P_RULE, TPR_GAP, Metric
from fairpatch.measure.over_time import attention, averaged, claims_of, evidence

MONTHS, PEOPLE, RATE, LEVEL = 60, 1_000, 0.3, 0.95
SMALL = (0.03, 0.3, 0.5)
RATIOS = (0.82, 0.8, 0.78, 0.72, 0.64)
LIMIT, TPR_LIMIT, TPR, LATE = 0.8, 0.1, 0.7, 3
GAPS = (0.08, 0.1, 0.12, 0.18, 0.26)
ALTERNATIVES = (0.97, 0.94, 0.9, 0.8, 0.65)


def run(streams: int = 2_000) -> dict[str, Any]:
    """Every size of group, every truth, and what is known."""
    return {"streams": streams, "months": MONTHS, "rows": list(_rows(streams))}


def _rows(streams: int) -> Iterator[dict[str, Any]]:
    for small in SMALL:
        n = np.array([PEOPLE * (1 - small), PEOPLE * small])
        for ratio in RATIOS:
            rng = np.random.default_rng(0)
            p = np.array([RATE, RATE * ratio])
            size = np.broadcast_to(n, (streams, MONTHS, 2))
            k = rng.binomial(size.astype(int), p).astype(float)
            fixed = _fixed(p, n, np.array([LIMIT, -1.0]), 0.0)
            about = {"promise": "P-Rule 0.8", "small": small, "truth": ratio, "fixed_test": fixed}
            naive = _z(k, size, np.array([LIMIT, -1.0]), 0.0)
            first = _prototype(k, size)
            yield about | _alarms(_ours(k, size, P_RULE, LIMIT), naive, first)
            some, of = _tenth(rng, k, size)
            known = {"promise": "P-Rule 0.8, S for a tenth", "fixed_test": 10 * fixed}
            naive = _z(some, of, np.array([LIMIT, -1.0]), 0.0)
            yield about | known | _alarms(_ours(some, of, P_RULE, LIMIT), naive)
        for gap in GAPS:
            rng = np.random.default_rng(1)
            p, own = np.array([TPR, TPR - gap]), n * 0.4  # those with label 1
            size = np.broadcast_to(own, (streams, MONTHS, 2))
            k = rng.binomial(size.astype(int), p).astype(float)
            yield {
                "promise": f"TPR gap {TPR_LIMIT}, labels {LATE} months late",
                "small": small,
                "truth": gap,
                "fixed_test": LATE + _fixed(p, own, np.array([1.0, -1.0]), TPR_LIMIT),
            } | _alarms(
                _late(_ours(k, size, TPR_GAP, TPR_LIMIT)),
                _late(_z(k, size, np.array([1.0, -1.0]), TPR_LIMIT)),
            )


def _ours(k: Floats, n: Floats, metric: Metric, limit: float) -> Bools:
    """As ``over_time`` does it, for all streams at once: both pairs of groups."""
    claims, nothing = claims_of(metric, 2, np.array(limit)), np.zeros((len(k), 2))
    weight = attention(claims, k, n, nothing, nothing)
    found = averaged(evidence(claims, k, n, nothing, nothing), weight)
    return np.asarray(found >= -np.log(1 - LEVEL))


def _late(alarm: Bools) -> Bools:
    """Labels come later: so do the alarms."""
    return np.concatenate([np.zeros_like(alarm[:, :LATE]), alarm[:, :-LATE]], axis=1)


def _tenth(rng: np.random.Generator, k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """S is asked of a tenth, of the denied more often than of the approved.

    Of each decision as large a share is kept, as in ``evenly_known``; months in which fewer than
    ten with a decision were asked are left out.
    """
    asked = [rng.binomial(own.astype(int), share) for own, share in ((k, 0.06), (n - k, 0.12))]
    everybody = [own.sum(-1) for own in (k, n - k)]
    least = np.min([a.sum(-1) / np.maximum(e, 1) for a, e in zip(asked, everybody, strict=True)], 0)
    kept = []
    for a, e in zip(asked, everybody, strict=True):
        most = np.minimum((least * e + 1e-9).astype(int), a.sum(-1))
        first = rng.hypergeometric(a[..., 0], a[..., 1], most)
        kept.append(np.stack([first, most - first], -1))
    enough = np.minimum(*(a.sum(-1) for a in asked)) >= MIN_PEOPLE
    hits, misses = (x * enough[..., None] for x in kept)
    return hits.astype(float), (hits + misses).astype(float)


def _z(k: Floats, n: Floats, a: Floats, b: float) -> Bools:
    """A test at 95 % of each month by itself."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = k / n
        z = ((a * p).sum(-1) - b) / np.sqrt((a * a * p * (1 - p) / n).sum(-1))
    return np.asarray(z > norm.ppf(LEVEL))


def _fixed(p: Floats, n: Floats, a: Floats, b: float) -> float:
    """Months until a test with a fixed end and 80 % power, if it knew when to look."""
    beyond = float(a @ p - b)
    noise = float((a * a * p * (1 - p) / n).sum())
    if beyond <= 1e-9:
        return float("nan")
    return float(norm.ppf(LEVEL) + norm.ppf(0.8)) ** 2 * noise / beyond**2


def _prototype(k: Floats, n: Floats) -> Bools:
    """METHOD section 16's prototype: alternatives projected on the edge, one pair of groups."""
    total = np.zeros((len(k), len(ALTERNATIVES)))
    alarm = np.zeros(k.shape[:2], bool)
    for t in range(1, k.shape[1]):
        past = k[:, :t].sum(1) / [1, LIMIT]
        base = np.clip(past.sum(1) / n[:, :t].sum((1, 2)), 1e-3, 0.99)[:, None]
        away = np.array(ALTERNATIVES)
        high = np.minimum(base * (1 + (1 - away) * 0.3), 0.995)
        p = np.stack([high, np.maximum(away * LIMIT * high, 1e-4)], -1)
        here = n[0, t]
        low_end, high_end = np.full(high.shape, 1e-6), np.full(high.shape, 1 - 1e-6)
        for _ in range(60):  # the projection x, tau x by golden section
            left, right = (low_end + (high_end - low_end) * share for share in (0.382, 0.618))
            nearer = _divergence(p, left, here) < _divergence(p, right, here)
            high_end, low_end = np.where(nearer, right, high_end), np.where(nearer, low_end, left)
        x = (low_end + high_end) / 2
        q = np.stack([x, LIMIT * x], -1)
        own = k[:, t, None]
        total += (own * np.log(p / q) + (here - own) * np.log((1 - p) / (1 - q))).sum(-1)
        alarm[:, t] = np.logaddexp.reduce(total, 1) - np.log(total.shape[1]) >= np.log(20)
    return alarm


def _divergence(p: Floats, x: Floats, n: Floats) -> Floats:
    q = np.stack([x, LIMIT * x], -1)
    return np.asarray((n * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))).sum(-1))


def _alarms(ours: Bools, naive: Bools, first: Bools | None = None) -> dict[str, Any]:
    """The share of streams with an alarm; the mean month of the first, 60 where there is none."""

    def told(alarm: Bools) -> tuple[float, float]:
        month = np.where(alarm.any(1), alarm.argmax(1) + 1, MONTHS)
        return float(alarm.any(1).mean()), float(month.mean())

    names = {"ours": ours, "monthly_test": naive, "prototype": first}
    return {name: told(alarm) for name, alarm in names.items() if alarm is not None}


def show(result: dict[str, Any]) -> str:
    """One line a promise, size of group and truth."""
    rows = [
        [
            row["promise"],
            f"{row['small']:.0%}",
            f"{row['truth']:g}",
            *(
                f"{row[name][0]:.3f}, {row[name][1]:.1f}" if name in row else ""
                for name in ("ours", "prototype", "monthly_test")
            ),
            "" if np.isnan(row["fixed_test"]) else f"{row['fixed_test']:.0f}",
        ]
        for row in result["rows"]
    ]
    return Table(
        f"{result['streams']:,} streams of {result['months']} months of {PEOPLE:,} people: share "
        "with an alarm, mean month of the first (60 if none)",
        ["promise", "small group", "truth", "ours", "prototype", "monthly 95 % test", "fixed test"],
        rows,
    ).text()
