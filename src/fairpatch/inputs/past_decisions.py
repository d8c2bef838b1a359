"""What a row says of f: its score, where it has one, and decisions as they were made.

A table often has both. Where they differ, somebody overrules the score, decides a score of exactly
the threshold otherwise, or the threshold is another: every figure of the score's decisions is then
of decisions that nobody made. So they are compared and counted, never taken for each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.extras import rows_of
from fairpatch._tools.hints import did_you_mean, hint
from fairpatch._tools.smallest_count import too_few
from fairpatch.decision import LARGEST_SCORE, Cut, Cuts, Decision, text_of
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.values import Value, factorize, plain
from fairpatch.inputs.vocabulary import DENIED, FAVOURED, says

# f's score as a column of a table: what it says, and of whom there is none.

DECIMALS = 9
"""Of the scores that bands end at."""
LARGEST = float(np.finfo(np.float64).max)
NUMBERS = (int, float, Decimal, np.number, np.bool_)


def given_score(decision: Decision, score: str) -> nw.Expr:
    """f's score from its column, as thresholds are given: a probability, or points."""
    given: nw.Expr = decision.compared(nw.col(score).cast(nw.Float64))
    return given


def score_column(X: Any, name: str) -> Any:
    """f's score from its column of a frame in memory; what is no number is refused."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"estimator={name!r} names a score column, so X must be a frame that has it; "
            f"got {type(X).__name__}"
        )
    if name not in frame.columns:
        raise KeyError(
            f"no score column {name!r} in X; its columns are {frame.columns}"
            + did_you_mean(name, map(str, frame.columns))
        )
    held, kind = frame[name], frame[name].dtype
    number = kind.is_numeric() or kind in (nw.Boolean, nw.Object)
    if not number and len(held.drop_nulls()):
        what = "text" if kind == nw.String else str(kind).partition("(")[0].lower()
        raise TypeError(f"score column {name!r} must be numbers; got {what}. Convert it first")
    if kind == nw.Object:
        odd = next((v for v in held.to_list() if not isinstance(v, NUMBERS)), None)
        if odd is not None and plain(odd) is not None:
            raise TypeError(f"score column {name!r} must be numbers; got {odd!r}. Convert it first")
    return held.to_numpy()


def of_labels(answers: Any, decision: Decision) -> Any:
    """Scores of a text classifier's answers: of each row one label with its score, or all of them.

    >>> of_labels([{"label": "yes", "score": 0.9}, {"label": "no", "score": 0.7}],
    ...            Decision(positive="yes")).round(1).tolist()
    [0.9, 0.3]
    """
    first = answers[0] if isinstance(answers, list) and answers else None
    answer = first[0] if isinstance(first, list) and first else first
    if not (isinstance(answer, dict) and {"label", "score"} <= set(answer)):
        return answers
    each = [a if isinstance(a, list) else [a] for a in answers]
    labels = sorted({str(a["label"]) for of_row in each for a in of_row})
    one = 1 if decision.positive is None else decision.positive
    names = {text_of(one), f"LABEL_{one}"}
    positive = [label for label in labels if label in names]
    if not positive or len(labels) > 2:
        raise ValueError(
            f"the base model answers with the labels {', '.join(map(repr, labels))}, and decision "
            f"1 is {one!r}: give the probability of the one that is meant, such as "
            f"lambda X: [a['score'] if a['label'] == {labels[-1]!r} else 1 - a['score'] "
            "for a in model(X)]"
        )

    def of_positive(of_row: list[dict[str, Any]]) -> float:
        for a in of_row:
            if str(a["label"]) in names:
                return float(a["score"])
        return 1.0 - float(of_row[0]["score"])

    return np.array([of_positive(of_row) for of_row in each], np.float64)


# Bands of the score end at round scores, and every engine compares the score as it was given.


def round_score(score: Any) -> Any:
    """A score as the end of a band may be: so many decimals, and the nearest double."""
    return np.round(score, DECIMALS)


def told_apart(scores: Floats, log_odds: Callable[[Floats], Floats]) -> Floats:
    """Log-odds that lie beside those of a round score where the score itself does.

    Bands end at round scores, and every engine compares the score as it was given: 1 - 0.89 is
    below 0.11, and its log-odds, rounded, are not.
    """
    values, near = log_odds(scores), round_score(scores)
    at = log_odds(near)
    told = at != log_odds(near + np.sign(near - 0.5) * 10.0**-DECIMALS)  # not clipped
    values = np.where(told & (scores < near) & (values >= at), np.nextafter(at, -np.inf), values)
    return np.where(told & (scores > near) & (values <= at), np.nextafter(at, np.inf), values)


def beyond(cuts: Cuts, by: float) -> Cuts:
    """Scores so far from each threshold: round ones, the same in every engine."""
    at = [Cut(value=c.value, threshold=float(round_score(c.threshold + by))) for c in cuts.at]
    return cuts.model_copy(update={"at": tuple(at)})


def known_expr(decision: Decision, score: nw.Expr) -> nw.Expr:
    """Whether that is a score; null where there is none, or the row has no threshold."""
    if decision.in_points:
        known: nw.Expr = (score > -LARGEST_SCORE) & (score < LARGEST_SCORE)
    else:
        known = (score >= 0.0) & (score <= 1.0)
    cuts = decision.cuts
    return known if cuts is None else known & ~cuts.expr().is_null()


def none_expr(score: nw.Expr) -> nw.Expr:
    """Whether a row has no score at all, which is another thing than one that is no score."""
    # NaN is unlike itself, or above all numbers, which no score is
    missing: nw.Expr = score.is_null() | ~((score <= LARGEST) & (score >= -LARGEST))
    return missing


def has_decision_expr(decision: Decision, score: nw.Expr) -> nw.Expr:
    """Whether f decides at all: there is a score, or a knock-out where those are denials."""
    known = known_expr(decision, score)
    if not decision.knocks_out:
        return known
    decided: nw.Expr = nw.when(none_expr(score)).then(nw.lit(value=True)).otherwise(known)
    return decided


def denied_if_none(decision: Decision, score: nw.Expr, decided: nw.Expr) -> nw.Expr:
    """A decision, 1 or 0 as f's, which is the unfavourable one of somebody without a score."""
    if not decision.knocks_out:
        return decided
    return nw.when(none_expr(score)).then(nw.lit(not decision.favourable)).otherwise(decided)


