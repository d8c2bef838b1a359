"""What the periods so far say of every guarantee: from counts alone, however often one looks."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpatch._tools.arrays import Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch._tools.tables import Table
from fairpatch._tools.verdict import Verdict, worst
from fairpatch.disclose.protected import outcome
from fairpatch.life.history import History, Period, before_first, once
from fairpatch.life.newly_approved import TurnedOut, turned_out
from fairpatch.life.outputs import Check
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import Metric
from fairpatch.measure.over_time import LATELY, OverTime, log_evidence, missed_lately, over_time
from fairpatch.measure.places import Places
from fairpatch.measure.recounted import NotKnownError, evenly_known
from fairpatch.target import Requirement, Target

CONFIDENCE, FINE, COARSE = 0.95, 0.01, 0.05
GONE = "gone_group"
"""The finding that a group is missing."""
ENOUGH = 10 * MIN_PEOPLE
"""People behind a share that is shown."""
CHANGED = "no one value explains all periods, something has changed"
WATCHED = (
    "Watch {0}: {1}, by themselves, miss it. All periods together do not show that yet; of "
    "guarantees that hold, about one in ten is watched at some time in five years."
)
INCONCLUSIVE = "Inconclusive: all periods together show neither that it holds nor that it does not."


@dataclass(frozen=True, eq=False)
class Guarantee:
    """One requirement for one sensitive feature, over the periods in the order they came."""

    requirement: Requirement
    feature: str
    periods: tuple[str, ...]
    stands: OverTime
    refused: dict[str, str]
    """Periods that tell nothing, and why."""
    small: bool = False
    """Whether small counts are behind it, so that less of the interval may be told."""
    missed_lately: bool = False
    """Whether the last periods by themselves miss it."""

    @property
    def verdict(self) -> Verdict:
        """How it stands now."""
        stands = self.stands.verdict()
        return worst([stands, Verdict.WATCH]) if self.missed_lately else stands

    @property
    def lately(self) -> str:
        """Which periods are looked at by themselves."""
        some = sorted(self.periods)[-LATELY:]
        return some[0] if len(some) == 1 else f"{some[0]} to {some[-1]}"

    @property
    def refuted_in(self) -> str | None:
        """The period after which it was shown not to hold."""
        at = self.stands.refuted_at
        return None if at is None else self.periods[at]

    @property
    def name(self) -> str:
        """What is guaranteed, and of what."""
        return f"{self.requirement} ({self.feature})"

    def __str__(self) -> str:
        if not self.periods:
            return f"{Verdict.INCONCLUSIVE}: no labels yet"
        since = "" if self.refuted_in is None else f" since {self.refuted_in}"
        ends = self.ends_at(-1)
        between = "" if ends is None else f"; between {ends[0]:g} and {ends[1]:g}"
        return f"{self.verdict}{since}{between}"

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval now."""
        return self.ends_at(-1) if self.periods else None

    @property
    def changed(self) -> bool:
        """Whether no one value explains all periods."""
        return bool(self.periods and self.stands.low[-1] > self.stands.high[-1])

    def ends_at(self, t: int) -> tuple[float, float] | None:
        """The interval after a period as it may be told, outwards; None where there is none."""
        low, high = float(self.stands.low[t]), float(self.stands.high[t])
        if not low <= high:  # NaN, or no one value
            return None
        step = COARSE if self.small else FINE
        up = min(np.ceil(high / step - 1e-9) * step, self.requirement.metric.highest)
        return round(float(np.floor(low / step + 1e-9) * step), 3), round(float(up), 3)


@dataclass(frozen=True)
class Approvals:
    """How many were approved in the last period, and whether that is what was asked for.

    A count, and no test: so many people came, and so many of them have a place.
    """

    requirement: str
    period: str
    before: float
    after: float
    """Shares, by the base model and as patched."""
    kept: bool

    @property
    def verdict(self) -> Verdict:
        """Of this one period."""
        return Verdict.CERTIFIED if self.kept else Verdict.NOT_MET

    def __str__(self) -> str:
        moved = f"from {self.before:.1%} to {self.after:.1%}"
        return f"{'kept' if self.kept else 'not kept'} in {self.period}: {moved}"


