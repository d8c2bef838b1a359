"""The menu: the few patches that people choose from, side by side, and what each condition costs.

People who sign want no parameters. They want the scorecard that was chosen beside the same in the
base model's order, with the fewest changes, and with the group known; and what they would save by
giving up a condition. Every entry is a fit of its own, learned on the same rows.

An entry other than the scorecard is certified at 1 - alpha / k, for k that can be picked: whichever
is picked after all have been seen, the chance that it is certified and violates the target stays
below alpha (Bonferroni). The scorecard keeps its own level for who takes it without picking.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Protocol, overload

import narwhals as nw
import numpy as np

from fairpatch._tools.hints import did_you_mean
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch._tools.tables import Table
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import Choice, choose
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Learned, Learner, Task
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.data.rows import Rows
from fairpatch.inputs.vocabulary import is_protected
from fairpatch.measure.scores import ANY, group_auc
from fairpatch.patch import Patch
from fairpatch.patch.edit import held_back
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

WIDEST = 20
"""Columns of the fewest changes: to weigh all of a hundred against each other takes minutes."""
SCORECARD, IN_ORDER, FEWEST, KNOWN = "scorecard", "in order", "fewest changes", "group known"
WORDS = {
    SCORECARD: "the choice",
    IN_ORDER: "the base model's order kept in every column",
    FEWEST: "up to 20 columns, any order, finer points",
    KNOWN: "points by group, for comparison",
}
DEAR = 0.15
"""Of the changes, what a condition must cost to be listed."""
FINER: dict[str, Any] = {"keep_order": None, "max_bins": 10, "points_step": 1}
"""How a card looks that is to change as few decisions as possible."""
FREED = 3
"""Columns, at most, whose order is priced one by one."""
ORDERED = "in the base model's order"
FAR = 0.1
"""A score further from the threshold than this probability is of a threshold of a half is far."""


class Fit(Protocol):
    """What an entry is: a fit with its own certificate."""

    @property
    def patch(self) -> Patch:
        """What was learned."""

    @property
    def choice(self) -> Choice | None:
        """The chosen strength."""

    @property
    def preferred(self) -> Choice | None:
        """The one preferred before certifying."""

    @property
    def certificate(self) -> Certificate | None:
        """Its own."""


@dataclass(frozen=True, eq=False)
class Search:
    """What a fit has found, and how to search again with one condition changed."""

    task: Task
    learner: Learner
    frontier: Frontier
    learned: Learned
    among: tuple[int, ...] | None = None
    """The candidates that may be chosen; None for all."""

    @property
    def ladder(self) -> list[Choice] | None:
        """The preferred choice and stronger ones; None where nothing meets the target."""
        try:
            return choose(self.frontier, self.task.target, self.among)
        except TargetNotReachedError:
            return None

    def keeping(self, order: str | None) -> "Search":
        """Of the candidates only those of one order."""
        pool = self.frontier.candidates
        same = (m for m in range(len(pool)) if pool.about(m).get("keep_order", "") == order)
        return replace(self, among=tuple(same))

    def again(self, learner: Any = None, *, target: Target | None = None, **task: Any) -> "Search":
        """The same rows, learned again."""
        target = self.task.target if target is None else target
        changed = replace(self.task, target=target, previous=None, **task)
        own = self.learner if learner is None else learner
        learned = own.learn(changed)
        frontier = Frontier.trace(
            learned, changed.encoder, target.metrics, q=self.frontier.q,
            comparisons=target.comparisons, costs=target.priced_by,
        )  # fmt: skip
        return Search(changed, own, frontier, learned)


@dataclass(frozen=True)
class Outcomes:
    """How people turn out in the group that most of the promoted are of."""

    group: str
    promoted: float | None
    """Share with the good outcome; None where they are few."""
    denied: float | None
    """The same of those left denied."""
    people: tuple[float, float]
    """How many these are."""

    @classmethod
    def of(cls, frontier: Frontier, choice: Choice) -> "Outcomes | None":
        """Counted along the dial; None where outcomes are not known of everybody."""
        found: list[Outcomes] = []
        for feature, dial in frontier.dials[choice.model].items() if frontier.observed else ():
            if feature not in frontier.counts.features:
                continue
            risen = dial.risen[int(dial.at(choice.strength))]
            known = frontier.counts.by(feature).known().groups
            names = sorted(str(value) for (value,) in known)
            g = int(risen.sum(1).argmax())
            if len(names) != len(risen):  # a group of few people has no dial of its own
                continue
            up, left = risen[g], dial.below[g] - risen[g]
            promoted, denied = (
                None if some.sum() < MIN_PEOPLE else float(some[1] / some.sum())
                for some in (up, left)
            )
            found.append(cls(names[g], promoted, denied, (float(up.sum()), float(left.sum()))))
        return max(found, key=lambda one: one.people[0], default=None)


@dataclass(frozen=True, eq=False)
class MenuEntry:
    """One patch of the menu, as measured on the selection rows; figures are None out of reach."""

    name: str
    words: str
    fit: Any = None
    """Its own fit: patch, choice, certificate."""
    change_rate: float | None = None
    accuracy: float | None = None
    outcomes: Outcomes | None = None
    """Of the promoted and of those left denied; None where nobody can say."""
    turned: tuple[str, ...] = ()
    """Columns whose points turn the base model's order round."""
    held_back: float = 0.0
    """Share of people who are denied only because some line takes points."""
    proxy: float | None = None
    """How well its points tell a group from the others, as an AUC."""
    lines: int = 0
    verdict: Verdict | None = None
    """Of its certificate; None where it was not tested."""
    stops: tuple[str, ...] = ()
    """What speaks against it."""
    pickable: bool = False
    """Whether it may be picked."""

    @classmethod
    def of(cls, name: str, fit: Fit, search: Search, *, may: bool = True) -> "MenuEntry":
        """The figures of a fit."""
        choice, patch, rows = fit.choice, fit.patch, search.learned.rows
        if choice is None:
            raise ValueError("an entry of the menu has a choice")
        points = patch.points(rows.X)
        return cls(
            name, WORDS[name], fit, choice.change_rate,
            choice.accuracy if choice.observed else None, Outcomes.of(search.frontier, choice),
            () if name == KNOWN else turned_columns(search.frontier, choice),
            float(np.average(held_back(patch, rows.X, rows.f), weights=rows.sample_weight)),
            max(group_auc(points, codes) for codes in rows.s.codes.T),
            len(patch.lines) if patch.card is not None else len(patch.concepts),
            None if fit.certificate is None else fit.certificate.verdict,
            () if name == KNOWN else choice.stops,  # who decides by the group knows why
            may,
        )  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """What is reached without one condition."""

    words: str
    change_rate: float
    accuracy: float | None = None
    far: float | None = None
    """Of the promoted, those far below the threshold; None where they are few."""


