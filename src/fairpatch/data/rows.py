"""Rows: people with what is known of them. S is parsed and f asked once, and both go along."""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.hints import did_you_mean
from fairpatch.inputs.base import NO_SCORE, BaseModel
from fairpatch.inputs.roles import Outcomes
from fairpatch.inputs.values import NEVER, factorize, numbers_of, since
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.comparisons import Comparisons, Layers, check_many
from fairpatch.measure.groups import Groups, numbered
from fairpatch.measure.places import Places
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column

# An order of rows that is their own: the same table, its rows shuffled, gives the same patch.
#
# Each row has a number by what it says, a hash of its groups and of every value with its column's
# name. Whoever splits the same people splits them alike, in whatever order they come; labels, which
# some have and others do not, make no difference.

Hashes = NDArray[np.uint64]


def contents(
    X: Any, groups: Groups | None = None, but: Collection[str] = ()
) -> Hashes:  # fmt: skip
    """A number of every row: the same for equal rows, whichever frame holds them.

    ``but`` are columns that make no difference, as nobody reads them.
    """
    total = np.zeros(Columns.of(X).rows, np.uint64)
    for name, own in _columns(Columns.of(X), groups, but):
        total += mixed(own ^ of_text(name))
    return total


def _columns(
    held: Columns, groups: Groups | None, but: Collection[str]
) -> Iterator[tuple[str, Hashes]]:
    """Every column by its name."""
    for name in (n for n in held.names if n not in but):
        yield f"X {name}", of_values(held, name)
    if groups is not None:
        for feature, codes in zip(groups.features, groups.codes.T, strict=True):
            yield f"S {feature}", of_numbers(codes)


def of_values(held: Columns, name: str) -> Hashes:
    """Of a column, whatever its type: 1 and 1.0 are one value."""
    if held.frame is not None and (held.frame[name].dtype.is_numeric() or _is_bool(held, name)):
        return of_numbers(held.frame[name].cast(nw.Float64).to_numpy())
    values = np.empty(held.rows, object)
    values[:] = held.raw(name)
    try:
        found, code = factorize(values)
    except TypeError:  # lists and the like
        found, code = factorize(np.array([repr(v) for v in values], object))
    if all(isinstance(value, int | float | None) for value in found):  # as a column of numbers
        return of_numbers(np.array([np.nan if v is None else v for v in found], np.float64))[code]
    return np.array([of_text(repr(value)) for value in found], np.uint64)[code]


def _is_bool(held: Columns, name: str) -> bool:
    return bool(held.frame[name].dtype == nw.Boolean)


def of_numbers(values: Any) -> Hashes:
    """Of numbers as they are, with one zero and one gap."""
    x = np.asarray(values, np.float64) + 0.0
    return mixed(np.where(np.isnan(x), np.nan, x).view(np.uint64))


