"""The first screen: what happens in a sentence or two, and a light."""

from collections.abc import Sequence
from typing import Any

from fairpatch._tools.verdict import Verdict
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.places import share_moved
from fairpatch.report.figures import (
    Count,
    CountRange,
    Figure,
    Finding,
    Level,
    ReviewPart,
    Words,
    count_text,
    estimated,
    figure_text,
    least,
    percent,
)
from fairpatch.report.group_section import GroupRow, GroupsSection, SwapSection
from fairpatch.report.verdict_section import CertificateSection, Effect, Met

MOST_TOLD = 4
"""Comparisons that the first sentences tell of."""


class Light(ReviewPart):
    """Whether what was asked holds, as a word; the page adds an icon and a colour."""

    verdict: Verdict | None
    """The verdict; null where nothing was certified."""
    text: str
    """How that is known."""


class Headline(ReviewPart):
    """What a reader should know who reads nothing else."""

    changes: str
    """Who changes."""
    gains: str
    """What that does for the groups, and what was asked."""
    light: Light
    """Whether it holds."""
    findings: str
    """How many findings are open, and how many of them speak against signing."""
    level: Level
    """Of the gravest finding: what the first screen is coloured by."""


def headline(
    effect: Effect,
    certificate: CertificateSection | None,
    groups: Sequence[GroupsSection],
    swap: Sequence[SwapSection],
    words: Words,
    found: Sequence[Finding],
    refers: bool,
) -> Headline:
    """Sentences made of the figures below them."""
    return Headline(
        changes=_referrals(effect, swap, words)
        if refers
        else _changes(effect, groups, swap, words),
        gains=" ".join(
            [
                *(_if_approved(certificate, words) if refers else ()),
                *_gains(effect, words),
                *_bounds(effect),
            ]
        ),
        light=_light(effect, certificate),
        **open_findings(found),
    )


def open_findings(found: Sequence[Finding]) -> dict[str, Any]:
    """Those that are open in a few words, and how grave they are: the gravest comes first."""
    level = next((finding.level for finding in found if finding.open), "fine")
    grave = sum(finding.level == "stop" for finding in found)
    many = sum(finding.open for finding in found)
    text = f"{many} open finding{'s' * (many > 1)}" if many else "no open findings"
    return {"findings": f"{text}, {grave} against signing" if grave else text, "level": level}


def _nobody(people: Count) -> bool:
    return people == 0


def _changes(
    effect: Effect, groups: Sequence[GroupsSection], swap: Sequence[SwapSection], words: Words
) -> str:
    up, down = effect.change.promoted, effect.change.demoted
    if _nobody(up) and _nobody(down):
        return "No decision changes."
    before = {s.what: s.people for s in swap}
    sentences = []
    if not _nobody(up):
        of = _sum(up, before["left denied"])
        sentences.append(
            f"{count_text(up)} of {count_text(of)} people who were {words.denied} "
            f"{'is' if up == 1 else 'are'} now {words.approved}{_mostly(groups, 'promoted', up)}."
        )
    if not _nobody(down):
        of = _sum(down, before["left approved"])
        sentences.append(
            f"{count_text(down)} of {count_text(of)} people who were {words.approved} "
            f"{'is' if down == 1 else 'are'} now {words.denied}{_mostly(groups, 'demoted', down)}."
        )
    else:
        sentences.append(f"Nobody who was {words.approved} is now {words.denied}.")
    places = effect.change.approvals
    if places.before.value is not None and places.after.value is not None:
        moved = share_moved(places.before.value, places.after.value)
        sentences.append(f"The share {words.approved} {moved}.")
    return " ".join(text[:1].upper() + text[1:] for text in sentences)


def _referrals(effect: Effect, swap: Sequence[SwapSection], words: Words) -> str:
    """Who gets a second look."""
    up = effect.change.promoted
    of = _sum(up, {s.what: s.people for s in swap}["left denied"])
    text = (
        f"{count_text(up)} of {count_text(of)} people who were {words.denied} are referred to a "
        "person for a second look; no decision changes before."
    )
    return text[:1].upper() + text[1:]


def _if_approved(certificate: CertificateSection | None, words: Words) -> list[str]:
    """What the figures of a patch that refers people are of, and what must come of it."""
    text = f"Figures after the change are those if everybody referred were {words.approved}."
    look = None if certificate is None else certificate.second_look
    return [text] if look is None else [text, look.split(". ", 1)[-1]]


