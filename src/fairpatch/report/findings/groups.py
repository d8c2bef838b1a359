"""Whether what was asked for holds, and what is found of groups: who gains, errors, order."""

from collections.abc import Iterator, Sequence

import numpy as np

from fairpatch._tools.verdict import Verdict
from fairpatch.choose.objections import SURE
from fairpatch.report.audit_groups import FOUR_FIFTHS
from fairpatch.report.figures import (
    Figure,
    Finding,
    Words,
    count_text,
    ends,
    figure_text,
    least,
    percent,
)
from fairpatch.report.group_section import GroupsSection, OtherSection
from fairpatch.report.verdict_section import CertificateSection, Effect, Met

# Whether what was asked for holds, here and where it was certified.

TWO_SIDED = 1.96
"""Standard errors beyond which two figures differ by more than chance."""


def target(
    effect: Effect, certificate: CertificateSection | None, *, own_rows: bool = True
) -> Iterator[Finding]:
    """Whether it is met on these people, and certified on others."""
    missed = [r for r in effect.requirements if r.met is False]
    for r in missed:
        # certified on others: these people speak against it where chance does not explain them
        chance = not own_rows and _could_be_chance(r) and _certified(certificate)
        yield Finding(
            name="target",
            level="look" if chance else "stop",
            text=f"{r.name} by {r.feature} is not met on these people: {figure_text(r.after)}"
            f"{r.after.groups}, target {r.limit:g}"
            + ("; chance alone could explain that" if chance else ""),
            todo="Look again on more people."
            if chance
            else "Set a safety margin (safety_margin=1), or fit on more rows.",
        )
    asked = [r for r in effect.requirements if r.limit is not None]
    if asked and not missed and all(r.met for r in asked):
        yield _met([] if own_rows else [r for r in asked if _could_be_chance(r)])
    for r in asked:
        if r.met is None:
            yield Finding(
                name="target",
                level="not judged",
                text=f"Whether {r.name} by {r.feature} is met on these people is withheld to "
                f"protect small groups: it is {figure_text(r.after)}",
            )
    for v in certificate.results if certificate is not None else ():
        known = v.feature in {r.feature for r in missed}
        if v.verdict.fails and not known:
            yield Finding(
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
            yield Finding(
                name="certificate and review disagree",
                level="look",
                text=f"{m.name} by {m.feature} was {figure_text(v.estimate)} where it was "
                f"certified and is {figure_text(m.after)} here: more than chance explains",
                todo="Find out how the people differ before you rely on the certificate.",
            )
    for text in () if certificate is None else certificate.rests_on:
        yield Finding(
            name="an assumption",
            level="look",
            text=f"The verdict rests on an assumption. {text.removesuffix('.')}",
            todo="Decide whether you can answer for it; or find out more groups.",
        )
    if certificate is not None and certificate.verdict is Verdict.INCONCLUSIVE:
        yield Finding(
            name="certificate",
            level="look",
            text="Inconclusive: the target is met, but on too few people to show that it holds",
            todo="The certificate says how many are needed.",
        )
    if asked and certificate is None:
        yield Finding(
            name="certificate",
            level="look",
            text="There is no certificate: nothing was tested on a certification set",
            todo="Hold out rows when fitting, or certify on new ones.",
        )


def _met(doubtful: Sequence[Met]) -> Finding:
    """That the target is met here, and whether these people alone would show it."""
    if not doubtful:
        return Finding(name="target", level="fine", text="The target is met on these people")
    first = doubtful[0]
    return Finding(
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


def _certified(certificate: CertificateSection | None) -> bool:
    return certificate is not None and certificate.verdict is Verdict.CERTIFIED


def _apart(one: Figure, other: Figure) -> bool:
    """Whether two figures differ by more than chance explains, where both are told in full."""
    if other.low is None or other.high is None:
        return False
    if one.value is None or other.value is None or one.low is None or one.high is None:
        low, high = ends(one) if one.middle is not None else (0.0, 1.0)
        return low > other.high or high < other.low
    # both have limits of one test, one-sided: half their distance is SURE standard errors
    error = np.hypot(one.high - one.low, other.high - other.low) / (2 * SURE)
    return bool(abs(one.value - other.value) > TWO_SIDED * error)


# What is found of groups: small ones, who gains most, errors, and who overtakes whom.

GRAVE = 5.0
"""Times the accuracy that a group may lose: who loses so much is decided by another model."""
WORSE = 0.02
"""By how much a ratio of rates must fall to be a finding."""
SMALL = 0.02
"""Of the people, the share below which a group that binds is small."""


def binding(effect: Effect, groups: Sequence[GroupsSection]) -> Iterator[Finding]:
    """Whether what was asked depends on very few people."""
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
                    yield Finding(
                        name="small group",
                        level="look",
                        text=f"{r.name} by {r.feature} depends on {row.group}: fewer than "
                        f"{SMALL:.0%} of the people",
                        todo="Its rate is mostly chance: merge it, or examine it separately.",
                    )


def elsewhere(others: Sequence[OtherSection]) -> Iterator[Finding]:
    """Whether groups that nobody named fall behind, by a column that looks protected."""
    for other in others:
        before, after = other.ratio_before, other.ratio_after
        if before is None or after is None or after >= FOUR_FIFTHS or before - after < WORSE:
            continue
        yield Finding(
            name="another group falls behind",
            level="look",
            text=f"By {other.column}, which is no target, the lowest group's rate falls from "
            f"{before:.2f} to {after:.2f} of the highest's",
            todo="Name the column as sensitive too, or say why it need not be.",
        )


def gains_most(effect: Effect, groups: Sequence[GroupsSection], words: Words) -> Iterator[Finding]:
    """Whether most of the remedy goes to a group that was not behind."""
    for section in groups:
        rows = [r for r in section.rows if not (r.hidden or r.unknown) and r.promoted is not None]
        asked = [r for r in effect.requirements
                 if r.limit is not None and [r.feature] == section.features]  # fmt: skip
        if len(rows) < 2 or not asked or asked[0].before.between is None:
            continue
        behind = asked[0].before.between[0]
        most = max(rows, key=lambda r: least(r.promoted or 0))
        mine = next((r for r in rows if r.group == behind), most)
        other = least(mine.promoted or 0) if isinstance(mine.promoted, int) else (
            mine.promoted.at_most if mine.promoted and mine.promoted.at_most is not None else None
        )  # fmt: skip
        if most.group != behind and other is not None and least(most.promoted or 0) > other:
            yield Finding(
                name="who gains most",
                level="note",
                text=f"More {most.group} than {behind} ({section.features[0]}) are newly "
                f"{words.approved}: {count_text(most.promoted or 0)} against "
                f"{count_text(mine.promoted or 0)}. {behind} were behind; the patch does not know "
                "who is who, and reaches others who are alike in its columns",
            )


def accuracy(groups: Sequence[GroupsSection], most: float, words: Words) -> Iterator[Finding]:
    """Whether a group's accuracy falls by more than may be."""
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
                    f" (of all with {words.bad_outcome}, the share {words.approved} goes from "
                    f"{percent(wrong.before)} to {percent(wrong.after)})"
                )
            grave |= low - high > GRAVE * most
            fell.append(
                f"among {row.group} ({section.features[0]}) from {percent(row.accuracy.before)} to "
                f"{percent(row.accuracy.after)}{more}"
            )
    if fell:
        yield Finding(
            name="accuracy of a group",
            level="stop" if grave else "look",
            text=f"Accuracy falls {'; '.join(fell)}",
            todo="See the errors by group, and the outcomes of the promoted.",
        )
    elif unclear:
        yield Finding(
            name="accuracy of a group",
            level="not judged",
            text=f"Whether some group's accuracy falls by more than {most:.0%} is withheld to "
            "protect small counts",
        )
    else:
        yield Finding(
            name="accuracy of a group",
            level="fine",
            text=f"No group's accuracy falls by more than {most:.0%}",
        )


def turned(effect: Effect) -> Iterator[Finding]:
    """Whether a group that was behind is now ahead."""
    for r in effect.requirements:
        before, after = r.before.between, r.after.between
        if r.limit is not None and after is not None and before == after[::-1]:
            yield Finding(
                name="order of the groups",
                level="look",
                text=f"{r.name} by {r.feature}: {after[0]} was ahead and is now behind {after[1]}",
                todo="The patch overshoots equality: a weaker one may be enough.",
            )


def errors_turned(groups: Sequence[GroupsSection], words: Words) -> Iterator[Finding]:
    """Whether, among people of the same outcome, a group that was behind is now clearly ahead."""
    for section in groups:
        for name, outcome in (
            ("good_approved", words.good_outcome),
            ("bad_approved", words.bad_outcome),
        ):
            told = [(row.group, getattr(row, name)) for row in section.rows if not row.unknown]
            rates = [(g, pair) for g, pair in told if pair and pair.before.value is not None]
            if len(rates) < 2 or any(pair.after.low is None for _, pair in rates):
                continue
            behind, ahead = (end(rates, key=lambda r: r[1].before.value) for end in (min, max))
            if behind[1].after.low > ahead[1].after.high:
                yield Finding(
                    name="order of the groups among people alike",
                    level="note",
                    text=f"Of those with {outcome}, {behind[0]} were less often "
                    f"{words.approved} than {ahead[0]}, and are more often now: "
                    f"{percent(behind[1].after)} against {percent(ahead[1].after)}",
                    todo="A target of equal rates can do this; see the errors by group.",
                )