def of_text(text: str) -> np.uint64:
    """Of a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "big"))


def mixed(x: Hashes) -> Hashes:
    """Every bit of the result depends on every bit of x (splitmix64)."""
    x = np.asarray(x, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)


# Rows: people with what is known of them. S is parsed and f asked once, and both go along.

Shares = tuple[float, float, float]
"""Of the rows: how many to learn from, to choose on, and to certify on."""
ENOUGH, LEAST = 10_000, 0.1
"""Rows to learn from and choose on that are enough; of very many, at least this share."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Features, labels 0 / 1, and what goes with them; all but X and y may be absent."""

    X: Any
    y: Ints
    groups: Groups | None = None
    f_logit: Floats | None = None
    """f's log-odds against its threshold, once f has been asked."""
    sample_weight: Any = None
    change_cost: Any = None
    """What a changed decision costs in each row, relative to the others."""
    stands_for: Any = None
    """How many rows of a table in an engine each of a sample stands for."""
    previous: Ints | None = None
    """What the model in force until now decides, 1 for the favourable; -1 where it is not known."""
    chances: Floats | None = None
    """Of a feature that is known by probabilities: P(group), (rows, groups)."""
    told: Bools | None = None
    """Whose group of that feature is known, and not drawn."""
    person: Ints | None = None
    """Whose row it is, as a whole number, where people may have several."""
    month: Ints | None = None
    """When they were decided, as whole numbers that sort by time."""
    batch: Ints | None = None
    """Whose places are shared out together, as whole numbers."""
    room: Floats | None = None
    """How many places there are in each row's batch; None for as many as f approves."""
    made: Ints | None = None
    """Decisions as they were made: 1 for the favourable one, -1 where there is none."""
    outcomes: Outcomes = "everybody"
    """Whose label is known."""
    expected: Floats | None = None
    """P(good outcome) of those whose label is not known."""
    number: Hashes | None = None
    """What each row says, as a number; of all columns unless some make no difference."""

    @classmethod
    def of(
        cls,
        X: Any,
        y: Ints,
        sensitive_features: Any = None,
        f_logit: Floats | None = None,
        sample_weight: Any = None,
        change_cost: Any = None,
    ) -> "Rows":
        """Rows as a caller has them, each of them once in everything that is given."""
        check.same_people(
            X=X, sensitive_features=sensitive_features, sample_weight=sample_weight,
            change_cost=change_cost,
        )  # fmt: skip
        groups = None if sensitive_features is None else Groups.of(sensitive_features)
        n = Columns.of(X).rows
        if len(y) != n:
            raise ValueError(f"X has {n} rows, y has {len(y)}")
        if groups is not None and len(groups) != n:
            names = ", ".join(map(repr, groups.features))
            raise ValueError(f"sensitive feature {names} has {len(groups)} rows, X has {n}")
        if sample_weight is not None and np.asarray(sample_weight).shape == (n,):
            check.weights("sample_weight, what each row weighs,", sample_weight)
        for name, given in (("sample_weight", sample_weight), ("change_cost", change_cost)):
            if given is not None and np.asarray(given).shape != (n,):
                got = " x ".join(map(str, np.asarray(given).shape)) or "a single one"
                raise ValueError(
                    f"{name} must be {n} finite numbers, one for each row of X; got {got}"
                )
        return cls(X, y, groups, f_logit, sample_weight, change_cost)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def s(self) -> Groups:
        """The groups, where they must be known."""
        if self.groups is None:
            raise ValueError("these rows have no sensitive features: there is nothing to compare")
        return self.groups

    @property
    def f(self) -> Floats:
        """f's log-odds, where f must have been asked."""
        if self.f_logit is None:
            raise ValueError("the base model has not been asked about these rows yet")
        return self.f_logit

    def scored(self, base: BaseModel) -> "Rows":
        """The same rows with f's log-odds; f is asked only where it has not been."""
        return self if self.f_logit is not None else replace(self, f_logit=base.logits(self.X))

    def take(self, rows: NDArray[np.intp]) -> "Rows":
        """Some of the rows."""
        held = {name: value for name, value in vars(self).items() if name != "outcomes"}
        return replace(self, **{name: take(value, rows) for name, value in held.items()})

    @property
    def with_score(self) -> "Rows":
        """Those who were scored: nobody who was denied before that."""
        none = self.f == NO_SCORE
        return self.take(np.flatnonzero(~none)) if none.any() else self

    @property
    def good(self) -> Floats:
        """P(good outcome): 0 or 1 where the label is known, what is expected where it is not."""
        known = self.y != UNKNOWN
        if known.all():
            return self.y.astype(np.float64)
        if self.expected is None:
            raise ValueError("some of these rows have no label, and nothing is expected of them")
        return np.where(known, self.y, self.expected)

    @property
    def labels(self) -> Floats:
        """Labels as counts take them: NaN where there is none."""
        return np.where(self.y == UNKNOWN, np.nan, self.y)

    @property
    def labelled(self) -> "Rows":
        """Those whose label is known."""
        known = self.y != UNKNOWN
        return self if known.all() else self.take(np.flatnonzero(known))

    def sample(self, most: int | None, seed: int) -> "Rows":
        """At most so many of the rows, drawn at random."""
        if most is None or len(self) <= most:
            return self
        return self.take(
            np.sort(np.random.default_rng(seed).choice(len(self), most, replace=False))
        )

    def split(self, shares: Shares | None, seed: int) -> tuple["Rows", "Rows", "Rows"]:
        """Rows to learn from, to choose on and to certify on: every group and label in each."""
        where = self.split_codes(shares, seed)
        learn, select, certify = (self.take(np.flatnonzero(where == k)) for k in range(3))
        return learn, select, certify

    @property
    def own_order(self) -> Ints:
        """The rows sorted by what they say, in whatever order they were given.

        Only of people who are equal in everything else does the label decide.
        """
        return np.lexsort((self.y, contents(self.X, self.groups) if self.number is None
                           else self.number))  # fmt: skip

    def numbered(self, but: Collection[str]) -> "Rows":
        """The same, told apart by what they say beside some columns, which nobody reads."""
        return replace(self, number=contents(self.X, self.groups, set(but)))

    def split_codes(self, shares: Shares | None, seed: int) -> Ints:
        """Each row's split, 0 to 2; the same for the same people in any order."""
        shares = shares_for(len(self)) if shares is None else shares
        check_shares(shares)
        codes, order = np.empty(len(self), np.int64), self.own_order
        codes[order] = self.take(order)._split_codes(shares, seed)
        return codes

    def _split_codes(self, shares: Shares, seed: int) -> Ints:
        stratum = numbered(*self.s.codes.T, self.y)
        if self.month is not None and shares[2]:
            return self._by_date(shares, seed)
        if self.person is not None:  # all rows of a person are in one split
            _, first, whose = np.unique(self.person, return_index=True, return_inverse=True)
            alone = replace(self.take(first), person=None)
            return alone._split_codes(shares, seed)[whose]
        random = np.random.default_rng(seed)
        place = np.empty(len(self))
        for value in np.unique(stratum):  # spread each stratum evenly over 0 to 1, in random order
            rows = np.flatnonzero(stratum == value)
            place[random.permutation(rows)] = (np.arange(len(rows)) + random.random()) / len(rows)
        where = np.searchsorted(np.cumsum(shares)[:2], place, side="right")
        return np.asarray(where, np.int64)

    def _by_date(self, shares: Shares, seed: int) -> Ints:
        """The latest rows certify, as they are the nearest to those that the patch will decide.

        Of a person with several rows the last one says when. Where no month parts the rows at
        about the share that is to certify, they are drawn as ever.
        """
        month = np.asarray(self.month)
        if self.person is not None:
            _, whose = np.unique(self.person, return_inverse=True)
            last = np.full(whose.max(initial=-1) + 1, NEVER)
            np.maximum.at(last, whose, month)
            month = last[whose]
        months, rows = np.unique(month, return_counts=True)
        cut = since(months.tolist(), rows.tolist(), shares[2])
        undated = replace(self, month=None)
        if cut is None:
            return undated._split_codes(shares, seed)
        where, early = np.full(len(self), 2), np.flatnonzero(month < cut)
        first = shares[0] / (shares[0] + shares[1])
        where[early] = undated.take(early)._split_codes((first, 1 - first, 0.0), seed)
        return where


