"""How far a table and its scores are from those that the patch was learned for.

One query for any engine, and as SQL for whoever has only a database: shares at the fingerprint's
edges and f's mean score between them, now against then. What each figure means, and from where on
it is noticed or refused, is in ``LIMITS``.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Floats
from fairpatch._tools.extras import row_of
from fairpatch._tools.hints import hint
from fairpatch._tools.verdict import Verdict
from fairpatch.decision import LARGEST_SCORE
from fairpatch.identity.fingerprint import codes_of, likeness, probe_distance, step_of
from fairpatch.inputs.base import BaseModel
from fairpatch.inputs.past_decisions import given_score, none_expr
from fairpatch.patch.column_types import check_types, with_gaps
from fairpatch.patch.columns import Columns
from fairpatch.patch.expressions import in_scope_table
from fairpatch.patch.learned import ColumnPrint, Fingerprint
from fairpatch.patch.model import Patch
from fairpatch.patch.terms import LARGEST

# The figures by which a table is compared with the one of the fit: sums, and what follows of them.
#
# Sums are counted by numpy, or by one query in an engine. What follows of them is written once, for
# numbers and for expressions alike.

ENOUGH = 0.04
"""Where people's mean scores differ less than this (sum of squares), likeness is not judged."""
FEW = 100
"""Fewer people than this are not compared with others by their mean score."""
HARDLY = 0.05
"""Of those who had a category, the share who have it now: fewer are none."""
MIRRORED = 3.0
"""Times nearer to the scores turned round than to the scores, from where on they are those."""
SPREAD = 1.2
"""Four times the spread of a score: a mean of n is off by more than 1.2 / sqrt(n) hardly ever."""


class Expressions:
    """Arithmetic on columns of sums, inside an engine."""

    def of(self, name: str) -> Any:
        """A sum."""
        return nw.col(name).cast(nw.Float64)

    def highest(self, values: list[Any]) -> Any:
        """The largest of some."""
        apart = [value.abs() for value in values]
        return nw.max_horizontal(*apart) if len(apart) > 1 else apart[0]

    def where(self, condition: Any, value: Any, otherwise: float) -> Any:
        """One or the other."""
        return nw.when(condition).then(value).otherwise(nw.lit(otherwise))


@dataclass(frozen=True)
class Numbers:
    """The same arithmetic on sums that are at hand."""

    sums: dict[str, float]

    def of(self, name: str) -> Any:
        """A sum."""
        return float(self.sums[name])

    def highest(self, values: list[Any]) -> Any:
        """The largest of some."""
        return max(map(abs, values))

    def where(self, condition: Any, value: Any, otherwise: float) -> Any:
        """One or the other."""
        return value if condition else otherwise


Algebra = Expressions | Numbers


def sums_of_rows(known: Fingerprint, patch: Patch, held: Columns, p: Floats) -> dict[str, float]:
    """The same sums of rows in memory."""
    sums = {"n": float(len(p)), "p": float(p.sum())}
    sums |= {f"s{i}": float((p <= edge).sum()) for i, edge in enumerate(known.edges)}
    columns = {column.name: column for column in patch.columns}
    for j, print_ in enumerate(known.columns):
        column = columns[print_.column]
        if print_.categories or column.kind == "category":
            categories, code = codes_of(held, column)
            at = {category: i for i, category in enumerate(categories)}
            there = code != at.get(None, -1)
            places = [code == at.get(category, -2) for category in print_.categories]
        else:
            x = held.values(column)
            there = x <= LARGEST
            places = [x <= edge for edge in print_.edges]
        sums[f"m{j}"] = float(there.sum())
        for i, here in enumerate(places):
            sums[f"c{j}_{i}"], sums[f"p{j}_{i}"] = float(here.sum()), float(p[here].sum())
    return sums