def threshold_expr(decision: Decision) -> Any:
    """The threshold: one number, or an expression of each row's own."""
    cuts = decision.cuts
    return decision.cut if cuts is None else cuts.expr()


# Decisions as they were made, beside those that the score says.

ENOUGH = 50
"""Decisions that are enough to see that they are turned round."""
NOBODY = -1
"""A row of which no decision is known."""


def favoured_word(roles: Roles, found: Sequence[Value], favourable: int) -> Value:
    """Which of two words is the favourable decision: as said, as 1 or 0, or by what it means."""
    column = roles.decided_column
    words = sorted({v for v in found if v is not None and v != ""}, key=str)
    said = None if column is None else roles.decided[column]
    if len(words) > 2:
        raise ValueError(
            f"column {column!r} has the decisions {', '.join(map(repr, words[:6]))}: there must be "
            "two. Write a knock-out as the denial that it is, and empty those that are neither, "
            "such as withdrawn applications"
        )
    if said is not None:
        match = [v for v in words if str(v) == str(plain(said))]
        if words and not match:
            raise ValueError(
                f"no decision in {column!r} is {said!r}; they are {', '.join(map(repr, words))}"
            )
        return match[0] if match else None
    numbers = {str(v).casefold() for v in words}
    if numbers <= {"0", "1"} or numbers <= {"true", "false"}:
        ones = ("1", "true") if favourable else ("0", "false")
        return next((v for v in words if str(v).casefold() in ones), None)
    bad = [v for v in words if says(v, DENIED)]
    good = [v for v in words if says(v, FAVOURED) and v not in bad]
    if len(good) == 1 and len(bad) == len(words) - 1:
        return good[0]
    raise ValueError(
        f"which of {' and '.join(map(repr, words))} in column {column!r} is the favourable "
        "decision? Say "
        + hint(f"Roles(decided={{{column!r}: WORD}})", f"decided: {{{column}: WORD}}")
    )


