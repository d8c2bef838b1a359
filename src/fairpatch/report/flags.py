"""Red flags: what a validator should look at before signing. Computed, never chosen."""

from collections.abc import Iterator, Sequence

from fairpatch.floor import MIN_PEOPLE
from fairpatch.identity.compare import Comparison
from fairpatch.inputs.names import is_protected
from fairpatch.measure.metric import METRICS
from fairpatch.report.figures import Figure, Words
from fairpatch.report.flag import Flag, in_order
from fairpatch.report.group_flags import accuracy, binding, errors_turned, turned
from fairpatch.report.group_section import GroupsSection
from fairpatch.report.outcome_section import OutcomeSection
from fairpatch.report.proxy_section import REVEALING, Proxy
from fairpatch.report.sentences import ends, figure_text
from fairpatch.report.stability_section import StabilitySection
from fairpatch.report.verdict_section import CertificateSection, Effect, Met
from fairpatch.verdict import Verdict

METRIC = {metric.name: metric for metric in METRICS}
AGREE = 0.8
"""Of the changes, the share that refits must make too."""
ENOUGH = 5
"""Refits from which on that means something."""
MANY_REVERSED = 0.1
"""Share of pairs of people who change places, from which on scores are no order any more."""


def flags_of(
    *,
    effect: Effect,
    certificate: CertificateSection | None,
    sense: Sequence[Flag],
    groups: Sequence[GroupsSection],
    columns: Sequence[str],
    proxies: Sequence[Proxy],
    stability: StabilitySection | None,
    inversions: float,
    comparison: Comparison,
    words: Words,
    outcomes: OutcomeSection,
    swings: str | None = None,
    protected: Sequence[str] = (),
    accuracy_drop: float = 0.02,
    own_rows: bool = True,
    decides_by: Sequence[str] = (),
    legal_basis: str | None = None,
) -> list[Flag]:
    """Every check with what it found, the gravest first.

    ``own_rows``: whether the people reviewed are those of the certificate.
    """
    flags = [
        *_target(effect, certificate, own_rows=own_rows),
        *sense,
        *_stability(stability, effect),
        *_decides(decides_by, legal_basis),
        *_lines([c for c in columns if c not in decides_by], proxies, protected),
        *binding(effect, groups),
        *_not_judged(outcomes, effect, words),
        *_swings(swings),
        *(
            accuracy(groups, accuracy_drop, words)
            if effect.change.changed != 0 and outcomes.observed
            else ()
        ),
        *turned(effect),
        *errors_turned(groups, words),
        *_scores(inversions),
        *_model(comparison, certificate),
    ]
    return in_order(flags)


def _target(
    effect: Effect, certificate: CertificateSection | None, *, own_rows: bool = True
) -> Iterator[Flag]:
    missed = [r for r in effect.requirements if r.met is False]
    for r in missed:
        yield Flag(
            name="target",
            level="stop",
            text=f"{r.name} by {r.feature} is not met on these people: {figure_text(r.after)}"
            f"{r.after.groups}, target {r.limit:g}",
            todo="Set a safety margin (safety_margin=1), or fit on more rows.",
        )
    asked = [r for r in effect.requirements if r.limit is not None]
    if asked and not missed and all(r.met for r in asked):
        yield _met([] if own_rows else [r for r in asked if _could_be_chance(r)])
    for r in asked:
        if r.met is None:
            yield Flag(
                name="target",
                level="look",
                text=f"Whether {r.name} by {r.feature} is met on these people is withheld to "
                f"protect small groups: it is {figure_text(r.after)}",
            )
    for v in certificate.results if certificate is not None else ():
        known = v.feature in {r.feature for r in missed}
        if v.verdict.fails and not known:
            yield Flag(
                name="target",
                level="stop",
                text=f"{v.requirement}, {v.feature}: {v.verdict} on the certification set",
                todo="Set a safety margin (safety_margin=1), or fit on more rows.",
            )
    for v in certificate.results if certificate is not None else ():
        here = [m for m in asked if m.feature == v.feature and v.requirement.startswith(m.name)]
        for m in here:
            if not _apart(v.estimate, m.after):
                continue
            yield Flag(
                name="certificate and review disagree",
                level="look",
                text=f"{m.name} by {m.feature} was {figure_text(v.estimate)} where it was "
                f"certified and is {figure_text(m.after)} here: more than chance explains",
                todo="Find out how the people differ before you rely on the certificate.",
            )
    if certificate is not None and certificate.verdict is Verdict.INCONCLUSIVE:
        yield Flag(
            name="certificate",
            level="look",
            text="Inconclusive: the target is met, but on too few people to show that it holds",
            todo="The certificate says how many are needed.",
        )
    if asked and certificate is None:
        yield Flag(
            name="certificate",
            level="look",
            text="There is no certificate: nothing was tested on a certification set",
            todo="Hold out rows when fitting, or certify on new ones.",
        )


