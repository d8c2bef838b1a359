"""The first screen: what happens in a sentence or two, and a light."""

from collections.abc import Sequence
from typing import Literal

from fairpatch.measure.metric import P_RULE
from fairpatch.report.figures import Count, Figure, Range, Shown, Words
from fairpatch.report.group_section import GroupRow, Groups, Swap
from fairpatch.report.sentences import least, percent, said, told
from fairpatch.report.verdict_section import Certified, Met, Verdict

Word = Literal["holds", "not enough people", "missed", "does not hold", "not certified"]


class Light(Shown):
    """Whether what was asked holds, as a word; the page adds an icon and a colour."""

    word: Word
    """holds, not enough people, missed, does not hold, or not certified."""
    text: str
    """How that is known."""


class Headline(Shown):
    """What a reader should know who reads nothing else."""

    changes: str
    """Who changes."""
    gains: str
    """What that does for the groups, and what was asked."""
    light: Light
    """Whether it holds."""


def headline(
    verdict: Verdict,
    certificate: Certified | None,
    groups: Sequence[Groups],
    swap: Sequence[Swap],
    words: Words,
) -> Headline:
    """Sentences made of the figures below them."""
    return Headline(
        changes=_changes(verdict, groups, swap, words),
        gains=" ".join(
            [
                *(_gain(r, words) for r in verdict.requirements if r.limit is not None),
                *_bounds(verdict),
            ]
        ),
        light=_light(verdict, certificate),
    )


def _nobody(people: Count) -> bool:
    return people == 0


def _changes(verdict: Verdict, groups: Sequence[Groups], swap: Sequence[Swap], words: Words) -> str:
    up, down = verdict.change.promoted, verdict.change.demoted
    if _nobody(up) and _nobody(down):
        return "No decision changes."
    before = {s.what: s.people for s in swap}
    found = []
    if not _nobody(up):
        of = _sum(up, before["left denied"])
        found.append(
            f"{told(up)} of {told(of)} people who were {words.denied} "
            f"{'is' if up == 1 else 'are'} now {words.approved}{_mostly(groups, 'promoted', up)}."
        )
    if not _nobody(down):
        of = _sum(down, before["left approved"])
        found.append(
            f"{told(down)} of {told(of)} people who were {words.approved} "
            f"{'is' if down == 1 else 'are'} now {words.denied}{_mostly(groups, 'demoted', down)}."
        )
    else:
        found.append(f"Nobody here who was {words.approved} loses that.")
    return " ".join(text[:1].upper() + text[1:] for text in found)


def _sum(one: Count, other: Count) -> Count:
    """Both together, as far as they are told."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    low = least(one) + least(other)
    high = [c if isinstance(c, int) else c.at_most for c in (one, other)]
    return Range(at_least=low, at_most=None if None in high else sum(h for h in high if h))


def _mostly(groups: Sequence[Groups], what: str, everybody: Count) -> str:
    """Of the first feature, the group that most of them belong to."""
    rows = [r for r in groups[0].rows if not r.hidden and not r.unknown] if groups else []
    sizes: list[tuple[int, GroupRow, Count]] = []
    for row in rows:
        people = row.promoted if what == "promoted" else row.demoted
        if people is not None:
            sizes.append((least(people), row, people))
    if not sizes:
        return ""
    most, row, people = max(sizes, key=lambda s: s[0])
    top = everybody if isinstance(everybody, int) else everybody.at_most
    return f"; {told(people)} of them {row.group}" if top and 2 * most > top else ""


def _gain(r: Met, words: Words) -> str:
    """One comparison before and after, and what was asked."""
    if r.metric == P_RULE.name and r.after.between and r.before.between == r.after.between:
        low, high = r.after.between
        text = (
            f"By {r.feature}, the share of {low} who are {words.approved} goes from "
            f"{percent(r.before, 1)} to {percent(r.after, 1)} of that of {high}"
        )
    else:
        text = (
            f"{r.name} by {r.feature} goes from {_named(r.before)} to {_named(r.after)}"
            if r.before.middle is not None
            else f"{r.name} by {r.feature} is {_named(r.after)}"
        )
    asked = f"{100 * (r.limit or 0):g}%" if "of that of" in text else f"{r.limit:g}"
    return f"{text}; asked: {asked}."


def _named(figure: Figure) -> str:
    return f"{said(figure)}{figure.groups}"


def _bounds(verdict: Verdict) -> list[str]:
    if verdict.bound_known is None or not verdict.bound_known:
        return []
    text = (
        f"No method could do it with fewer than {verdict.bound_known:.1%} of all decisions changed"
    )
    rate = verdict.change.change_rate.value
    if rate is not None:
        text += f" (here {rate:.1%})"
    if verdict.bound_blind is not None and verdict.bound_blind > verdict.bound_known:
        text += f"; about {verdict.bound_blind:.1%} are to be expected at best without reading it"
    return [f"{text}."]


def _light(verdict: Verdict, certificate: Certified | None) -> Light:
    if certificate is None:
        missed = [r for r in verdict.requirements if r.met is False]
        asked = [r for r in verdict.requirements if r.limit is not None]
        if missed:
            text = "What was asked is missed on these people."
            return Light(word="missed", text=text)
        text = "No target was asked for, and nothing was tested on people kept apart for that."
        if asked:
            met = "is met here" if all(r.met for r in asked) else "may be met here (few are told)"
            text = f"What was asked {met}, but was not tested on people kept apart for that."
        return Light(word="not certified", text=text)
    people = max((v.people for v in certificate.verdicts), key=least)
    level = f"{certificate.confidence:.0%}"
    on = f"on {told(people)} people used neither to learn nor to choose"
    ends = "; ".join(
        f"{v.requirement}, {v.feature}: {said(v.estimate, 3)} measured"
        f"{_limit(v.estimate, v.requirement)}"
        for v in certificate.verdicts
        if v.estimate.middle is not None
    )
    if certificate.word == "certified":
        return Light(word="holds", text=f"Shown at {level} confidence {on}. {ends}.")
    if certificate.word == "refuted":
        return Light(word="does not hold", text=f"Shown at {level} confidence {on}. {ends}.")
    if certificate.word == "missed":
        return Light(
            word="missed",
            text=f"What was measured {on} does not keep what was asked; chance alone may have done "
            f"it. {ends}.",
        )
    needed = [v.people_needed for v in certificate.verdicts if v.people_needed]
    more = f" About {max(needed):,} would do." if needed else ""
    return Light(
        word="not enough people",
        text=f"What was asked is met {on}, but they are too few to show that it holds.{more} "
        f"{ends}.",
    )


def _limit(figure: Figure, requirement: str) -> str:
    """The side of the interval that the test looks at."""
    if figure.low is None or figure.high is None:
        return ""
    at_least = " at least " in requirement
    return (
        f", {'at least' if at_least else 'at most'} {figure.low if at_least else figure.high:.3f}"
    )