@dataclass(frozen=True, eq=False)
class Menu(Sequence[MenuEntry]):
    """Named patches side by side, and the price list: prints as a table, and is a list."""

    entries: tuple[MenuEntry, ...]
    prices: tuple[Condition, ...] = ()
    outcome: str = "y = 1"
    confidence: float = 0.95
    """Of an entry that is picked."""

    @overload
    def __getitem__(self, at: int) -> MenuEntry: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[MenuEntry]: ...
    def __getitem__(self, at: Any) -> Any:
        return self.entries[at]

    def __len__(self) -> int:
        return len(self.entries)

    def named(self, name: str) -> MenuEntry:
        """An entry that can be picked."""
        able = {e.name: e for e in self.entries if e.pickable}
        if name not in able:
            known = ", ".join(repr(n) for n in able)
            why = ""
            if name == KNOWN and self.entries[-1].fit is not None:
                why = ": it decides by the group, which needs may_use_sensitive=True"
            elif any(e.name == name for e in self.entries):
                why = ": no such patch meets the target"
            raise ValueError(
                f"{name!r} cannot be picked{why or did_you_mean(name, list(able))}. "
                f"The menu has {known}"
            )
        return able[name]

    def price_list(self) -> str:
        """What conditions cost, in a sentence; empty where none costs much."""
        if not self.prices:
            return ""
        first, *rest = self.prices
        return f"{first.words} {first.change_rate:.1%}" + "".join(
            f"; {p.words} {p.change_rate:.1%}"
            + (f", but {_far(p.far)}" if p.far is not None and p.far > 1 / 4 else "")
            for p in rest
        )

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    __repr__ = __str__

    def table(self) -> Table:
        """For people to read."""
        priced = any(e.accuracy is not None for e in self.entries)
        rows = [
            [
                e.name,
                *(("out of reach", *[""] * (7 + priced)) if e.change_rate is None else _cells(e)),
            ]
            for e in self.entries
        ]
        if not priced:
            rows = [[*row[:2], *row[3:]] if row[1] != "out of reach" else row for row in rows]
        header = [
            "patch", "changes", *(["accuracy"] if priced else []),
            f"{self.outcome}: promoted / left denied", "order", "held back", "AUC of points",
            "lines", "certified",
        ]  # fmt: skip
        notes = [f"{e.name}: {e.words}." for e in self.entries]
        notes += [f"Think twice about {e.name}: {' and '.join(e.stops)}." for e in self.entries
                  if e.stops]  # fmt: skip
        if self.prices:
            notes.append(f"What conditions cost, before certifying: {self.price_list()}.")
        if any(e.verdict is not None for e in self.entries[1:]):
            notes.append(
                f"An entry that is picked is certified at {self.confidence:.1%}, so that the level "
                "holds whichever it is."
            )
        return Table("The menu, on the selection rows", header, rows, notes)


