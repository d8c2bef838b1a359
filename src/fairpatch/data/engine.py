"""A table that stays in its engine: its three splits, and what patches do to everybody in it.

A row's place is a hash of its key, in integer arithmetic that every engine has, so the same rows
are taken everywhere. A share of the table is what lies below that share of P:

    h = (48271 (key mod P) + salt) mod P,    place = (h² + 12345) mod P,    P = 2³¹ - 1

A few scans: the labels that occur; groups, labels and f's decisions in all splits; the samples; the
counts of all patches that certification asks about; a sample of those people, to see whether f
looks as if it knew them. Nothing else leaves the engine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.extras import frame_of, rows_of, value_of
from fairpatch._tools.hints import did_you_mean
from fairpatch.data.features import with_scale, with_thresholds
from fairpatch.data.rows import Rows, Shares, check_shares, shares_for
from fairpatch.data.splits import Crossed, Splits
from fairpatch.decision import Decision
from fairpatch.inputs.base import BaseModel
from fairpatch.inputs.past_decisions import made_expr, made_in, made_of
from fairpatch.inputs.probable import columns_of, drawn_table
from fairpatch.inputs.roles import Outcomes, Roles
from fairpatch.inputs.sensitive import grouped_table, sensitive_table
from fairpatch.inputs.values import (
    PRIME,
    Value,
    check_key,
    month_expr,
    months_of,
    numbered,
    numbers_of,
    place,
    since,
    with_persons,
)
from fairpatch.measure.cells import UNKNOWN, may_demote, may_promote
from fairpatch.measure.comparisons import Comparisons
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Groups
from fairpatch.measure.labels import known_label, label_expr
from fairpatch.patch import Patch
from fairpatch.patch.apply import POINTS
from fairpatch.patch.column_types import typed, with_gaps
from fairpatch.patch.expressions import (
    approved_expr,
    confidence_expr,
    favour_expr,
    needed_points_expr,
)

# What patches do to everybody in a table that stays in its engine: one GROUP BY.
#
# Patches of a ladder are one card with fewer and fewer points needed. The engine then works out one
# whole number for each person, how they stand, and every rung is read off its distribution:
#
#     denied:    points - confidence,   approved by a rung that needs no more
#     approved:  points + confidence,   denied by a rung that takes no less away

CONFIDENCE = "fairpatch_confidence"


def count_table(
    table: Any,
    patches: Sequence[Patch],
    base: BaseModel,
    *,
    y: str | None,
    sensitive_features: Sequence[str],
    decided: str | None = None,
    strata: Sequence[str] = (),
    outcomes: Outcomes | None = None,
) -> list[Counts]:
    """Counts of f's and every patch's decisions over a whole table, by one GROUP BY.

    ``decided`` names a column of decisions that were made already: then no patch is worked out.
    ``strata`` are columns that say who is compared with whom.
    """
    label: str | nw.Expr | None = y
    label_of, decision = None, base.decision
    check.spark_names(nw.from_native(table), (y, decided, *strata))
    table = sensitive_table(table, base.roles, sensitive_features)
    if y is not None and decision.negative is None:
        label = label_expr(table, y, decision)[1]
    elif y is not None:
        label_of = partial(known_label, decision=decision)
    made = None
    if decided is not None:
        made = made_expr(table, made_in(decided, base.roles), decision.favourable)
    about = (sensitive_features, label_of, made, strata, outcomes)
    return count_patches(table, patches, base, label, *about)


def count_patches(
    table: Any,
    patches: Sequence[Patch],
    base: BaseModel,
    label: str | nw.Expr | None,
    features: Sequence[str],
    label_of: Callable[[Value], int | None] | None = None,
    made: nw.Expr | None = None,
    strata: Sequence[str] = (),
    outcomes: Outcomes | None = None,
) -> list[Counts]:
    """Counts of f's and every patch's decisions, with the label as an expression or a column."""
    if base.score_column is None:
        raise TypeError("f must be a score column of the table: see fairpatch.engines.streams")
    options: dict[str, Any] = {
        "decision": base.favour_expr(), "sensitive_features": features, "y": label,
        "sample_weight": base.roles.weight, "label_of": label_of, "strata": strata,
        "outcomes": outcomes, "person": base.roles.person,
    }  # fmt: skip
    if made is not None:
        return Counts.from_frame_each(table, new_decisions=[made], **options)
    table, decisions, is_ladder = _decided(table, patches, base.score_column)
    if not is_ladder:
        return Counts.from_frame_each(table, new_decisions=decisions, **options)
    key, readings = _standing(patches, base.score_column), [partial(_rung, p) for p in patches]
    return Counts.from_frame_by_key(table, key=key, readings=readings, **options)


def _decided(table: Any, patches: Sequence[Patch], score: str) -> tuple[Any, list[nw.Expr], bool]:
    """Every patch's decision over a table that has what they share as columns: worked out once.

    And whether that is everything: cards that differ in the points needed alone.

    Where the score is no probability, f has no decision: that is found by its own null.
    """
    frame = nw.from_native(table)
    for patch in patches[:1]:  # others differ in their points
        frame = with_gaps(patch, frame)
    schema = frame.collect_schema()
    names: dict[str, str] = {}
    confidences: dict[str, str] = {}
    shared, decisions = {}, []
    for patch in patches:
        lines = "".join(c.model_dump_json() for c in patch.concepts)
        kind = f"{patch.card is None} {patch.direction} {patch.decision} {patch.offset} {lines}"
        name = names.setdefault(kind, f"{POINTS}_{len(names)}")
        own = typed(patch, schema)
        shared[name] = needed_points_expr(own, score)
        bands = "" if own.card is None else f"{own.card.confidence} {own.card.locked} {own.pilot}"
        confidence = confidences.setdefault(bands, f"{CONFIDENCE}_{len(confidences)}")
        shared[confidence] = confidence_expr(own, score)
        decisions.append(favour_expr(patch, score, nw.col(name), nw.col(confidence)))
    is_ladder = len(shared) == 2 and all(p.card is not None and p.strength for p in patches)
    return frame.with_columns(**shared).to_native(), decisions, is_ladder


def _standing(patches: Sequence[Patch], score: str) -> nw.Expr:
    """How a person stands, no farther from the points needed than matters; null: never changed."""
    one = patches[0]
    points, confidence = nw.col(f"{POINTS}_0"), nw.col(f"{CONFIDENCE}_0")
    needed = [(patch.card.approve_at, patch.card.deny_at) for patch in patches if patch.card]
    gain, loss = ([pair[side] for pair in needed] for side in (0, 1))
    favoured = approved_expr(one, score)
    nobody = nw.lit(None).cast(nw.Int64)
    up = _between(points - confidence, min(gain) - 1, max(gain))
    down = _between(points + confidence, min(loss), max(loss) + 1)
    return nw.when(~favoured).then(up if may_promote(one.direction) else nobody).otherwise(
        nw.when(favoured).then(down if may_demote(one.direction) else nobody).otherwise(nobody)
    )  # fmt: skip


def _between(value: nw.Expr, low: int, high: int) -> nw.Expr:
    above = nw.when(value > high).then(nw.lit(high)).otherwise(value)
    return nw.when(value < low).then(nw.lit(low)).otherwise(above).cast(nw.Int64)


def _rung(patch: Patch, f: Value, standing: Value) -> Value:
    """The patched decision of people of whom f's is known, and how they stand."""
    if f is None or standing is None or patch.card is None:
        return f
    at = int(standing)
    changed = at <= patch.card.deny_at if f else at >= patch.card.approve_at
    return int(bool(f) != changed)