def sums_of_table(known: Fingerprint, frame: Any, p: nw.Expr) -> Any:
    """All that is counted, as one row: people, shares at the edges, sums of scores between them."""
    frame = frame.filter(~p.is_null() & (p >= 0.0) & (p <= 1.0))
    sums = {"n": nw.len(), "p": p.sum()}
    sums |= {f"s{i}": _count(p <= edge) for i, edge in enumerate(known.edges)}
    for j, print_ in enumerate(known.columns):
        for i, here in enumerate(_places(print_)):
            sums[f"c{j}_{i}"] = _count(here)
            sums[f"p{j}_{i}"] = nw.when(here).then(p).otherwise(nw.lit(0.0)).sum()
        sums[f"m{j}"] = _count(_known(print_))
    return frame.select(**sums)


def figures_of(known: Fingerprint, a: Algebra) -> dict[str, Any]:
    """Every figure of ``LIMITS`` by its name, and the likeness."""
    n = at_least_one(a.of("n"), a)
    figures: dict[str, Any] = {"people": a.of("n")}
    if known.edges:
        figures["score_distance"] = a.highest(
            [a.of(f"s{i}") / n - share for i, share in enumerate(known.shares)]
        )
    for j, print_ in enumerate(known.columns):
        figures |= _of_column(j, print_, n, known.people, a)
    figures["likeness"] = _likeness(known, a)
    if known.edges and "score_distance" in figures:
        turned = [a.of(f"s{i}") / n - share for i, share in enumerate(_turned_shares(known))]
        apart, far = figures["score_distance"], LIMITS["score_distance"][0] * 2
        as_it_is = (a.highest(turned) * MIRRORED >= apart) | (apart <= far) | (a.of("n") < FEW)
        figures["likeness"] = a.where(as_it_is, figures["likeness"], -1.0)
    return figures


def _turned_shares(known: Fingerprint) -> list[float]:
    """What the shares at the edges would be if each score were 1 less itself, by straight lines."""
    x, y = [0.0, *known.edges, 1.0], [0.0, *known.shares, 1.0]
    return [float(1.0 - np.interp(1.0 - edge, x, y)) for edge in known.edges]


def _of_column(j: int, print_: ColumnPrint, n: Any, people: int, a: Algebra) -> dict[str, Any]:
    there = at_least_one(a.of(f"m{j}"), a)
    counts = [a.of(f"c{j}_{i}") for i in range(len(print_.shares))]
    figures = {f"gaps of {print_.column}": 1.0 - a.of(f"m{j}") / n - print_.missing}
    if print_.categories:
        seen = reduce(lambda x, y: x + y, counts) / there
        unseen = 1.0 - print_.others - seen
        figures[f"unseen of {print_.column}"] = unseen
        gone = [
            a.where((c <= HARDLY * share * there) & (unseen >= share / 2), share, 0.0)
            for c, share in zip(counts, print_.shares, strict=True)
        ]
        figures[f"renamed of {print_.column}"] = a.highest(gone)
    if counts:
        apart = [c / there - share for c, share in zip(counts, print_.shares, strict=True)]
        figures[f"distance of {print_.column}"] = a.highest(apart)
    shifts = []
    for (size, mean, then), then_size in zip(
        _bands(j, print_, a), _sizes(print_, people), strict=True
    ):
        if then is None or then_size < FEW:
            continue
        chance = at_least_one(size, a) ** -0.5 * SPREAD + SPREAD * then_size**-0.5
        beyond = a.highest([mean - then]) - chance
        shifts.append(a.where((size >= FEW) & (beyond > 0.0), beyond, 0.0))
    if shifts:
        figures[f"shift of {print_.column}"] = a.highest(shifts)
    return figures


def _likeness(known: Fingerprint, a: Algebra) -> Any:
    """Slope of people's mean scores now on those then: sum (now - p)(then - q) / sum (then - q)^2.

    Bands of few people are left out of both sums.
    """
    p = a.of("p") / at_least_one(a.of("n"), a)
    up, down = p * 0.0, p * 0.0 + 1e-9
    for j, print_ in enumerate(known.columns):
        for size, mean, then in _bands(j, print_, a):
            if then is not None:
                away = then - known.mean
                up = up + a.where(size >= FEW, (mean - p) * away, 0.0)
                down = down + a.where(size >= FEW, p * 0.0 + away**2, 0.0)
    return a.where(down > ENOUGH, up / down, 1.0)


