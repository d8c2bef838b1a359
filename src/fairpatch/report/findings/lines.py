"""What speaks against the lines of a card: by what they decide, whom they reward, and for what."""

from collections.abc import Iterator, Sequence

import numpy as np

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.card.bins import Field
from fairpatch.card.confidence import answers_of
from fairpatch.card.sense import stand_for, underrated
from fairpatch.choose.objections import FEW, MOSTLY, SURE, outcome_gap
from fairpatch.inputs.vocabulary import is_protected
from fairpatch.measure.cells import may_promote
from fairpatch.patch import Patch, edit
from fairpatch.patch.columns import Columns
from fairpatch.patch.lines import MISSING, Line, can_matter
from fairpatch.patch.parts import Column, RangesWeight, merge
from fairpatch.patch.terms import by_column, category_term, ranges_term
from fairpatch.report.figures import Finding, Words
from fairpatch.report.proxy_section import REVEALING, Proxy, auc_text
from fairpatch.report.subject import Subject

SLIGHT = 0.05
"""Of the spread of f's log-odds: answers that differ by less are chance."""


def of_card(subject: Subject, words: Words) -> Iterator[Finding]:
    """Everything that is asked of a card's lines."""
    yield from one_group(subject)
    yield from turned_round(subject)
    yield from perverse(subject, words)
    yield from empty_fields(subject)
    yield from few_people(subject)
    yield from idle(subject)
    yield from out_of_reach(subject.patch)


def decides(features: Sequence[str], legal_basis: str | None) -> Iterator[Finding]:
    """A patch that reads the group itself, which somebody switched on."""
    if features:
        basis = f"Legal basis: {legal_basis}" if legal_basis else "No legal basis is given"
        yield Finding(
            name="decides by the group",
            level="look" if legal_basis else "stop",
            text=f"The patch decides by {' and '.join(features)}. {basis}",
            todo="State which law allows it (about: record: legal basis), or leave "
            "may_use_sensitive off.",
        )


def one_group(subject: Subject) -> Iterator[Finding]:
    """Points for being of a group, whatever the line is called: an interval decides, not a name."""
    rows, table = subject.sample, subject.sample_table
    meant = set(subject.patch.decides_by)
    for each in subject.lines:
        line = each.line
        if meant & set(line.part.columns):
            continue
        piece = np.where(each.gets, 0, 1)
        for k, g in stand_for(piece, 1, rows.s.codes, rows.person).values():
            feature, value = rows.s.features[k], rows.s.values[k][g]
            names, groups = table.by(feature).group_names, table.by(feature).groups
            at = groups.index((value,))
            who = "one group" if table.hidden(feature)[at] else f"{names[at]} ({feature})"
            yield Finding(
                name="a line for one group",
                level="stop",
                text=f"{line.name} stands for {who}: of those who {_get(line)}, 95 % or more are",
                todo="This decides by the group under another name. Strike the line, or exclude "
                "the column.",
            )


def protected_or_proxy(
    columns: Sequence[str], proxies: Sequence[Proxy], protected: Sequence[str]
) -> Iterator[Finding]:
    """Columns that are protected by their names, or tell the group: judged by an interval."""
    told = {p.what for p in proxies}
    reveals: dict[str, Proxy] = {}
    for p in proxies:
        if p.read and p.may_reveal:
            reveals.setdefault(p.what, p)
    untold = [column for column in columns if column not in told]
    if untold:
        yield Finding(
            name="proxy not measured",
            level="not judged",
            text=f"How well {', '.join(untold)} {'predicts' if len(untold) == 1 else 'predict'} "
            "the group is withheld to protect small groups",
            todo="Judge by what the columns mean, or ask for the review that shows small counts.",
        )
    found = []
    for column in columns:
        reasons = []
        if is_protected(column, protected):
            reasons.append("protected or closely related in many jurisdictions")
        if column in reveals:
            p = reveals[column]
            reasons.append(f"a proxy for {p.feature} ({auc_text(p)})")
        if reasons:
            found.append(f"{column} is {' and '.join(reasons)}")
    if found:
        yield Finding(
            name="protected or proxy",
            level="look",
            text=f"{len(found)} of {len(columns)} columns {'is' if len(found) == 1 else 'are'} "
            "protected or may reveal a group: "
            f"{'; '.join(found)}",
            todo="Decide on each whether it may be used; remove its lines to see the effect.",
        )
    if columns and not untold and not found:
        yield Finding(
            name="protected or proxy",
            level="fine",
            text="No line uses a column that is protected by its name, or that could predict a "
            f"group with an AUC of {REVEALING} or more",
        )


