"""What the periods so far say of every promise: from counts alone, and however often one looks."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpatch.choose.target import Requirement, Target
from fairpatch.life.checks import Check, Kind
from fairpatch.life.history import History, before_first, once
from fairpatch.life.period import Found, Period
from fairpatch.measure.counts import Counts
from fairpatch.measure.evidence import log_evidence
from fairpatch.measure.metric import Metric
from fairpatch.measure.over_time import STANDINGS, OverTime, Standing, over_time
from fairpatch.measure.reviewed import outcome
from fairpatch.measure.sampled import NotKnownError, evenly_known
from fairpatch.measure.show import Table

CONFIDENCE, FINE, COARSE = 0.95, 0.01, 0.05
CHANGED = "no one value explains all periods, something has changed"
OPEN = "Open: neither shown to hold nor to be broken, by all periods together."


@dataclass(frozen=True, eq=False)
class Promise:
    """One requirement for one sensitive feature, over the periods in the order they came."""

    requirement: Requirement
    feature: str
    periods: tuple[str, ...]
    stands: OverTime
    refused: dict[str, str]
    """Periods that tell nothing, and why."""
    small: bool = False
    """Whether small counts are behind it, so that less of the interval may be told."""

    @property
    def word(self) -> Standing:
        """How it stands now."""
        return self.stands.word()

    @property
    def broken_in(self) -> str | None:
        """The period after which it was known to be broken."""
        at = self.stands.broken_at
        return None if at is None else self.periods[at]

    @property
    def name(self) -> str:
        """What was promised, and of what."""
        return f"{self.requirement} ({self.feature})"

    def __str__(self) -> str:
        if not self.periods:
            return "open: no labels yet"
        word = f"broken since {self.broken_in}" if self.word == "broken" else self.word
        ends = self.ends_at(-1)
        return word if ends is None else f"{word}; between {ends[0]:g} and {ends[1]:g}"

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


@dataclass(frozen=True, eq=False)
class Watch:
    """Every promise of a patch, and what else is watched."""

    target: Target
    periods: tuple[Period, ...]
    promises: tuple[Promise, ...]
    latest: Period
    """What was counted last: a new period, or labels of an earlier one."""
    promoted: OverTime | None
    """Whether people whom the patch approves turn out at least as well as those still denied."""

    @property
    def word(self) -> Standing:
        """The worst of its promises."""
        return max((p.word for p in self.promises), key=STANDINGS.index, default="open")

    @property
    def last(self) -> Period:
        """The period that came last."""
        return self.periods[-1]

    @property
    def unlike(self) -> tuple[Found, ...]:
        """What of the last period looks like another model's."""
        return tuple(f for f in self.latest.findings if f.word == "refuse")

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Everything that passes or fails, for machines."""
        kinds: dict[Standing, Kind] = {"holds": "pass", "open": "unsure", "broken": "fail"}
        found = [
            Check(
                name=p.requirement.name, about=p.feature, word=p.word, kind=kinds[p.word],
                text=f"{p.name}: {p}", limit=p.requirement.limit,
                low=None if p.ends is None else p.ends[0],
                high=None if p.ends is None else p.ends[1],
            )
            for p in self.promises
        ]  # fmt: skip
        if self.promoted is not None:
            word = self.promoted.word()
            found.append(
                Check(  # watched, but nobody promised it
                    name="promoted_outcome", about="everybody", word=word,
                    kind="pass" if word == "holds" else "unsure",
                    text="people whom the patch approves turn out at least as well as those still "
                    f"denied: {word}",
                )
            )  # fmt: skip
        looks: dict[str, Kind] = {"refuse": "unlike", "notice": "unsure"}
        found += [
            Check(name=f.figure, about=f.what, word=f.word, kind=looks[f.word], text=f.text)
            for f in self.latest.findings
        ]
        return tuple(found)

    def __str__(self) -> str:
        rows = [[p.name, str(p), " / ".join(p.stands.pair or ())] for p in self.promises]
        if self.promoted is not None:
            words = {"holds": "yes", "open": "not known yet", "broken": "no"}
            text = "the newly approved turn out well enough"
            rows.append([text, words[self.promoted.word()], ""])
        notes = [OPEN] if any(p.word == "open" for p in self.promises) else []
        notes += [f"Take care, {self.latest.period}: {f.text}." for f in self.latest.findings]
        notes += [f"{p.name}: {CHANGED}." for p in self.promises if p.changed]
        notes += [f"{p.name}, {t}: {why}." for p in self.promises for t, why in p.refused.items()]
        periods = len({p.period for p in self.periods})
        many = "1 period" if periods == 1 else f"{periods} periods"
        return Table(
            f"{many}, last {max(p.period for p in self.periods)}: {self.word}",
            ["promise", f"stands (right with {self.target.confidence:.0%} for ever)", "groups"],
            rows,
            notes,
        ).text()

    __repr__ = __str__


def watch(
    history: History | Iterable[Period],
    target: Target,
    *,
    patch: str,
) -> Watch:
    """Judge every promise on the periods of a patch."""
    own = list(history)
    periods = once(own, patch)
    if not periods:
        raise ValueError("there is no period of this patch yet: count one first")
    features, before = periods[-1].features, before_first(own, patch)
    latest = [p for p in own if p.patch == patch and not p.before][-1]
    promises = [
        _promise(own, patch, target, requirement, feature, before)
        for requirement in target.requirements
        for feature in (features if requirement.between_groups else ("everybody",))
    ]
    promoted = _promoted(once(own, patch, labelled=True))
    return Watch(target, tuple(periods), tuple(promises), latest, promoted)


def _promise(
    history: Sequence[Period], patch: str, target: Target, requirement: Requirement,
    feature: str, before: Counts | None,
) -> Promise:  # fmt: skip
    metric = requirement.metric
    given_y = isinstance(metric, Metric) and metric.given_y
    periods = once(history, patch, labelled=given_y)
    tables: list[Counts | None] = []
    refused = {}
    for period in periods:
        try:
            tables.append(_table(period.counts, metric, feature, given_y=given_y))
        except NotKnownError as error:
            tables.append(None)
            refused[period.period] = str(error)
    past = None
    if before is not None:
        with suppress(NotKnownError):  # then the first period tells what to look at
            past = _table(before, metric, feature, given_y=given_y)
    stands = over_time(tables, metric, requirement.limit, confidence=target.confidence, before=past)
    small = not all(p.shown.get("whole", False) for p in periods)
    names = tuple(p.period for p in periods)
    return Promise(requirement, feature, names, stands, refused, small)


def _table(counts: Counts, metric: object, feature: str, *, given_y: bool) -> Counts:
    if not isinstance(metric, Metric):
        return counts
    return evenly_known(counts.by(feature), with_label=given_y)


def _promoted(periods: Sequence[Period]) -> OverTime | None:
    """p(still denied) - p(promoted) <= 0 for the share that turns out well."""
    k, n = (np.zeros((len(periods), 2)) for _ in range(2))
    for t, period in enumerate(periods):
        for r, who in enumerate(("promoted", "left denied")):
            own, table = outcome(who), period.counts.n
            k[t, r], n[t, r] = (table * own.hits).sum(), (table * own.among).sum()
    if not n.sum(0).all():
        return None
    a, b, nothing = np.array([-1.0, 1.0]), np.array(0.0), np.full(len(periods), np.nan)
    return OverTime(
        0.0, CONFIDENCE, log_evidence(k, n, a, b), log_evidence(k, n, -a, -b), nothing, nothing,
        ("promoted", "still denied"),
    )  # fmt: skip
