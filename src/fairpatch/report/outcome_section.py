"""Whose outcomes are known, and what is expected of the people who have none.

Below the threshold a lender has watched nobody. What is said of the newly approved is then what the
patch was learned with: f's score and the card's points, calibrated on people whose outcome is
known, with the range in which that may be off (``fairpatch.patch.outlook``).
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.base import NO_SCORE
from fairpatch.data.outcomes import Expected, expected_of, overlap
from fairpatch.data.rows import Rows
from fairpatch.disclose.reviewed import MOVES
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import SOME_ONLY
from fairpatch.patch import Patch
from fairpatch.patch.outlook import Outlook
from fairpatch.report.coarse import Beside
from fairpatch.report.figures import Figure, Shown, Words, figure

NOT_KNOWN = figure(Estimate.undefined(SOME_ONLY["approved"]))
"""A figure that nobody knows, as outcomes of the denied are missing."""
TOLD = ("promoted", "left denied")
"""Whom something is expected of."""


class ExpectedRow(Shown):
    """What is expected of some people."""

    what: str
    """Promoted, or left denied."""
    feature: str | None
    """The sensitive feature; null for everybody."""
    group: str | None
    """The group."""
    expected: Figure
    """Share with the good outcome; its ends are the range in which the expectation may be off."""


class OutcomeSection(Shown):
    """Whose outcomes are known, and what is expected of the others."""

    known: Literal["everybody", "approved", "sample", "nobody"]
    """Whose outcomes: nobody's where there are no labels."""
    observed: bool
    """Whether errors and outcomes are measured on everybody; what needs that is left out if not."""
    sentences: list[str]
    """In words."""
    rests_on: int
    """People with an outcome that expectations were calibrated on, in full tens."""
    doubt: float
    """The factor by which odds may be off, at the ends of a range."""
    rows: list[ExpectedRow]
    """What is expected; none where everybody's outcome is known."""

    def of(self, what: str, feature: str | None = None, group: str | None = None) -> Figure | None:
        """What is expected of some people; None where nothing is said of them."""
        key = (what, feature, group)
        return next((r.expected for r in self.rows if (r.what, r.feature, r.group) == key), None)


def outcome_section(
    patch: Patch, rows: Rows, after: Bools, beside: Beside, words: Words
) -> OutcomeSection:
    """Of the people who are reviewed."""
    counts = beside.table.counts
    labelled = bool(counts.along("label")[:UNKNOWN].sum())
    known = counts.outcomes if labelled else "nobody"
    outlook = patch.outlook or Outlook(outcomes="everybody", people=0)
    told = [] if known == "everybody" else list(_rows(patch, rows, after, beside))
    return OutcomeSection(
        known=known or "everybody",
        observed=known == "everybody",
        sentences=list(_sentences(counts, known, outlook, told, rows, after, words)),
        rests_on=outlook.people,
        doubt=outlook.doubt,
        rows=told,
    )


def _rows(patch: Patch, rows: Rows, after: Bools, beside: Beside) -> Iterator[ExpectedRow]:
    """Everybody, then every group that is shown; no group where one of them is few people."""
    for what in TOLD:
        moved = _moved(rows, after, what)
        everybody = expected_of(rows, patch, moved)
        if everybody is None:
            continue
        yield ExpectedRow(what=what, feature=None, group=None, expected=_figure(everybody))
        for feature in rows.s.features:
            of_feature = [
                (name, moved & here) for f, name, _, here in beside.shown(rows) if f == feature
            ]
            rest = moved & ~np.logical_or.reduce([here for _, here in of_feature] or [~moved])
            sizes = [int(here.sum()) for here in (*(here for _, here in of_feature), rest)]
            if any(0 < size < MIN_PEOPLE for size in sizes) and not beside.tens.exact:
                continue
            for name, here in of_feature:
                found = expected_of(rows, patch, here)
                if found is not None:
                    yield ExpectedRow(
                        what=what, feature=feature, group=name, expected=_figure(found)
                    )


def _moved(rows: Rows, after: Bools, what: str) -> Bools:
    before, then = MOVES[what]
    return np.asarray(((rows.f > 0) == bool(before)) & (after == bool(then)))


def _figure(expected: Expected) -> Figure:
    """To two digits: scores of people are behind it."""
    return figure(Estimate(expected.value, expected.low, expected.high), digits=2)


def _sentences(
    counts: Counts, known: str | None, outlook: Outlook, told: list[ExpectedRow], rows: Rows,
    after: Bools, words: Words,
) -> Iterator[str]:  # fmt: skip
    if known == "everybody":
        return
    if known == "nobody":
        yield "There are no outcomes: what would rest on them is left out."
    else:
        whose = str(counts.labels)
        yield f"{whose[:1].upper()}{whose[1:]}; errors, which need everybody's, are left out."
    first = next((r.expected for r in told if r.what == "promoted"), None)
    if first is not None:
        promoted = _moved(rows, after, "promoted") & (rows.f != NO_SCORE)
        observed = float(np.mean(rows.y[promoted] != UNKNOWN))
        yield f"{expected_text(first, words)}{_basis(outlook, observed)}"
    if known == "sample":
        yield (
            f"Of the {words.denied}, {overlap(rows):.0%} have scores at which at least "
            f"{MIN_PEOPLE} outcomes are known; of the others, expectations are extrapolated."
        )


def expected_text(expected: Figure, words: Words) -> str:
    """As "Of the newly approved, 86% are expected to have repaid (67% to 90%)"."""
    text = (
        f"Of the newly {words.approved}, {expected.value:.0%} are expected to have "
        f"{words.good_outcome}"
    )
    if expected.low is None or expected.low == expected.high:
        return text
    return f"{text} ({expected.low:.0%} to {expected.high:.0%})"


def _basis(outlook: Outlook, observed: float) -> str:
    """What that is expected by, and of how many of them it has been seen."""
    if observed == 1:
        return ": all of them have an outcome."
    seen = f"an outcome is known of {observed:.0%}" if observed else "none has been observed"
    nobody = (
        f"; of them, {seen}. The range takes odds up to {outlook.doubt:g} times better or worse "
        "and is no confidence interval"
    )
    if not outlook.people:
        return f": as your model's score says{nobody}."
    by = "score" if outlook.by_points is None else "score and the card's points"
    return f": your model's {by}, calibrated on {outlook.people:,} people with an outcome{nobody}."
