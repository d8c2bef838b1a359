"""What the periods so far say of every promise: from counts alone, and however often one looks."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.target import Requirement, Target
from fairpatch.life.checks import Check, Kind
from fairpatch.life.history import History
from fairpatch.life.period import Found, Period
from fairpatch.measure.counts import Counts
from fairpatch.measure.evidence import Seen, log_evidence
from fairpatch.measure.metric import Metric
from fairpatch.measure.over_time import STANDINGS, OverTime, Standing, over_time
from fairpatch.measure.reviewed import outcome
from fairpatch.measure.sampled import NotKnownError, standing_for_all
from fairpatch.measure.show import Table

CONFIDENCE = 0.95
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
        low, high = (round(float(x[-1]), 2) for x in (self.stands.low, self.stands.high))
        word = f"broken, known since {self.broken_in}" if self.word == "broken" else self.word
        return word if np.isnan(low) else f"{word}; between {low:g} and {high:g}"


@dataclass(frozen=True, eq=False)
class Watch:
    """Every promise of a patch, and what else is watched."""

    target: Target
    periods: tuple[Period, ...]
    promises: tuple[Promise, ...]
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
        return tuple(f for f in self.last.findings if f.word == "refuse")

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Everything that passes or fails, for machines."""
        kinds: dict[Standing, Kind] = {"holds": "pass", "open": "unsure", "broken": "fail"}
        found = [
            Check(
                name=p.requirement.name, about=p.feature, word=p.word, kind=kinds[p.word],
                text=f"{p.name}: {p}", limit=p.requirement.limit,
                low=_digits(p.stands.low), high=_digits(p.stands.high),
            )
            for p in self.promises
        ]  # fmt: skip
        if self.promoted is not None:
            word = self.promoted.word()
            found.append(
                Check(
                    name="promoted_outcome", about="everybody", word=word, kind=kinds[word],
                    text="people whom the patch approves turn out at least as well as those still "
                    f"denied: {word}",
                )
            )  # fmt: skip
        looks: dict[str, Kind] = {"refuse": "unlike", "notice": "unsure"}
        found += [
            Check(name=f.figure, about=f.what, word=f.word, kind=looks[f.word], text=f.text)
            for f in self.last.findings
        ]
        return tuple(found)

    def __str__(self) -> str:
        rows = [[p.name, str(p), " / ".join(p.stands.pair or ())] for p in self.promises]
        if self.promoted is not None:
            words = {"holds": "yes", "open": "not known yet", "broken": "no"}
            text = "the newly approved turn out well enough"
            rows.append([text, words[self.promoted.word()], ""])
        notes = [OPEN] if any(p.word == "open" for p in self.promises) else []
        notes += [f"Take care, {self.last.period}: {f.text}." for f in self.last.findings]
        notes += [f"{p.name}, {t}: {why}." for p in self.promises for t, why in p.refused.items()]
        return Table(
            f"{len({p.period for p in self.periods})} periods, last {self.last.period}: "
            f"{self.word}",
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
    own = history if isinstance(history, History) else _Periods(list(history))
    periods = own.of(patch)
    if not periods:
        raise ValueError("there is no period of this patch yet: count one first")
    features, before = periods[-1].features, own.before(patch)
    promises = [
        _promise(own, patch, target, requirement, feature, before)
        for requirement in target.requirements
        for feature in (features if requirement.between_groups else ("everybody",))
    ]
    return Watch(target, tuple(periods), tuple(promises), _promoted(own.of(patch, labelled=True)))


def _promise(
    history: "History | _Periods", patch: str, target: Target, requirement: Requirement,
    feature: str, before: Counts | None,
) -> Promise:  # fmt: skip
    metric = requirement.metric
    given_y = isinstance(metric, Metric) and metric.given_y
    periods = history.of(patch, labelled=given_y)
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
    return Promise(requirement, feature, tuple(p.period for p in periods), stands, refused)


def _table(counts: Counts, metric: object, feature: str, *, given_y: bool) -> Counts:
    if not isinstance(metric, Metric):
        return counts
    return standing_for_all(counts.by(feature), with_label=given_y)


def _promoted(periods: Sequence[Period]) -> OverTime | None:
    """p(still denied) - p(promoted) <= 0 for the share that turns out well."""
    k, n = (np.zeros((len(periods), 2)) for _ in range(2))
    for t, period in enumerate(periods):
        for r, who in enumerate(("promoted", "left denied")):
            hits, among = outcome(who).per_group(period.counts.by())
            k[t, r], n[t, r] = hits.sum(), among.sum()
    if not n.sum(0).all():
        return None
    a, b, nothing = np.array([-1.0, 1.0]), np.array(0.0), np.full(len(periods), np.nan)
    seen = Seen.of(k, n)
    return OverTime(
        0.0, CONFIDENCE, log_evidence(seen, a, b), log_evidence(seen, -a, -b), nothing, nothing,
        ("promoted", "still denied"),
    )  # fmt: skip


@dataclass(frozen=True)
class _Periods:
    """Periods that are at hand, in no file."""

    all: list[Period]

    def before(self, patch: str) -> Counts | None:
        """As a history has it."""
        return next((p.counts for p in self.all if p.patch == patch and p.before), None)

    def of(self, patch: str, *, labelled: bool = False) -> list[Period]:
        """As a history has it."""
        own = [p for p in self.all if p.patch == patch and not p.before]
        return [p for p in own if p.labelled or not labelled]


def _digits(values: Floats) -> float | None:
    return None if not len(values) or np.isnan(values[-1]) else round(float(values[-1]), 3)
