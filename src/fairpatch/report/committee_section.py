"""What a model-risk committee asks for: filled by what was measured, or by whom it must be filled.

An item says what the review knows, what the owner has said (``About.record``), and who has to say
the rest. Nothing is taken for granted: what nobody has said is open.
"""

from collections.abc import Sequence

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.outcomes import odds_of
from fairpatch.measure.cells import UNKNOWN, may_demote
from fairpatch.patch.columns import Columns
from fairpatch.patch.edit import taken
from fairpatch.patch.parts import Column
from fairpatch.patch.words import shown
from fairpatch.report.figures import Finding, ReviewPart, Words, count_text, figure_text
from fairpatch.report.group_section import SwapSection
from fairpatch.report.patch_section import CardSection
from fairpatch.report.proxy_section import Proxy, auc_text
from fairpatch.report.signed import RECORD, About
from fairpatch.report.subject import Subject
from fairpatch.report.verdict_section import CertificateSection

ENOUGH = 2 * MIN_PEOPLE
"""People behind a sum of amounts, at least."""
ROUND = 0.05
"""Shares of missing values are given to a twentieth."""


class Item(ReviewPart):
    """One item of the record."""

    name: str
    """What it is."""
    measured: list[str]
    """What this review knows of it."""
    said: str | None
    """What the owner has said; null where that is open."""
    by: str
    """Who says it."""
    ask: str
    """What they are asked."""


class Soundness(ReviewPart):
    """One column of the card: whether it may be used, and why."""

    column: str
    """The column."""
    points: str
    """The fewest and the most points that it gives."""
    proxy: str | None
    """How well it predicts the sensitive feature; null where that is withheld."""
    reason: str | None
    """The business reason, as the owner has given it; null where that is open."""


class Amounts(ReviewPart):
    """What is at risk, in the unit of the amounts, to two digits."""

    approved_before: float
    """Sum over those approved by the base model."""
    approved_after: float
    """Sum over those approved by the patched model."""
    lost_before: float
    """Of the first, that of people without the good outcome."""
    lost_after: float
    """Of the second, the same."""
    lost_after_within: tuple[float, float] | None = None
    """Where outcomes of the newly approved are expected ones: what the last one lies between."""


class Committee(ReviewPart):
    """The record."""

    items: list[Item]
    """Item by item."""
    soundness: list[Soundness]
    """Column by column of the card."""
    amounts: Amounts | None
    """What is at risk before and after; null where no amounts were given, or few people change."""
    open: int
    """How many items and columns nobody has filled."""


def committee_section(
    subject: Subject,
    card: CardSection | None,
    certificate: CertificateSection | None,
    findings: Sequence[Finding],
    swap: Sequence[SwapSection],
    proxies: Sequence[Proxy],
    words: Words,
) -> Committee:
    """Everything that is asked, in the order in which a committee reads."""
    about = subject.about
    auc = {p.what: auc_text(p) for p in reversed(proxies)}
    named = {column.words or column.name: column.name for column in subject.patch.columns}
    reasons = {**subject.patch.roles.reasons, **about.business_reasons}
    soundness = [
        Soundness(
            column=column.column,
            points=_range([a.shown for a in column.attributes]),
            proxy=auc.get(named[column.column]),
            reason=reasons.get(named[column.column]),
        )
        for column in (card.columns if card else ())
    ]
    amounts = _amounts(subject)
    measured = {
        "legal basis": _legal(subject, findings),
        "customer notices": _notices(subject, swap, words),
        "credit impact": _impact(swap, amounts, words),
        "data quality": _data(subject, findings),
        "base model validation": _base(subject, certificate),
        "monitoring plan": _monitoring(subject),
        "out-of-time test": _out_of_time(about),
    }
    items = [
        Item(name=name, measured=measured[name], said=about.record.get(name), by=by, ask=ask)
        for name, (by, ask) in RECORD.items()
    ]
    nobody = sum(i.said is None for i in items) + sum(s.reason is None for s in soundness)
    return Committee(items=items, soundness=soundness, amounts=amounts, open=nobody)


def _range(points: Sequence[str]) -> str:
    values = sorted(float(p) for p in points) or [0.0]
    return f"{shown(values[0])} to {shown(values[-1])}"


def _legal(subject: Subject, findings: Sequence[Finding]) -> list[str]:
    by = ("protected", "proxy", "a line for one group", "decides by")
    found = [finding.text for finding in findings if finding.name.startswith(by)]
    if subject.patch.decides_by:
        return found
    return [*found, "The sensitive feature is used to learn and to audit, not to decide."]


