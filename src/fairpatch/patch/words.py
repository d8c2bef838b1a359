"""A patch as a person would want to read it: a card of points, or the paper's formula."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal, Protocol

from fairpatch._tools.tables import Table
from fairpatch.decision import Decision
from fairpatch.measure.cells import Direction, may_demote, may_promote
from fairpatch.patch.lines import Line, is_any_of, lines_of, where, within_reach, words_by_weight
from fairpatch.patch.parts import CardScale, Column, Concept, Pilot, ScoreBand, moved_by

WIDTH = 36
"""Of an attribute's words, before they go on below: with their indent no table cuts them."""
WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
NEVER = "never changed"
BETWEEN = "; "
"""Between the lines that are a reason."""
REACHED, MISSED = "as many points as needed", "fewer points than needed"
"""The reason where no line gives one."""


class Readable(Protocol):
    """What is read of a patch."""

    columns: tuple[Column, ...]
    concepts: tuple[Concept, ...]
    card: CardScale | None
    offset: float
    strength: float
    direction: Direction
    action: Literal["decide", "refer"]
    decision: Decision
    reason_codes: dict[str, str]
    pilot: Pilot | None

    @property
    def lines(self) -> Sequence[Line]:
        """Who gets how many points."""


def tables(patch: Readable) -> list[Table]:
    """A card, or the formula and one table a concept."""
    return _formula(patch) if patch.card is None else [_card(patch)]


def ordered_lines(patch: Readable) -> list[Line]:
    """A card's lines as they are printed: concept by concept, those of many points first."""
    place = {concept.name: i for i, concept in enumerate(patch.concepts)}
    return sorted(patch.lines, key=lambda line: (place[line.concept], -abs(line.points)))


@dataclass(frozen=True)
class ReasonLine:
    """A line of the card as a reason, in words or by its code."""

    text: str
    """With its points."""
    name: str
    """Without them."""
    part: Concept
    """The line alone: its points."""


def reason_lines(patch: Readable) -> list[ReasonLine]:
    """The lines as reasons, in the card's order; a code takes the place of words."""
    reasons = []
    for line in ordered_lines(patch):
        words, code = f"{line.name} ({shown(line.points)})", patch.reason_codes.get(line.name)
        reasons.append(ReasonLine(code or words, code or line.name, line.part))
    return reasons


def lacking_lines(patch: Readable) -> list[ReasonLine]:
    """Of each column what somebody lacks who loses an approval, and has no line against them.

    Nobody loses one without a reason: it is the best line of a column, where it is not their own.
    """
    if patch.card is None or not may_demote(patch.direction):
        return []
    columns, found = {column.name: column for column in patch.columns}, []
    for concept in patch.concepts:
        bare = {"numbers": (), "ranges": (), "categories": ()}
        for kind in ("ranges", "categories"):
            for part in getattr(concept, kind):
                alone = concept.model_copy(update={**bare, kind: (part,)})
                lines = [line for line in lines_of(alone, columns) if line.points > 0]
                if lines:
                    best = max(lines, key=lambda line: line.points)
                    code = patch.reason_codes.get(best.name)
                    text = f"not {best.name} ({shown(best.points)})"
                    name = f"not {code or best.name}"
                    less = moved_by(alone, -best.points)
                    found.append(ReasonLine(f"not {code}" if code else text, name, less))
    return found


def _card(patch: Readable) -> Table:
    """Every attribute of every column, those of 0 points too; then f's confidence, by its score."""
    by_column = attributes_by_column(patch)
    rows: list[list[str]] = []
    for name, listed in by_column.items():
        rows.append([name, ""])
        for words, points in listed:
            first, *more = wrap(words, WIDTH, **WHOLE_WORDS) or [""]
            rows.append([f"  {first}", shown(points)])
            rows += [[f"    {rest}", ""] for rest in more]
    bands = band_rows(patch)
    if bands:
        rows.append(["confidence of the base model", ""])
        rows += [[f"  score {words}", points] for words, points in bands]
    columns, many = len(by_column), sum(map(len, by_column.values()))
    title = f"A scorecard of {_many(columns, 'column')}, {_many(many, 'attribute')}"
    return Table(title, ["if", "points"], rows, sentences(patch))


def attributes_by_column(patch: Readable) -> dict[str, list[tuple[str, float]]]:
    """By what people call a column: its attributes and their points, as the card prints them."""
    return {
        column.words or column.name: attributes(concept, column)
        for concept in patch.concepts
        for column in patch.columns
        if column.name in concept.columns
    }


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def attributes(concept: Concept, column: Column) -> list[tuple[str, float]]:
    """What a column of the card may say of a person, and the points for it; 0 ones too."""
    listed: list[tuple[str, float]] = []
    for part in concept.ranges:
        if part.column == column.name:
            listed += [(where(r), r.weight) for r in (*part.quantities, *part.codes)]
            listed += [("missing", part.missing)] if part.missing else []
    for number in concept.numbers:
        if number.column == column.name:
            listed.append(("missing", number.missing))
    for category in concept.categories:
        if category.column == column.name:
            grouped = words_by_weight(category, column).items()
            for points, words in sorted(grouped, key=lambda pair: -pair[0]):
                listed.append((is_any_of([*words]).removeprefix("is "), points))
            listed.append(("anything else", category.other))
    return listed


