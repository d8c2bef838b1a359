"""A batch with so many places: exactly that many are approved, by the patch's own order.

    standing = points - confidence - approve_at        where f denies
               points + confidence - deny_at - 1       where f approves

The patch approves whoever stands at 0 or above. Where that is not the number of places, the line is
drawn elsewhere in the same order: standing first, then f's score, then the SHA-256 of the key as
text, so that no tie is broken by the order of the rows. All whole numbers or columns as they are:
every engine draws the same line. Who is locked keeps what f decides; of a patch that withdraws
nothing, so does whom f approves, as long as there are places.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools
from fairpatch._tools.extras import need, row_of, rows_of, sql_name
from fairpatch._tools.hints import did_you_mean
from fairpatch.inputs.base import NO_SCORE
from fairpatch.inputs.past_decisions import given_score, none_expr, threshold_expr
from fairpatch.measure.cells import may_demote
from fairpatch.measure.places import Places
from fairpatch.patch.apply import CHANGED, DECISION, POINTS, REASON, REFERRED, apply, in_fractions
from fairpatch.patch.column_types import typed, with_gaps
from fairpatch.patch.expressions import approved_expr, confidence_expr
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import NEVER, CardScale

BY_PLACES = "fairpatch_by_places"
"""Whether the number of places decided, and not the patch."""
LOCKED, MOST_PLACES = 3, 1e9
"""The tier of denials that are policy; and more places than anybody has."""
OFF = CardScale(approve_at=1, deny_at=-1)
"""The scale of a scorecard that is switched off: f's score alone orders people."""
PLACES = "number of places"
"""The reason of a change that the places made."""
_SURE, _TIER, _STANDING, _RANK, _HASH, _FAR, _ONE, _ROOM = (
    f"__fairpatch_{name}"
    for name in ("sure", "tier", "standing", "rank", "hash", "far", "one", "room")
)


def apply_to_places(
    patch: Patch, table: Any, score: str, *, approvals: Any, key: str, **options: Any
) -> Any:
    """The table with a patch's decisions, exactly so many of them favourable.

    Parameters
    ----------
    patch : Patch
        A scorecard.
    table : frame or table
        Anything that ``apply`` takes. Engines are asked for a few counts first.
    score : str
        Column of the base model's probability.
    approvals : int, or mapping
        Places; or in every batch, ``{"by": "requisition", "number": 3}``, where the number may be a
        column's name, or "keep" for as many as the base model approves there.
    key : str
        Column that tells the rows apart: the last tie is broken by its SHA-256.
    **options
        As of ``apply``.

    Returns
    -------
    The table as ``apply`` gives it, and ``fairpatch_by_places``: true where the places decided.
    """
    if patch.action == "refer":
        raise ValueError("this patch refers people and approves nobody: give referrals instead")
    if patch.card is None:
        raise ValueError("places are shared out by points: apply a scorecard")
    places = Places.of(approvals) if isinstance(approvals, Mapping) else None
    if places is not None:
        _check_batches(nw.from_native(table), places)
    frame = nw.from_native(apply(patch, table, score, **options))
    made = frame.collect_schema().names()
    _check_key(frame, key)
    exact = in_fractions(patch, frame, score)
    ordered = nw.from_native(_hashed(_placed(*exact).to_native(), key))
    by_order = [_TIER, _STANDING, _FAR, _HASH]
    if places is not None:
        by, room = str(places.by), _room(patch, score, places)
        ordered = ordered.with_columns(room.alias(_ROOM))
        rank, room = nw.col(_ONE).cum_sum().over(by, order_by=by_order), nw.col(_ROOM)
    else:
        _check(ordered, approvals)
        rank, room = nw.col(_ONE).cum_sum().over(order_by=by_order), approvals
    ordered = ordered.with_columns(rank.alias(_RANK))
    # false and true of columns: pandas has no conditions on a literal
    stays = (nw.col(_RANK) <= room) & (nw.col(_TIER) < LOCKED) | (nw.col(_TIER) == 0)
    inside = stays == bool(patch.decision.favourable)
    known = ~nw.col(CHANGED).is_null()
    other = nw.when(known).then(inside != nw.col(DECISION))
    moved = nw.when(known).then(nw.col(CHANGED) != nw.col(BY_PLACES))
    ordered = ordered.with_columns(other.alias(BY_PLACES))
    ordered = ordered.with_columns(
        nw.when(known).then(inside).alias(DECISION), moved.alias(CHANGED)
    )
    if REASON in made:
        ordered = ordered.with_columns(_reason().alias(REASON))
    return ordered.select(*made, BY_PLACES).to_native()