def turned_columns(frontier: Frontier, choice: Choice) -> tuple[str, ...]:
    """Columns whose points turn the base model's order round, of pools that know."""
    return tuple(getattr(frontier.candidates, "turned", lambda _: ())(choice.model))


def _far(share: float) -> str:
    amount = "most" if share > 1 / 2 else "many"
    return f"{amount} of the promoted are far below the threshold"


def _cells(e: MenuEntry) -> list[str]:
    told = e.outcomes
    shares = (None, None) if told is None else (told.promoted, told.denied)
    promoted, left = ("few" if v is None else f"{v:.0%}" for v in shares)
    return [
        f"{e.change_rate:.1%}",
        "" if e.accuracy is None else f"{e.accuracy:.3f}",
        "" if told is None else f"{promoted} / {left} ({told.group})",
        "turned: " + ", ".join(e.turned) if e.turned else "kept",
        f"{e.held_back:.1%}",
        "" if e.proxy is None else f"{e.proxy:.2f}",
        str(e.lines),
        "not tested" if e.verdict is None else str(e.verdict),
    ]


def menu_of(search: Search, own: Fit, finish: Callable[[Search, list[Choice], float], Fit]) -> Menu:
    """All entries; ``finish`` certifies a ladder of choices at a level."""
    entries = [MenuEntry.of(SCORECARD, own, search)]
    outcome = search.frontier.candidates.decision.good_outcome
    if not hasattr(search.learner, "keep_order"):  # to learn again would take minutes
        return Menu(tuple(entries), outcome=outcome)
    may = _may_read_groups(search)
    confidence = 1 - (1 - search.task.target.confidence) / (3 if may else 2)  # others to pick
    found: dict[str, Search] = {}
    for name, make in ((IN_ORDER, _in_order), (FEWEST, _fewest), (KNOWN, _known)):
        other = make(search)
        if other is None:
            continue
        found[name] = other
        ladder = other.ladder
        entry = MenuEntry(name, WORDS[name])
        if ladder is not None:
            fit = finish(other, ladder, confidence)
            entry = MenuEntry.of(name, fit, other, may=name != KNOWN or may)
        needs, has = entry.change_rate or 0.0, entries[0].change_rate or 0.0
        if name == KNOWN and not may and needs > has:
            continue  # a card of groups that changes more is nothing to compare with
        entries.append(entry)
    return Menu(tuple(entries), tuple(_prices(search, own, found)), outcome, confidence)


def _in_order(search: Search) -> Search:
    kept = search.keeping("all")
    return kept if kept.among else search.again(replace(_card(search), keep_order="all"))


def _card(search: Search) -> Any:
    """The learner, one that has orders."""
    return search.learner


def _without_problem(search: Search) -> dict[str, Any]:
    """What is remembered of the same rows, but not how their columns were cut."""
    return {k: v for k, v in search.task.memory.items() if k != "problem"}


def _fewest(search: Search) -> Search:
    target, learner = search.task.target, _card(search)
    wide = min(WIDEST, max(len({f.column.name for f in search.task.encoder.features}), 1))
    columns = wide if target.max_columns is None else target.max_columns
    asked = target.replace(max_columns=columns, price_per_change=inf)
    return search.again(replace(learner, **FINER), target=asked, memory=_without_problem(search))


def _may_read_groups(search: Search) -> bool:
    """Whether the sensitive features are columns that the patch may read."""
    read = {f.column.name for f in search.task.encoder.features}
    return set(search.task.splits.learn.s.features) <= read


def _known(search: Search) -> Search | None:
    """Points for the group alone: what the sensitive features themselves would buy.

    Where they may not be read it is for comparison: they are put beside the columns, and nobody is
    certified.
    """
    splits, target = search.task.splits, search.task.target
    if splits.both is None or target.comparisons is not None or target.places is not None:
        return None
    may = _may_read_groups(search)
    rows = splits.both.rows if may else _with_groups(splits.both.rows)
    if rows is None:
        return None
    features = list(rows.s.features)
    encoder = Encoder.fit(rows.X, strict=False).only(features)
    both = replace(splits.both, rows=rows)
    return search.again(
        replace(_card(search), keep_order=None, points_step=1),
        target=target.replace(max_columns=len(features), reads=None),
        splits=replace(splits, both=both, fresh=splits.fresh if may else None), encoder=encoder,
        memory=_without_problem(search), ask=None,
        roles=search.task.roles.replace(reasons=dict.fromkeys(features, "for comparison")),
    )  # fmt: skip