def band_rows(patch: Readable) -> list[tuple[str, str]]:
    """Bands of the score and what they are worth, those nearest to the threshold first.

    Bands beyond what the card's points can overcome are one.
    """
    if patch.card is None:
        return []
    t, favourable = patch.decision.cut, bool(patch.decision.favourable)
    bands = sorted(patch.card.confidence, key=lambda band: abs(_near(band, t) - t))
    rows: list[tuple[str, str]] = []
    for denied in (True, False):
        if not (may_promote if denied else may_demote)(patch.direction):
            continue
        side = [b for b in bands if (_is_below(b, t) == favourable) == denied]
        reached = [i for i, b in enumerate(side) if within_reach(patch, b, denied=denied)]
        end = reached[-1] + 1 if reached else 0
        sign = -1.0 if denied else 1.0
        rows += [
            (_band_words(b, patch.decision), NEVER if b.points is None else shown(sign * b.points))
            for b in side[:end]
        ]
        if end < len(side):
            first, last = side[end], side[-1]
            low, high = (last, first) if _is_below(last, t) else (first, last)
            rest = ScoreBand(at_least=low.at_least, below=high.below)
            rows.append((_band_words(rest, patch.decision), NEVER))
    return rows


def _is_below(band: ScoreBand, t: float) -> bool:
    """Whether the band is on the side below the threshold."""
    return band.below is not None and band.below <= t


def _near(band: ScoreBand, t: float) -> float:
    """The band's end nearer to the threshold."""
    end = band.below if _is_below(band, t) else band.at_least
    return t if end is None else end


def _band_words(band: ScoreBand, decision: Decision) -> str:
    """A band of scores; of several thresholds, of distances to each one's own.

    >>> cuts = Decision(score_unit="points", threshold={"product": {"card": 640, "loan": 600}})
    >>> [_band_words(b, cuts) for b in (ScoreBand(at_least=-20, below=0, points=0),
    ...     ScoreBand(below=-40), ScoreBand(at_least=20, below=30, points=6))]
    ['up to 20 below the threshold', 'more than 40 below the threshold',
     '20 to 30 above the threshold']
    """
    if decision.cuts is None:
        upto = band.below == decision.cut and not decision.at_least  # who scores just that, too
        return f"{band.at_least:g} to {band.below:g}" if upto and band.at_least else where(band)
    ends = [None if end is None else abs(end) for end in (band.at_least, band.below)]
    below = _is_below(band, 0.0)
    far, near = ends if below else reversed(ends)
    side = f"{'below' if below else 'above'} the threshold"
    if far is None:
        return f"more than {near or 0:g} {side}"
    return f"{near:g} to {far:g} {side}" if near else f"up to {far:g} {side}"


def sentences(patch: Readable) -> list[str]:
    """When a decision changes, in words."""
    if patch.card is None:
        return ["A decision changes where r is below 0."]
    if not patch.strength:
        return ["The card is switched off: no decision changes."]
    yes, no = patch.decision.sides
    texts = [f"No {no} person becomes {yes}.", f"No {yes} person becomes {no}."]
    if may_promote(patch.direction):
        becomes = f"is {yes}" if patch.action == "decide" else "is referred for a second look"
        texts[0] = f"{_a(no)} person {becomes} at {_points(patch.card.approve_at)} or more."
    if may_demote(patch.direction):
        texts[1] = f"{_a(yes)} person is {no} at {_points(patch.card.deny_at)} or fewer."
    locked = [str(lock) for lock in patch.card.locked if not lock.unless]
    scope = [str(lock).removeprefix("unless ") for lock in patch.card.locked if lock.unless]
    if scope:
        texts.append(f"Only where {' and '.join(scope)}: nobody else's decision changes.")
    if locked:
        texts.append(f"Locked, never changed: {'; '.join(locked)}.")
    if patch.pilot is not None:
        texts.append(f"A pilot: it acts for {patch.pilot}; the others stay as they are.")
    return texts


def _points(n: int) -> str:
    return f"{n} point{'s' if abs(n) != 1 else ''}"


def _a(word: str) -> str:
    """A word with its article.

    >>> _a("approved"), _a("denied")
    ('An approved', 'A denied')
    """
    return f"{'An' if word[:1].lower() in 'aeiou' else 'A'} {word}"


def shown(points: float) -> str:
    """Points with their sign.

    >>> shown(20.0), shown(-3.5), shown(0.0)
    ('+20', '-3.5', '0')
    """
    return f"{points:+g}" if points else "0"


def _if_missing(weight: float) -> str:
    return f"{weight:+.3g}" if weight else ""


def _formula(patch: Readable) -> list[Table]:
    terms = "".join(f" {c.weight:+.3g} x ({c.name})" for c in patch.concepts)
    tables = [
        Table(
            f"r = 1 + {patch.strength:.3g} x ({patch.offset:.3g}{terms}); direction "
            f"{patch.direction}",
            sentences(patch),
            [],
        )
    ]
    for concept in patch.concepts:
        rows = [["everybody", "", f"{concept.intercept:+.3g}", ""]]
        rows += [
            [number.column, "each unit", f"{number.coefficient:+.3g}", _if_missing(number.missing)]
            for number in concept.numbers
        ]
        for category in concept.categories:
            listed = sorted(category.categories, key=lambda e: e.weight)
            rows += [
                [category.column, str(e.category), f"{e.weight:+.3g}",
                 _if_missing(category.missing) if e is listed[0] else ""]
                for e in listed
            ]  # fmt: skip
        header = ["column", "value", "adds", "if missing"]
        tables.append(Table(f"{concept.name} adds", header, rows))
    return tables
