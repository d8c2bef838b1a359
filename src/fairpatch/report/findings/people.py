"""Whether a patch makes sense: what it does to people that no fairness metric tells.

A finding says *worse* or *more than a quarter*, and no count: nobody can be worked out from it.
"""

from collections.abc import Iterator

import numpy as np

from fairpatch._tools.arrays import Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.choose.objections import MANY, SLIGHTLY, SURE, TIMES, outcome_gap, too_many
from fairpatch.decision import Decision
from fairpatch.inputs.base import scores_of, thresholds_of
from fairpatch.measure.cells import cells
from fairpatch.measure.counts import Counts
from fairpatch.measure.scores import close_calls
from fairpatch.patch.columns import Columns
from fairpatch.report.audit_groups import FOUR_FIFTHS
from fairpatch.report.figures import Finding, Words
from fairpatch.report.subject import Subject
from fairpatch.report.verdict_section import Effect

FAR = 0.25
"""Of the promoted, the share with a score far below the threshold that is worth a finding."""
SOME = 0.003
"""Of people, the share exactly at the threshold that is worth a finding."""
GAIN = 0.02
"""By how much a group's rate must rise before it is asked who rises."""
PART = 0.2
"""Of a group's people, those that count as some of them; of its gain, what is hardly any."""
ODD = 0.01
"""Of a column's numbers, at most, that are negative where the others are not."""


def people_findings(subject: Subject, effect: Effect, words: Words) -> list[Finding]:
    """Findings on who changes and why."""
    return [
        *_worse(subject.table.counts, words),
        *_riskier(subject.table.counts, words),
        *_one_intersection(subject.table.counts, words),
        *_far_calls(subject, words),
        *_many(effect),
        *_impossible(subject),
        *_unnamed(subject.patch.decision),
    ]


def _worse(counts: Counts, words: Words) -> Iterator[Finding]:
    """Within a group, the promoted should turn out no worse than those left denied.

    All groups together would mix them: the disadvantaged one has fewer good outcomes.
    """
    if not counts.along("label")[:2].sum():
        return
    yes, no = words.approved, words.denied
    for what, (one, other), who, whom in (
        ("promoted", ((0, 1), (0, 0)), f"the newly {yes}", f"those still {no}"),
        ("demoted", ((1, 1), (1, 0)), f"those still {yes}", f"the newly {no}"),
    ):
        if what == "promoted" and counts.outcomes == "approved":
            continue  # nobody knows: said once, of all that is not judged
        moved = counts.in_cells(cells(before=int(what == "demoted"), after=int(what == "promoted")))
        gaps = {
            (feature, group): outcome_gap(n[:2, *one], n[:2, *other])  # by label
            for feature, group, n in _groups(counts)
        }
        known = {key: gap for key, gap in gaps.items() if gap is not None}
        for (feature, group), gap in known.items():
            if gap < -SLIGHTLY:
                yield Finding(
                    name=f"outcome of the {what}",
                    level="stop" if gap < -SURE else "look",
                    text=f"Among {group} ({feature}), {who} have {words.good_outcome} less "
                    f"often than {whom}"
                    + ("" if gap < -SURE else "; chance alone may explain that"),
                    todo="The wrong people change: look at the lines that approve most, or pick "
                    "another patch of the menu.",
                )
        if known and min(known.values()) >= -SLIGHTLY:
            yield Finding(
                name=f"outcome of the {what}",
                level="fine",
                text=f"In no group with at least {MIN_PEOPLE} of each do {who} clearly have "
                f"{words.good_outcome} less often than {whom}",
            )
        elif not known and moved.any():
            yield Finding(
                name=f"outcome of the {what}",
                level="not judged",
                text=f"Whether {who} have better outcomes than {whom} is withheld to protect small "
                "groups",
            )


def _riskier(counts: Counts, words: Words) -> Iterator[Finding]:
    """The newly approved against those approved before: worse is expected, and has a cost."""
    if counts.outcomes == "approved":
        return
    worse = [
        f"{group} ({feature})"
        for feature, group, n in _groups(counts)
        if (outcome_gap(n[:2, 0, 1], n[:2, 1, 1]) or 0.0) < -SURE
    ]
    if worse:
        yield Finding(
            name="outcome of the newly approved",
            level="note",
            text=f"The newly {words.approved} have {words.good_outcome} less often than those "
            f"{words.approved} before, among {', '.join(worse)}",
            todo="Expected where the bar is lowered for some; the credit impact says what it "
            "costs.",
        )