def _notices(subject: Subject, swap: Sequence[SwapSection], words: Words) -> list[str]:
    less, held = taken(subject.patch, subject.sample.X), subject.held_back
    by = [c.words or c.name for c in subject.patch.columns
          if c.name in less and (held & (less[c.name] < 0)).any()]  # fmt: skip
    back = [
        f"{count_text(subject.beside.part(held.sum(), 'left denied', 'demoted'))} of the "
        f"{words.denied} would be {words.approved} if no line of the card took points: for them, "
        f"{' and '.join(by)} {'is' if len(by) == 1 else 'are'} a reason that is the patch's own "
        "(fairpatch.explain.notices: held_back_by)."
    ] if held.any() else []  # fmt: skip
    if not may_demote(subject.patch.direction):
        return [
            f"The patch turns nobody from {words.approved} to {words.denied}: everybody who is "
            f"{words.denied} was so by the base model, whose reasons still apply.", *back,
        ]  # fmt: skip
    down = next(s.people for s in swap if s.what == "demoted")
    return [
        f"{count_text(down)} become {words.denied} by the patch and need reasons that are the "
        "patch's own: fairpatch.explain.notices gives them, beside those of the base model.",
        *back,
    ]


def _impact(swap: Sequence[SwapSection], amounts: Amounts | None, words: Words) -> list[str]:
    by = {s.what: s for s in swap}
    texts = [
        f"{count_text(by['promoted'].people)} newly {words.approved}, "
        f"{count_text(by['demoted'].people)} newly {words.denied}; "
        f"{count_text(by['left approved'].people)} stay {words.approved}.",
    ]
    new, old = by["promoted"].outcome_rate, by["left approved"].outcome_rate
    if new.middle is not None and old.middle is not None:
        texts.append(
            f"Share with {words.good_outcome}: {figure_text(new)} of the newly {words.approved}, "
            f"{figure_text(old)} of those who stay {words.approved}."
        )
    if amounts is None:
        texts.append("No amounts at risk were given (amount=...), or too few people change.")
    return texts


def _amounts(subject: Subject) -> Amounts | None:
    """Sums of what is at risk; nothing of few people."""
    amount, rows = subject.amount, subject.rows
    if amount is None:
        return None
    before, after = rows.f > 0, subject.patch.decide(rows.X, rows.f)
    moved = before != after
    # the bad outcome of each, or its chance: as expected, at the worst and at the best
    points = None if subject.patch.card is None else subject.patch.points(rows.X)
    z, outlook = odds_of(rows, subject.patch.decision), subject.model.outlook
    known = rows.y != UNKNOWN
    bad, worst, best = (
        1 - np.where(known, rows.y, chances)
        for chances in (outlook.chances(z, points), *outlook.ends(z, points))
    )
    if min(moved.sum(), bad[moved].sum()) < ENOUGH:
        return None
    weight = 1.0 if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
    at_risk = np.nan_to_num(amount) * weight

    def total(people: Bools, lost: Floats | float = 1.0) -> float:
        return float(f"{(at_risk * lost)[people].sum():.2g}")

    return Amounts(
        approved_before=total(before),
        approved_after=total(after),
        lost_before=total(before, bad),
        lost_after=total(after, bad),
        lost_after_within=None if known[after].all() else (total(after, best), total(after, worst)),
    )


def _data(subject: Subject, findings: Sequence[Finding]) -> list[str]:
    held, texts = Columns.of(subject.sample.X), []
    for column in subject.patch.columns:
        missing = _missing(held, column)
        if missing > ROUND / 2:
            texts.append(f"{column.name}: about {round(missing / ROUND) * ROUND:.0%} missing.")
    odd = [f"{f.text}." for f in findings if f.name == "impossible values"]
    return [*(texts or ["No column of the card has more than 2.5% missing values."]), *odd]


def _missing(held: Columns, column: Column) -> float:
    """The share of rows without a value."""
    if column.kind == "number":
        return float(np.isnan(held.values(column)).mean())
    categories, codes = held.codes(column)
    return float(np.array([c is None or c == "" for c in categories])[codes].mean())


def _base(subject: Subject, certificate: CertificateSection | None) -> list[str]:
    if subject.table.counts.outcomes != "everybody":
        return ["Whether the base model knows these rows was not checked: outcomes are missing."]
    if certificate is None:
        return ["Nothing was certified, so it was not checked whether the base model knows rows."]
    if certificate.warning:
        return [f"Warning: {certificate.warning}."]
    return [
        "On the certification set the base model is no more accurate than models cross-fitted on "
        "the same columns could be: no sign that it was trained on these rows."
    ]


def _monitoring(subject: Subject) -> list[str]:
    target = subject.target
    return [
        f"`fairpatch monitor` checks each period: {target or 'approval rates by group'}, at "
        f"{(target.confidence if target else 0.95):.0%} confidence over all periods; the share of "
        "changed decisions; whether scores and columns still look like those of the fit.",
        "Rollback: the patch at strength 0 gives the base model's decisions, in every engine; a "
        "deploy pack has it as rollback.sql.",
    ]


def _out_of_time(about: About) -> list[str]:
    return [f"Reviewed on: {about.data}."] if about.data else []
