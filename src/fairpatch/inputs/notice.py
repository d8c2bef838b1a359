"""What a table seems to be, where nobody said so: noticed, with its evidence, and asked for.

A row that is one of a person's several, a group called "Decline to state", a column that was filled
after the decision: each gives figures that look right. So a fit, an audit or a certificate does not
go on until it is said; ``fairpatch init`` asks the same questions and writes the answers down.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.extras import row_of
from fairpatch._tools.hints import hint
from fairpatch.inputs import vocabulary as words
from fairpatch.inputs.roles import EVERY, Roles
from fairpatch.inputs.values import Value, factorize

SEEN = 20_000
"""Rows that are looked at."""
SOME, SHARE = 10, 0.005
"""Rows, and a share of them: what is rarer is not asked about."""
ENOUGH = 50
"""People on each side of what is compared."""
FEW_VALUES = 50
"""Values of a column that may be words for what was decided."""
FEW, MANY = 3, 1_000
"""Values of a column that may be dates, at least; and so many of them are looked at."""
ALIKE = 0.95
"""Of ranks, the correlation from which on a number is the score once more."""
NONE, APART, HALF, MOST, ALL = 0.02, 0.15, 0.5, 0.75, 0.98
"""Shares: of hardly anybody, of clearly more on one side, of half, of most, of nearly everybody."""


@dataclass(frozen=True)
class Question:
    """One thing that has to be said of a table before its figures can be right."""

    role: str
    """Which role, or which part of the decision, says it."""
    column: str
    evidence: str
    """What was seen, and what is wrong with it."""
    say: str
    """What is asked."""
    python: str
    """How it is said in Python."""
    yaml: str
    """How it is said in a configuration."""
    proposed: Any = None
    """What is probably the answer: what the role would hold, where that can be guessed."""
    seen: str = ""
    """The evidence in short, for a comment."""

    def __str__(self) -> str:
        return f"{self.evidence} {self.say} {hint(self.python, self.yaml)}"


class UnsaidError(ValueError):
    """Something about a table has to be said first; ``questions`` are what."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        numbered = [f"{i}. {q}" for i, q in enumerate(questions, 1)]
        many = len(questions)
        first = "One thing" if many == 1 else f"{many} things"
        lines = [str(questions[0])] if many == 1 else numbered
        super().__init__(f"{first} about this table must be said first:\n" + "\n".join(lines))


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows of a table, as questions are asked of them."""

    groups: Mapping[str, NDArray[Any]]
    """Of each sensitive feature, the values of the rows."""
    frame: Any = None
    """The same rows' columns, as a narwhals frame in memory; None where only groups are known."""
    read_by_f: Collection[str] = ()
    approved: Bools | None = None
    """Whether f approves."""
    label: NDArray[Any] | None = None
    """1 for the good outcome, 0 for the other, NaN where there is none."""
    at_threshold: Bools | None = None
    """Whose score is exactly the threshold."""
    score: Floats | None = None
    """f's score, or its log-odds."""

    @classmethod
    def of(
        cls, X: Any, groups: Mapping[str, NDArray[Any]], but: Collection[str] = (), **about: Any
    ) -> "Seen":
        """Rows in memory, without some columns; an X that is no frame has no names to ask about."""
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return cls(groups, **about)
        return cls(groups, frame.select([c for c in frame.columns if c not in but]), **about)

    @property
    def some(self) -> "Seen":
        """Some of them, from all over the table: enough to see what columns are."""
        rows = 0 if self.frame is None else len(self.frame)
        if rows <= SEEN:
            return self
        at = np.arange(0, rows, -(-rows // SEEN))

        def of(values: Any) -> Any:
            return None if values is None else values[at]

        return Seen(
            {name: values[at] for name, values in self.groups.items()}, self.frame[at],
            self.read_by_f, of(self.approved), of(self.label), of(self.at_threshold),
            of(self.score),
        )  # fmt: skip


def ask(seen: Seen, roles: Roles, decision: Any = None, *, learns: bool = False) -> None:
    """Refuse to go on while something has to be said.

    ``learns``: whether a patch will read the columns, so that it matters what they hold.
    """
    questions = list(questions_of(seen, roles, decision, learns=learns))
    if questions:
        raise UnsaidError(questions)


def questions_of(
    seen: Seen, roles: Roles, decision: Any = None, *, learns: bool = True
) -> Iterator[Question]:
    """Everything that is noticed and was not said."""
    for feature, values in seen.groups.items():
        found, code = factorize(values)
        rows = dict(zip(found, np.bincount(code, minlength=len(found)).tolist(), strict=True))
        yield from _unknown(feature, rows, roles)
        yield from _spelled(feature, found, roles)
    if decision is not None:
        yield from _at_the_threshold(seen, decision)
    if seen.frame is None:
        return
    known = {*roles.columns, *seen.groups}
    columns = [c for c in seen.frame.columns if c not in known]
    if roles.person is None:
        yield from _person(seen, columns)
    some = seen.some if learns else seen
    for column in columns if learns else ():
        values = some.frame[column]
        yield from _date(column, values)
        if column not in seen.read_by_f:
            yield from _later(column, values, some, roles)


def _unknown(feature: str, rows: Mapping[Value, int], roles: Roles) -> Iterator[Question]:
    """Values that say that nobody knows."""
    if EVERY in roles.unknown or feature in roles.unknown:
        return
    codes = words.unknown_codes(feature, rows)
    odd = [
        (value, many)
        for value, many in rows.items()
        if value is not None
        and (value in codes if isinstance(value, int | float) else words.is_unknown(value))
    ]
    if not odd:
        return
    listed = [value for value, _ in odd]
    shown = " and ".join(f"{value!r} ({n:,} rows)" for value, n in odd[:4])
    yield Question(
        "unknown", feature,
        f"{feature!r} has {shown}, which reads like nobody knows: a group of such people is "
        "compared with the others as if it were one.",
        "Say who is of no group:",
        f"Roles(unknown={{{feature!r}: {listed!r}}}), or {{{feature!r}: []}} for a group like any "
        "other",
        f"columns: {{unknown: {{{feature}: {_yaml(listed)}}}}}, or [] for a group like any other",
        listed, f"{feature!r} has {shown}",
    )  # fmt: skip


def _spelled(feature: str, found: Sequence[Value], roles: Roles) -> Iterator[Question]:
    """One group that is written in several ways."""
    if feature in roles.spellings:
        return
    unknown = set(roles.unknown_of(feature))
    by_word: dict[str, list[str]] = {}
    for value in found:
        if isinstance(value, str) and value not in unknown and not words.is_unknown(value):
            by_word.setdefault(words.group_word(value), []).append(value)
    same = {max(written, key=len): sorted(written) for written in by_word.values()
            if len(written) > 1}  # fmt: skip
    if not same:
        return
    shown = "; ".join(" and ".join(map(repr, written[:5])) for written in same.values())
    rest = {group: [v for v in written if v != group] for group, written in same.items()}
    yield Question(
        "spellings", feature,
        f"{feature!r} is written in several ways: {shown}. Each would be a group of its own.",
        "Say which are one:",
        f"Roles(spellings={{{feature!r}: {rest!r}}})",
        f"columns: {{spellings: {{{feature}: {_yaml(rest)}}}}}",
        rest, f"{feature!r} is written in several ways: {shown}",
    )  # fmt: skip


def _at_the_threshold(seen: Seen, decision: Any) -> Iterator[Question]:
    """Scores of exactly the threshold, where nobody said what is decided there."""
    here = seen.at_threshold
    if here is None or "at_least" in decision.model_fields_set:
        return
    many = int(here.sum())
    if many < max(SOME, SHARE * len(here)) or _told_by_labels(seen, here):
        return
    at = decision.above
    yield Question(
        "at_least", "score",
        f"{many:,} of {len(here):,} scores are exactly the threshold, {at}.",
        "Is that decision 1, or 0?",
        f"Decision(at_least=True) for a model that decides 1 at {at} or more, at_least=False for "
        f"above {at}",
        f"decision: {{at_least: true}} for a model that decides 1 at {at} or more, false for above "
        f"{at}",
        None, f"{many:,} of {len(here):,} scores are exactly the threshold",
    )  # fmt: skip


def _told_by_labels(seen: Seen, here: Bools) -> bool:
    """Whether outcomes, which only the approved have, tell how the threshold itself is decided.

    It is denied: of those who score just that nobody has one, and nearly all have who score more.
    """
    if seen.label is None or seen.approved is None:
        return False
    known, above = ~np.isnan(seen.label), seen.approved & ~here
    if not above.any():
        return False
    return bool(known[above].mean() > HALF and known[here].mean() < NONE)


def _person(seen: Seen, columns: Sequence[str]) -> Iterator[Question]:
    """A column that tells people apart, and stands for several rows of each."""
    some = seen.some
    for column in columns:
        named = words.is_person(column)
        at = seen if named else some  # rows of one person may be anywhere
        values = at.frame[column]
        if not (values.dtype.is_integer() or values.dtype == nw.String) or len(values) < ENOUGH:
            continue
        _, code = factorize(values.to_numpy())
        many = np.bincount(code)
        if not _like_people(many, len(code)):
            continue
        alike = _one_group_each(at.groups, code, many > 1)
        if not (named if alike is None else alike > (HALF if named else ALL)):
            continue
        yield _of_persons(column, len(many), len(code), int(many.max()))
        return


def _of_persons(column: str, persons: int, rows: int, most: int) -> Question:
    return Question(
        "person", column,
        f"{column!r} has {persons:,} values in {rows:,} rows, up to {most:,} rows of one. Rows of "
        "one person are not independent of each other: every interval would be too short.",
        "If they are, say",
        f"Roles(person={column!r}); or Roles(exclude=[{column!r}]) where it is no person's number",
        f"columns: {{person: {column}}}; or exclude it where it is no person's number",
        column, f"{persons:,} values in {rows:,} rows, up to {most:,} rows of one",
    )  # fmt: skip


def ask_table(table: Any, roles: Roles, but: Collection[str] = ()) -> None:
    """The same question of a table in an engine, of columns named as a person's number is."""
    if roles.person is not None:
        return
    frame = nw.from_native(table).lazy()
    known = {*roles.columns, *but}
    names = [n for n in frame.collect_schema().names() if n not in known and words.is_person(n)]
    for name in names:
        of_each = frame.filter(~nw.col(name).is_null()).group_by(name).agg(n=nw.len())
        found = of_each.select(
            persons=nw.len(), rows=nw.col("n").sum(), most=nw.col("n").max(),
            several=(nw.col("n") > 1).cast(nw.Int64).sum(),
        )  # fmt: skip
        n = {what: int(v or 0) for what, v in row_of(found).items()}
        if _enough_people(n["persons"], n["rows"], n["several"]):
            raise UnsaidError([_of_persons(name, n["persons"], n["rows"], n["most"])])


def _like_people(many: Any, rows: int) -> bool:
    """Whether so many rows of each value may be those of people with several."""
    return _enough_people(len(many), rows, int((many > 1).sum()))


def _enough_people(persons: int, rows: int, several: int) -> bool:
    return persons >= max(ENOUGH, 0.01 * rows) and persons < ALL * rows and several >= SOME


def _one_group_each(groups: Mapping[str, NDArray[Any]], code: Any, several: Bools) -> float | None:
    """Of the values with several rows, the share whose rows are all of one group."""
    shares = []
    for values in groups.values():
        _, group = factorize(values)
        low, high = np.full(len(several), np.iinfo(np.int64).max), np.full(len(several), -1)
        np.minimum.at(low, code, group)
        np.maximum.at(high, code, group)
        shares.append(float((low == high)[several].mean()))
    return min(shares, default=None)


def _date(column: str, values: Any) -> Iterator[Question]:
    """Numbers or texts that are days, months or years: they mean another thing every month."""
    how = date_like(column, values)
    if how is None:
        return
    yield Question(
        "date", column,
        f"{column!r} looks like {how}: points for it would mean something else every month.", "Say",
        f"Roles(date={column!r}) where it is when somebody was decided, or "
        f"Roles(exclude=[{column!r}])",
        f"columns: {{date: {column}}} where it is when somebody was decided, or exclude it",
        column, how,
    )  # fmt: skip


def date_like(column: str, values: Any) -> str | None:
    """What kind of date a column of numbers or texts is, if so."""
    found = values.drop_nulls().unique().to_list()[:MANY]
    if len(found) < FEW:
        return None
    if values.dtype == nw.String:
        return "months" if all(map(_is_month_text, found)) else None
    if not values.dtype.is_numeric():
        return None
    known = [float(v) for v in found if v == v]  # noqa: PLR0124 no NaN
    if len(known) < FEW or not all(v.is_integer() for v in known):
        return None
    return _days(column, [int(v) for v in known])


def _days(column: str, whole: Sequence[int]) -> str | None:
    """What kind of date whole numbers are."""
    if all(190_001 <= v <= 210_012 and 1 <= v % 100 <= 12 for v in whole):
        return "months such as 202411"
    days = (1 <= v // 100 % 100 <= 12 and 1 <= v % 100 <= 31 for v in whole)
    if min(whole) >= 19_000_101 and max(whole) <= 21_001_231 and all(days):
        return "days such as 20241130"
    named = words.has_word(column, words.YEARS) and "years" not in words.words_of(column)
    return "years" if named and all(1900 <= v <= 2100 for v in whole) else None


def _is_month_text(value: Any) -> bool:
    text = str(value)
    year, dash, month = text[:4], text[4:5], text[5:]
    return len(text) == 7 and dash in "-/" and year.isdigit() and month.isdigit()


def _later(column: str, values: Any, seen: Seen, roles: Roles) -> Iterator[Question]:
    """A column that was filled after the decision: it says what was decided, or became of it."""
    why = known_later(column, values, seen)
    if why is None:
        return
    made = ""
    if "tells" in why and values.drop_nulls().n_unique() == 2 and not roles.decided:
        made = hint(
            f"; if it is the decision as it was made, Roles(decided={column!r})",
            f"; if it is the decision as it was made, {{decided: {column}}}",
        )
    yield Question(
        "known", column,
        f"{column!r} {why}.", "Was it known when people were decided? If not, say",
        f"Roles(exclude=[{column!r}]); if it was, Roles(known=[{column!r}]){made}",
        f"columns: {{exclude: [{column}]}}; if it was, {{known: [{column}]}}{made}",
        column, why,
    )  # fmt: skip


def known_later(column: str, values: Any, seen: Seen) -> str | None:
    """Why a column looks as if it were filled after the decision; None where it does not."""
    d = seen.approved
    if d is None or min(d.sum(), (~d).sum()) < ENOUGH:
        return None
    found, code = factorize(values.to_numpy())
    there = np.array([v is not None for v in found])[code]
    ours, theirs = (float(there[side].mean()) for side in (d, ~d))
    named, told = words.has_word(column, words.LATER), _tells(found, code, d)
    follows = "a name of something that follows the decision"
    if min(ours, theirs) < NONE and max(ours, theirs) > HALF:
        return f"has values for the {'approved' if ours > theirs else 'denied'} alone"
    if named and abs(ours - theirs) > APART:
        return (
            f"has values for {ours:.0%} of the approved, {theirs:.0%} of the denied, and {follows}"
        )
    # a number that orders people as the score does is its copy, which no card reads anyway
    if told >= ALL and (len(found) <= FEW_VALUES or _no_copy(values, seen.score)):
        return f"tells what was decided for {told:.1%} of people"
    if named and told >= MOST:
        return f"has {follows}, and tells what was decided for {told:.0%} of people"
    return _tells_outcome(found, code, seen.label, d, MOST if named else ALL)


def _no_copy(values: Any, score: Floats | None) -> bool:
    """Whether numbers order people otherwise than the score does, where that is known."""
    if score is None or not values.dtype.is_numeric():
        return False
    x = np.asarray(values.cast(nw.Float64).to_numpy(), np.float64)
    known = np.isfinite(x) & np.isfinite(score)
    if known.sum() < ENOUGH:
        return False
    one, other = (np.argsort(np.argsort(v[known], kind="stable")) for v in (x, score))
    return bool(abs(np.corrcoef(one, other)[0, 1]) < ALIKE)


def _tells_outcome(
    found: Sequence[Value], code: Any, label: Any, decided: Bools, enough: float
) -> str | None:
    """Whether a column says what became of people: of everybody, or of the approved."""
    if label is None:
        return None
    good, words_of = label == 1, ("people", "the approved")
    for some, who in zip((~np.isnan(label), ~np.isnan(label) & decided), words_of, strict=True):
        if min((some & good).sum(), (some & ~good).sum()) < ENOUGH:
            continue
        told = _tells(found, code[some], good[some])
        if told >= enough:
            return f"tells the outcome for {told:.0%} of {who}"
    return None


def _tells(found: Sequence[Value], code: Any, yes: Bools) -> float:
    """How well a column tells yes from no, sides counting alike: a value at a time, or by one cut.

    One half says nothing; 1 tells everybody's.
    """
    k = np.bincount(code, yes / max(yes.sum(), 1), minlength=len(found))
    n = np.bincount(code, ~yes / max((~yes).sum(), 1), minlength=len(found))
    if len(found) <= FEW_VALUES:
        return float(np.maximum(k, n).sum() / 2)
    numbers = [i for i, v in enumerate(found) if isinstance(v, int | float)]
    if len(numbers) < ALL * len(found):
        return HALF
    order = sorted(numbers, key=lambda i: float(found[i]))  # type: ignore[arg-type]
    apart = np.abs(np.cumsum(k[order] - n[order])).max(initial=0.0)
    return float(0.5 + apart / 2)


def special_codes(values: Any) -> list[int]:
    """Whole numbers that stand apart from a column's quantities: -1, 999, 9999 and the like.

    >>> special_codes(np.r_[np.arange(100.0), [-1.0] * 20, [999.0] * 20])
    [-1, 999]
    """
    x = np.asarray(values, np.float64)
    found, many = np.unique(x[np.isfinite(x)], return_counts=True)
    total = many.sum()
    if len(found) < 5:
        return []
    codes: list[int] = []
    for end in (0, -1):
        left = np.arange(len(found))
        for _ in range(5):
            at, rest = left[end], left[1:] if end == 0 else left[:-1]
            value = float(found[at])
            if len(rest) < 4 or many[at] < max(SOME, 0.003 * total):
                break
            if not value.is_integer() or not _stands_apart(value, found[rest], many[rest]):
                break
            codes.append(int(value))
            left = rest
    return sorted(codes)


def _stands_apart(value: float, others: Floats, many: Any) -> bool:
    """Whether a number is below zero where no other is, or nines far above all others."""
    if value < 0:
        apart = others[others > value]
        return bool(apart.min() >= 0 or set(str(int(-apart.min()))) <= {"9", "8", "7"})
    digits = str(int(value))
    coded = set(digits[:-1] or digits) == {"9"} or set(digits) in ({"8"}, {"7"})
    order = np.cumsum(many) / many.sum()
    low, high = (others[min(int(np.searchsorted(order, q)), len(others) - 1)] for q in (0.1, 0.9))
    return bool(coded and value >= 9 and value - others.max() > max(high - low, 0.0))


def _yaml(value: Any) -> str:
    """A value as YAML has it on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml(k)}: {_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    return str(value) if isinstance(value, int | float) else f"{value!r}".replace("\\\\", "\\")