def perverse(subject: Subject, words: Words) -> Iterator[Finding]:
    """Points for categories that f likes less and that turn out worse than those with fewer."""
    patch, rows = subject.patch, subject.sample
    if subject.table.counts.outcomes != "everybody":
        return  # said once, of all that is not judged
    parts = [(c, part) for c in patch.concepts for part in c.categories]
    lines = [e for e in subject.lines if e.line.part.categories and e.line.points > 0]
    if not lines:
        return
    columns = {column.name: column for column in patch.columns}
    held = Columns.of(rows.X)
    fields = [_categories(columns[part.column], held) for _, part in parts]
    pieces = [field.read(held) for field in fields]
    answers = answers_of(subject.asked, rows.X, rows.f, fields, pieces)
    found, asked = [], []
    for (concept, part), piece, (liked, _) in zip(parts, pieces, answers, strict=True):
        mine = [each for each in lines if part.column in each.line.part.columns]
        points = concept.weight * category_term(part, *held.codes(columns[part.column]))
        known = ~np.isnan(np.append(liked, np.nan))[piece]
        likes = np.append(np.nan_to_num(liked), 0.0)[piece]
        for each in mine:
            line, who = each.line, each.gets & known
            fewer = (points < line.points - 1e-9) & known
            if min(who.sum(), fewer.sum()) < MIN_PEOPLE:
                continue
            slight = SLIGHT * float(rows.f.std())
            worse = likes[who].mean() < likes[fewer].mean() - slight
            lower = rows.f[who].mean() < rows.f[fewer].mean() - slight  # by a column much like it
            gap = outcome_gap(_by_label(rows.y, who), _by_label(rows.y, fewer))
            sure = gap is not None and gap < -SURE
            if (worse or lower) and sure and not underrated(who, rows.y, rows.f):
                found.append(line)
                asked += [line.name] if worse else []
    if found:
        named = "; ".join(f"{line.name} ({line.points:+g})" for line in found)
        yield Finding(
            name="points for what turns out worse",
            level="look",
            text=f"Points go to {named}: the base model rates these people lower than those with "
            f"fewer points, and they have {words.good_outcome} less often",
            todo="Give a business reason, or strike the lines.",
        )
    up = (rows.f <= 0) & subject.after
    if asked and up.sum():
        without = edit(patch, strike=asked).decide(rows.X, rows.f)
        if np.sum(up & ~without) > MOSTLY * up.sum():
            yield Finding(
                name="gains by what turns out worse",
                level="stop",
                text=f"Most of the newly {words.approved} are so by points for what the base model "
                "likes less and what turns out worse",
                todo="Exclude the column, or give another condition up: see the menu.",
            )


def turned_round(subject: Subject) -> Iterator[Finding]:
    """A number that counts for people what the base model counts against them."""
    patch, rows = subject.patch, subject.sample
    if patch.card is None or (
        subject.asked is None and patch.provenance.settings.get("keep_order")
    ):
        return  # of a column of scores an additive model answered when it was learned
    parts = [part for concept in patch.concepts for part in concept.ranges]
    if not parts:
        return
    columns, held = {column.name: column for column in patch.columns}, Columns.of(rows.X)
    bins = [_bins(part) for part in parts]
    fields = [
        Field(
            columns[part.column],
            edges,
            in_order=True,
            codes=tuple((float(r.code or 0.0), "") for r in part.codes),
        )
        for part, (edges, _) in zip(parts, bins, strict=True)
    ]
    pieces = [field.read(held) for field in fields]
    answers = answers_of(subject.asked, rows.X, rows.f, fields, pieces)
    slight = SLIGHT * float(rows.f.std())
    found = []
    for part, (_, points), answer, piece in zip(parts, bins, answers, pieces, strict=True):
        low, high = (end[: len(points)] for end in answer)  # of bins: a code is said by itself
        many = np.bincount(piece, minlength=len(points) + 1)[: len(points)] >= 3 * MIN_PEOPLE
        likes = high[:, None] + slight < low[None, :]  # the second better than the first
        against = (points[:, None] > points[None, :]) & likes & many[:, None] & many[None, :]
        found += [part.column] if against.any() else []
    if found:
        yield Finding(
            name="order turned round",
            level="stop",
            text=f"{' and '.join(found)} {'turns' if len(found) == 1 else 'turn'} the base model's "
            "order round: points for what the model counts against people",
            todo="Keep its order (keep_order='numbers'), or leave the column out.",
        )


