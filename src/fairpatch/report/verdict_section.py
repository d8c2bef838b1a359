"""How many change and how few it could have been, what was asked, and whether it holds."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from fairpatch._tools.smallest_count import MIN_PEOPLE, full_tens
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import (
    Certificate,
    certificate_table,
    effect_on,
    notes,
    second_look,
)
from fairpatch.choose.result import Result
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected, move, of_pair
from fairpatch.inputs.values import Value
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Groups
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import METRICS, P_RULE, Metric
from fairpatch.measure.rates import changed_rate, correct_rate, selection_rate
from fairpatch.patch import Patch
from fairpatch.report.figures import Count, Figure, ReviewPart, count, figure, in_words
from fairpatch.report.group_section import Pair
from fairpatch.target import Requirement, Target

# Groups by the names that people have for them, where the data have codes.

Names = Mapping[str, Mapping[str, str]]
"""By sensitive feature, then by value as text."""


def renamed_rows(rows: Rows, names: Names) -> Rows:
    """The same people with named groups."""
    return rows if not names else replace(rows, groups=_renamed(rows.s, names))


def _renamed(groups: Groups, names: Names) -> Groups:
    """The same groups under other names; refused where two would become one."""
    values = []
    for feature, old_values in zip(groups.features, groups.values, strict=True):
        new: list[Value] = [names.get(feature, {}).get(str(v), v) for v in old_values]
        if len(set(map(str, new))) < len(new):
            raise ValueError(f"group_names gives two groups of {feature!r} the same name")
        values.append(tuple(new))
    unknown = sorted(set(names) - set(groups.features))
    if unknown:
        known = ", ".join(map(repr, groups.features))
        raise ValueError(f"group_names is for {known}; got {unknown[0]!r}")
    return Groups(groups.features, tuple(values), groups.codes)


def renamed_certificate(certificate: Certificate | None, names: Names) -> Certificate | None:
    """The same certificate with named groups."""
    if certificate is None or not names:
        return certificate
    counts = None if certificate.counts is None else _renamed_counts(certificate.counts, names)
    results = tuple(_renamed_result(result, names) for result in certificate.results)
    return replace(certificate, counts=counts, results=results)


def _renamed_counts(counts: Counts, names: Names) -> Counts:
    groups = tuple(
        tuple(
            v if v is None else names.get(feature, {}).get(str(v), v)
            for feature, v in zip(counts.features, group, strict=True)
        )
        for group in counts.groups
    )
    return counts.renamed(groups)


def _renamed_result(result: Result, names: Names) -> Result:
    feature = next((f for f in names if result.feature.startswith((f"{f} in ", f"{f}, "))), "")
    mine = names.get(result.feature) or names.get(feature, {})
    between = result.estimate.between
    if between is None or not mine:
        return result
    named = (mine.get(between[0], between[0]), mine.get(between[1], between[1]))
    return replace(result, estimate=replace(result.estimate, between=named))


# How many change and how few it could have been, what was asked, and whether it holds.


class Asked(ReviewPart):
    """What the patch was learned for."""

    text: str
    """In words."""
    direction: str
    """Which decisions may change."""
    confidence: float | None
    """Level of the certificate; null without a target."""
    exclude: list[str]
    """Columns that the patch was not to read."""


class Change(ReviewPart):
    """How many decisions change."""

    changed: Count
    """Either way."""
    change_rate: Figure
    """As a share of everybody."""
    promoted: Count
    """To the favourable decision."""
    demoted: Count
    """To the other one."""
    approvals: Pair
    """Share with the favourable decision, before and after."""


class Met(ReviewPart):
    """A comparison of the groups of one feature, and what was asked of it."""

    feature: str
    """The sensitive feature."""
    metric: str
    """The metric's name, as a target has it."""
    name: str
    """What the metric is called."""
    before: Figure
    """Of the base model."""
    after: Figure
    """Of the patched model."""
    limit: float | None
    """What was asked; null where nothing was."""
    met: bool | None
    """Whether these people keep it; null where nothing was asked, or too few people tell."""

    @property
    def compared(self) -> Metric:
        """The metric itself."""
        return next(metric for metric in METRICS if metric.name == self.metric)


class Effect(ReviewPart):
    """What changes, and what it gains."""

    change: Change
    """How many decisions change."""
    bound_known: float | None
    """The fewest changes, as a share, for any method that knows everybody's group."""
    bound_blind: float | None
    """The share to be expected at best without reading it."""
    bound_for: str
    """What these bounds are for."""
    accuracy: Pair
    """Share of decisions that equal the outcome."""
    cost: Pair | None = None
    """What wrong decisions cost, for each person, where that was said."""
    requirements: list[Met]
    """Every comparison that was asked for, and the P-Rule, by feature."""