def _bands(j: int, print_: ColumnPrint, a: Algebra) -> Iterator[tuple[Any, Any, float | None]]:
    """Of each band: people, f's mean score now, and then."""
    for i, then in enumerate(print_.means):
        size, total = a.of(f"c{j}_{i}"), a.of(f"p{j}_{i}")
        if print_.edges and i:
            size, total = size - a.of(f"c{j}_{i - 1}"), total - a.of(f"p{j}_{i - 1}")
        yield size, total / at_least_one(size, a), then


def at_least_one(size: Any, a: Algebra) -> Any:
    """At least one: a band of nobody is divided by it all the same."""
    return a.where(size > 0, size, 1.0)


def _sizes(print_: ColumnPrint, people: int) -> list[float]:
    """How many people each band had then."""
    before = (0.0, *print_.shares[:-1]) if print_.edges else (0.0,) * len(print_.shares)
    there = people * (1 - print_.missing)
    return [there * (b - a) for a, b in zip(before, print_.shares, strict=True)]


def _places(print_: ColumnPrint) -> list[nw.Expr]:
    """Who is at most each edge; or has each category."""
    if print_.categories:
        return [nw.col(print_.column) == category for category in print_.categories]
    x = nw.col(print_.column).cast(nw.Float64)
    return [x <= edge for edge in print_.edges]


def _known(print_: ColumnPrint) -> nw.Expr:
    if print_.edges:
        x = nw.col(print_.column).cast(nw.Float64)
        return ~x.is_null() & (x <= LARGEST)
    return ~nw.col(print_.column).is_null()


def _count(here: nw.Expr) -> nw.Expr:
    return nw.when(here).then(nw.lit(1)).otherwise(nw.lit(0)).sum()


# How far a table and its scores are from those that the patch was learned for.

Severity = Literal["notice", "refuse"]
LIMITS: dict[str, tuple[float, float]] = {
    "score_distance": (0.05, 0.15),
    "distance": (0.1, 0.5),
    "unseen": (0.01, 0.25),
    "renamed": (0.01, 0.01),
    "gaps": (0.05, 0.5),
    "shift": (0.05, 0.1),
    "probe": (1e-4, 0.05),
}
"""Of each figure: noticed from here, refused from there, beyond what chance gives.

score_distance, distance
    Largest difference of the share of people at most an edge (Kolmogorov's), of the score and of a
    column: another population, other units.
unseen, gaps
    More people than then with a category that was never seen, and with no value.
renamed
    The share then of a category that hardly anybody has now, while as many have an unknown one.
shift
    Largest difference of f's mean score of people alike in a column: another model.
probe
    Largest difference of f's scores of made-up people: another model, for certain.
"""
BY_CHANCE = ("score_distance", "distance", "gaps")
"""Figures from which chance is taken off by the number of people."""
TURNED, UNLIKE = -0.3, 0.3
"""Likeness: 1 is as then. Below the first the score points the other way, below the second it has
little to do with the one then."""
CHANCE = 1.63
"""Kolmogorov's distance of two samples of n and m is above 1.63 sqrt(1/n + 1/m) once in 100."""


TOO_FEW = 30
"""Fewer people are not compared: chance alone makes them unlike."""
IfUnlike = Literal["refuse", "warn", "ignore"]
SCORE = "fairpatch_base_score"
INSTEAD = "If that is expected, set if_unlike='warn'; otherwise learn a patch for this model"
INSTEAD_SHELL = "If that is expected, add --if-unlike warn; otherwise learn a patch for this model"


class OtherModelError(ValueError):
    """The scores or the columns are not those that the patch was learned for."""

    exit_code = Verdict.OTHER_MODEL.exit_code
    """Of a command that ends with it."""


class OtherModelWarning(UserWarning):
    """The scores or the columns differ a little from those that the patch was learned for."""


