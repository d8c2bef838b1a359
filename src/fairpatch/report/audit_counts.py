"""What an audit counts, in memory or in an engine, and whether that can be right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import sqrt
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._tools.arrays import Floats
from fairpatch._tools.checks import same_people, spark_names
from fairpatch._tools.extras import rows_of
from fairpatch._tools.hints import did_you_mean, hint
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.choose.certificate import funnel
from fairpatch.data.features import ask_about, ask_engine
from fairpatch.data.rows import take
from fairpatch.decision import PLAIN, Decision
from fairpatch.disclose.protected import of_pair
from fairpatch.identity.fingerprint import check_agreement
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.inputs.past_decisions import (
    given_score,
    made_of,
    none_expr,
    overruled,
    overruled_table,
)
from fairpatch.inputs.probable import WithoutAssumption, without_assumption
from fairpatch.inputs.roles import Outcomes, Roles
from fairpatch.inputs.sensitive import sensitive_table, take_apart
from fairpatch.inputs.values import Value, month_expr, periods, plain
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Groups
from fairpatch.measure.labels import label_expr, positive_labels
from fairpatch.measure.metric import P_RULE
from fairpatch.patch.expressions import in_scope_table
from fairpatch.patch.terms import in_scope

# The groups' mean scores, in standard deviations of everybody's: one GROUP BY of sums.

Sums = tuple[float, float, float]
"""People, their scores, and the squares of those."""

OWN = "fairpatch_sum_"
"""Names that no column of a table has."""


@dataclass(frozen=True)
class ScoreMeans:
    """Sums of scores by the combinations of all sensitive features."""

    features: tuple[str, ...]
    sums: Mapping[tuple[Value, ...], Sums]

    @classmethod
    def of_rows(cls, score: Floats, sensitive_features: Any) -> "ScoreMeans":
        """Of people in memory."""
        groups = Groups.of(sensitive_features)
        keys, where = np.unique(groups.codes, axis=0, return_inverse=True)
        parts = [np.bincount(where.ravel(), w) for w in (np.ones(len(score)), score, score**2)]
        named = [
            tuple(
                None if code < 0 else values[code]
                for code, values in zip(key, groups.values, strict=True)
            )
            for key in keys
        ]
        return cls(groups.features, dict(zip(named, zip(*parts, strict=True), strict=True)))

    @classmethod
    def of_table(
        cls, table: Any, score: str, features: Sequence[str], decision: Decision = PLAIN
    ) -> "ScoreMeans":
        """Of a table in an engine; scores that are no probability are left out."""
        p = decision.compared(nw.col(score).cast(nw.Float64))
        frame = nw.from_native(table).filter((p >= 0.0) & (p <= 1.0))
        sums = [nw.len(), p.sum(), (p * p).sum()]
        named = [e.alias(f"{OWN}{i}") for i, e in enumerate(sums)]
        rows = rows_of(frame.lazy().group_by(*features).agg(*named))
        found = {
            tuple(plain(row[f]) for f in features): tuple(row[f"{OWN}{i}"] for i in range(3))
            for row in rows
        }
        return cls(tuple(features), found)

    def by(self, *features: str) -> dict[str, float]:
        """By a group's name, of one feature or of an intersection: its mean in deviations."""
        people, total, squares = (sum(v[i] for v in self.sums.values()) for i in range(3))
        spread = sqrt(max(squares / people - (total / people) ** 2, 0.0)) if people else 0.0
        if not spread:
            return {}
        places = [self.features.index(f) for f in features]
        found: dict[str, list[float]] = {}
        for key, (n, s, _) in self.sums.items():
            name = " & ".join("(missing)" if key[i] is None else str(key[i]) for i in places)
            here = found.setdefault(name, [0.0, 0.0])
            here[0] += n
            here[1] += s
        return {name: s / n / spread for name, (n, s) in found.items()}


# What an audit counts, in memory or in an engine, and whether that can be right.

MONTH = "fairpatch_month"


@dataclass(frozen=True)
class Counted:
    """What an audit has found out of a table before anything is shown."""

    counts: Counts
    decision: Decision
    """With the labels that the table has."""
    remarks: tuple[str, ...]
    """What else is to be known: decisions made otherwise, people without a score, periods."""
    scores: ScoreMeans | None = None
    probable: WithoutAssumption | None = None
    estimated: Counts | None = None
    """Of a feature that is known by probabilities: people by those, and not as they were drawn."""