class Certified(ReviewPart):
    """The verdict on one requirement for one feature."""

    requirement: str
    """What was asked."""
    feature: str
    """Of which sensitive feature, or of everybody."""
    verdict: Verdict
    """Certified, inconclusive, not met, or shown not to hold."""
    at_least: bool
    """Whether the limit is a floor; otherwise it is a ceiling."""
    estimate: Figure
    """What was measured; each end of its interval is a limit at the certificate's confidence."""
    people: Count
    """On how many people."""
    people_needed: int | None
    """How many would do to certify it with 80 % power, if what was measured is the truth."""


class CertificateSection(ReviewPart):
    """The certificate, judged on rows that neither learning nor choosing has seen."""

    verdict: Verdict
    """The worst of its results."""
    confidence: float
    """Of each verdict."""
    warning: str | None
    """What looks odd about the people."""
    effect: str | None = None
    """What it costs: decisions that change, and approvals."""
    rests_on: tuple[str, ...] = ()
    """What it assumes that these data cannot verify, where it holds under an assumption."""
    second_look: str | None = None
    """What must come of the referrals, where people are referred."""
    assumption: str | None = None
    """What it rests on, where groups are known by probabilities alone."""
    remarks: tuple[str, ...] = ()
    """What else is to be known of these rows: decisions made otherwise, figures by period."""
    target: str | None = None
    """What was asked."""
    patch_sha256: str | None = None
    """Of the patch that was judged, once it is in a file."""
    rows_sha256: str | None = None
    """Of the rows that it was judged on: whoever has them can compare."""
    results: list[Certified]
    """One a requirement and feature."""


def asked_section(patch: Patch, target: Target | None, exclude: Collection[str]) -> Asked:
    """The target, or the settings of a patch that was learned without one."""
    if target is not None:
        return Asked(
            text=str(target),
            direction=target.direction,
            confidence=target.confidence,
            exclude=list(exclude),
        )
    settings = patch.provenance.settings
    lambdas = [k for k in ("lambda_fair", "lambda_ratio", "lambda_concepts") if k in settings]
    text = "; ".join(["no target", ", ".join(f"{k} = {settings[k]:g}" for k in lambdas)])
    return Asked(
        text=text.rstrip("; "), direction=patch.direction, confidence=None, exclude=list(exclude)
    )


def effect_section(
    table: Protected,
    target: Target | None,
    bounded: Target,
    known: int | None,
    blind: float | None,
    compared: Mapping[str, Counts],
    cost: tuple[float, float] | None = None,
) -> Effect:
    """What changes; ``known`` changes and a ``blind`` share are the fewest for ``bounded``.

    ``compared`` are the tables that the target is about, where it is about strata.
    """
    least = _bound(known, table)
    return Effect(
        change=Change(
            changed=count(table.number(changed_rate().hits)),
            change_rate=figure(table.rate(changed_rate(), method="clopper_pearson")),
            promoted=count(table.number(move("promoted").hits)),
            demoted=count(table.number(move("demoted").hits)),
            approvals=Pair(
                before=figure(table.rate(selection_rate("f"))),
                after=figure(table.rate(selection_rate("g"))),
            ),
        ),
        bound_known=least,
        bound_blind=_blind(blind, least, table),
        bound_for=str(bounded),
        accuracy=Pair(
            before=figure(table.rate(correct_rate("f"))),
            after=figure(table.rate(correct_rate("g"))),
        ),
        cost=None
        if cost is None
        else Pair(
            before=figure(Estimate(float(f"{cost[0]:.3g}"))),
            after=figure(Estimate(float(f"{cost[1]:.3g}"))),
        ),
        requirements=[*_in_strata(compared, target), *_requirements(table, target)],
    )


def target_reached(table: Protected, patch: Patch) -> Target:
    """Without a target, bounds are for the P-Rule that was reached."""
    ends = [table.metric(P_RULE, feature).ends for feature in table.counts.features]
    least = min(max(0.0, end[0]) if end else 0.0 for end in ends)
    return Target(p_rule=float(np.floor(least * 100) / 100), direction=patch.direction)


def _bound(changes: int | None, table: Protected) -> float | None:
    """The fewest changes as a share; where small counts are hidden, by the full tens of them."""
    if changes is None:
        return None
    shown = changes if table.whole else full_tens(changes)
    return shown / (table.people().high or table.counts.total)


def _blind(share: float | None, least: float | None, table: Protected) -> float | None:
    """The share without reading S, to two digits where small counts are hidden; never below it."""
    if share is None:
        return None
    return max(round(share, 3 if table.whole else 2), least or 0.0)