def strata_of(comparisons: Comparisons | None, X: Any) -> Groups | None:
    """Everybody's stratum, of rows in memory; None where everybody is in one."""
    if comparisons is None or not comparisons.columns:
        return None
    held = Columns.of(X)
    for name in comparisons.columns:
        comparisons.check_column(name, held.names)
    named = {name: np.array(held.raw(name), object) for name in comparisons.columns}
    strata = Groups.of(named)
    check_many(len(np.unique(strata.strata)), comparisons)
    return strata


def with_batches(rows: Rows, places: Places | None) -> Rows:
    """The rows with the batches whose places are shared out together, where a target says so."""
    if places is None or places.by is None:
        return rows
    held = Columns.of(rows.X)
    for name in (places.by, places.number):
        if isinstance(name, str) and name not in held.names:
            raise KeyError(
                f"approvals are by column {name!r}, which the table does not have"
                + did_you_mean(name, held.names)
            )
    batch, room = numbers_of(np.array(held.raw(places.by), object)), None
    if isinstance(places.number, int):
        room = np.full(len(rows), float(places.number))
    elif places.number is not None:
        room = np.asarray(held.values(Column(name=places.number, kind="number")), np.float64)
        if not (np.isfinite(room) & (room >= 0) & (room == np.rint(room))).all():
            raise ValueError(
                f"column {places.number!r} must hold whole numbers of places, and has a gap or "
                "something else in some rows"
            )
        if len(np.unique(np.stack([batch, room]), axis=1).T) > len(np.unique(batch)):
            raise ValueError(
                f"column {places.number!r} has several numbers of places for one {places.by!r}"
            )
    # all applications for the same places are in one split, and tested as one
    return replace(rows, batch=batch, room=room, person=batch)


