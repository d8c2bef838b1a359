"""Everything a review says, as typed data: computed once, then drawn, printed or stored.

``schema`` documents every name. ``summarize`` fills it.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal

from fairpatch._tools.progress import tell
from fairpatch.choose.certificate import Certificate
from fairpatch.explain import stability
from fairpatch.measure.metric import P_RULE
from fairpatch.report.change_section import (
    LeftOut,
    ScoreSection,
    SegmentPlace,
    score_section,
    segment_section,
)
from fairpatch.report.committee_section import Committee, committee_section
from fairpatch.report.figures import Count, Finding, ReviewPart, Words, count, words_of
from fairpatch.report.findings.signing import findings_of
from fairpatch.report.group_section import (
    TOLD,
    GroupRow,
    GroupsSection,
    OtherSection,
    OutcomeSection,
    SwapSection,
    group_section,
    others_section,
    outcome_section,
    swap_section,
)
from fairpatch.report.headline import Headline, headline
from fairpatch.report.menu_section import MenuSection, menu_section
from fairpatch.report.patch_section import (
    PatchSection,
    ReasonRow,
    WorkedCase,
    patch_section,
    reason_section,
    worked_section,
)
from fairpatch.report.proxy_section import (
    Proxy,
    StabilitySection,
    enough_change,
    proxy_section,
    stability_section,
)
from fairpatch.report.signed import Identity, RefitSection, Signed, identity_section
from fairpatch.report.subject import Subject
from fairpatch.report.verdict_section import (
    Asked,
    CertificateSection,
    Effect,
    asked_section,
    certificate_section,
    effect_section,
    renamed_certificate,
)


class Summary(ReviewPart):
    """A review as data."""

    format: Literal["fairpatch.review"] = "fairpatch.review"
    """What this is."""
    version: Literal[10] = 10
    """Of this format."""
    protected: bool
    """Whether small counts are hidden."""
    headline: Headline
    """What a reader should know who reads nothing else."""
    findings: list[Finding]
    """What to look at before signing, the gravest first."""
    identity: Identity
    """Who signs what."""
    people: Count
    """How many were reviewed."""
    persons: int | None = None
    """How many people there are where some have several rows; ``people`` are rows then."""
    features: list[str]
    """The sensitive features."""
    decision: Words
    """What the decisions and outcomes are called."""
    threshold: str
    """Decision 1 is a score above this; of several thresholds, whose is which."""
    scale: str | None
    """How points go with odds, where the score is in points."""
    above: bool
    """Whether that is the favourable decision; otherwise the other one is."""
    asked: Asked
    """What the patch was learned for."""
    effect: Effect
    """What changes, and what it gains."""
    outcomes: OutcomeSection
    """Whose outcomes are known, and what is expected of the others."""
    certificate: CertificateSection | None
    """Whether it holds on people whom nothing else has seen."""
    patch: PatchSection
    """The patch itself."""
    groups: dict[str, GroupsSection]
    """By feature: every group before and after."""
    others: list[OtherSection]
    """Groups that nobody named: by columns that look protected."""
    crossing: GroupsSection | None
    """The groups of all features together, where there are several."""
    marks: dict[str, float | None]
    """By feature: the rate that every group needs, where the target is a ratio of rates."""
    swap: list[SwapSection]
    """Who comes in, who goes out and who stays, and how they turned out."""
    left_out: dict[str, LeftOut]
    """By feature: people of the lowest group for whom the patch does little."""
    segments: list[SegmentPlace]
    """Where each concept is most active; a card has none."""
    worked: list[WorkedCase]
    """Of each group, somebody who changes and somebody who does not, line by line."""
    scores: ScoreSection
    """How far scores move."""
    proxies: list[Proxy]
    """What tells a sensitive feature, and how well."""
    sampled: bool
    """Whether places, lines, proxies and scores are told on a sample of the people."""
    explained_on: Count
    """On how many."""
    stability: StabilitySection | None
    """Whether the same people would change if it were learned again."""
    menu: MenuSection | None
    """The patches to choose from, and what conditions cost."""
    reasons: list[ReasonRow] | None
    """Of rows that were asked for, why their decision changes or stays."""
    committee: Committee
    """What a model-risk committee asks for."""
    refit: RefitSection | None
    """How it follows from the patch before it; null where it is the first."""
    signed: Signed | None
    """Who signed the run; null without a signature."""
    provenance: dict[str, Any]
    """Where the patch comes from: its settings, rows and versions."""


def schema() -> str:
    """The JSON schema of a review's data: what every name means."""
    return json.dumps(Summary.model_json_schema(), indent=2, sort_keys=True) + "\n"


# Fill a review's data: every section says its part of one subject.
#
# Aggregates only: no row and no value of S of a person is in it, unless reasons are asked for by
# the rows' numbers.