@dataclass(frozen=True)
class Finding:
    """One thing that differs."""

    severity: Severity
    what: str
    """The score, or a column."""
    figure: str
    value: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Comparison:
    """What differs between a table and the one that the patch was learned on."""

    people: int
    findings: tuple[Finding, ...]

    def warn_refused(self) -> None:
        """Warn of what ``apply`` refuses: whoever predicts may have changed rows on purpose."""
        if self.refused:
            warnings.warn(f"{self}. apply refuses such a table", OtherModelWarning, stacklevel=4)

    @property
    def refused(self) -> bool:
        """Whether the patch should not be applied."""
        return any(f.severity == "refuse" for f in self.findings)

    def __str__(self) -> str:
        if not self.findings and self.people < TOO_FEW:
            return f"{self.people} people are too few to compare"
        if not self.findings:
            return f"{self.people:,} people look like those that the patch was learned on"
        return "; ".join(map(str, self.findings))

    def __add__(self, other: "Comparison") -> "Comparison":
        return Comparison(max(self.people, other.people), (*self.findings, *other.findings))

    def act(self, if_unlike: IfUnlike) -> "Comparison":
        """Refuse or warn, as it is asked for; gives itself."""
        check.one_of("if_unlike", if_unlike, get_args(IfUnlike))
        if not self.findings or if_unlike == "ignore":
            return self
        if self.refused and if_unlike == "refuse":
            raise OtherModelError(f"{self}. {hint(INSTEAD, INSTEAD_SHELL)}")
        warnings.warn(str(self), OtherModelWarning, stacklevel=3)
        return self


def compare_rows(patch: Patch, X: Any, scores: Floats) -> Comparison:
    """Compare rows in memory with f's scores of them."""
    known = patch.fingerprint
    if known is None:
        return Comparison(0, ())
    return _judged(known, sums_of_rows(known, patch, Columns.of(X), np.asarray(scores)))


def compare_model(patch: Patch, base: BaseModel, X: Any) -> Comparison:
    """Ask f about the made-up people of the fingerprint again."""
    value = probe_distance(patch, base, X)
    notice, refuse = LIMITS["probe"]
    if value is None or value <= notice:
        return Comparison(0, ())
    text = (
        f"this is another model than the one that the patch was learned for: its scores of made-up "
        f"people differ by up to {value:.2g}"
    )
    severity: Severity = "refuse" if value > refuse else "notice"
    return Comparison(0, (Finding(severity, "score", "probe", value, text),))


def compare(patch: Patch, table: Any, score: str) -> Comparison:
    """Compare a table that has f's probability as a column: one scan, where it lies."""
    known = patch.fingerprint
    if known is None:
        return Comparison(0, ())
    frame = nw.from_native(in_scope_table(patch.scope, table))
    frame = with_gaps(patch, frame)
    check_types(patch, frame.collect_schema())
    if patch.decision.knocks_out and not isinstance(frame, nw.DataFrame):
        frame = frame.filter(~none_expr(given_score(patch.decision, score)))
    if isinstance(frame, nw.DataFrame):
        p = np.asarray(frame[score].cast(nw.Float64).to_numpy(), np.float64)
        p = patch.decision.compared(p)
        known = np.abs(p) < LARGEST_SCORE if patch.decision.in_points else (p >= 0) & (p <= 1)
        some = frame.filter(known.tolist()).to_native()
        return compare_rows(patch, some, likeness(patch.decision, p[known]))
    row = row_of(
        sums_of_table(known, frame, likeness(patch.decision, given_score(patch.decision, score)))
    )
    return _judged(known, {name: _number(value) for name, value in row.items()})


def figures(patch: Patch, known: Fingerprint, table: Any, score: str) -> Any:
    """One row: people, and every figure by its name. The engine works it out."""
    sums = sums_of_table(
        known,
        nw.from_native(table).lazy(),
        likeness(patch.decision, given_score(patch.decision, score)),
    )
    return sums.select(**figures_of(known, Expressions())).to_native()


def _judged(known: Fingerprint, sums: dict[str, float]) -> Comparison:
    people = int(sums.get("n") or 0)
    if not people:
        return Comparison(0, ())
    figures = {name: _number(value) for name, value in figures_of(known, Numbers(sums)).items()}
    return Comparison(people, tuple(_findings(known, figures)))