def empty_fields(subject: Subject) -> Iterator[Finding]:
    """More points for an empty field than most people have: whoever leaves it blank has them."""
    patch, rows = subject.patch, subject.sample
    held = by_column(merge(patch.concepts, patch.offset), patch.columns, Columns.of(rows.X))
    for each in subject.lines:
        line = each.line
        if line.where != MISSING:
            continue
        (name,) = line.part.columns
        levels, many = np.unique(held[name], return_counts=True)
        more = line.points - float(levels[many.argmax()])
        nobody = bool(each.gets.sum() < MIN_PEOPLE)
        card = patch.card
        alone = card is not None and may_promote(patch.direction) and more >= card.approve_at
        if more <= 0 or not (nobody or alone or line.points >= levels.max()):
            continue
        why = "and hardly anybody's is empty here" if nobody else "as many as any value of it"
        why = "enough by themselves for an approval" if alone and not nobody else why
        yield Finding(
            name="points for an empty field",
            level="stop" if nobody or alone else "look",
            text=f"An empty {line.column} earns {more:+g} points beside what most people have, "
            f"{why}: leaving it blank could buy an approval",
            todo="Strike the line, unless nobody can choose to leave it blank.",
        )


def few_people(subject: Subject) -> Iterator[Finding]:
    """Lines that rest on very few people."""
    few = [each.line.name for each in subject.lines
           if each.line.where != MISSING and each.gets.sum() < FEW]  # fmt: skip
    if few and len(subject.sample) >= 10 * FEW:
        others = f" and {len(few) - 1} more" if len(few) > 1 else ""
        yield Finding(
            name="a line for very few",
            level="look",
            text=f"{few[0]}{others}: fewer than {FEW} people here have the points",
            todo="What is known of so few is mostly chance: strike it, or merge the category.",
        )


def idle(subject: Subject) -> Iterator[Finding]:
    """Lines without which no decision would differ."""
    if not subject.patch.strength:
        return
    found = [
        each.line.name
        for each in subject.lines
        if can_matter(subject.patch, each.line) and (each.without == subject.after).all()
    ]
    if found:
        others = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield Finding(
            name="a line that changes nothing",
            level="note",
            text=f"{found[0]}{others}: without it no decision here would differ",
            todo="Remove it: a shorter scorecard is easier to defend.",
        )


def out_of_reach(patch: Patch) -> Iterator[Finding]:
    """Points that change no decision whatever else a person has: they are too few."""
    dead = [line.name for line in patch.lines if not can_matter(patch, line)]
    if dead:
        others = f" and {len(dead) - 1} more" if len(dead) > 1 else ""
        yield Finding(
            name="points that are never enough",
            level="note",
            text=f"{dead[0]}{others}: with the points of all other columns it is not enough to "
            "change a decision",
            todo="It can be struck: nobody's decision depends on it.",
        )


def _get(line: Line) -> str:
    return "earn its points" if line.points > 0 else "lose points by it"


def _categories(column: Column, held: Columns) -> Field:
    """Every category of a column by itself."""
    values, _ = held.codes(column)
    return Field(column, categories=tuple((v,) for v in values if v not in (None, "")))


def _by_label(y: Ints, who: Bools) -> Floats:
    return np.array([np.sum(y[who] == label) for label in (0, 1)], np.float64)


def _bins(part: RangesWeight) -> tuple[Floats, Floats]:
    """Where the bins of a number begin, and the points in each; 0 between two ranges."""
    ends = [end for r in part.quantities for end in (r.at_least, r.below) if end is not None]
    edges = np.unique(np.array(ends, np.float64))
    first = np.nextafter(edges[:1], -np.inf) if len(edges) else np.zeros(1)
    return edges, ranges_term(part, np.append(first, edges))  # a number of each bin