def count_rows(
    X: Any, y: Any, S: Any, f: Estimator, decision: Decision, roles: Roles,
    outcomes: Outcomes | None, sample_weight: Any, *, mean_scores: bool,
) -> Counted:  # fmt: skip
    """Rows in memory."""
    given = take_apart(X, y, S, roles, BaseModel(f).columns)
    weight = sample_weight if given.weight is None else given.weight
    same_people(X=given.X, y=given.y, sensitive_features=given.sensitive, sample_weight=weight)
    scored = in_scope((), given.X, BaseModel(f, decision).needed_score)
    if scored is not None:
        at = np.flatnonzero(scored)
        given, weight = given.take(at), take(weight, at)
    labels = None
    if given.y is not None:
        classes, labels = positive_labels(given.y, decision)
        decision = decision.named(classes)
    base, groups = BaseModel(f, decision), Groups.of(given.sensitive)
    check_agreement(base, given.X)
    made, score = base.decisions(given.X), base.scores(given.X)
    favoured, here = made == bool(decision.favourable), score == base.thresholds(given.X)
    known = None if labels is None else labels.astype(np.float64)
    ask_about(given.X, groups, base, roles, approved=favoured, label=known, at_threshold=here)
    counted = partial(Counts.from_arrays, sensitive_features=groups, sample_weight=weight)
    counts = counted(decision=made, y=labels, outcomes=outcomes, person=given.person)
    remarks: list[str] = []
    if given.made is not None:
        own = made_of(given.made, roles, decision.favourable)
        remarks.append(str(overruled(own, favoured, here, str(roles.decided_column))))
    if decision.knocks_out:
        some = np.flatnonzero(~np.isnan(score))
        of_scored = Counts.from_arrays(
            decision=favoured[some], sensitive_features=groups.take(some),
            sample_weight=None if weight is None else np.asarray(weight)[some],
        )  # fmt: skip
        remarks += funnel(counted(decision=favoured), of_scored)
    if given.month is not None:
        remarks += lines_by_period(counted(decision=favoured, strata={MONTH: given.month}))
    drawn, probable = given.drawn, None
    if drawn is not None:
        probable = without_assumption(drawn.feature, drawn.chances, drawn.known, favoured, weight)
    means = ScoreMeans.of_rows(score, given.sensitive) if mean_scores else None
    estimated = None
    if drawn is not None:
        w = np.ones(len(made)) if weight is None else np.asarray(weight, np.float64)
        chances = np.nan_to_num(drawn.chances) * w[:, None]
        sums = [(name, float(p[~made].sum()), float(p[made].sum()))
                for name, p in zip(drawn.groups, chances.T, strict=True)]  # fmt: skip
        estimated = whole_people(drawn.feature, sums)
    return Counted(counts, decision, tuple(remarks), means, probable, estimated)


def whole_people(feature: str, sums: Sequence[tuple[str, float, float]]) -> Counts:
    """Sums of probabilities by group, of decision 0 and of 1, as so many people."""
    names = np.repeat([name for name, *_ in sums], [round(a) + round(b) for _, a, b in sums])
    decided = np.concatenate([np.repeat([0, 1], [round(a), round(b)]) for _, a, b in sums])
    return Counts.from_arrays(decision=decided, sensitive_features={feature: names})


def count_table(
    X: Any, y: Any, S: Any, f: Estimator, decision: Decision, roles: Roles,
    outcomes: Outcomes | None, *, mean_scores: bool,
) -> Counted:  # fmt: skip
    """A table in an engine, where it lies."""
    label, y = None, _name(y, "y")
    spark_names(nw.from_native(X), [y, f if isinstance(f, str) else None])
    if y is not None:
        classes, label = label_expr(X, y, decision.replace(favourable=1))
        decision = decision.named(classes)
    X = in_scope_table((), X, BaseModel(f, decision).needed_score)
    names = [S] if isinstance(S, str) else S
    columns = [*nw.from_native(X).collect_schema().names(), *roles.probable]
    if not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
        raise ValueError(
            f"for a table in an engine, sensitive_features must be names of its columns; got {S!r}"
        )
    for name in (*names, *(c for c in (roles.weight, roles.person) if c)):
        if name not in columns:
            raise ValueError(
                f"for a table in an engine, sensitive_features must be names of its columns; there "
                f"is no {name!r}" + did_you_mean(name, columns)
            )
    base = BaseModel(f, decision)
    ready = sensitive_table(X, roles, names)
    counted = partial(
        Counts.from_frame, sensitive_features=names, sample_weight=roles.weight
    )  # fmt: skip
    counts = counted(
        ready, decision=base.decision_expr(), y=label, outcomes=outcomes, person=roles.person
    )
    ask_engine(X, names, base, roles)
    remarks: list[str] = []
    if roles.decided_column in columns:
        said = (base.favour_expr(), base.at_threshold_expr(), decision.favourable)
        remarks.append(str(overruled_table(X, roles, *said)))
    if decision.knocks_out:
        none = none_expr(given_score(decision, str(base.score_column)))
        some = nw.from_native(ready).filter(~none).to_native()
        remarks += funnel(*(counted(table, decision=base.favour_expr()) for table in (ready, some)))
    if roles.date is not None and roles.date in columns:
        dated = nw.from_native(ready).with_columns(month_expr(X, roles.date).alias(MONTH))
        by_month = counted(dated.to_native(), decision=base.favour_expr(), strata=[MONTH])
        remarks += lines_by_period(by_month)
    means = ScoreMeans.of_table(ready, f, counts.features, decision) if mean_scores else None
    estimated = _estimated(X, roles, base) if roles.probable else None
    return Counted(counts, decision, tuple(remarks), means, estimated=estimated)