def with_verdict(known: Fingerprint, figures: Any) -> Any:
    """The figures with one word before them: alike, notice or refuse."""
    frame = nw.from_native(figures)
    names = frame.collect_schema().names()
    n = at_least_one(nw.col("people").cast(nw.Float64), Expressions())
    noticed, refused = nw.lit(False), nw.col("likeness") < UNLIKE
    for name in names:
        figure = name.partition(" of ")[0]
        if figure not in LIMITS:
            continue
        value = nw.col(name) if figure == "unseen" else nw.col(name).abs()
        least, most = LIMITS[figure]
        beyond = value - _noise(figure, n, known)
        noticed, refused = noticed | (beyond > least), refused | (beyond > most)
    noticed, refused = noticed & (n >= TOO_FEW), refused & (n >= FEW)
    fine = nw.when(noticed).then(nw.lit("notice")).otherwise(nw.lit("alike"))
    severity = nw.when(refused).then(nw.lit("refuse")).otherwise(fine)
    return frame.with_columns(severity.alias("verdict")).select("verdict", *names).to_native()


def _noise(figure: str, n: Any, known: Fingerprint) -> Any:
    """What chance gives among n people, a number or an expression."""
    if figure in BY_CHANCE:
        return (1.0 / n + 1.0 / known.people) ** 0.5 * CHANCE + step_of(known.people) / 2
    return (0.01 / n) ** 0.5 * 3.0 if figure == "unseen" else 0.0


def _number(value: Any) -> float:
    """A figure; one of nobody (0 / 0) is nothing."""
    number = float("nan") if value is None else float(value)
    return number if number == number else 0.0  # noqa: PLR0124 NaN


def _findings(known: Fingerprint, row: dict[str, float]) -> Iterator[Finding]:
    n = int(row.get("people") or 0)
    if n < TOO_FEW:
        return
    if row["likeness"] < TURNED:
        yield Finding(
            "refuse", "score", "likeness", row["likeness"],
            "the score is reversed: people who scored high when the patch was learned now score "
            "low. Is it the probability of the other label?",
        )  # fmt: skip
        return
    units = max((v for k, v in row.items() if k.startswith("distance of ")), default=0.0)
    if row["likeness"] < UNLIKE and units < LIMITS["distance"][1] + _noise("distance", n, known):
        yield Finding(
            "refuse", "score", "likeness", row["likeness"],
            "similar people score differently than when the patch was learned, as if at random: "
            "another model, or scores of other people",
        )  # fmt: skip
        return
    shifts = {name: value for name, value in row.items() if name.startswith("shift of ")}
    most = max(shifts, key=lambda name: shifts[name], default=None)
    for name, value in row.items():
        figure, _, column = name.partition(" of ")
        if figure not in LIMITS or (figure == "shift" and name != most):
            continue
        notice, refuse = (limit + _noise(figure, n, known) for limit in LIMITS[figure])
        if abs(value) > notice if figure != "unseen" else value > notice:
            severity: Severity = "refuse" if abs(value) > refuse and n >= FEW else "notice"
            yield Finding(severity, column or "score", figure, value, _text(figure, column, value))


def _text(figure: str, column: str, value: float) -> str:
    texts = {
        "score_distance": f"the score distribution differs from the one that the patch was learned "
        f"for (distance {value:.2f}): another model, or other people",
        "distance": f"{column!r} is not distributed as when the patch was learned (distance "
        f"{value:.2f}): other units, or other people",
        "unseen": f"{value:.1%} more people than when the patch was learned have a category of "
        f"{column!r} that it does not know",
        "renamed": f"a category of {column!r} that {value:.1%} of the people had is gone, and as "
        "many have one that the patch does not know: renamed, or written otherwise?",
        "gaps": f"{abs(value):.1%} {'more' if value > 0 else 'fewer'} people have no {column!r}",
        "shift": f"people alike in {column!r} have other scores than when the patch was learned "
        f"(by up to {value:.2f}): another model",
    }
    return texts[figure]