def _not_judged(outcomes: OutcomeSection, effect: Effect, words: Words) -> Iterator[Flag]:
    """What nobody can know where outcomes of the denied are missing."""
    if outcomes.observed or effect.change.changed == 0:
        return
    whose = "there are no outcomes" if outcomes.known == "nobody" else (
        f"outcomes of the {words.denied} are not known"
    )  # fmt: skip
    yield Flag(
        name="outcomes not known",
        level="note",
        text=f"Not judged, as {whose}: whether the newly {words.approved} turn out worse than "
        f"those still {words.denied}, and errors by group",
        todo=f"Watch the newly {words.approved}: fairpatch monitor compares what becomes of them "
        "with what was expected. A pilot bounds the risk until then.",
    )


def _swings(swings: str | None) -> Iterator[Flag]:
    """Where outcomes that nobody knows decide which patch is chosen."""
    if swings is not None:
        yield Flag(
            name="the choice rests on unknown outcomes",
            level="look",
            text=swings,
            todo="Decide which of the two you would defend; the alternatives show both.",
        )


def _met(doubtful: Sequence[Met]) -> Flag:
    """That the target is met here, and whether these people alone would show it."""
    if not doubtful:
        return Flag(name="target", level="fine", text="The target is met on these people")
    first = doubtful[0]
    return Flag(
        name="target",
        level="note",
        text="The target is met on these people, but chance alone could explain that: "
        f"{first.name} by {first.feature} {figure_text(first.after)} ({first.after.low:.3f} to "
        f"{first.after.high:.3f})",
        todo="The certificate rests on other people.",
    )


def _could_be_chance(asked: Met) -> bool:
    """Whether the limit lies within the interval of what was measured."""
    low, high = asked.after.low, asked.after.high
    return (
        asked.limit is not None
        and low is not None
        and high is not None
        and (low < asked.limit < high)
    )


def _apart(one: Figure, other: Figure) -> bool:
    """Whether a figure lies outside of the interval of another, wherever it is."""
    low, high = ends(one) if one.middle is not None else (0.0, 1.0)
    if other.low is None or other.high is None:
        return False
    return low > other.high or high < other.low


def _stability(stability: StabilitySection | None, effect: Effect) -> Iterator[Flag]:
    if stability is None and effect.change.changed == 0:
        return  # nobody changes
    if stability is None:
        yield Flag(
            name="stability",
            level="look",
            text="Whether the same people would change after a refit was not measured",
            todo="Review it where it was fitted, with refits.",
        )
        return
    same = stability.of_changed
    few = stability.refits < ENOUGH
    agree = Flag(
        name="stability",
        level="note" if few else "fine",
        text=f"Across {stability.refits} bootstrap refits, {same:.0%} of the changes recur",
        todo=f"Too few refits to tell: ask for {ENOUGH} or more." if few else "",
    )
    unstable = "Who changes is unstable: use fewer lines, or more rows."
    yield agree if same >= AGREE else agree.model_copy(update={"level": "look", "todo": unstable})
    asked = next((r for r in effect.requirements if r.limit is not None), None)
    if asked is None or asked.limit is None:
        return
    # a refit misses where all that may be shown of it does
    floor = METRIC[asked.metric].at_least
    missed = sum(
        figure.at_most is not None
        and figure.at_least is not None
        and (figure.at_most < asked.limit if floor else figure.at_least > asked.limit)
        for figure in stability.reached
    )
    if missed:
        yield Flag(
            name="refits that miss the target",
            level="look",
            text=f"{missed} of {stability.refits} bootstrap refits with as many changes do not "
            f"reach {asked.name} {asked.limit:g}",
            todo="Whether the target is reached depends on the sample: set a safety margin.",
        )