def made_in(column: str, roles: Roles) -> Roles:
    """The roles, with decisions as they were made in this column."""
    return roles if roles.decided_column == column else roles.replace(decided=column)


def made_of(values: NDArray[Any], roles: Roles, favourable: int) -> Ints:
    """1 where the decision made is the favourable one, 0 where not, -1 where there is none."""
    found, code = factorize(np.asarray(values))
    good = favoured_word(roles, found, favourable)
    known = [NOBODY if v is None or v == "" else int(v == good) for v in found]
    return np.array(known or [NOBODY], np.int64)[code]


def made_expr(table: Any, roles: Roles, favourable: int) -> nw.Expr:
    """The same of a table in an engine: true, false, or null."""
    column = roles.decided_column
    if column is None:
        raise ValueError("no column holds decisions as they were made")
    frame = nw.from_native(table).lazy()
    raw = [row[column] for row in rows_of(frame.select(column).unique().head(8))]
    good = favoured_word(roles, [plain(v) for v in raw], favourable)
    same = next((v for v in raw if v is not None and plain(v) == good), None)
    decided = nw.col(column)
    known = ~decided.is_null()
    if frame.collect_schema()[column] == nw.String:
        known = known & (decided != "")
    return nw.when(known).then(decided == same if same is not None else nw.lit(value=False))


@dataclass(frozen=True)
class Overruled:
    """How many decisions were made otherwise than the score says."""

    column: str
    rows: int
    """With a decision that is known."""
    approved: int
    """Approved, although the score denies them."""
    denied: int
    tied: int = 0
    """Of all these, those who score exactly the threshold."""

    def __post_init__(self) -> None:
        """Refuse decisions that are mostly the score's opposite: one of the two is turned round."""
        if self.rows >= ENOUGH and self.approved + self.denied > self.rows / 2:
            raise ValueError(
                f"most of the decisions in {self.column!r} are the opposite of the score's. Name "
                "the word of the favourable one, "
                + hint(
                    f"Roles(decided={{{self.column!r}: WORD}})", f"decided: {{{self.column}: WORD}}"
                )
                + "; and check the threshold, and which decision is favourable"
            )

    def __str__(self) -> str:
        """In a sentence; shares, and nothing of few people."""
        many = self.approved + self.denied
        if not many:
            return f"The decisions in {self.column!r} are those of the score."
        if too_few(many):
            return f"Few of the decisions in {self.column!r} are not those of the score."
        parts = [
            f"{k / self.rows:.1%} {word}"
            for k, word in ((self.approved, "approved against it"), (self.denied, "denied"))
            if k and not too_few(k)
        ]
        at = ""
        if self.tied > many / 2:
            at = ", most of them at exactly the threshold: say at_least"
        said = f" ({', '.join(parts)})" if parts else ""
        return (
            f"{many / self.rows:.1%} of the decisions in {self.column!r} are not those of the "
            f"score{said}{at}. What is said here is of the score's decisions."
        )


def overruled_table(
    table: Any, roles: Roles, approved: nw.Expr, at_threshold: nw.Expr, favourable: int
) -> Overruled:
    """The same of a table in an engine; ``approved`` is null where there is no score."""
    made = made_expr(table, roles, favourable)
    frame = nw.from_native(table).lazy().select(f=approved, m=made, t=at_threshold)
    both = frame.filter(~nw.col("f").is_null() & ~nw.col("m").is_null())
    rows = rows_of(both.group_by("f", "m", "t").agg(n=nw.len()))
    apart = [row for row in rows if bool(row["f"]) != bool(row["m"])]
    up, down, tied = (sum(int(row["n"]) for row in apart if row[what]) for what in ("m", "f", "t"))
    return Overruled(str(roles.decided_column), sum(int(r["n"]) for r in rows), up, down, tied)


def overruled(made: Ints, approved: Any, at_threshold: Any, column: str) -> Overruled:
    """Rows in memory: decisions as made against the score's."""
    known = made != NOBODY
    up, down = known & (made == 1) & ~approved, known & (made == 0) & approved
    tied = int(((up | down) & at_threshold).sum())
    return Overruled(column, int(known.sum()), int(up.sum()), int(down.sum()), tied)