def _estimated(table: Any, roles: Roles, base: BaseModel) -> Counts:
    """People by their probabilities, of a table in an engine; who is known counts as known."""
    ((feature, groups),) = roles.probable.items()
    frame = nw.from_native(table).lazy()
    known = nw.col(feature).cast(nw.String) if feature in frame.collect_schema() else None
    total = reduce(lambda a, b: a + b, (nw.col(c).cast(nw.Float64) for c in groups.values()))
    weight = nw.lit(1.0) if roles.weight is None else nw.col(roles.weight).cast(nw.Float64)
    chances = {}
    for i, (group, column) in enumerate(groups.items()):
        p = nw.col(column).cast(nw.Float64) / total
        if known is not None:
            sure = nw.when(known == group).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
            p = nw.when(~known.is_null()).then(sure).otherwise(p)
        chances[f"{MONTH}_{i}"] = p * weight
    rows = rows_of(
        frame.with_columns(**chances, **{MONTH: base.decision_expr()})
        .group_by(MONTH)
        .agg(*(nw.col(name).sum() for name in chances))
    )
    by_decision = {bool(row[MONTH]): row for row in rows if row[MONTH] is not None}
    sums = [
        (group, *(float(by_decision.get(d, {}).get(name) or 0.0) for d in (False, True)))
        for group, name in zip(groups, chances, strict=True)
    ]
    return whole_people(feature, sums)  # type: ignore[arg-type]


def lines_by_period(counts: Counts) -> list[str]:
    """The P-Rule in every period, a sentence a feature, of counts whose stratum is the month."""
    months = np.array([-1 if z[0] is None else int(z[0]) for z in counts.strata])
    names, place = periods(months)
    if len(names) < 2:
        return []
    lines = []
    for feature in counts.features:
        shown = []
        for k, name in enumerate(names):
            tables = [counts.in_stratum(z) for z, at in zip(counts.strata, place, strict=True)
                      if at == k]  # fmt: skip
            own = reduce(lambda a, b: a + b, (t.pooled() for t in tables)).by(feature).known()
            own = own.large(MIN_PEOPLE)
            figure = of_pair(P_RULE, own, P_RULE.of(own)) if len(own.groups) > 1 else None
            value = None if figure is None else figure.value
            shown.append(f"{name} {'withheld' if value is None else f'{value:.2f}'}")
        lines.append(f"P-Rule of {feature} by period: {', '.join(shown)}.")
    return lines


def check_points_right(counts: Counts, decision: Decision) -> None:
    """Refuse a model that decides 1 far more often for the negative label than for the positive."""
    n = counts.along("label", "before").astype(float)
    if n[:2].sum(1).min() < MIN_PEOPLE:
        return
    rate = n[:2, 1] / n[:2].sum(1)
    error = float(np.sqrt((rate * (1 - rate) / n[:2].sum(1)).sum()))
    if rate[1] - rate[0] > -max(0.1, 5 * error):
        return
    negative, positive = decision.outcomes
    raise ValueError(
        f"the score points against its label: {rate[1]:.0%} of those with {positive} are above the "
        f"threshold, and {rate[0]:.0%} of those with {negative}. Is it the probability of "
        f"{negative}? Then say so: "
        + hint(f"Decision(positive={decision.negative!r})", f"--positive {decision.negative}")
    )


def _name(column: Any, argument: str) -> str | None:
    if column is not None and not isinstance(column, str):
        raise ValueError(
            f"for a table in an engine, {argument} must be the name of one of its columns; "
            f"got {type(column).__name__}"
        )
    return column
