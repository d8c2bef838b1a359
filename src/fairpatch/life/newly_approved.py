"""What becomes of the newly approved, against what was expected of them when the patch was signed.

Nobody had seen people below the threshold: the patch says what it expected (``patch.outlook``), and
here is what proves it. A period counts once nine of ten of its newly approved have an outcome: bad
ones show sooner than good ones, and counting those alone would cry wolf.

The claim: of n people with an outcome, no more have the bad one than expected, q on average. Bet on
every person, with stakes fixed before the period,

    e = product over people of  1 + s (bad - q),      0 < s < 1 / q

Where the claim holds, E[e] <= 1, people need not be alike, and the product over periods stays below
1 / alpha for ever with probability 1 - alpha (Ville), however often one looks. Half of alpha is for
everybody together, the other half is shared by the groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._tools.arrays import Floats
from fairpatch._tools.extras import rows_of
from fairpatch._tools.smallest_count import MIN_PEOPLE, full_tens, too_few
from fairpatch._tools.verdict import Verdict
from fairpatch.data.engine import is_engine_table
from fairpatch.data.outcomes import odds_of
from fairpatch.decision import Decision
from fairpatch.inputs.past_decisions import given_score, made_expr, made_in
from fairpatch.inputs.sensitive import sensitive_table
from fairpatch.inputs.values import plain
from fairpatch.life.history import EVERYBODY, Matured, Period
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.labels import label_expr
from fairpatch.measure.over_time import FROM_THE_START, NEVER_ALL, SINCE_LATER, STAKES
from fairpatch.patch.column_types import typed, with_gaps
from fairpatch.patch.expressions import (
    EDGE,
    above_expr,
    decision_expr,
    in_scope_table,
    points_expr,
)
from fairpatch.patch.learned import HUNDRED, Outlook
from fairpatch.patched import PatchedModel


def matured_of(
    model: PatchedModel, X: Any, y: Any, sensitive_features: Any, decided: str | None = None
) -> tuple[Matured, ...]:
    """Of a period's newly approved: how many, how many with an outcome, and what was expected."""
    if y is None or model.patch.outlook is None or model.patch.action == "refer":
        return ()
    inside = is_engine_table(X) and model.base.score_column is not None
    counted = _in_engine if inside else _in_memory
    found: dict[tuple[str, str], list[float]] = {}
    for group, row in counted(model, X, y, sensitive_features, decided):
        for who in ((EVERYBODY, EVERYBODY), *group):
            own = found.setdefault(who, [0.0] * 4)
            for i, value in enumerate(row):
                own[i] += value
    return tuple(
        Matured(
            feature=feature, group=group, people=int(n), known=int(known), bad=int(bad),
            expected=round(expected, 6),
        )
        for (feature, group), (n, known, bad, expected) in sorted(found.items())
    )  # fmt: skip


Row = tuple[float, float, float, float]
"""People, those with an outcome, the bad ones of these, and how many bad ones were expected."""


def _in_memory(
    model: PatchedModel, X: Any, y: Any, S: Any, decided: str | None
) -> Iterator[tuple[list[tuple[str, str]], Row]]:
    rows = model.rows(X, y, S)
    after = model.patch.decide(rows.X, rows.f) if decided is None else model.made(X, decided)
    new = np.flatnonzero((rows.f <= 0) & after)
    some = rows.take(new)
    if not len(some):
        return
    points = None if model.patch.card is None else model.patch.points(some.X)
    bad = 1 - model.outlook.chances(odds_of(some, model.patch.decision), points)
    known = some.y != UNKNOWN
    joint, code = some.s.joint
    for g, values in enumerate(joint):
        here = code == g
        names = _named(some.s.features, values)
        told = here & known
        yield names, (
            float(here.sum()), float(told.sum()), float((told & (some.y == 0)).sum()),
            float(bad[told].sum()),
        )  # fmt: skip


