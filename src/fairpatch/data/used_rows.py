"""Which rows learned or chose: found again in another file, another order, a column changed.

Of every row four salted hashes are kept, each of which leaves one kind of column out: f's score,
the label, the numbers, the categories. A row whose score was moved is found by the hash that leaves
scores out, and so on. Rows that are alike by chance are found, too; how often that happens is
measured on rows that neither learned nor chose. What is rarer than that is told; a hash by which
fresh rows are found is not asked.

Nobody's value is kept. But who has the file and suspects a row can try it, so it is written for its
owner alone. And whoever wants to cheat, can: two kinds of columns changed at once are not found.
"""

import secrets
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, binom

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.extras import need, sql_name
from fairpatch._tools.files import whole_file
from fairpatch.data.copies import said_of
from fairpatch.data.rows import Hashes, Rows, mixed, of_numbers, of_text, of_values, take
from fairpatch.inputs.base import NO_SCORE
from fairpatch.patch.columns import Columns

KINDS = ("score", "label", "numbers", "categories")
"""What each hash leaves out."""
TELLING = 0.01
"""A hash by which more fresh rows than this share are found is not asked."""
HALF = 0.5
SURE = 1e-4
"""As many rows are found by chance in so few files of fresh rows."""
BITS = np.uint64(40)
"""Of a hash: 5 bytes."""
DIGITS = 6
"""Of a number: files do not keep them all."""
MOST = 2_000_000
"""Rows that are kept, at most."""


@dataclass(frozen=True)
class Found:
    """What was found of some rows."""

    rows: Bools
    """Which of them learned or chose."""
    told: bool = True
    """Whether the rows differ enough to tell one from another."""

    @property
    def text(self) -> str | None:
        """In a sentence; None where there is nothing to say."""
        many = int(self.rows.sum())
        if not self.told:
            return (
                "Whether the patch learned from these rows cannot be told: too many are alike, or "
                "too few were fresh when it was learned."
            )
        if not many:
            return None
        return (
            f"Of {len(self.rows):,} rows, {many:,} are left out: the patch learned from them, or "
            "was chosen on them."
        )


