"""The menu as the review shows it: by full tens of the people who were chosen on."""

from collections.abc import Callable

import numpy as np

from fairpatch._tools.smallest_count import full_tens
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.fit import Fitted
from fairpatch.choose.menu import FEWEST, KNOWN, SCORECARD, Menu, MenuEntry
from fairpatch.report.figures import ReviewPart
from fairpatch.report.verdict_section import Names

ENOUGH = 100
"""People, at least, so that a share of them to two digits counts nobody."""


class MenuRow(ReviewPart):
    """A patch to choose from, on the selection rows."""

    name: str
    """What it is called."""
    words: str
    """What it is."""
    reached: bool
    """Whether the target can be met so."""
    changes: float | None = None
    """Share of changed decisions, by full tens of people."""
    accuracy: float | None = None
    """Share of decisions that equal the outcome, to two digits; null where some are not known."""
    promoted_outcome: float | None = None
    """Of the promoted of the group that most of them are of, the share with the good outcome."""
    denied_outcome: float | None = None
    """The same of those left denied there."""
    group: str = ""
    """That group."""
    turned: tuple[str, ...] = ()
    """Columns whose points turn the base model's order round."""
    held_back: float | None = None
    """Share of people who are denied only because a line takes points, by full tens of people."""
    proxy: float | None = None
    """How well its points tell a group from the others, as an AUC to one digit."""
    lines: int = 0
    """How many lines it has."""
    verdict: Verdict | None = None
    """Of its certificate; null where it was not tested."""
    stops: tuple[str, ...] = ()
    """What speaks against it."""


class PriceRow(ReviewPart):
    """What giving up a condition would save."""

    words: str
    """The condition."""
    changes: float
    """Share of changed decisions, by full tens of people."""
    far: bool
    """Whether many of the promoted would be far below the threshold."""


class MenuSection(ReviewPart):
    """The patches to choose from, and the price list."""

    rows: list[MenuRow]
    """The choice first."""
    prices: list[PriceRow]
    """What conditions cost; none where none costs much."""
    confidence: float
    """At which an entry is certified when it is picked."""
    base_accuracy: float | None
    """Of the base model on the same rows, to two digits; null where some outcomes are not known."""
    why: list[str]
    """Why so many change, from the fewest of all to this patch."""


def menu_section(fitted: Fitted | None, names: Names | None = None) -> MenuSection | None:
    """The menu of a fit; none where there is no fit, or its people have weights."""
    if fitted is None or fitted.frontier is None or fitted.patch.roles.weight is not None:
        return None
    if fitted.search is None and "menu" not in vars(fitted):
        return None  # it was saved before anybody asked
    people = next(iter(fitted.frontier.dials[0].values())).people
    menu = fitted.menu

    def tens(share: float) -> float:
        return round(full_tens(round(share * people)) / people, 3)

    called = {value: shown for own in (names or {}).values() for value, shown in own.items()}
    return MenuSection(
        rows=[_row(entry, tens(entry.change_rate or 0.0), tens(entry.held_back), called)
              for entry in menu],
        prices=[
            PriceRow(words=p.words, changes=tens(p.change_rate), far=(p.far or 0.0) > 1 / 4)
            for p in menu.prices
        ],
        confidence=menu.confidence,
        base_accuracy=_base_accuracy(fitted),
        why=_why(fitted, menu, tens),
    )  # fmt: skip


def _base_accuracy(fitted: Fitted) -> float | None:
    search, choice = fitted.search, fitted.choice
    if search is None or choice is None or not choice.observed:
        return None
    rows = search.learned.rows
    return round(float(np.mean((rows.f > 0) == (rows.y == 1))), 2)


def _why(fitted: Fitted, menu: Menu, tens: Callable[[float], float]) -> list[str]:
    """From the fewest changes of all to those of the patch, step by step, where a step costs."""
    by_name = {entry.name: entry.change_rate for entry in menu}
    known, fewest, own = (by_name.get(name) for name in (KNOWN, FEWEST, SCORECARD))
    if own is None or fitted.choice is None or fitted.frontier is None:
        return []
    target = fitted.search.task.target if fitted.search is not None else None
    choice, dial = fitted.choice, next(iter(fitted.frontier.dials[fitted.choice.model].values()))
    met = np.flatnonzero(
        fitted.frontier.met(choice.model, target.fairness_requirements if target else ())
    )
    just = float(dial.change_rate[met[0]]) if target and len(met) else own
    just = min(just, own)
    steps = [
        (known, "by points for the group itself"),
        (fewest if fewest and fewest < just else None, "without reading it, by all columns"),
        (just, "by this card just at the target"),
        (own, "with the margin that the certificate asks for"),
    ]
    said, last = [], -1.0
    for rate, words in steps:
        if rate is not None and rate > last:
            said.append(f"{tens(rate):.1%} {words}")
            last = rate
    return said if len(said) > 1 else []


def _row(entry: MenuEntry, changes: float, held_back: float, called: dict[str, str]) -> MenuRow:
    if entry.change_rate is None:
        return MenuRow(name=entry.name, words=entry.words, reached=False)
    told = entry.outcomes if entry.outcomes and min(entry.outcomes.people) >= ENOUGH else None
    return MenuRow(
        name=entry.name,
        words=entry.words,
        reached=True,
        changes=changes,
        accuracy=None if entry.accuracy is None else round(entry.accuracy, 2),
        promoted_outcome=None if told is None else round(told.promoted or 0.0, 2),
        denied_outcome=None if told is None else round(told.denied or 0.0, 2),
        group="" if told is None else called.get(told.group, told.group),
        turned=entry.turned,
        held_back=held_back,
        proxy=None if entry.proxy is None else round(entry.proxy, 1),
        lines=entry.lines,
        verdict=entry.verdict,
        stops=entry.stops,
    )
