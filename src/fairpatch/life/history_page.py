"""The history of a model's guarantees as a page: months, limits, intervals and events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch._tools.verdict import Verdict
from fairpatch.life.guarantees import CHANGED, Guarantee, Watch, watch
from fairpatch.life.history import History, Period
from fairpatch.life.ledger import Entry
from fairpatch.life.newly_approved import nearest_ten
from fairpatch.report.page import render
from fairpatch.report.signed import About
from fairpatch.target import Target

WIDE, HIGH, LEFT, TOP, BOTTOM = 720, 290, 60, 18, 62
DATES = 5
"""Written below a chart, at most: on a phone they must not touch."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Between round ticks."""
EVENTS = {"applied": "in use", "refitted": "refitted", "retired": "retired"}
"""What is drawn among the months."""


@dataclass(frozen=True)
class Mark:
    """One month of a guarantee, in the picture's coordinates."""

    x: float
    y: float | None
    whisker: tuple[float, float] | None
    """Of the month by itself, where it may be told."""
    band: tuple[float, float] | None
    """Of the interval that may be looked at every month."""
    verdict: Verdict


@dataclass(frozen=True)
class Chart:
    """A guarantee over all months, one stretch for each patch."""

    title: str
    limit: float
    y_limit: float
    stretches: list[list[Mark]]
    ticks: list[tuple[float, str]]
    dates: list[tuple[float, str]]
    events: list[tuple[float, str]]
    verdict: Verdict
    text: str

    @property
    def bands(self) -> list[str]:
        """The intervals as closed lines."""
        polygons = []
        for marks in self.stretches:
            known = [m for m in marks if m.band is not None]
            up = [f"{m.x:.1f},{m.band[1]:.1f}" for m in known if m.band]
            down = [f"{m.x:.1f},{m.band[0]:.1f}" for m in reversed(known) if m.band]
            polygons += [" ".join(up + down)] if len(known) > 1 else []
        return polygons


def history_page(
    history: History,
    target: Target,
    entries: Sequence[Entry] = (),
    *,
    watched: Watch | None = None,
    about: About | None = None,
) -> str:
    """Every guarantee over all periods that the history has; small counts are not told."""
    lines = list(history)
    shown = {(p.patch, p.period): p for p in lines if not p.before}
    if not shown:
        raise ValueError("the history is empty: there is nothing to draw")
    periods = sorted({name for _, name in shown})
    known = {} if watched is None else {watched.last.patch: watched}
    # by what was counted last
    patches = list(dict.fromkeys(p.patch for p in reversed(lines) if not p.before))[::-1]
    each = {p: known.get(p) or watch(lines, target, patch=p) for p in patches}
    now = watched or each[patches[-1]]
    charts = [
        _chart(i, guarantee, each, periods, shown, entries, now.last.patch)
        for i, guarantee in enumerate(now.guarantees)
    ]
    return render(
        "history.html",
        about=about or About(),
        now=now,
        charts=charts,
        outcome_chart=_outcome_chart(now, periods),
        rate_charts=[c for f in now.last.counts.features if (c := _rate_chart(f, shown, periods))],
        months=_months(shown, now),
        earlier=_earlier(each, now),
        entries=entries,
        width=WIDE,
        height=HIGH,
        open_to_all=not any(p.unprotected for p in lines),
        next_step=_next(now, entries),
    )


def _earlier(each: dict[str, Watch], now: Watch) -> list[dict[str, str]]:
    """How the guarantees of patches stood that are not in use any more."""
    lines = []
    for patch, watched in each.items():
        if patch == now.last.patch:
            continue
        names = sorted(p.period for p in watched.periods)
        failed = [p for p in watched.guarantees if p.verdict is Verdict.REFUTED]
        text = (
            "; ".join(f"{p.name} was shown not to hold, known since {p.refuted_in}" for p in failed)
            or f"no guarantee failed ({watched.verdict})"
        )
        lines.append({"patch": patch, "from": names[0], "until": names[-1], "text": text})
    return lines


