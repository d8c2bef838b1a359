"""Red flags about groups: small ones, errors, and who overtakes whom."""

from collections.abc import Iterator, Sequence

from fairpatch.report.figures import Words
from fairpatch.report.flag import Flag
from fairpatch.report.group_section import GroupsSection
from fairpatch.report.sentences import least, percent
from fairpatch.report.verdict_section import Effect

GRAVE = 5.0
"""Times the accuracy that a group may lose: who loses so much is decided by another model."""
SMALL = 0.02
"""Of the people, the share below which a group that binds is small."""


def binding(effect: Effect, groups: Sequence[GroupsSection]) -> Iterator[Flag]:
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


def accuracy(groups: Sequence[GroupsSection], most: float, words: Words) -> Iterator[Flag]:
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


def turned(effect: Effect) -> Iterator[Flag]:
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


def errors_turned(groups: Sequence[GroupsSection], words: Words) -> Iterator[Flag]:
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