# The three splits of a table that stays in its engine: DuckDB, Spark, whatever Ibis reaches.

SPLIT, PLACE, LABEL = "fairpatch_split", "fairpatch_place", "fairpatch_label"
OF_ROWS = ("weight", "person", "date", "decided")
"""Roles of columns that go along with rows, and that no model reads."""
LOST = 3
"""In place of a split: a row without a key."""
BOTH = -1
"""In place of a split: all rows that are fetched, of the first two."""
FEW = 1_000
"""A group with a label has at least so many rows in a sample, or all that there are."""
Stratum = tuple[Any, ...]


def is_engine_table(X: Any) -> bool:
    """Whether X stays in an engine: a DuckDB relation, a PySpark or Ibis table, a lazy frame."""
    return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


@dataclass(frozen=True)
class EngineSplits:
    """A table with a key, and how it is split."""

    table: Any
    key: str
    y: str | None
    features: tuple[str, ...]
    base: BaseModel
    shares: Shares
    seed: int
    reads_groups: bool = False
    """Whether a patch may read the sensitive features, too."""

    @classmethod
    def of(
        cls, table: Any, y: Any, sensitive_features: Any, f: Any, decision: Decision,
        roles: Roles, shares: Shares | None, seed: int, *, reads_groups: bool = False,
    ) -> "EngineSplits":  # fmt: skip
        """A table as a caller gives it: everything is the name of one of its columns."""
        key: Any = roles.key
        features = (
            list(sensitive_features) if isinstance(sensitive_features, list | tuple)
            else [sensitive_features]
        )  # fmt: skip
        named = (f, key, *features, *([] if y is None else [y]))
        if not all(isinstance(name, str) for name in named):
            raise TypeError(
                "for a table in an engine, the estimator, y, sensitive_features and the key must "
                "be names of its columns: FairPatch('score', target, roles=Roles(key='id')).fit("
                "table, 'y', sensitive_features=['sex']). A model is turned into a score column by "
                "fairpatch.engines.streams"
            )
        if shares is None:
            people = value_of(nw.from_native(table).lazy().select(nw.len()))
            shares = shares_for(int(people))
        decision = with_thresholds(decision, table)
        table = with_persons(numbered(table, key), roles.person)
        label = None if y is None else label_expr(table, y, decision)[1]
        base = BaseModel(f, with_scale(decision, table, f, label), roles)
        drawn = drawn_table(table, roles.probable, key)
        found = cls(drawn, key, y, tuple(features), base, shares, seed, reads_groups=reads_groups)
        return replace(found, table=grouped_table(drawn, roles, features))

    def __post_init__(self) -> None:
        names = self.frame.collect_schema()
        wanted = {"key": self.key, "y": self.y, "the score": self.base.score_column}
        wanted["the weight"] = self.base.roles.weight
        wanted["person"] = self.base.roles.person
        wanted |= {f"sensitive feature {i + 1}": name for i, name in enumerate(self.features)}
        for what, name in wanted.items():
            if name is not None and name not in names:
                raise KeyError(
                    f"{what} names column {name!r}, which the table does not have"
                    + did_you_mean(name, list(names))
                )
        check.spark_names(self.frame, list(names))

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The table as narwhals has it."""
        frame: nw.LazyFrame[Any] = nw.from_native(self.table).lazy()
        return frame

    @cached_property
    def _label(self) -> tuple[tuple[Value, Value], nw.Expr]:
        if self.y is None:
            return self.base.decision.classes_unseen, nw.lit(None).cast(nw.Int64)
        return label_expr(self.table, self.y, self.base.decision)

    @property
    def classes(self) -> tuple[Value, Value]:
        """The labels that occur, the positive one last."""
        return self._label[0]

    @property
    def _placed(self) -> nw.LazyFrame[Any]:
        """With every row's place and label as columns, so that an engine works them out once."""
        at = place(self.base.roles.person or self.key, self.seed)
        since_when = self._since
        placed = self.frame.with_columns(at.alias(PLACE), self._label[1].alias(LABEL))
        if since_when is None:
            return placed
        month, cut = since_when  # the latest rows certify, the others are drawn as ever
        end, at, last = self._edges[2], nw.col(PLACE), nw.col(SPLIT)
        if self.base.roles.person is not None:  # all rows of a person where the last one is
            last = last.max().over(self.base.roles.person)
        late = nw.when(last >= cut).then(at * (PRIME - end) // PRIME + end)
        return placed.with_columns(month.alias(SPLIT)).with_columns(
            late.otherwise(at * end // PRIME).alias(PLACE)
        )

    @cached_property
    def _since(self) -> tuple[nw.Expr, int] | None:
        """The month of each row, and from which on they certify; None where that is drawn."""
        date = self.base.roles.date
        if date is None or not self.shares[2] or date not in self.frame.collect_schema():
            return None
        month = month_expr(self.table, date)
        of_each = self.frame.with_columns(month.alias(SPLIT)).group_by(SPLIT).agg(n=nw.len())
        rows = rows_of(of_each)
        cut = since([int(r[SPLIT]) for r in rows], [int(r["n"]) for r in rows], self.shares[2])
        return None if cut is None else (month, cut)

    @property
    def columns(self) -> list[str]:
        """What a model may read: everything that has no other role."""
        reserved = self.reserved
        return [name for name in self.frame.collect_schema().names() if name not in reserved]

    @property
    def reserved(self) -> set[str]:
        """Key, label, weight and sensitive features: what no model reads."""
        roles = self.base.roles
        named = {name for name in map(roles.column_of, OF_ROWS) if name}
        label = set() if self.y is None else {self.y}
        groups = () if self.reads_groups else self.features
        return {self.key, *label, *named, *groups, *columns_of(roles.probable)}

    @property
    def counts(self) -> tuple[Counts, Counts, Counts]:
        """Of f's decisions, split by split: one scan."""
        learn, select, fresh = (self._counted(k) for k in ((0,), (1,), (2,)))
        return learn, select, fresh

    @property
    def both_counts(self) -> Counts:
        """Of f's decisions in the first two splits together."""
        return self._counted((0, 1))

    def _counted(self, splits: tuple[int, ...]) -> Counts:
        counts = self._all_counts
        return counts.where([group[-1] in splits for group in counts.groups]).by(*self.features)

    @cached_property
    def _all_counts(self) -> Counts:
        at = nw.col(PLACE)
        _, first, second, _ = self._edges
        split = nw.when(at < first).then(nw.lit(0)).otherwise(
            nw.when(at < second).then(nw.lit(1)).otherwise(
                nw.when(at >= second).then(nw.lit(2)).otherwise(nw.lit(LOST))
            )
        )  # fmt: skip
        counts = Counts.from_frame(
            self._placed.with_columns(split.alias(SPLIT)).to_native(),
            decision=self.base.favour_expr(),
            sensitive_features=[*self.features, SPLIT],
            y=LABEL,
            sample_weight=self.base.roles.weight,
            outcomes=self.base.roles.outcomes,
            person=self.base.roles.person,
        )
        lost = counts.where([group[-1] == LOST for group in counts.groups]).total
        if lost:
            raise ValueError(
                f"{lost:,} rows have no {self.key!r}: the key tells rows apart, so each needs one"
            )
        for label in (0, 1) if self.y is not None else ():
            if not counts.along("label")[label]:
                lacking = self.classes[label == self.base.decision.favourable]
                raise ValueError(
                    f"no row of the table has {self.y!r} = {lacking}: fairpatch needs labels of 2 "
                    "classes"
                )
        return counts

    def splits(self, most: int | None) -> Splits:
        """Fetch the samples: at most about so many rows of each of the first two splits."""
        check_shares(self.shares)
        learn, select, both = self.samples((0, 1, BOTH), most)
        people = sum(counts.total for counts in self.counts)
        together = Crossed(both, both.sample_weight, self.both_counts)
        fresh = self if self.shares[2] else None
        return Splits(learn, select, together, self.counts[1], fresh, people)

    def count(
        self, patches: Sequence[Patch], comparisons: Comparisons | None = None
    ) -> list[Counts]:
        """Counts of every patch on all rows of the last split: one scan for all of them."""
        fresh = self._placed.filter(nw.col(PLACE) >= self._edges[2]).to_native()
        strata = () if comparisons is None else comparisons.columns
        return count_patches(
            fresh, patches, self.base, nw.col(LABEL), self.features, strata=strata,
            outcomes=self.base.roles.outcomes,
        )  # fmt: skip

    def sample(self, most: int | None) -> Rows:
        """At most about so many rows of the last split, each as likely as the others."""
        (rows,) = self.samples((2,), most, stratified=False)
        return rows

    def scored(self, base: BaseModel) -> "EngineSplits":  # noqa: ARG002 f is a column
        """Itself: f's scores are a column of the table."""
        return self

    def samples(
        self, wanted: Sequence[int], most: int | None, *, stratified: bool = True
    ) -> list[Rows]:
        """A sample of each split, with weights that undo its strata: one scan.

        Unless stratified, it is a plain one: everybody is as likely to be in it.
        """
        at = nw.col(PLACE)
        taken = [
            (at >= self._edges[k]) & (at < self._limit(k, most, stratified=stratified))
            for k in wanted
            if k != BOTH
        ]
        chosen = reduce(lambda a, b: a | b, taken)
        have = self.frame.collect_schema().names()
        more = [name for name in map(self.base.roles.column_of, OF_ROWS) if name in have]
        columns = [self.key, *self.features, *self.columns, *more]
        placed = self._placed.filter(chosen)
        fetched = frame_of(placed.select(*columns, LABEL, PLACE)).sort(self.key)
        check_key(fetched[self.key].to_numpy(), self.key)
        split = np.searchsorted(self._edges[1:3], fetched[PLACE].to_numpy(), side="right")
        return [
            self._rows(fetched, self.both_counts)
            if k == BOTH
            else self._rows(fetched.filter((split == k).tolist()), self.counts[k])
            for k in wanted
        ]

    @property
    def _edges(self) -> list[int]:
        """Where each split begins among the places, and where the last one ends."""
        return [round(share * PRIME) for share in (0.0, *np.cumsum(self.shares))]

    def _limit(self, split: int, most: int | None, *, stratified: bool) -> nw.Expr:
        """Places of a split below this are taken; small strata whole or nearly so."""
        sizes = self._sizes(split)
        begin, end = self._edges[split : split + 2]
        total = sum(sizes.values())
        if most is None or total <= most:
            return nw.lit(end)
        share = most / total
        limit = nw.lit(begin + round((end - begin) * share))
        for stratum, size in sizes.items():
            if stratified and size * share < FEW:
                *group, label = stratum
                names = (*self.features, LABEL)
                own = (*group, None if label == UNKNOWN else label)
                here = [_equals(c, v) for c, v in zip(names, own, strict=True)]
                few = nw.lit(begin + round((end - begin) * min(1.0, FEW / size)))
                limit = nw.when(reduce(lambda a, b: a & b, here)).then(few).otherwise(limit)
        return limit

    def _sizes(self, split: int) -> dict[Stratum, int]:
        counts = self.counts[split]
        people = counts.along("group", "label")
        return {
            (*group, label): int(people[g, label])
            for g, group in enumerate(counts.groups)
            for label in (0, 1, UNKNOWN)
            if people[g, label]
        }

    def _rows(self, fetched: Any, counts: Counts) -> Rows:
        y = fetched[LABEL].cast(nw.Float64).fill_null(UNKNOWN).fill_nan(UNKNOWN).to_numpy()
        y = y.astype(np.int64)
        # by lists: numpy has no whole numbers with gaps
        groups = Groups.of({n: np.array(fetched[n].to_list(), object) for n in self.features})
        joint, code = groups.joint
        taken = np.zeros((len(joint), UNKNOWN + 1))
        np.add.at(taken, (code, y), 1)
        at = {group: g for g, group in enumerate(counts.groups)}
        people = counts.along("group", "label")[[at[group] for group in joint]]
        weight = (people / np.maximum(taken, 1))[code, y]
        weight_column, stands_for = self.base.roles.weight, weight
        roles = self.base.roles
        person, date, decided = (roles.column_of(r) for r in ("person", "date", "decided"))
        if weight_column is not None:
            weight = weight * check.weights("weight", fetched[weight_column].to_numpy())
        X = fetched.select(*self.columns).to_native()
        return Rows(
            X,
            y,
            groups,
            self.base.logits(X),
            weight,
            stands_for=stands_for,
            outcomes=self.base.roles.outcomes,
            person=None if person is None else numbers_of(fetched[person].to_numpy()),
            month=months_of(fetched, date) if date and date in fetched.columns else None,
            made=made_of(fetched[decided].to_numpy(), roles, self.base.decision.favourable)
            if decided and decided in fetched.columns
            else None,
        )


def _equals(column: str, value: Any) -> nw.Expr:
    return nw.col(column).is_null() if value is None else nw.col(column) == value