def _one_intersection(counts: Counts, words: Words) -> Iterator[Finding]:
    """A group that was behind and gains through some of its people, while others gain nothing."""
    for feature in counts.features:
        table = counts.by(feature).known()
        sizes, before, after = _rates(table)
        lowest = int(np.where(sizes < MIN_PEOPLE, np.inf, before).argmin())
        gain = after[lowest] - before[lowest]
        if gain < GAIN:
            continue
        enough = FOUR_FIFTHS * after[sizes >= MIN_PEOPLE].max()
        for other in counts.features:
            if other == feature:
                continue
            crossed = counts.by(feature, other).known()
            people, first, then = _rates(crossed)
            within = np.array([group[0] == table.groups[lowest][0] for group in crossed.groups])
            within &= people >= max(3 * MIN_PEOPLE, PART * sizes[lowest])
            little = within & (then - first < PART * gain) & (then < enough)
            names = [str(group[1]) for group in crossed.groups]
            if little.any():
                most = int(np.where(within, people * (then - first), -np.inf).argmax())
                left = [name for name, here in zip(names, little, strict=True) if here]
                yield Finding(
                    name="one intersection",
                    level="look",
                    text=f"By {feature}, {table.group_names[lowest]} gain through {names[most]} "
                    f"({other}): the share {words.approved} hardly rises among "
                    f"{table.group_names[lowest]} and {' or '.join(left)}",
                    todo=f"Ask for the target by {feature} and {other} together, as one feature.",
                )


def _rates(table: Counts) -> tuple[Floats, Floats, Floats]:
    """How many people each group has, and its rate before and after."""
    sizes = table.n.sum((1, 2, 3, 4))
    before, after = (table.in_cells(cells(**{when: 1})) for when in ("before", "after"))
    return sizes, before / np.maximum(sizes, 1), after / np.maximum(sizes, 1)


def _groups(counts: Counts) -> Iterator[tuple[str, str, Floats]]:
    """Every group by itself: feature, name, and its people by label and decisions."""
    for feature in counts.features:
        table = counts.by(feature).known()
        yield from (
            (feature, group, n) for group, n in zip(table.group_names, table.n.sum(1), strict=True)
        )


def _far_calls(subject: Subject, words: Words) -> Iterator[Finding]:
    """People whom the base model was sure to deny."""
    f, decision = subject.sample.f, subject.patch.decision
    promoted = subject.changed & (f <= 0)
    if promoted.sum() < 3 * MIN_PEOPLE:
        return
    low, high = close_calls(decision)
    t = thresholds_of(decision, subject.sample.X)
    scores = scores_of(f, decision, t)
    scores = (scores if decision.cuts is None else scores - t)[promoted]  # as calls are close
    far = scores < low if decision.favourable else scores > high
    share = float(far.mean())
    if share > FAR:
        end = f"below {low:g}" if decision.favourable else f"above {high:g}"
        amount = "half" if share > 2 * FAR else "a quarter"
        yield Finding(
            name="far from the threshold",
            level="look",
            text=f"More than {amount} of the newly {words.approved} have a score {end}: these are "
            "not close calls",
            todo=f"Ask for close calls only: only_between=({low:g}, {high:g}).",
        )


def _many(effect: Effect) -> Iterator[Finding]:
    """More changes than a patch should need."""
    rate = effect.change.change_rate.middle
    if rate is None:
        return
    words = {
        "share": f"more than {MANY:.0%} of all decisions change",
        "times": f"more than {TIMES:g} times as many change as the fewest possible",
    }
    texts = [words[limit] for limit in too_many(rate, effect.bound_known)]
    if texts:
        both = len(texts) > 1
        text = " and ".join(texts)
        yield Finding(
            name="many changes",
            level="stop" if both else "look",
            text=f"{text[:1].upper()}{text[1:]}"
            + (": this is another model rather than a patch" if both else ""),
            todo="See the menu; ask for less, allow other columns, or train a new "
            "model and validate it.",
        )


def _unnamed(decision: Decision) -> Iterator[Finding]:
    """A page that cannot name them leaves it to the reader what is decided, and what is good."""
    if decision.good_outcome.startswith("y = ") or decision.favoured.startswith("decision "):
        yield Finding(
            name="unnamed decision",
            level="note",
            text="Nobody has said what the decision and its good outcome are called",
            todo="Name them before anybody signs: Decision(approved=..., positive_words=...).",
        )


def _impossible(subject: Subject) -> Iterator[Finding]:
    """A few negative numbers in a column that has none otherwise: mistakes, most likely."""
    held = Columns.of(subject.sample.X)
    for column in subject.patch.columns:
        if column.kind != "number":
            continue
        values = np.asarray(held.values(column), np.float64)
        negative = np.sum(values < 0) / max(np.isfinite(values).sum(), 1)
        if 0 < negative <= ODD:
            yield Finding(
                name="impossible values",
                level="look",
                text=f"A few values of {column.name} are negative: are they mistakes?",
                todo="Correct them, or leave them empty, before the patch decides about anybody.",
            )
