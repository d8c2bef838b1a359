"""Red flags: what a validator should look at before signing. Computed, never chosen."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from fairpatch.floor import MIN_PEOPLE
from fairpatch.identity.compare import Comparison
from fairpatch.measure.metric import METRICS
from fairpatch.report.figures import Figure, Shown, Words
from fairpatch.report.group_section import GroupsSection
from fairpatch.report.proxy_section import REVEALING, Proxy
from fairpatch.report.sentences import ends, figure_text, least, percent
from fairpatch.report.stability_section import StabilitySection
from fairpatch.report.verdict_section import CertificateSection, Effect
from fairpatch.verdict import Verdict

Level = Literal["stop", "look", "note", "fine"]
LEVELS: tuple[Level, ...] = ("stop", "look", "note", "fine")
"""The gravest first."""
OPEN: tuple[Level, ...] = ("stop", "look")
"""Those that somebody must decide on."""
PROTECTED = (
    "age", "birth", "sex", "gender", "race", "ethnic", "skin", "colour", "color", "nationality",
    "national", "citizen", "immigra", "foreign", "religio", "faith", "disab", "health", "pregnan",
    "marital", "marriage", "married", "spouse", "family", "household", "relationship", "child",
    "dependents", "parent", "orientation", "union", "politic", "language", "postcode", "postal",
    "native", "country", "origin", "ancestry", "zip", "neighbourhood", "neighborhood", "surname",
    "firstname", "maiden",
)  # fmt: skip
"""Prefixes of words in the names of columns that are protected somewhere, or closely related."""
METRIC = {metric.name: metric for metric in METRICS}
AGREE = 0.8
"""Of the changes, the share that refits must make too."""
ENOUGH = 5
"""Refits from which on that means something."""
GRAVE = 5.0
"""Times the accuracy that a group may lose: who loses so much is decided by another model."""
MANY_REVERSED = 0.1
"""Share of pairs of people who change places, from which on scores are no order any more."""
SMALL = 0.02
"""Of the people, the share below which a group that binds is small."""


class Flag(Shown):
    """One thing to look at, or one that was looked at and is fine."""

    name: str
    """Which check."""
    level: Level
    """stop: it speaks against signing; look: decide on it; note: know it; fine: nothing found."""
    text: str
    """What was found."""
    todo: str = ""
    """What to do about it."""

    @property
    def open(self) -> bool:
        """Whether somebody must decide on it before the patch is signed."""
        return self.level in OPEN


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
    protected: Sequence[str] = (),
    accuracy_drop: float = 0.02,
) -> list[Flag]:
    """Every check with what it found, the gravest first."""
    flags = [
        *_target(effect, certificate),
        *sense,
        *_stability(stability, effect),
        *_lines(columns, proxies, (*PROTECTED, *protected)),
        *_binding(effect, groups),
        *(_accuracy(groups, accuracy_drop, words) if effect.change.changed != 0 else ()),
        *_turned(effect),
        *_errors_turned(groups, words),
        *_scores(inversions),
        *_model(comparison, certificate),
    ]
    return in_order(flags)


def in_order(flags: Sequence[Flag]) -> list[Flag]:
    """The gravest first."""
    return sorted(flags, key=lambda flag: LEVELS.index(flag.level))


def _target(effect: Effect, certificate: CertificateSection | None) -> Iterator[Flag]:
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
        yield Flag(name="target", level="fine", text="The target is met on these people")
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


def is_protected(column: str, protected: Sequence[str] = PROTECTED) -> bool:
    """Whether a word of a column's name begins like a protected one.

    >>> [is_protected(c) for c in ("age", "marital-status", "MaritalStatus", "mileage", "wages")]
    [True, True, True, False, False]
    """
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", column)
    whole = [part.lower() for part in parts]
    return any(
        word == p or (len(p) > 3 and word.startswith(p.lower()))
        for word in whole
        for p in protected
    )


def _binding(effect: Effect, groups: Sequence[GroupsSection]) -> Iterator[Flag]:
    """Whether what was asked hangs on very few people."""
    for section in groups:
        if len(section.features) != 1:
            continue
        rows = [r for r in section.rows if not r.hidden and r.people is not None and not r.unknown]
        everybody = sum(least(r.people) for r in rows if r.people is not None)
        for r in effect.requirements:
            if r.feature != section.features[0] or r.limit is None:
                continue
            for row in rows:
                few = row.people is not None and least(row.people) < SMALL * everybody
                if few and r.after.between is not None and r.after.between[0] == row.group:
                    yield Flag(
                        name="small group",
                        level="look",
                        text=f"{r.name} by {r.feature} depends on {row.group}: fewer than "
                        f"{SMALL:.0%} of the people",
                        todo="Its rate is mostly chance: merge it, or examine it separately.",
                    )


def _accuracy(groups: Sequence[GroupsSection], most: float, words: Words) -> Iterator[Flag]:
    fell, unclear, grave = [], False, False
    for section in groups:
        if len(section.features) != 1:
            continue
        for row in section.rows:
            if row.accuracy is None:
                continue
            before, after = row.accuracy.before, row.accuracy.after
            low = before.value if before.value is not None else before.at_least
            high = after.value if after.value is not None else after.at_most
            if low is None or high is None or low - high <= most:
                ends = before.value or before.at_most, after.value or after.at_least
                unclear |= None in ends or (ends[0] or 0.0) - (ends[1] or 0.0) > most
                continue
            wrong = row.bad_approved
            more = ""
            if wrong is not None and wrong.after.middle is not None:
                more = (
                    f" (of all without {words.good_outcome}, the share {words.approved} goes from "
                    f"{percent(wrong.before)} to {percent(wrong.after)})"
                )
            grave |= low - high > GRAVE * most
            fell.append(
                f"among {row.group} ({section.features[0]}) from {percent(row.accuracy.before)} to "
                f"{percent(row.accuracy.after)}{more}"
            )
    if fell:
        yield Flag(
            name="accuracy of a group",
            level="stop" if grave else "look",
            text=f"Accuracy falls {'; '.join(fell)}",
            todo="See the errors by group, and the outcomes of the promoted.",
        )
    elif unclear:
        yield Flag(
            name="accuracy of a group",
            level="look",
            text=f"Whether some group's accuracy falls by more than {most:.0%} is withheld to "
            "protect small counts",
        )
    else:
        yield Flag(
            name="accuracy of a group",
            level="fine",
            text=f"No group's accuracy falls by more than {most:.0%}",
        )


def _turned(effect: Effect) -> Iterator[Flag]:
    """Whether a group that was behind is now ahead."""
    for r in effect.requirements:
        before, after = r.before.between, r.after.between
        if r.limit is not None and after is not None and before == after[::-1]:
            yield Flag(
                name="order of the groups",
                level="look",
                text=f"{r.name} by {r.feature}: {after[0]} was ahead and is now behind {after[1]}",
                todo="The patch overshoots equality: a weaker one may be enough.",
            )


def _errors_turned(groups: Sequence[GroupsSection], words: Words) -> Iterator[Flag]:
    """Whether, among people of the same outcome, a group that was behind is now clearly ahead."""
    for section in groups:
        for name, among in (("good_approved", "with"), ("bad_approved", "without")):
            told = [(row.group, getattr(row, name)) for row in section.rows if not row.unknown]
            rates = [(g, pair) for g, pair in told if pair and pair.before.value is not None]
            if len(rates) < 2 or any(pair.after.low is None for _, pair in rates):
                continue
            behind, ahead = (end(rates, key=lambda r: r[1].before.value) for end in (min, max))
            if behind[1].after.low > ahead[1].after.high:
                yield Flag(
                    name="order of the groups among people alike",
                    level="note",
                    text=f"Of those {among} {words.good_outcome}, {behind[0]} were less often "
                    f"{words.approved} than {ahead[0]}, and are more often now: "
                    f"{percent(behind[1].after)} against {percent(ahead[1].after)}",
                    todo="A target of equal rates can do this; see the errors by group.",
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