def summarize(
    subject: Subject,
    *,
    refits: int = 5,
    reasons_for: Sequence[int] = (),
    judged: CertificateSection | Certificate | None = None,
) -> Summary:
    """Everything a review says of a subject.

    ``judged`` is a certificate that is known already, where the fit is not at hand.
    """
    patch, table, about = subject.patch, subject.table, subject.about
    sample, beside, there = subject.sample, subject.beside, subject.sample_table
    tell("reviewing", 0.2)
    effect = effect_section(
        table, subject.target, subject.bounded, *subject.fewest, subject.compared, subject.cost
    )
    fitted = subject.fitted
    of_fit = renamed_certificate(fitted.certificate if fitted else None, about.group_names)
    certificate = (
        judged
        if isinstance(judged, CertificateSection)
        else certificate_section(of_fit if judged is None else judged, table)
    )
    features = table.counts.features
    swap, words = swap_section(table), words_of(patch.decision)
    outcomes = outcome_section(patch, sample, subject.after, beside, words)
    groups = [_expecting(group_section(table, feature), outcomes) for feature in features]
    others = others_section(
        sample, subject.after, about.protected, [c.name for c in patch.columns], beside
    )
    proxies = proxy_section(patch, sample, subject.changed, there)
    tell("reviewing", 0.4)
    again = _stability(subject, effect, refits)
    tell("reviewing", 0.7)
    section = patch_section(
        patch, subject.views, subject.lines, sample, subject.after, subject.metric, beside
    )
    scores = score_section(patch, sample, subject.changed, beside)
    same = of_fit is not None and of_fit.counts == table.counts
    findings = findings_of(
        subject,
        effect=effect,
        certificate=certificate,
        groups=groups,
        columns=section.columns,
        proxies=proxies,
        others=others,
        stability=again,
        inversions=scores.rank_inversions,
        words=words,
        outcomes=outcomes,
        own_rows=of_fit is None or same,
    )
    tell("reviewing", 0.9)
    people = count(table.people())
    certified_on = None if certificate is None else certificate.results[0].people
    chosen_on = len(fitted.frontier.f_logit) if fitted and fitted.frontier else None
    return Summary(
        protected=not subject.show_small,
        headline=headline(
            effect, certificate, groups, swap, words, findings, refers=patch.action == "refer"
        ),
        findings=findings,
        identity=identity_section(patch, about, people, certified_on, same, chosen_on),
        people=people,
        persons=None if table.counts.persons is None else table.counts.people,
        features=list(features),
        decision=words,
        threshold=patch.decision.above,
        scale=None if patch.decision.points is None else str(patch.decision.points),
        above=bool(patch.decision.favourable),
        asked=asked_section(patch, subject.target, subject.exclude),
        effect=effect,
        outcomes=outcomes,
        certificate=certificate,
        patch=section,
        groups=dict(zip(features, groups, strict=True)),
        marks={f: _mark(effect, g) for f, g in zip(features, groups, strict=True)},
        others=others,
        crossing=_crossing(subject),
        swap=swap,
        left_out=subject.regions.left_out,
        segments=segment_section(subject.regions, subject.views),
        worked=worked_section(patch, sample, subject.after, beside),
        scores=scores,
        proxies=proxies,
        sampled=subject.sampled,
        explained_on=len(sample) if subject.sampled else people,
        stability=again,
        menu=menu_section(subject.fitted, about.group_names),
        reasons=reason_section(subject.model, subject.rows, reasons_for)
        if len(reasons_for)
        else None,
        committee=committee_section(
            subject, section.card, certificate, findings, swap, proxies, words
        ),
        refit=None,
        signed=None,
        provenance=patch.provenance.model_dump(mode="json"),
    )


def _expecting(groups: GroupsSection, outcomes: OutcomeSection) -> GroupsSection:
    """The groups with what is expected of those whose outcome nobody knows."""
    feature = groups.features[0]

    def of(row: GroupRow) -> GroupRow:
        found = {what: outcomes.of(what, feature, row.group) for what in TOLD}
        told = {what: figure for what, figure in found.items() if figure is not None}
        return row.model_copy(update={"expected": told or None})

    return groups.model_copy(update={"rows": [of(row) for row in groups.rows]})


def _mark(effect: Effect, groups: GroupsSection) -> float | None:
    """For a P-Rule, its limit times the highest group's rate; none where a rate is withheld."""
    limit = next(
        (r.limit for r in effect.requirements
         if r.metric == P_RULE.name and r.feature == groups.features[0]), None,
    )  # fmt: skip
    rates = [r.rate.after.value for r in groups.rows if r.rate is not None and not r.unknown]
    if limit is None or not rates or None in rates:
        return None
    return round(limit * max(v for v in rates if v is not None), 4)


def _crossing(subject: Subject) -> GroupsSection | None:
    """The groups of all features together, where these may be shown."""
    table, features = subject.table, subject.table.counts.features
    shown = features in table.withheld or any(margin == features for margin, *_ in table.published)
    return group_section(table, *features) if len(features) > 1 and shown else None


def _stability(subject: Subject, effect: Effect, refits: int) -> StabilitySection | None:
    """Whether the same people would change after a refit, where enough do."""
    changed = subject.changed
    if not refits or not changed.any():
        return None
    if subject.fitted is None:
        raise ValueError("a refit needs the fit itself: review with refits=0")
    if not enough_change(changed, subject.sample_table):
        return None
    first = next(r for r in effect.requirements if r.metric == subject.metric.name)
    refitted = stability(subject.model, subject.sample, subject.fitted, refits=refits)
    return stability_section(refitted, subject.sample, subject.metric, first.after, subject.beside)
