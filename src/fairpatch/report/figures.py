"""What the figures of a review are: typed, so that page, JSON, card and notebook say the same."""

from typing import Any

import numpy as np
from pydantic import ConfigDict

from fairpatch._arrays import Floats
from fairpatch.decision import Decision
from fairpatch.disclose.published import PublishedCount
from fairpatch.disclose.tens import ends_of
from fairpatch.floor import MIN_PEOPLE, full_tens
from fairpatch.measure.estimate import Estimate
from fairpatch.patch.parts import Part


class Shown(Part):
    """Something that a review tells; every field says what it is, and the schema with it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class CountRange(Shown):
    """A count of which no more is told than what it lies between."""

    at_least: int
    """No fewer than this."""
    at_most: int | None
    """No more than this; null where it is not told at all."""


Count = int | CountRange
"""How many people: a number, or what it lies between."""


class Figure(Shown):
    """A rate, a ratio or a gap, with as many digits as may be told."""

    value: float | None
    """The value; null where it is told by at_least and at_most, or not at all."""
    low: float | None
    """The lower end of its interval, at 95 % unless said."""
    high: float | None
    """The upper end of its interval."""
    at_least: float | None
    """The value is no lower, where no more may be told."""
    at_most: float | None
    """The value is no higher, where no more may be told."""
    reason: str | None
    """Why there is no value."""
    withheld: bool = False
    """Whether there is one that is not given in full, to protect small groups."""
    groups: str
    """The groups that a comparison hangs on, in words: lowest against highest."""
    between: tuple[str, str] | None
    """The same as a pair."""

    @property
    def middle(self) -> float | None:
        """About where it is."""
        if self.value is not None or self.at_least is None or self.at_most is None:
            return self.value
        return (self.at_least + self.at_most) / 2

    @property
    def informative(self) -> bool:
        """Whether anything is known of a share: "0 to 100 of 100" is nothing."""
        return self.middle is not None and (self.at_least, self.at_most) != (0, 1)


class Words(Shown):
    """What the user calls the decisions and the outcomes."""

    favoured: str
    """The favourable decision, as tables have it."""
    good_outcome: str
    """The outcome that goes with it."""
    bad_outcome: str
    """The other one."""
    approved: str
    """What somebody is who has the favourable decision."""
    denied: str
    """What somebody is who has the other one."""


def words_of(decision: Decision) -> Words:
    """What a decision's user calls it; plain words where nobody has said."""
    approved, denied = decision.sides
    unnamed = decision.good_outcome.startswith("y = ")
    return Words(
        favoured=approved if decision.favoured.startswith("decision ") else decision.favoured,
        good_outcome="the good outcome" if unnamed else decision.good_outcome,
        bad_outcome="the bad outcome" if unnamed else decision.bad_outcome,
        approved=approved,
        denied=denied,
    )


def in_words(people: Count) -> str:
    """A count as people read it: a wide one by its middle, where its ends are close together."""
    if isinstance(people, int):
        return f"{people:,}"
    low, high = people.at_least, people.at_most
    if high is not None and low and high - low < 0.05 * high:
        return f"about {(low + high + 1) // 2:,}"
    return str(PublishedCount(low, high))


def count(shown: PublishedCount) -> Count:
    """What is told of a count, as data."""
    return shown.low if shown.exact else CountRange(at_least=shown.low, at_most=shown.high)


def figure(estimate: Estimate, digits: int = 6) -> Figure:
    """An estimate as data."""
    at_least, at_most = estimate.within or (None, None)
    numbers = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "at_least": at_least,
        "at_most": at_most,
    }
    rounded = {k: None if v is None else round(v, digits) for k, v in numbers.items()}
    return Figure(
        **rounded,
        reason=estimate.reason,
        withheld=estimate.withheld,
        groups=estimate.groups,
        between=estimate.between,
    )


WITHHELD_FIGURE = figure(Estimate.withhold())


class Tens(Shown):
    """Counts by the full ten that they lie in: for what is told beside the protected table.

    Whoever knows a person's columns knows which line moves them, or at which strength they change;
    a count that steps by one there would tell their group and outcome. Tens do not.
    """

    exact: bool = False
    """Whether small counts are shown as they are."""
    sized: bool = False
    """Whether it is told elsewhere how many people each group has."""

    def count(self, people: float) -> Count:
        """How many, by the ten."""
        whole = round(people)
        if self.exact:
            return whole
        low = full_tens(whole)
        return CountRange(at_least=low, at_most=low + MIN_PEOPLE - 1)

    def ends(self, hits: float, among: float, *, known: bool = False) -> tuple[float, float]:
        """What a share lies between; ``known`` where it is no secret how many it is among."""
        return ends_of(hits, among, known=known, exact=self.exact)

    def share(self, hits: float, among: float) -> Figure:
        """A share of people, as much of it as tens tell."""
        if among < (1 if self.exact else MIN_PEOPLE):
            return WITHHELD_FIGURE
        return figure(Estimate.somewhere(*self.ends(hits, among)))


def bands(ends: Floats, highest: float = 1.0) -> dict[str, list[Any]]:
    """Both ends of a line to two digits, outwards; (steps, 2)."""
    low, high = np.floor(ends[:, 0] * 100 + 1e-9) / 100, np.ceil(ends[:, 1] * 100 - 1e-9) / 100
    both = {"at_least": np.maximum(low, 0.0), "at_most": np.minimum(high, highest)}
    return {
        k: [None if np.isnan(v) else round(float(v), 2) for v in end] for k, end in both.items()
    }


def count_text(people: Count) -> str:
    """A count in a sentence."""
    return in_words(people).replace("below", "fewer than").replace("not shown", "some")


def least(people: int | CountRange) -> int:
    """No fewer than this."""
    return people if isinstance(people, int) else people.at_least


def figure_text(figure: Figure, digits: int = 2) -> str:
    """A figure in a sentence."""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else 2}f}"
    if figure.at_least is None:
        return "withheld"
    return _in_between(f"{figure.at_least + 0.0:.2f}", f"{figure.at_most:.2f}")


def percent(figure: Figure, digits: int = 0) -> str:
    """A share in a sentence."""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else 0}%}"
    if figure.at_least is None or figure.at_most is None:
        return "a withheld share"
    return _in_between(f"{100 * figure.at_least:.0f}", f"{100 * figure.at_most:.0f}") + "%"


def estimated(share: float) -> str:
    """An estimate as exactly as it is told: in whole per cent where small counts are hidden.

    >>> estimated(0.03), estimated(0.026)
    ('about 3%', '2.6%')
    """
    return f"about {share:.0%}" if abs(share - round(share, 2)) < 1e-9 else f"{share:.1%}"


def _in_between(low: str, high: str) -> str:
    """The same in a sentence, where "from 1 to 2 to 3 to 4" cannot be read."""
    return f"about {low}" if low == high else f"between {low} and {high}"


def between_text(low: str, high: str) -> str:
    """What lies between two figures; ends that are printed alike are one.

    >>> between_text("0.82", "0.82"), between_text("0.80", "0.82")
    ('about 0.82', '0.80 to 0.82')
    """
    return f"about {low}" if low == high else f"{low} to {high}"


def ends(figure: Figure) -> tuple[float, float]:
    """What a share lies between, as far as it is told."""
    if figure.value is not None:
        return figure.value, figure.value
    if figure.at_least is None or figure.at_most is None:
        return 0.0, 1.0
    return figure.at_least, figure.at_most