def _with_groups(rows: Rows) -> Rows | None:
    """The rows with everybody's groups as columns; None where columns have no names."""
    frame = nw.from_native(rows.X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    columns = [
        nw.new_series(
            name, [None if v is None else str(v) for v in values],
            dtype=nw.String, backend=frame.implementation,
        )
        for name, values in rows.s.columns.items()
    ]  # fmt: skip
    return replace(rows, X=frame.with_columns(*columns).to_native())


def _prices(search: Search, own: Fit, found: dict[str, Search]) -> Iterator[Condition]:
    """What is saved by giving up a condition, where that is much; first what the choice needs."""
    preferred = own.preferred
    if preferred is None or not preferred.change_rate:
        return
    listed: list[Condition] = []
    ordered, free = found[IN_ORDER].ladder, search.keeping(None)
    cheapest = _cheapest(free) if free.among else None
    if ordered is not None and cheapest is not None:
        kept = ordered[-1].change_rate
        if kept > (1 + DEAR) * cheapest.change_rate:
            listed.append(_condition(ORDERED, found[IN_ORDER], ordered[-1]))
            turned = turned_columns(search.frontier, cheapest)
            for name in turned[:FREED]:
                learner = replace(_card(search), keep_order="all", free=(name,))
                price = _price(search, f"if {name} need not keep it", learner=learner)
                if price is not None and price.change_rate < (1 - DEAR / 2) * kept:
                    listed.append(price)
            listed.append(_condition("if no column need keep it", free, cheapest))
    elif ordered is None and cheapest is not None:
        listed.append(_condition("in any order", free, cheapest))
    for words, price in _relaxed(search):
        if price is not None and preferred.change_rate > (1 + DEAR) * price.change_rate:
            listed.append(replace(price, words=words))
    known = found.get(KNOWN)
    at = None if known is None else known.ladder
    if known and at and preferred.change_rate > (1 + DEAR) * at[-1].change_rate:
        listed.append(_condition("with the group known", known, at[-1]))
    if listed and listed[0].words != ORDERED:
        listed.insert(0, _condition("the preferred patch", search, preferred))
    yield from listed


def _cheapest(search: Search) -> Choice | None:
    asked = search.task.target.replace(price_per_change=inf)
    ladder = replace(search, task=replace(search.task, target=asked)).ladder
    return None if ladder is None else ladder[-1]


def _relaxed(search: Search) -> Iterator[tuple[str, Condition | None]]:
    """Each condition of the target given up; and a reason given for every protected column."""
    target = search.task.target
    relaxed: list[tuple[str, dict[str, Any]]] = []
    if target.only_between is not None:
        relaxed.append(("if any score may change", {"only_between": ANY}))
    if target.max_proxy is not None:
        relaxed.append(("without the limit on proxies", {"max_proxy": None}))
    if target.places is not None and target.places.by is None:
        relaxed.append(("with as many approvals as it takes", {"approvals": None}))
    if target.direction != "both" and target.action == "decide":
        relaxed.append(("if decisions may change both ways", {"direction": "both"}))
    if target.max_columns is not None:
        relaxed.append(("with six columns", {"max_columns": None}))
    for words, changes in relaxed:
        yield words, _price(search, words, target=target.replace(**changes))
    protected = [c for c in search.learned.left_out if is_protected(c)]
    if protected:
        roles = search.task.roles
        reasons = {**roles.reasons, **dict.fromkeys(protected, "for comparison")}
        words = f"if {', '.join(protected)} may be read, for which a reason must be given"
        price = _price(
            search, words, roles=roles.replace(reasons=reasons), memory=_without_problem(search)
        )
        yield words, price


def _price(search: Search, words: str, **changed: Any) -> Condition | None:
    """Learned again with one condition changed, by the cards' own figures; None out of reach."""
    other = search.again(cross_fit=False, **changed)
    ladder = other.ladder
    return None if ladder is None else _condition(words, other, ladder[-1])


def _condition(words: str, search: Search, choice: Choice) -> Condition:
    rows, pool = search.learned.rows, search.frontier.candidates
    patch = pool.patch(choice.model, choice.strength)
    up = patch.decide(rows.X, rows.f) & (rows.f <= 0)
    odds = rows.f[up]
    far = None if len(odds) < MIN_PEOPLE else float(np.mean(odds < -np.log((1 - FAR) / FAR)))
    accuracy = choice.accuracy if choice.observed else None
    return Condition(words, choice.change_rate, accuracy, far)