@dataclass(frozen=True, eq=False)
class Watch:
    """Every guarantee of a patch, and what else is watched."""

    target: Target
    periods: tuple[Period, ...]
    guarantees: tuple[Guarantee, ...]
    latest: Period
    """What was counted last: a new period, or labels of an earlier one."""
    promoted: OverTime | None
    """Whether people whom the patch approves turn out at least as well as those still denied."""
    turned_out: tuple[float, float] | None = None
    """Of the first and of the second, the share with the good outcome, in all periods together, to
    two digits; None where few people would be told."""
    approvals: Approvals | None = None
    """Where places are limited."""
    newly_approved: tuple[TurnedOut, ...] = ()
    """What became of the newly approved against what was expected: everybody, then each group."""
    added: bool = True
    """Whether the period was new: one that is there already, as it is, changes nothing."""

    @property
    def verdict(self) -> Verdict:
        """The worst of its guarantees, of the places, and of what became of the newly approved."""
        every = [g.verdict for g in self.guarantees]
        every += [t.verdict for t in self.newly_approved if t.alarm is not None]
        every += [] if self.approvals is None else [self.approvals.verdict]
        every += [Verdict.GROUP_GONE for f in self.latest.findings if f.figure == GONE]
        return worst(every, default=Verdict.INCONCLUSIVE)

    @property
    def bad_outcome(self) -> str:
        """What the bad outcome is called."""
        return str(self.latest.shown.get("bad_outcome", "the bad outcome"))

    @property
    def last(self) -> Period:
        """The period that came last."""
        return self.periods[-1]

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Everything that passes or fails, for machines."""
        checks = [
            Check(
                name=p.requirement.name, about=p.feature, verdict=p.verdict,
                text=f"{p.name}: {p}", limit=p.requirement.limit,
                low=None if p.ends is None else p.ends[0],
                high=None if p.ends is None else p.ends[1],
            )
            for p in self.guarantees
        ]  # fmt: skip
        if self.approvals is not None:
            checks.append(
                Check(
                    name="approvals", about="everybody", verdict=self.approvals.verdict,
                    text=f"{self.approvals.requirement}: {self.approvals}",
                    value=self.approvals.after,
                )
            )  # fmt: skip
        if self.promoted is not None:
            verdict = self.promoted.verdict()
            checks.append(
                Check(  # watched, but no part of the target
                    name="promoted_outcome", about="everybody",
                    verdict=min(verdict, Verdict.INCONCLUSIVE, key=list(Verdict).index),
                    text="people whom the patch approves turn out at least as well as those still "
                    f"denied: {verdict}",
                )
            )  # fmt: skip
        checks += [
            Check(name="newly_approved", about=t.group, verdict=t.verdict,
                  text=t.text(self.bad_outcome))
            for t in self.newly_approved
        ]  # fmt: skip
        looks = {"refuse": Verdict.OTHER_MODEL, "notice": Verdict.INCONCLUSIVE}
        checks += [
            Check(
                name=f.figure, about=f.what, text=f.text,
                verdict=Verdict.GROUP_GONE if f.figure == GONE else looks[f.severity],
            )
            for f in self.latest.findings
        ]  # fmt: skip
        return tuple(checks)

    def __str__(self) -> str:
        rows = [[p.name, str(p), " / ".join(p.stands.pair or ())] for p in self.guarantees]
        if self.approvals is not None:
            rows.append([self.approvals.requirement, str(self.approvals), ""])
        looked = self.last.shown.get("referred_approved")
        if looked is not None:
            rows.append([f"of those referred, approved in {self.last.period}", f"{looked:.0%}", ""])
        if self.promoted is not None:
            text = "the newly approved turn out at least as well as those still denied"
            rows.append([text, str(self.promoted.verdict()), ""])
        told = [t for i, t in enumerate(self.newly_approved) if not i or t.alarm is not None]
        rows += [["outcomes of the newly approved", t.short, t.who] for t in told]
        unclear = any(p.verdict is Verdict.INCONCLUSIVE for p in self.guarantees)
        notes = [INCONCLUSIVE] if unclear else []
        notes += [WATCHED.format(p.name, p.lately)
                  for p in self.guarantees if p.verdict is Verdict.WATCH]  # fmt: skip
        notes += [f"{_upper(t.text(self.bad_outcome))}." for t in told]
        if not self.added:
            notes.append("The period was in the history already, as it is: nothing was added.")
        notes += [f"Warning, {self.latest.period}: {f.text}." for f in self.latest.findings]
        notes += [f"{p.name}: {CHANGED}." for p in self.guarantees if p.changed]
        notes += [f"{p.name}, {t}: {why}." for p in self.guarantees for t, why in p.refused.items()]
        periods = len({p.period for p in self.periods})
        many = "1 period" if periods == 1 else f"{periods} periods"
        return Table(
            f"{many}, last {max(p.period for p in self.periods)}: {self.verdict}",
            ["requirement", f"verdict ({self.target.confidence:.0%} over all periods)", "groups"],
            rows,
            notes,
        ).text()

    __repr__ = __str__


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def watch(
    history: History | Iterable[Period],
    target: Target,
    *,
    patch: str,
    added: bool = True,
) -> Watch:
    """Judge every guarantee on the periods of a patch.

    Parameters
    ----------
    history : History or iterable of Period
        Counts of the periods so far.
    target : Target
        What is guaranteed.
    patch : str
        SHA-256 of the patch, as ``fairpatch.report.signed.patch_hash`` gives it.
    added : bool
        Whether the last period was new to the history.

    Returns
    -------
    Watch
        A verdict on every guarantee.
    """
    every = list(history)
    periods = once(every, patch)
    if not periods:
        raise ValueError("there is no period of this patch yet: count one first")
    before = before_first(every, patch)
    features = _compared(periods, target)
    latest = [p for p in every if p.patch == patch and not p.before][-1]
    guarantees = [
        _guarantee(every, patch, target, requirement, feature, before)
        for requirement in target.requirements
        if not isinstance(requirement.metric, Places)
        for feature in (features if requirement.between_groups else ("everybody",))
    ]
    outcomes = _outcomes(once(every, patch, labelled=True))
    matured = turned_out(once(every, patch, labelled=True), target.confidence)
    if not matured:  # nobody's outcome has come: who is waited for
        matured = turned_out(periods, target.confidence)
    return Watch(
        target, tuple(periods), tuple(guarantees), latest, _promoted(*outcomes), _rates(*outcomes),
        _approvals(target, periods[-1]), matured, added,
    )  # fmt: skip


def _compared(periods: Sequence[Period], target: Target) -> tuple[str, ...]:
    """What is compared: the features, or every stratum that was ever large enough."""
    if target.comparisons is None:
        return periods[-1].features
    tables = [target.compare(period.counts) for period in periods]
    return tuple(dict.fromkeys(name for table in tables for name in table))


def _approvals(target: Target, period: Period) -> Approvals | None:
    """The places of a period; None where they are not limited, or few people would be told."""
    if target.places is None:
        return None
    tables = (period.counts.along("before", of="weight"), period.counts.along("after", of="weight"))
    before, after = (float(table[1] / table.sum()) for table in tables)
    if too_few(float(period.counts.along("after")[1])):
        return None
    kept = bool(target.places.met(after - before * target.places.kept, 0.0))
    return Approvals(
        target.places.said(0.0), period.period, round(before, 3), round(after, 3), kept
    )


def _guarantee(
    history: Sequence[Period], patch: str, target: Target, requirement: Requirement,
    feature: str, before: Counts | None,
) -> Guarantee:  # fmt: skip
    metric = requirement.metric
    if isinstance(metric, Places):
        raise TypeError("places are counted, and not judged over time")
    given_y = isinstance(metric, Metric) and metric.given_y
    periods = once(history, patch, labelled=given_y)
    tables: list[Counts | None] = []
    refused = {}
    for period in periods:
        try:
            tables.append(_table(period.evidence, metric, feature, target, given_y=given_y))
        except NotKnownError as error:
            tables.append(None)
            refused[period.period] = str(error)
    past = None
    if before is not None:
        with suppress(NotKnownError):  # then the first period tells what to look at
            past = _table(before, metric, feature, target, given_y=given_y)
    stands = over_time(tables, metric, requirement.limit, confidence=target.confidence, before=past)
    small = not all(p.shown.get("whole", False) for p in periods)
    names = tuple(p.period for p in periods)
    in_order = [tables[t] for t in sorted(range(len(names)), key=names.__getitem__)]
    lately = missed_lately(in_order, metric, requirement.limit)
    return Guarantee(requirement, feature, names, stands, refused, small, lately)


def _table(
    counts: Counts, metric: object, feature: str, target: Target, *, given_y: bool
) -> Counts | None:
    if not isinstance(metric, Metric):
        return counts
    if target.comparisons is not None:
        own = target.compare(counts).get(feature)
        return None if own is None else evenly_known(own, with_label=given_y)
    table = counts.without(target.not_compared or {}).by(feature)
    return evenly_known(table, with_label=given_y)


def _outcomes(periods: Sequence[Period]) -> tuple[Floats, Floats]:
    """Of the promoted and of those left denied, good outcomes and people, period by period."""
    k, n = (np.zeros((len(periods), 2)) for _ in range(2))
    for t, period in enumerate(periods):
        for r, who in enumerate(("promoted", "left denied")):
            rate, counts = outcome(who), period.evidence
            k[t, r], n[t, r] = (counts.in_cells(c).sum() for c in (rate.hits, rate.among))
    return k, n


def _rates(k: Floats, n: Floats) -> tuple[float, float] | None:
    """All periods together, by full tens of people so that no new period tells of one."""
    good, people = k.sum(0) // MIN_PEOPLE * MIN_PEOPLE, n.sum(0) // MIN_PEOPLE * MIN_PEOPLE
    if people.min() < ENOUGH:
        return None
    first, second = np.round(good / people, 2).tolist()
    return first, second


def _promoted(k: Floats, n: Floats) -> OverTime | None:
    """p(still denied) - p(promoted) <= 0 for the share that turns out well."""
    if not n.sum(0).all():
        return None
    a, b, nothing = np.array([-1.0, 1.0]), np.array(0.0), np.full(len(n), np.nan)
    return OverTime(
        0.0, CONFIDENCE, log_evidence(k, n, a, b), log_evidence(k, n, -a, -b), nothing, nothing,
        ("promoted", "still denied"),
    )  # fmt: skip