@dataclass(frozen=True, eq=False)
class UsedRows:
    """Hashes of the rows that learned and chose."""

    columns: Mapping[str, str]
    """Names of the columns that are looked at, and whether each is a number or a category."""
    hashes: tuple[Hashes, ...]
    """By what they leave out, sorted."""
    chance: tuple[tuple[int, int], ...]
    """By what they leave out: how many fresh rows were found, and of how many."""
    salt: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    @classmethod
    def of(
        cls, used: Sequence[Rows], fresh: Rows | None, but: Collection[str] = (),
        salt: str | None = None,
    ) -> "UsedRows":  # fmt: skip
        """Of rows with f's log-odds; ``fresh`` are others of the same table."""
        held = Columns.of(used[0].X)
        columns = {c.name: c.kind for c in held.described(but)}
        salt = secrets.token_hex(16) if salt is None else salt
        bare = cls(columns, (), (), salt)
        every = [bare._hashes(r.X, r.y, r.f) for r in used]
        hashes = tuple(
            np.unique(np.concatenate([one[k] for one in every]))[:MOST] for k in range(len(KINDS))
        )
        if fresh is not None and len(fresh):
            others, against = bare._hashes(fresh.X, fresh.y, fresh.f), hashes
        elif len(used) > 1:  # those chosen on, beside those learned from
            others, against = every[-1], tuple(every[0])
        else:  # nobody is fresh: nothing is told
            others, against = every[0], hashes
        chance = tuple(
            (int(np.isin(own, known).sum()), len(own))
            for own, known in zip(others, against, strict=True)
        )
        return cls(columns, hashes, chance, salt)

    def among(self, X: Any, y: Ints, f_logit: Floats) -> Found:
        """Which rows learned or chose."""
        asked = [k for k in range(len(KINDS)) if self._telling(k) and self._has(X, k)]
        found = np.zeros(len(y), bool)
        if not asked:
            return Found(found, told=False)
        own, expected = self._hashes(X, y, f_logit), 0.0
        for k in asked:
            found |= np.isin(own[k], self.hashes[k])
            hits, n = self.chance[k]
            expected += float(beta.ppf(1 - SURE, hits + 1, max(n - hits, 1)))
        if expected >= HALF:  # too few fresh rows to say what chance finds
            return Found(np.zeros(len(y), bool), told=False)
        if found.sum() <= binom.ppf(1 - SURE, len(y), expected):
            return Found(np.zeros(len(y), bool))
        return Found(found)

    def _telling(self, k: int) -> bool:
        hits, n = self.chance[k]
        return n > 0 and hits <= TELLING * n

    def _has(self, X: Any, k: int) -> bool:
        """Whether a table has all columns that a hash is of."""
        names = set(Columns.of(X).names)
        kept = [n for n, kind in self.columns.items() if KINDS[k] != _PLURAL[kind]]
        return names.issuperset(kept)

    def _hashes(self, X: Any, y: Ints, f_logit: Floats) -> list[Hashes]:
        held = Columns.of(X)
        parts = {
            "score": mixed(of_numbers(_rounded(np.where(f_logit == NO_SCORE, np.nan, f_logit)))),
            "label": mixed(of_numbers(y) ^ of_text("label")),
            "numbers": np.zeros(held.rows, np.uint64), "categories": np.zeros(held.rows, np.uint64),
        }  # fmt: skip
        for name, kind in self.columns.items():
            if name not in held.names:
                continue
            own = _of_number(held, name) if kind == "number" else of_values(held, name)
            parts[_PLURAL[kind]] += mixed(own ^ of_text(f"X {name}"))
        everything = np.full(held.rows, of_text(self.salt))
        for own in parts.values():
            everything += own
        return [mixed(everything - parts[left_out]) >> (np.uint64(64) - BITS) for left_out in KINDS]

    # A file: names, and five bytes a hash.

    def save(self, path: str | Path) -> Path:
        """Write it for its owner alone."""
        path = Path(path)
        with whole_file(path) as unfinished:
            unfinished.chmod(0o600)
            arrays: dict[str, Any] = {f"hashes_{k}": _five(h) for k, h in enumerate(self.hashes)}
            with unfinished.open("wb") as file:
                np.savez(
                    file, names=np.array(list(self.columns), str),
                    kinds=np.array(list(self.columns.values()), str),
                    chance=np.array(self.chance), salt=np.array(self.salt), **arrays,
                )  # fmt: skip
        return path

    @classmethod
    def load(cls, path: str | Path) -> "UsedRows":
        """Read it; nothing in it is run."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
                columns = dict(zip(held["names"].tolist(), held["kinds"].tolist(), strict=True))
                hashes = tuple(_of_five(held[f"hashes_{k}"]) for k in range(len(KINDS)))
                chance = tuple((int(a), int(b)) for a, b in held["chance"].tolist())
                return cls(columns, hashes, chance, str(held["salt"]))
        except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} does not hold used rows: {error}") from None


Counting = tuple[str, Any, Any, Any, list[Any]]
"""What is said, then X, y, S and all others without the rows that do not count."""


def counting(
    used: Found | None, copies: Bools | None, X: Any, y: Any, sensitive_features: Any, *others: Any
) -> Counting:
    """The rows that are left, with all that goes with them; names of columns stay names."""
    told = [None if used is None else used.text, None if copies is None else said_of(copies)]
    said = " ".join(text for text in told if text)
    out = [mask for mask in (None if used is None else used.rows, copies) if mask is not None]
    if not any(mask.any() for mask in out):
        return said, X, y, sensitive_features, list(others)
    gone = np.logical_or.reduce(out)
    if used is not None and used.rows.all():
        raise ValueError(
            "the patch learned from all of these rows, or was chosen on them: give rows that it "
            "has not seen"
        )
    *columns, left = some_of(~gone, X, y, sensitive_features, *others)
    return said, *columns, list(left)


def some_of(
    kept: Bools, X: Any, y: Any, sensitive_features: Any, *others: Any
) -> tuple[Any, Any, Any, tuple[Any, ...]]:
    """Some of the rows, with all that goes with them; names of columns stay names."""
    left, S = np.flatnonzero(kept), sensitive_features
    if isinstance(S, Mapping):
        S = {name: take(values, left) for name, values in S.items()}
    elif not _is_names(S):
        S = take(S, left)
    y = y if isinstance(y, str) else take(y, left)
    return take(X, left), y, S, tuple(take(other, left) for other in others)


NOT_LOOKED_AT = (
    "Whether the patch learned from some of these rows is not looked at: that is done in memory "
    f"and in DuckDB, of {MOST:,} rows at most."
)


def fetched(table: Any, wanted: Collection[Any]) -> Any:
    """Columns of a DuckDB relation in memory; None of another table, or of very many rows."""
    if not hasattr(table, "fetch_arrow_table") or table.count("*").fetchall()[0][0] > MOST:
        return None
    names = [n for n in dict.fromkeys(wanted) if isinstance(n, str) and n in table.columns]
    return table.project(", ".join(map(sql_name, names))).df()


def without_rows(table: Any, gone: Bools) -> Any:
    """A DuckDB relation without some of its rows, by their places."""
    kept = need("pandas", extra="cli").DataFrame({"fairpatch_kept": ~gone})  # noqa: F841 read below
    columns = "t.* EXCLUDE (fairpatch_kept)"
    return table.query(
        "given",
        f"SELECT {columns} FROM (FROM given POSITIONAL JOIN kept) t WHERE fairpatch_kept",  # noqa: S608
    )


def _is_names(given: Any) -> bool:
    """Whether columns of X were named."""
    if isinstance(given, list | tuple):
        return all(isinstance(name, str) for name in given)
    return isinstance(given, str)


_PLURAL = {"number": "numbers", "category": "categories"}


def _of_number(held: Columns, name: str) -> Hashes:
    """Of a column of numbers, to six digits; where it has become text, as those it stands for."""
    frame = held.frame
    if frame is not None and not frame[name].dtype.is_numeric():
        values = [_number(v) for v in held.raw(name)]
    else:
        values = held.raw(name) if frame is None else frame[name].to_numpy()
    return of_numbers(_rounded(np.asarray(values, np.float64)))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _rounded(x: Floats) -> Floats:
    """Six digits: m 10^e as one number, exactly."""
    x = np.where(np.abs(x) < 1e-100, 0.0, x)  # a score at the threshold, too
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.where(np.isfinite(x) & (x != 0), np.floor(np.log10(np.abs(x))), 0.0)
        m = np.rint(x * 10.0 ** (DIGITS - 1 - size))
    return np.asarray(m + size / 1024)


def _five(hashes: Hashes) -> Any:
    return hashes.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :5]


def _of_five(held: Any) -> Hashes:
    whole = np.zeros((len(held), 8), np.uint8)
    whole[:, :5] = held
    return np.asarray(whole.view("<u8").ravel(), np.uint64)