def _requirements(table: Protected, target: Target | None) -> list[Met]:
    """What was asked for first, by feature; the P-Rule in any case."""
    asked = {r.metric: r for r in target.fairness_requirements} if target else {}
    if target is not None and target.comparisons is not None:
        asked = {}  # of strata, and not of everybody
    metrics: list[Metric] = list(dict.fromkeys([*(target.metrics if target else ()), P_RULE]))
    requirements = []
    for metric in metrics:
        for feature in table.counts.features:
            after, requirement = table.metric(metric, feature), asked.get(metric)
            if target is not None and feature in (target.not_compared or {}):
                requirement = None  # of some groups alone: asked above
            if requirement is not None and target is not None and after.low is not None:
                after = _judged(table, feature, requirement, target.confidence) or after
            met = None
            if requirement is not None and after.ends is not None:
                # where what is told lies on both sides of the limit, so does what may be said
                answers = {bool(metric.met(end, requirement.limit)) for end in after.ends}
                met = answers.pop() if len(answers) == 1 else None
            requirements.append(
                Met(
                    feature=feature,
                    metric=metric.name,
                    name=metric.words,
                    before=figure(table.metric(metric, feature, model="f")),
                    after=figure(after),
                    limit=None if requirement is None else requirement.limit,
                    met=met,
                )
            )
    return requirements


def _judged(
    table: Protected, feature: str, requirement: Requirement, confidence: float
) -> Estimate | None:
    """What was measured with the limits of the certificate's own test: one thing has one limit."""
    metric = requirement.metric
    if not isinstance(metric, Metric):
        return None
    groups = table.by(feature).known().large(MIN_PEOPLE)
    if len(groups.groups) < 2 or (metric.given_y and table.counts.outcomes != "everybody"):
        return None
    estimate = metric.judge(groups, requirement.limit, confidence).estimate
    return estimate if estimate.value is not None and estimate.low is not None else None


def _in_strata(compared: Mapping[str, Counts], target: Target | None) -> list[Met]:
    """What was asked for in strata, to two digits; the stratum that is worst off comes first."""
    found = []
    for r in [] if target is None else target.fairness_requirements:
        if not isinstance(r.metric, Metric):
            continue
        rows = []
        for name, counts in compared.items():
            before, after = r.metric.of(counts, model="f"), r.metric.of(counts)
            far = -np.inf if after.value is None else after.value
            met = None if after.value is None else bool(r.metric.met(after.value, r.limit))
            shown = Met(
                feature=name, metric=r.name, name=r.metric.words, limit=r.limit, met=met,
                before=figure(of_pair(r.metric, counts, before, "f")),
                after=figure(of_pair(r.metric, counts, after)),
            )  # fmt: skip
            rows.append((far if r.metric.at_least else -far, shown))
        found += [shown for _, shown in sorted(rows, key=lambda row: row[0])]
    return found


def certificate_text(certificate: CertificateSection | None) -> str:
    """The certificate as a table for the terminal: it says what the page says, and no more."""
    if certificate is None:
        return "None"
    rows = [
        (v.requirement, f"{v.feature}{v.estimate.groups}", v.verdict, _measured(v.estimate),
         in_words(v.people), v.people_needed)
        for v in certificate.results
    ]  # fmt: skip
    rounded = any(v.estimate.at_least is not None for v in certificate.results)
    return certificate_table(
        certificate.verdict,
        certificate.confidence,
        certificate.effect,
        rows,
        notes(
            certificate.warning,
            rounded=rounded,
            second_look=certificate.second_look,
            assumption=certificate.assumption,
            remarks=certificate.remarks,
        ),
    ).text()


def _measured(figure: Figure) -> str:
    within = (
        None
        if figure.at_least is None or figure.at_most is None
        else (figure.at_least, figure.at_most)
    )
    return str(Estimate(figure.value, figure.low, figure.high, figure.reason, within=within))


def certificate_section(
    certificate: Certificate | None, table: Protected | None = None
) -> CertificateSection | None:
    """A certificate as data; of the people of a table, it tells no more than that does."""
    if certificate is None:
        return None
    same = table is not None and certificate.counts == table.counts
    shown = certificate.shown_by(table) if table is not None and same else certificate.shown
    return CertificateSection(
        verdict=certificate.verdict,
        confidence=certificate.target.confidence,
        warning=certificate.warning,
        rests_on=certificate.rests_on,
        effect=certificate.effect if table is None or not same else effect_on(table),
        second_look=second_look(certificate.target, certificate.least_approved),
        assumption=certificate.assumption,
        remarks=certificate.remarks,
        target=str(certificate.target),
        rows_sha256=certificate.rows_sha256,
        results=[
            Certified(
                requirement=str(v.requirement),
                feature=v.feature,
                verdict=v.verdict,
                at_least=v.requirement.metric.at_least,
                estimate=figure(estimate),
                people=count(people),
                people_needed=v.people_needed_about,
            )
            for v, (estimate, people) in zip(certificate.results, shown, strict=True)
        ],
    )