def filled(patch: Patch, X: Any, f_logit: Any, batch: Any, room: Any = None) -> Bools:
    """Who is approved where every batch fills its places by the patch's own order, in memory.

    ``room`` are the places of each row's batch; by default as many as f approves there. Of equal
    standing f's score decides, then the order of the rows. Who is locked, or was denied before
    anybody was scored, stays so, and fills a place if it is an approval.
    """
    f = np.asarray(f_logit, np.float64)
    own = _in_order(patch)
    card = own.card or OFF
    points = own.points(X) if own.concepts else np.zeros(len(f))
    sure = own.confidence(f, X) if own.card is not None else np.zeros(len(f))
    approved = f > 0
    standing = np.where(
        approved, points + sure - (card.deny_at + 1), points - sure - card.approve_at
    )
    stays = (sure >= NEVER) | (f == NO_SCORE)
    rest = np.where(approved & (not may_demote(patch.direction)), 1, 2)
    tier = np.where(stays, np.where(approved, 0, LOCKED), rest)
    order = np.lexsort((-f, -standing, tier, batch))
    _, first, size = np.unique(np.asarray(batch)[order], return_index=True, return_counts=True)
    rank = np.empty(len(f), np.int64)
    rank[order] = np.arange(len(f)) - np.repeat(first, size)
    if room is None:
        _, whose = np.unique(batch, return_inverse=True)
        room = np.bincount(whose, approved)[whose]
    return np.asarray((rank < room) & (tier < LOCKED) | (tier == 0))


def _in_order(patch: Patch) -> Patch:
    """The patch by which people are ordered: switched off, f's score alone does, locks apart."""
    if patch.card is None or patch.strength:
        return patch
    off = OFF.model_copy(update={"locked": patch.card.locked})
    return patch.model_copy(update={"concepts": (), "card": off, "strength": 1.0})


def _check_batches(frame: Any, places: Places) -> None:
    """Refuse batches and places that no table says in one way."""
    if places.by is None:
        raise ValueError(
            "approvals must be a number of places here, or those of each batch, as "
            "{'by': 'requisition', 'number': 3}"
        )
    if frame.implementation.is_pyarrow() or (
        frame.implementation.is_polars() and isinstance(frame, nw.LazyFrame)
    ):
        raise TypeError(
            "places of batches are filled in pandas, polars (collected), DuckDB and Spark; got "
            f"{type(frame.to_native()).__name__} of {frame.implementation.name.lower()}"
        )
    schema = frame.collect_schema()
    for name in (places.by, places.number):
        if isinstance(name, str) and name not in schema:
            raise KeyError(
                f"approvals are by column {name!r}, which the table does not have"
                + did_you_mean(name, schema.names())
            )
    if not isinstance(places.number, str):
        return
    if not schema[places.number].is_numeric():
        raise TypeError(
            f"column {places.number!r} must hold numbers of places; it is {schema[places.number]}"
        )
    room = nw.col(places.number).cast(nw.Float64)
    good = (room >= 0.0) & (room <= MOST_PLACES) & (room % 1.0 == 0.0)
    whole = nw.when(good).then(nw.lit(1)).otherwise(nw.lit(0))
    number = nw.col(places.number)
    counted = (
        frame.lazy()
        .with_columns(whole.alias(_ONE))
        .group_by(places.by)
        .agg(
            nw.len().alias(_RANK), nw.col(_ONE).sum(), number.min().alias(_FAR),
            number.max().alias(_ROOM),
        )
    )  # fmt: skip
    for row in rows_of(counted):
        if int(row[_ONE]) < int(row[_RANK]):
            raise ValueError(
                f"column {places.number!r} must hold whole numbers of places, and has a gap or "
                f"something else where {places.by} is {row[places.by]!r}"
            )
        if row[_FAR] != row[_ROOM]:
            raise ValueError(
                f"column {places.number!r} has several numbers of places where {places.by} is "
                f"{row[places.by]!r}: {row[_FAR]:g} to {row[_ROOM]:g}"
            )


def _check_key(frame: Any, key: str) -> None:
    """Refuse a column that does not tell people apart: ties would be broken by nothing."""
    if key not in frame.collect_schema().names():
        raise ValueError(f"the table has no column {key!r}: name the one that tells rows apart")
    sums = row_of(frame.lazy().select(people=nw.len(), keys=nw.col(key).n_unique()))
    if sums["keys"] < sums["people"]:
        raise ValueError(
            f"{key!r} does not tell people apart: {sums['people']:,} people have "
            f"{sums['keys']:,} different values. Name the column that does"
        )


def apply_to_capacity(
    patch: Patch, table: Any, score: str, *, referrals: int, key: str, **options: Any
) -> Any:
    """The table with at most so many people referred: those who stand highest.

    Parameters are those of ``apply_to_places``; ``referrals`` is how many can be looked at.
    """
    if patch.action != "refer":
        raise ValueError("this patch decides by itself and refers nobody: leave out referrals")
    check.whole("referrals", referrals, 0)
    decides = patch.model_copy(update={"action": "decide"})
    frame = nw.from_native(apply(patch, table, score, **options))
    made = frame.collect_schema().names()
    _check_key(frame, key)
    placed = _placed(decides, frame, score).to_native()
    ordered = nw.from_native(_hashed(placed, key))
    first = nw.when(nw.col(REFERRED) == nw.lit(1).cast(nw.Boolean)).then(nw.lit(0))
    ordered = ordered.with_columns(first.otherwise(nw.lit(1)).alias(_TIER))
    rank = nw.col(_ONE).cum_sum().over(order_by=[_TIER, _STANDING, _FAR, _HASH])
    ordered = ordered.with_columns(rank.alias(_RANK))
    inside = nw.col(REFERRED) & (nw.col(_RANK) <= referrals)
    known = ~nw.col(REFERRED).is_null()
    ordered = ordered.with_columns(nw.when(known).then(inside).alias(REFERRED))
    if REASON in made:
        yes = nw.col(REFERRED) == nw.lit(1).cast(nw.Boolean)
        ordered = ordered.with_columns(nw.when(yes).then(nw.col(REASON)).alias(REASON))
    return ordered.select(*made).to_native()