def _in_engine(
    model: PatchedModel, X: Any, y: Any, S: Any, decided: str | None
) -> Iterator[tuple[list[tuple[str, str]], Row]]:
    """By one GROUP BY of the newly approved: only sums leave the engine."""
    features = [S] if isinstance(S, str) else list(S)
    decision, score = model.patch.decision, str(model.base.score_column)
    table = sensitive_table(
        in_scope_table(model.patch.scope, X, model.base.needed_score), model.patch.roles, features
    )  # fmt: skip
    frame = with_gaps(model.patch, nw.from_native(table))
    patch = typed(model.patch, frame.collect_schema())
    label = label_expr(table, y, decision)[1]
    before, after = above_expr(patch, score), decision_expr(patch, score)
    if not decision.favourable:
        before, after = ~before, ~after
    if decided is not None:
        roles = made_in(decided, patch.roles)
        after = made_expr(table, roles, decision.favourable)
    points = None if patch.card is None else points_expr(patch).cast(nw.Float64)
    bad = 1.0 - _chance(model.outlook, patch.decision, score, points)
    counted = (
        frame.lazy()
        .filter(~before & after)
        .select(
            *features,
            fairpatch_known=nw.when(label.is_null()).then(nw.lit(0)).otherwise(nw.lit(1)),
            fairpatch_bad=nw.when(label == 0).then(nw.lit(1)).otherwise(nw.lit(0)),
            fairpatch_expected=nw.when(label.is_null()).then(nw.lit(0.0)).otherwise(bad),
        )
        .group_by(*features)
        .agg(
            nw.len().alias("fairpatch_n"),
            *(nw.col(f"fairpatch_{n}").sum() for n in ("known", "bad", "expected")),
        )
    )
    for row in rows_of(counted):
        values = tuple(plain(row[name]) for name in features)
        n, known, bads, expected = (
            float(row[f"fairpatch_{name}"]) for name in ("n", "known", "bad", "expected")
        )
        yield _named(features, values), (n, known, bads, expected)


def _named(features: Sequence[str], values: Sequence[Any]) -> list[tuple[str, str]]:
    """The groups of people with these values; a value that is missing is no group."""
    return [(f, str(v)) for f, v in zip(features, values, strict=True) if v is not None]


def _chance(outlook: Outlook, decision: Decision, score: str, points: nw.Expr | None) -> nw.Expr:
    """P(good outcome) as the patch's outlook has it, over a table (see ``patch.outlook``)."""
    s = given_score(decision, score)
    if decision.in_points:
        z = decision.scale.log_odds(s)
    else:
        near = nw.when(s < EDGE).then(nw.lit(EDGE)).when(s > 1 - EDGE).then(
            nw.lit(1 - EDGE)).otherwise(s)  # fmt: skip
        z = (near / (1.0 - near)).log()
    z = z if decision.favourable else z * -1.0
    a, b = outlook.by_score
    if outlook.by_points is not None and points is not None:
        a, b, c = outlook.by_points
        odds = a + b * z + (c / HUNDRED) * points
    else:
        odds = a + b * z
    chance: nw.Expr = 1.0 / (1.0 + (odds * -1.0).exp())
    return chance


@dataclass(frozen=True, eq=False)
class TurnedOut:
    """What became of some newly approved people, over the periods whose outcomes have come."""

    feature: str
    group: str
    periods: tuple[str, ...]
    known: Floats
    """People with an outcome, period by period."""
    bad: Floats
    expected: Floats
    """Bad outcomes, and how many were expected."""
    against: Floats
    """The logarithm of the evidence that more are bad than expected, after each period."""
    enough: float
    """From which on it is shown."""
    waiting: int
    """Newly approved people of periods whose outcomes are still to come."""

    @property
    def alarm(self) -> str | None:
        """The period after which it was shown that they turn out worse than expected."""
        over = np.flatnonzero(self.against >= self.enough)
        return self.periods[int(over[0])] if len(over) else None

    @property
    def verdict(self) -> Verdict:
        """Shown not to hold, or nothing against it so far."""
        return Verdict.INCONCLUSIVE if self.alarm is None else Verdict.REFUTED

    @property
    def shown(self) -> tuple[int, int, int] | None:
        """People and bad outcomes to the nearest ten, and expected ones; None if they are few."""
        n, bad = float(self.known.sum()), float(self.bad.sum())
        if not n or too_few(n) or too_few(bad) or too_few(n - bad):
            return None
        return nearest_ten(n), nearest_ten(bad), round(float(self.expected.sum()))

    @property
    def who(self) -> str:
        """Everybody, or the group."""
        return EVERYBODY if self.feature == EVERYBODY else f"{self.feature} {self.group}"

    @property
    def short(self) -> str:
        """How it stands, in a few words."""
        if not self.periods:
            return "still to come"
        return "as expected so far" if self.alarm is None else f"worse since {self.alarm}"

    def text(self, bad_outcome: str) -> str:
        """As "of about 210 newly approved about 30 have y = 0, 25 were expected"."""
        who = "" if self.feature == EVERYBODY else f" ({self.who})"
        if not self.periods:
            return f"newly approved{who}: no outcomes have come yet"
        if self.shown is None:
            return f"newly approved{who}: too few outcomes to show"
        n, bad, expected = self.shown
        since = (
            "no more than chance explains" if self.alarm is None
            else f"worse than expected, shown since {self.alarm}"
        )  # fmt: skip
        return (
            f"of about {n:,} newly approved{who} about {bad:,} have {bad_outcome}, {expected:,} "
            f"were expected: {since}"
        )


