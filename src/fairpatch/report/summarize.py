"""Fill a review's data: every section says its part of one subject.

Aggregates only: no row and no value of S of a person is in it, unless reasons are asked for by the
rows' numbers.
"""

from collections.abc import Sequence

from fairpatch._progress import tell
from fairpatch.choose.certificate import Certificate
from fairpatch.explain import stability
from fairpatch.measure.metric import P_RULE
from fairpatch.report.committee_section import committee_section
from fairpatch.report.figures import count, words_of
from fairpatch.report.findings.signing import findings_of
from fairpatch.report.group_section import GroupRow, GroupsSection, group_section, swap_section
from fairpatch.report.headline import headline
from fairpatch.report.identity import identity_section
from fairpatch.report.menu_section import menu_section
from fairpatch.report.named import renamed_certificate
from fairpatch.report.others_section import others_section
from fairpatch.report.outcome_section import TOLD, OutcomeSection, outcome_section
from fairpatch.report.patch_section import patch_section, reason_section
from fairpatch.report.place_section import segment_section
from fairpatch.report.proxy_section import proxy_section
from fairpatch.report.score_section import score_section
from fairpatch.report.stability_section import (
    StabilitySection,
    enough_change,
    stability_section,
)
from fairpatch.report.subject import Subject
from fairpatch.report.summary import Summary
from fairpatch.report.verdict_section import (
    CertificateSection,
    Effect,
    asked_section,
    certificate_section,
    effect_section,
)
from fairpatch.report.worked_section import worked_section


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