def _reason() -> nw.Expr:
    """The patch's, where it decided; of those whom the places moved, that."""
    yes = nw.lit(1).cast(nw.Boolean)  # compared, so that no null is left
    by_patch = nw.when((nw.col(CHANGED) == yes) & (nw.col(BY_PLACES) != yes)).then(nw.col(REASON))
    by_places = (nw.col(CHANGED) == yes) & (nw.col(BY_PLACES) == yes)
    return nw.when(by_places).then(nw.lit(PLACES)).otherwise(by_patch)


def _room(patch: Patch, score: str, places: Places) -> nw.Expr:
    """The places of each row's batch."""
    if isinstance(places.number, int):
        return nw.lit(places.number)
    if places.number is not None:
        return nw.col(places.number)
    one = nw.when(approved_expr(patch, score)).then(nw.lit(1)).otherwise(nw.lit(0))
    return one.sum().over(str(places.by))


def _placed(patch: Patch, frame: Any, score: str) -> Any:
    """The columns that people are ordered by, the first to be approved first."""
    card, good = patch.card, bool(patch.decision.favourable)
    if card is None:
        raise ValueError("only a scorecard has points")
    p, t = given_score(patch.decision, score), threshold_expr(patch.decision)
    own = _in_order(patch)
    card = own.card or card
    frame = with_gaps(own, frame)
    fixed = typed(own, frame.collect_schema())
    frame = frame.with_columns(confidence_expr(fixed, score).alias(_SURE), nw.lit(1).alias(_ONE))
    points, sure = nw.col(POINTS) if patch.strength else nw.lit(0), nw.col(_SURE)
    approved, stays = approved_expr(patch, score), sure >= NEVER
    if patch.decision.knocks_out:
        stays = stays | none_expr(p)
    first = nw.when(stays & approved).then(nw.lit(0))
    rest = nw.when(approved).then(nw.lit(2 if may_demote(patch.direction) else 1)).otherwise(
        nw.lit(2)
    )  # fmt: skip
    tier = first.otherwise(nw.when(stays).then(nw.lit(LOCKED)).otherwise(rest))
    standing = nw.when(approved).then(points + sure - (card.deny_at + 1)).otherwise(
        points - sure - card.approve_at
    )  # fmt: skip
    nobody = nw.col(CHANGED).is_null()
    return frame.with_columns(
        nw.when(nobody).then(nw.lit(4)).otherwise(tier).alias(_TIER),
        nw.when(nobody).then(nw.lit(0)).otherwise(standing * -1).alias(_STANDING),
        ((p - t if patch.decision.cuts else p) * (-1.0 if good else 1.0)).alias(_FAR),
    )


def _check(ordered: Any, approvals: int) -> None:
    """Places for everybody whose approval is policy, and people for all places."""
    counted = rows_of(ordered.lazy().group_by(_TIER).agg(nw.col(_ONE).sum()))
    people = {int(row[_TIER]): int(row[_ONE]) for row in counted}
    if isinstance(approvals, bool) or not isinstance(approvals, int) or approvals < 0:
        raise ValueError(f"approvals must be a whole number of places; got {approvals!r}")
    if approvals < people.get(0, 0):
        raise ValueError(
            f"there are {approvals:,} places, and {people[0]:,} people whose approval is locked "
            "by policy: give at least as many places"
        )
    may = sum(n for tier, n in people.items() if tier < LOCKED)
    if approvals > may:
        raise ValueError(
            f"there are {approvals:,} places, and {may:,} people who may be approved: the others "
            "are locked, have no score, or one at which the patch changes nobody"
        )


def _hashed(table: Any, key: str) -> Any:
    """The SHA-256 of the key as text, as hexadecimal digits, in the engine's own words."""
    kind = type(table).__module__.partition(".")[0]
    if kind in ("duckdb", "_duckdb"):
        return table.project(f"*, sha256(CAST({sql_name(key)} AS VARCHAR)) AS {_HASH}")
    if kind == "pyspark":
        functions = need("pyspark.sql.functions", extra="spark")
        quoted = "`" + key.replace("`", "``") + "`"
        return table.withColumn(_HASH, functions.sha2(functions.col(quoted).cast("string"), 256))
    frame = nw.from_native(table, eager_only=True)
    digests = [hashlib.sha256(str(v).encode()).hexdigest() for v in frame[key].to_list()]
    series = nw.new_series(_HASH, digests, backend=nw.get_native_namespace(frame))
    return frame.with_columns(series).to_native()