def nearest_ten(people: float) -> int:
    """A count to the nearest ten, so that no new period tells of one person.

    >>> [nearest_ten(n) for n in (12, 15, 19, 126)]
    [10, 20, 20, 130]
    """
    return full_tens(people + MIN_PEOPLE / 2)


def turned_out(periods: Sequence[Period], confidence: float = 0.95) -> tuple[TurnedOut, ...]:
    """Everybody, then each group, over the periods in the order in which their outcomes came."""
    names = {(m.feature, m.group) for p in periods for m in p.matured}
    if not names:
        return ()
    groups = sorted(names - {(EVERYBODY, EVERYBODY)})
    half = (1 - confidence) / 2
    return tuple(
        _turned_out(periods, who, half / (1 if who[0] == EVERYBODY else max(len(groups), 1)))
        for who in ((EVERYBODY, EVERYBODY), *groups)
    )


def _turned_out(periods: Sequence[Period], who: tuple[str, str], alpha: float) -> TurnedOut:
    ready, waiting = [], 0
    for period in periods:
        everybody = _of(period, (EVERYBODY, EVERYBODY))
        own = _of(period, who)
        if everybody is None or own is None:
            continue
        if everybody.ready:
            ready.append((period.period, own))
        else:
            waiting += own.people
    known, bad, expected = (
        np.array([getattr(m, name) for _, m in ready], np.float64)
        for name in ("known", "bad", "expected")
    )
    return TurnedOut(
        *who, tuple(name for name, _ in ready), known, bad, expected,
        evidence_of_worse(known, bad, expected), -float(np.log(alpha)), waiting,
    )  # fmt: skip


def _of(period: Period, who: tuple[str, str]) -> Matured | None:
    return next((m for m in period.matured if (m.feature, m.group) == who), None)


def evidence_of_worse(known: Floats, bad: Floats, expected: Floats) -> Floats:
    """The logarithm of the evidence after each period that more are bad than expected.

    Stakes are standard errors of a period, as elsewhere (``fairpatch.measure.over_time``): from the
    first period on, and from every later one, with weights that sum to 1.
    """
    many = len(known)
    if not many:
        return np.empty(0)
    q = np.clip(expected / np.maximum(known, 1), EDGE, 1 - EDGE)
    error = np.sqrt(q * (1 - q) / np.maximum(known, 1))
    s = STAKES[:, None] * error / (q * (1 - q))
    s = np.minimum(s, NEVER_ALL / q)
    each = bad * np.log1p(s * (1 - q)) + (known - bad) * np.log1p(-s * q)  # (stakes, periods)
    sums = each.cumsum(1)
    with np.errstate(divide="ignore"):
        whole = np.log(FROM_THE_START)[:, None] + sums
        begin = np.arange(1, many)
        later = [whole]
        for t in begin:  # begins after t periods; until then it stakes nothing
            share = np.log(SINCE_LATER)[:, None] - np.log(t * (t + 1.0))
            since = np.where(np.arange(many) >= t, sums - sums[:, [t - 1]], 0.0)
            later.append(share + since)
        rest = np.log(SINCE_LATER.sum() / max(many, 1))  # of beginnings that are still to come
    return np.asarray(np.logaddexp.reduce(np.concatenate([*later, np.full((1, many), rest)]), 0))