def _chart(
    i: int,
    now: Guarantee,
    each: dict[str, Watch],
    periods: Sequence[str],
    shown: dict[tuple[str, str], Period],
    entries: Sequence[Entry],
    patch_now: str,
) -> Chart:
    step = (WIDE - LEFT - 20) / max(len(periods) - 1, 1)
    place = {name: LEFT + 8 + k * step for k, name in enumerate(periods)}
    of_patch = {
        patch: watched.guarantees[i]
        for patch, watched in each.items()
        if i < len(watched.guarantees)
    }
    values = [now.requirement.limit]
    for patch, guarantee in of_patch.items():
        for t, name in enumerate(guarantee.periods):
            figure = _published(shown[patch, name], guarantee)
            values += [
                x
                for x in (figure.get("value"), _end(guarantee, t, 0), _end(guarantee, t, 1))
                if x is not None
            ]
    low, high = _scale(values, now.requirement.metric.highest)

    def y(value: float) -> float:
        inside = min(max(value, low), high)
        return TOP + (high - inside) / (high - low) * (HIGH - TOP - BOTTOM)

    stretches = [
        sorted(
            (_mark(guarantee, t, shown[patch, name], place[name], y)
             for t, name in enumerate(guarantee.periods)),
            key=lambda mark: mark.x,
        )
        for patch, guarantee in of_patch.items()
    ]  # fmt: skip
    every = max(1, -(-len(periods) // DATES))
    newest = shown[patch_now, max(now.periods)] if now.periods else None
    return Chart(
        title=f"{now.requirement} ({now.feature})",
        limit=now.requirement.limit,
        y_limit=y(now.requirement.limit),
        stretches=stretches,
        ticks=[(y(v), f"{v:g}") for v in _ticks(low, high)],
        dates=[(place[name], name) for name in periods[::every]],
        events=_events(entries, periods, place),
        verdict=now.verdict,
        text=_text(now) + _last(newest, now),
    )


@dataclass(frozen=True)
class OutcomeChart:
    """The newly approved with the bad outcome, all periods so far together, and expected ones."""

    seen: str
    expected: str
    dots: list[tuple[float, float]]
    ticks: list[tuple[float, str]]
    dates: list[tuple[float, str]]


def _outcome_chart(now: Watch, periods: Sequence[str]) -> OutcomeChart | None:
    """None where fewer than two periods may be told; counts are to the nearest ten."""
    if not now.newly_approved:
        return None
    everybody = now.newly_approved[0]
    known, bad, expected = (
        v.cumsum() for v in (everybody.known, everybody.bad, everybody.expected)
    )
    some = [t for t in range(len(known)) if min(bad[t], known[t] - bad[t]) >= MIN_PEOPLE]
    if len(some) < 2:
        return None
    step = (WIDE - LEFT - 20) / max(len(periods) - 1, 1)
    place = {name: LEFT + 8 + k * step for k, name in enumerate(periods)}
    names = [everybody.periods[t] for t in some]
    seen = [nearest_ten(bad[t]) / nearest_ten(known[t]) for t in some]
    awaited = [float(expected[t] / known[t]) for t in some]
    low, high = _scale([*seen, *awaited], 1.0)
    ys = [
        [TOP + (high - v) / (high - low) * (HIGH - TOP - BOTTOM) for v in values]
        for values in (seen, awaited)
    ]
    dots = [(place[name], y) for name, y in zip(names, ys[0], strict=True)]
    line = " ".join(f"{place[name]:.1f},{y:.1f}" for name, y in zip(names, ys[1], strict=True))
    every = max(1, -(-len(periods) // DATES))
    return OutcomeChart(
        seen=" ".join(f"{x:.1f},{y:.1f}" for x, y in dots), expected=line, dots=dots,
        ticks=[
            (TOP + (high - v) / (high - low) * (HIGH - TOP - BOTTOM), f"{v:.0%}")
            for v in _ticks(low, high)
        ],
        dates=[(place[name], name) for name in periods[::every]],
    )  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A group's share of approvals, period by period."""

    name: str
    points: list[tuple[float, float]]
    name_at: float
    """Where its name stands, beside the last point and clear of the others."""

    @property
    def path(self) -> str:
        """As SVG has it."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True)
class RateChart:
    """Every group that may be shown."""

    feature: str
    lines: list[Line]
    ticks: list[tuple[float, str]]
    dates: list[tuple[float, str]]


MOST_LINES, NAMES = 6, 110
"""Groups that are drawn, the largest changes first; room for their names."""


def _rate_chart(
    feature: str, shown: dict[tuple[str, str], Period], periods: Sequence[str]
) -> RateChart | None:
    """None where fewer than two periods may be told."""
    rates: dict[str, dict[str, float]] = {}
    for (_, name), period in shown.items():
        for group, rate in period.shown.get("rates", {}).get(feature, {}).items():
            if rate["after"].get("value") is not None:
                rates.setdefault(group, {})[name] = rate["after"]["value"]
    rates = {group: by for group, by in rates.items() if len(by) > 1}
    if not rates:
        return None
    widest = sorted(rates, key=lambda g: min(rates[g].values()) - max(rates[g].values()))
    rates = {group: rates[group] for group in sorted(widest[:MOST_LINES])}
    low, high = _scale([v for by in rates.values() for v in by.values()], 1.0)
    step = (WIDE - LEFT - NAMES) / max(len(periods) - 1, 1)
    place = {name: LEFT + 8 + k * step for k, name in enumerate(periods)}

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HIGH - TOP - BOTTOM)

    points = {g: [(place[n], y(by[n])) for n in periods if n in by] for g, by in rates.items()}
    names: dict[str, float] = {}
    for group in sorted(points, key=lambda g: points[g][-1][1]):
        names[group] = max(points[group][-1][1], max(names.values(), default=-20.0) + 15.0)
    every = max(1, -(-len(periods) // DATES))
    return RateChart(
        feature,
        [Line(group, own, names[group]) for group, own in points.items()],
        [(y(v), f"{v:.0%}") for v in _ticks(low, high)],
        [(place[name], name) for name in periods[::every]],
    )


def _text(now: Guarantee) -> str:
    """The verdict in a sentence, beside its word."""
    if not now.periods:
        return "No labels have come yet."
    ends = now.ends
    who = "" if now.stands.pair is None else f" ({' against '.join(now.stands.pair)})"
    since = "" if now.refuted_in is None else f"Known since {now.refuted_in}. "
    if ends is None:
        return (
            f"{since}{CHANGED[0].upper()}{CHANGED[1:]}{who}."
            if now.changed
            else "Nothing is known."
        )
    low, high = ends
    many = "1 period" if len(now.periods) == 1 else f"{len(now.periods)} periods"
    watched = "" if now.verdict is not Verdict.WATCH else f" {_of_late(now)}"
    return f"{since}Between {low:.2f} and {high:.2f} by {many} together{who}.{watched}"


def _of_late(now: Guarantee) -> str:
    """Which periods miss it by themselves."""
    many = "misses" if len(now.periods) == 1 else "miss"
    return f"{now.lately}, by themselves, {many} {now.requirement.limit:g}: look at what changed."


def _last(newest: Period | None, now: Guarantee) -> str:
    """The last period by itself, as far as it may be told."""
    figure = {} if newest is None else _published(newest, now)
    value, low, high = (figure.get(name) for name in ("value", "low", "high"))
    if newest is None or value is None:
        return ""
    between = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return f" {newest.period} by itself: {value:.2f}{between}."


def _events(
    entries: Sequence[Entry], periods: Sequence[str], place: dict[str, float]
) -> list[tuple[float, str]]:
    """Where something began: the first period that is not before it."""
    events: dict[float, str] = {}
    for entry in entries:
        if entry.event not in EVENTS or (entry.event == "applied" and not entry.since):
            continue
        name = next((p for p in periods if p >= entry.day[: len(p)]), periods[-1])
        known = events.get(place[name])
        word = EVENTS[entry.event]
        events[place[name]] = word if known is None or word in known else f"{known}, {word}"
    return sorted(events.items())


def _mark(guarantee: Guarantee, t: int, period: Period, x: float, y: Any) -> Mark:
    figure = _published(period, guarantee)
    value, low, high = (figure.get(name) for name in ("value", "low", "high"))
    interval = guarantee.ends_at(t)
    return Mark(
        x=x,
        y=None if value is None else y(value),
        whisker=None if low is None or high is None else (y(low), y(high)),
        band=None if interval is None else (y(interval[0]), y(interval[1])),
        verdict=guarantee.stands.verdict(t),
    )


def _published(period: Period, guarantee: Guarantee) -> dict[str, Any]:
    """The month's own figure, as far as it may be told."""
    if not guarantee.requirement.between_groups:
        return dict(period.shown.get("changed", {}))
    metrics = period.shown.get("metrics", {}).get(guarantee.feature, {})
    return dict(metrics.get(guarantee.requirement.name, {}))


def _end(guarantee: Guarantee, t: int, which: int) -> float | None:
    """An end of the interval, once it says something."""
    ends = guarantee.ends_at(t)
    if ends is None or ends[which] in (0.0, guarantee.requirement.metric.highest):
        return None
    return ends[which]


def _scale(values: Sequence[float], highest: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = max((high - low) * 0.15, 0.03)
    return max(0.0, low - room), min(highest, high + room)


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers.

    >>> _ticks(0.45, 0.96)
    [0.5, 0.6, 0.7, 0.8, 0.9]
    """
    step = next((s for s in STEPS if (high - low) / s <= 5.5), 1.0)
    first = np.ceil(low / step - 1e-9)
    many = int(np.floor(high / step + 1e-9) - first) + 1
    return [round(float((first + k) * step), 4) for k in range(many)]


def _next(now: Watch, entries: Sequence[Entry]) -> str:
    """What to do."""
    refitted = [e for e in entries if e.event == "refitted"]
    last = f" The last refit holds from {refitted[-1].day}." if refitted else ""
    failed = any(g.verdict is Verdict.REFUTED for g in now.guarantees)
    if now.verdict is Verdict.REFUTED and not failed:
        return (
            "More of the newly approved have the bad outcome than was expected when the patch was "
            "signed. Decide whether the card is still worth its price: take it back, or refit it "
            "on rows that have these outcomes, with `fairpatch refit`."
        )
    if now.verdict is Verdict.REFUTED:
        return (
            "Decide now: take the patch back (its strength 0 is the base model), or refit it on "
            "recent rows with `fairpatch refit` and have the refit reviewed." + last
        )
    watched = [g for g in now.guarantees if g.verdict is Verdict.WATCH]
    if watched and not now.latest.findings:
        return (
            "Look at what changed of late, before the next period: all periods together do not "
            f"show yet that a guarantee fails, but {watched[0].lately} alone speak against it."
        )
    if now.latest.findings:
        return "Find out whether the base model or the people have changed, before the next period."
    behind = [p for p in now.guarantees if p.periods and max(p.periods) < now.last.period]
    waits = "".join(f" {p.name} waits for labels since {max(p.periods)}." for p in behind)
    if now.verdict is Verdict.CERTIFIED:
        return f"Nothing needs to be done. Look again after the next period.{waits}{last}"
    return f"Go on counting: more periods will decide.{last}"


def _months(shown: dict[tuple[str, str], Period], now: Watch) -> list[dict[str, Any]]:
    """One line a month, the last one first."""
    rows = sorted(shown.items(), key=lambda item: item[0][1], reverse=True)
    return [
        {
            "period": name,
            "shown": period.shown,
            "findings": period.findings,
            "patch": period.patch[:8],
            "corrected": period.replaces,
            "guarantees": {
                p.name: _published(period, p) for p in now.guarantees
            },
        }
        for (_, name), period in rows
    ]  # fmt: skip