def _sum(one: Count, other: Count) -> Count:
    """Both together, as far as they are told."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    low = least(one) + least(other)
    high = [c if isinstance(c, int) else c.at_most for c in (one, other)]
    return CountRange(at_least=low, at_most=None if None in high else sum(h for h in high if h))


def _mostly(groups: Sequence[GroupsSection], what: str, everybody: Count) -> str:
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
    return f"; {count_text(people)} of them {row.group}" if top and 2 * most > top else ""


def _gains(effect: Effect, words: Words) -> list[str]:
    """Every comparison that was asked for; of many strata those that are worst off."""
    asked = [r for r in effect.requirements if r.limit is not None]
    told = [_gain(r, words) for r in asked[:MOST_TOLD]]
    rest = asked[MOST_TOLD:]
    if rest:
        met = sum(r.met is True for r in rest)
        told.append(f"Of {len(rest)} more comparisons, {met} meet the target.")
    return told


def _gain(r: Met, words: Words) -> str:
    """One comparison before and after, and what was asked."""
    if r.metric == P_RULE.name and r.after.between and r.before.between == r.after.between:
        low, high = r.after.between
        about = f"{'For' if ' in ' in r.feature else 'By'} {r.feature}"
        text = (
            f"{about}, the {_rate(words)} of {low} {_moves(r)} from "
            f"{percent(r.before, 1)} to {percent(r.after, 1)} of that of {high}"
        )
    else:
        text = (
            f"{r.name} by {r.feature} goes from {_named(r.before)} to {_named(r.after)}"
            if r.before.middle is not None
            else f"{r.name} by {r.feature} is {_named(r.after)}"
        )
    limit = f"{100 * (r.limit or 0):g}%" if "of that of" in text else f"{r.limit:g}"
    return f"{text} (target: {limit}){_by_chance(r)}."


def _by_chance(r: Met) -> str:
    """Whether the base model missed the target by more than chance."""
    low, high, limit, value = r.before.low, r.before.high, r.limit, r.before.value
    if low is None or high is None or limit is None or value is None:
        return ""
    if r.compared.met(value, limit):
        return ""
    if low <= limit <= high:
        return "; before, chance alone could explain the gap to the target"
    return "; before, it was missed by more than chance explains"


def _rate(words: Words) -> str:
    """What the field calls the share of the favourable decision."""
    return "approval rate" if words.approved == "approved" else f"share {words.approved}"


def _moves(r: Met) -> str:
    """Whether it rises or falls, as far as that is shown."""
    before, after = r.before.middle, r.after.middle
    if before is None or after is None or before == after:
        return "goes"
    return "rises" if after > before else "falls"


def _named(figure: Figure) -> str:
    return f"{figure_text(figure)}{figure.groups}"


def _bounds(effect: Effect) -> list[str]:
    if effect.bound_known is None or not effect.bound_known:
        return []
    text = f"At least {effect.bound_known:.1%} of all decisions must change to reach that"
    rate = effect.change.change_rate.value
    if rate is not None:
        text += f" (here {rate:.1%})"
    if effect.bound_blind is not None and effect.bound_blind > effect.bound_known:
        blind = estimated(effect.bound_blind)
        text += f"; without using the group, the estimated minimum is {blind}"
    return [f"{text}."]


def _light(effect: Effect, certificate: CertificateSection | None) -> Light:
    if certificate is None:
        missed = [r for r in effect.requirements if r.met is False]
        asked = [r for r in effect.requirements if r.limit is not None]
        if missed:
            text = "The target is not met on these people."
            return Light(verdict=Verdict.NOT_MET, text=text)
        text = "There is no target, and nothing was tested on a certification set."
        if asked:
            met = (
                "is met here" if all(r.met for r in asked) else "may be met here (figures withheld)"
            )
            text = f"The target {met}, but was not tested on a certification set."
        return Light(verdict=None, text=text)
    people = max((result.people for result in certificate.results), key=least)
    level = f"{certificate.confidence:.0%}"
    on = f"on {count_text(people)} people held out for this test"
    order = list(Verdict)
    worst_first = sorted(certificate.results, key=lambda r: -order.index(r.verdict))
    told = [
        f"{_name(result.requirement)}, {result.feature}: {figure_text(result.estimate, 3)} measured"
        f"{_limit(result.estimate, at_least=result.at_least)}"
        for result in worst_first
        if result.estimate.middle is not None
    ]
    rest = len(told) - MOST_TOLD
    ends = "; ".join([*told[:MOST_TOLD], *([f"and {rest} more, in the evidence"] * (rest > 0))])
    verdict, text = certificate.verdict, f"Shown at {level} confidence {on}."
    if verdict is Verdict.CONDITIONAL:
        text = f"Shown at {level} confidence {on}, under an assumption that these data cannot "
        text += f"verify. {' '.join(certificate.rests_on)}"
    elif verdict is Verdict.NOT_MET:
        text = f"What was measured {on} does not meet the target; chance alone may explain that."
    elif verdict is Verdict.INCONCLUSIVE:
        needed = [result.people_needed for result in certificate.results if result.people_needed]
        more = f" About {max(needed):,} would be enough." if needed else ""
        text = f"The target is met {on}, but they are too few to show that it holds.{more}"
    return Light(verdict=verdict, text=f"{text} {ends}.")


def _name(requirement: str) -> str:
    """What was asked for, without its limit, which stands above."""
    return requirement.split(" at ", maxsplit=1)[0]


def _limit(figure: Figure, *, at_least: bool) -> str:
    """The side of the interval that the test looks at."""
    if figure.low is None or figure.high is None:
        return " (its limit is withheld to protect small counts)"
    side, end = ("at least", figure.low) if at_least else ("at most", figure.high)
    return f", {side} {end:.3f}"
