"""What to look at before signing: every check with what it found. Computed, never chosen."""

from collections.abc import Iterator, Sequence

from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.choose.choice import Choice
from fairpatch.identity.compare import Comparison
from fairpatch.report.figures import Finding, Words, in_order
from fairpatch.report.findings import lines
from fairpatch.report.findings.groups import (
    accuracy,
    binding,
    elsewhere,
    errors_turned,
    gains_most,
    target,
    turned,
)
from fairpatch.report.findings.people import people_findings
from fairpatch.report.group_section import GroupsSection, OtherSection, OutcomeSection
from fairpatch.report.proxy_section import Proxy, StabilitySection
from fairpatch.report.subject import Subject
from fairpatch.report.verdict_section import CertificateSection, Effect

AGREE = 0.8
"""Of the changes, the share that refits must make too."""
ENOUGH = 5
"""Refits from which on that means something."""
MANY_REVERSED = 0.1
"""Share of pairs of people who change places, from which on scores are no order any more."""


def findings_of(
    subject: Subject,
    *,
    effect: Effect,
    certificate: CertificateSection | None,
    groups: Sequence[GroupsSection],
    columns: Sequence[str],
    proxies: Sequence[Proxy],
    others: Sequence[OtherSection],
    stability: StabilitySection | None,
    inversions: float,
    words: Words,
    outcomes: OutcomeSection,
    own_rows: bool = True,
) -> list[Finding]:
    """The gravest first.

    ``own_rows``: whether the people reviewed are those of the certificate.
    """
    patch, about, fitted = subject.patch, subject.about, subject.fitted
    free = [c for c in columns if c not in patch.decides_by]
    changes = effect.change.changed != 0
    found = [
        *target(effect, certificate, own_rows=own_rows),
        *lines.decides(patch.decides_by, about.record.get("legal basis")),
        *(lines.of_card(subject, words) if patch.card is not None else ()),
        *people_findings(subject, effect, words),
        *lines.protected_or_proxy(free, proxies, about.protected),
        *_stability(stability, effect),
        *binding(effect, groups),
        *elsewhere(others),
        *gains_most(effect, groups, words),
        *_not_judged(outcomes, effect, words),
        *_choice(fitted.choice if fitted else None),
        *(accuracy(groups, about.accuracy_drop, words) if changes and outcomes.observed else ()),
        *turned(effect),
        *errors_turned(groups, words),
        *_scores(inversions),
        *_model(
            subject.model.compare(subject.rows.X, subject.rows.f),
            certificate,
            unknown=patch.fingerprint is None,
        ),
    ]
    return in_order(found)


def _not_judged(outcomes: OutcomeSection, effect: Effect, words: Words) -> Iterator[Finding]:
    """What nobody can know where outcomes of the denied are missing."""
    if outcomes.observed or effect.change.changed == 0:
        return
    whose = "there are no outcomes" if outcomes.known == "nobody" else (
        f"outcomes of the {words.denied} are not known"
    )  # fmt: skip
    yield Finding(
        name="outcomes not known",
        level="not judged",
        text=f"As {whose}: whether the newly {words.approved} turn out worse than "
        f"those still {words.denied}, and errors by group",
        todo=f"Watch the newly {words.approved}: fairpatch monitor compares what becomes of them "
        "with what was expected. A pilot bounds the risk until then.",
    )


def _choice(choice: Choice | None) -> Iterator[Finding]:
    """Where outcomes that nobody knows, or a few people, decide which patch is chosen."""
    if choice is None:
        return
    for name, text, todo in (
        ("the choice rests on unknown outcomes", choice.swings,
         "Decide which of the two you would defend; the menu shows what else there is."),
        ("a handful decides", choice.handful,
         "Decide whether that is what is meant; not_compared in the target leaves a group out, "
         "by name."),
    ):  # fmt: skip
        if text is not None:
            yield Finding(name=name, level="look", text=text, todo=todo)


def _stability(stability: StabilitySection | None, effect: Effect) -> Iterator[Finding]:
    if stability is None and effect.change.changed == 0:
        return  # nobody changes
    if stability is None:
        yield Finding(
            name="stability",
            level="not judged",
            text="Whether the same people would change after a refit was not measured",
            todo="Review it where it was fitted, with refits.",
        )
        return
    same = stability.of_changed
    few = stability.refits < ENOUGH
    agree = Finding(
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
    floor = asked.compared.at_least
    missed = sum(
        figure.at_most is not None
        and figure.at_least is not None
        and (figure.at_most < asked.limit if floor else figure.at_least > asked.limit)
        for figure in stability.reached
    )
    if missed:
        yield Finding(
            name="refits that miss the target",
            level="look",
            text=f"{missed} of {stability.refits} bootstrap refits with as many changes do not "
            f"reach {asked.name} {asked.limit:g}",
            todo="Whether the target is reached depends on the sample: set a safety margin.",
        )


def _scores(inversions: float) -> Iterator[Finding]:
    if inversions > MANY_REVERSED:
        yield Finding(
            name="scores",
            level="look",
            text=f"{inversions:.0%} of pairs of people swap ranks in the patched score",
            todo="Use patched scores to decide at this threshold, not to rank or price.",
        )


def _model(
    comparison: Comparison, certificate: CertificateSection | None, *, unknown: bool
) -> Iterator[Finding]:
    for f in comparison.findings:
        yield Finding(
            name="other model or people",
            level="stop" if f.severity == "refuse" else "look",
            text=f.text[:1].upper() + f.text[1:],
            todo="Find out whether the model or the people have changed since the fit.",
        )
    if not comparison.findings:
        few = comparison.people < 3 * MIN_PEOPLE
        yield Finding(
            name="other model or people",
            level="not judged" if few or unknown else "fine",
            text="The patch does not say which scores it was learned for"
            if unknown
            else "Too few people to compare the scores with those of the fit"
            if few
            else "Scores and columns look like those the patch was learned for",
        )
    if certificate is not None and certificate.warning:
        text = certificate.warning
        yield Finding(
            name="rows of the certificate", level="look", text=text[:1].upper() + text[1:]
        )