def layers_of(rows: Rows, comparisons: Comparisons | None) -> tuple[Layers, ...]:
    """Of every feature, who is compared with whom; none where that is everybody with everybody."""
    if comparisons is None:
        return ()
    groups, strata = rows.s.comparable(), strata_of(comparisons, rows.X)
    return tuple(
        Layers.of(comparisons, strata, name, codes, values, rows.f > 0)
        for name, codes, values in zip(groups.features, groups.codes.T, groups.values, strict=True)
    )


def seen_rows(seen_by_base: Any, n: int) -> Bools | None:
    """Rows that f was trained on, as one boolean a row."""
    if seen_by_base is None:
        return None
    seen = np.asarray(seen_by_base)
    if seen.dtype != bool or seen.shape != (n,):
        raise ValueError(
            f"seen_by_base must be {n} booleans, one for each row of X; got {seen.dtype} of shape "
            f"{seen.shape}"
        )
    if seen.all():
        raise ValueError(
            "f was trained on all of these rows: nothing can be chosen or certified on them. Give "
            "rows that it has not seen"
        )
    return seen


def shares_for(people: int) -> Shares:
    """Half of the rows learn and choose; of many, all that learning does not need certify.

    A certificate's margin, and the changes it costs, fall with the rows that certify; learning gets
    no better beyond some ten thousand.

    >>> shares_for(5_000), shares_for(40_000)
    ((0.3, 0.2, 0.5), (0.15, 0.1, 0.75))
    """
    both = min(0.5, max(ENOUGH / max(people, 1), LEAST))
    return (0.6 * both, 0.4 * both, 1 - both)


def check_shares(shares: Shares) -> None:
    """Say what is wrong with splits."""
    three = len(shares) == 3 and np.isfinite(np.asarray(shares, np.float64)).all()
    if not three or min(shares) < 0 or 0 in shares[:2] or abs(sum(shares) - 1) > 1e-9:
        raise ValueError(
            f"splits must be three shares that sum to 1, the first two above 0; got {shares!r}"
        )


def rows_hash(rows: Rows) -> str:
    """SHA-256 of some rows, in whatever order: the same for the same people, and tells of none."""
    numbers = contents(rows.X, rows.groups) + mixed(of_numbers(rows.y))
    return hashlib.sha256(np.sort(numbers).astype("<u8").tobytes()).hexdigest()


def take(values: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array, frame or groups, whatever kind it is."""
    if values is None:
        return None
    if isinstance(values, Groups):
        return values.take(rows)
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows].to_native()
    return np.asarray(values)[rows]
