"""What is found of groups: small ones, who gains most, errors, and who overtakes whom."""

from collections.abc import Iterator, Sequence

from fairpatch.report.adverse_impact import FOUR_FIFTHS
from fairpatch.report.figures import Words, count_text, least, percent
from fairpatch.report.findings.finding import Finding
from fairpatch.report.group_section import GroupsSection
from fairpatch.report.others_section import OtherSection
from fairpatch.report.verdict_section import Effect

GRAVE = 5.0
"""Times the accuracy that a group may lose: who loses so much is decided by another model."""
WORSE = 0.02
"""By how much a ratio of rates must fall to be a finding."""
SMALL = 0.02
"""Of the people, the share below which a group that binds is small."""


def binding(effect: Effect, groups: Sequence[GroupsSection]) -> Iterator[Finding]:
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