def _decides(features: Sequence[str], legal_basis: str | None) -> Iterator[Flag]:
    """A patch that reads the group itself, which somebody switched on."""
    if features:
        basis = f"Legal basis: {legal_basis}" if legal_basis else "No legal basis is given"
        yield Flag(
            name="decides by the group",
            level="look" if legal_basis else "stop",
            text=f"The patch decides by {' and '.join(features)}. {basis}",
            todo="State which law allows it (about: record: legal basis), or leave "
            "may_use_sensitive off.",
        )


def _lines(
    columns: Sequence[str],
    proxies: Sequence[Proxy],
    protected: Sequence[str],
) -> Iterator[Flag]:
    reveals: dict[str, Proxy] = {}
    for p in proxies:
        if p.read and p.auc >= REVEALING:
            reveals.setdefault(p.what, p)
    named = {column: is_protected(column, protected) for column in columns}
    untold = [column for column in columns if column not in {p.what for p in proxies}]
    if untold:
        yield Flag(
            name="proxy not measured",
            level="look",
            text=f"How well {', '.join(untold)} {'predicts' if len(untold) == 1 else 'predict'} "
            "the group is withheld to protect small groups",
            todo="Judge by what the columns mean, or ask for the review that shows small counts.",
        )
    found = []
    for column in columns:
        reasons = []
        if named[column]:
            reasons.append("protected or closely related in many jurisdictions")
        if column in reveals:
            reasons.append(f"a proxy for {reveals[column].feature} (AUC {reveals[column].auc:g})")
        if reasons:
            found.append(f"{column} is {' and '.join(reasons)}")
    if found:
        yield Flag(
            name="protected or proxy",
            level="look",
            text=f"{len(found)} of {len(columns)} columns may reveal the group: {'; '.join(found)}",
            todo="Decide on each whether it may be used; remove its lines to see the effect.",
        )
    if columns and not reveals and not untold and not any(named.values()):
        yield Flag(
            name="protected or proxy",
            level="fine",
            text="No line uses a column that is protected by its name or a proxy for the group "
            f"(AUC {REVEALING} or more)",
        )


def _scores(inversions: float) -> Iterator[Flag]:
    if inversions > MANY_REVERSED:
        yield Flag(
            name="scores",
            level="look",
            text=f"{inversions:.0%} of pairs of people swap ranks in the patched score",
            todo="Use patched scores to decide at this threshold, not to rank or price.",
        )


def _model(comparison: Comparison, certificate: CertificateSection | None) -> Iterator[Flag]:
    for f in comparison.findings:
        yield Flag(
            name="other model or people",
            level="stop" if f.severity == "refuse" else "look",
            text=f.text[:1].upper() + f.text[1:],
            todo="The patch was learned for other scores or people.",
        )
    if not comparison.findings:
        yield Flag(
            name="other model or people",
            level="fine",
            text="Scores and columns look like those the patch was learned for"
            if comparison.people >= 3 * MIN_PEOPLE
            else "Too few people to compare the scores with those of the fit",
        )
    if certificate is not None and certificate.warning:
        text = certificate.warning
        yield Flag(name="rows of the certificate", level="look", text=text[:1].upper() + text[1:])
