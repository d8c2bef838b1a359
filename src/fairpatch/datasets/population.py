"""A made-up population whose truth is known, written as Parquet at any size.

Everything rests on one normal variable a person. Each column j has a latent u_j, and

    u_j = -m_j d_s + e_j,   e_j ~ N(0, 1)      the column, shifted for group s
    z   = sum_j b_j u_j,    |b| = 1            what the base model sees:  z | s ~ N(-delta d_s, 1)
    y   = [z + tau e > c],  score = P(y = 1 | z) = Phi((z - c) / tau)

so the score is calibrated, f decides z > c, and both figures that the caller asks for have a closed
form: delta follows from the P-Rule, tau from the accuracy. d_s, a group's disadvantage, runs from 0
to 1. Columns of every kind are proxies of S; two of them (``num_0``, ``cat_0``) have b = 0: f does
not read them, but they tell S.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.extras import need

if TYPE_CHECKING:
    import pyarrow as pa


CHUNK = 1 << 17
"""Rows made at once: memory stays the same however many are written."""

GROUPS: Mapping[str, tuple[float, float]] = {
    "A": (0.60, 0.0),
    "B": (0.30, 1.0),
    "C": (0.099, 0.5),
    "D": (0.001, 0.8),
}
LEVELS = 8


@dataclass(frozen=True)
class Population:
    """A population with a base model of a given P-Rule and accuracy.

    Parameters
    ----------
    p_rule : float
        The base model's P-Rule: lowest group's rate of decision 1 over the highest group's.
    accuracy : float
        The base model's accuracy, above one half.
    rate : float
        Rate of decision 1 in the best-off group.
    n_numeric, n_categorical : int
        Columns, at least 2 and 1.
    missing : float
        Share of missing values in every second column.
    proxy : float
        How well the two columns that f does not read tell S, in standard deviations.
    groups : mapping of name to (share, disadvantage)
        Disadvantage runs from 0 to 1, and both ends must occur.

    Examples
    --------
    >>> population = Population(p_rule=0.6, accuracy=0.8)
    >>> table = population.sample(200_000, seed=1)
    >>> table.column_names[:3], table.num_rows
    (['id', 'group', 'num_0'], 200000)
    """

    p_rule: float = 0.6
    accuracy: float = 0.8
    rate: float = 0.5
    n_numeric: int = 6
    n_categorical: int = 3
    missing: float = 0.02
    proxy: float = 1.0
    groups: Mapping[str, tuple[float, float]] = field(default_factory=lambda: dict(GROUPS))

    def __post_init__(self) -> None:
        _between("p_rule", self.p_rule, 0.0, 1.0)
        _between("accuracy", self.accuracy, 0.5, 1.0)
        _between("rate", self.rate, 0.0, 1.0)
        if not 0 <= self.missing < 1:
            raise ValueError(f"missing must be at least 0 and below 1, got {self.missing!r}")
        if self.n_numeric < 2 or self.n_categorical < 1:
            raise ValueError("a population needs at least 2 numeric and 1 categorical column")
        shares, disadvantages = zip(*self.groups.values(), strict=True)
        if abs(sum(shares) - 1) > 1e-9 or min(shares) <= 0:
            raise ValueError(f"the groups' shares must be positive and sum to 1, got {shares}")
        if min(disadvantages) != 0 or max(disadvantages) != 1:
            raise ValueError(
                f"the groups' disadvantages must run from 0 to 1, both included: {disadvantages}"
            )
        _ = self._tau  # say at once if the accuracy cannot be reached

    @property
    def columns(self) -> list[str]:
        """Names of the columns that a model may read."""
        return [
            *(f"num_{j}" for j in range(self.n_numeric)),
            *(f"cat_{j}" for j in range(self.n_categorical)),
        ]

    def write(
        self, folder: str | Path, rows: int, *, seed: int = 0, rows_per_file: int = 10_000_000
    ) -> Path:
        """Write ``rows`` people as ``part-*.parquet`` into a new folder, in constant memory.

        The same seed gives the same bytes (with the same version of pyarrow). The folder appears
        only when it is complete.
        """
        parquet = need("pyarrow.parquet", extra="datasets")
        folder = Path(folder)
        if folder.exists():
            raise FileExistsError(f"{folder} exists already; remove it or name another folder")
        unfinished = folder.with_name(folder.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        per_file = max(1, rows_per_file // CHUNK)
        writer: Any = None
        for i, table in enumerate(self.chunks(rows, seed=seed)):
            if i % per_file == 0:
                if writer:
                    writer.close()
                path = unfinished / f"part-{i // per_file:05d}.parquet"
                writer = parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer:
            writer.close()
        return unfinished.rename(folder)

    def sample(self, rows: int, *, seed: int = 0) -> "pa.Table":
        """Make ``rows`` people in memory, the same ones that ``write`` would write."""
        pa = need("pyarrow", extra="datasets")
        return pa.concat_tables(self.chunks(rows, seed=seed)).combine_chunks()

    def chunks(self, rows: int, *, seed: int = 0) -> Iterator["pa.Table"]:
        """Yield tables of up to CHUNK people; chunk i depends on nothing but the seed and i."""
        if rows < 1:
            raise ValueError(f"rows must be at least 1, got {rows!r}")
        for i, start in enumerate(range(0, rows, CHUNK)):
            random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i,)))
            yield self._chunk(random, start, min(CHUNK, rows - start))

    def _chunk(self, random: np.random.Generator, start: int, rows: int) -> "pa.Table":
        pa = need("pyarrow", extra="datasets")
        shares, d = (np.array(column) for column in zip(*self.groups.values(), strict=True))
        s = random.choice(len(shares), rows, p=shares)
        shift, weight = self._columns
        z = np.zeros(rows)
        made: dict[str, Any] = {}
        for j, name in enumerate(self.columns):
            u = random.standard_normal(rows) - shift[j] * d[s]
            z += weight[j] * u
            gap = random.random(rows) < self.missing if j % 2 else None
            made[name] = (
                pa.array(_number(j, u), mask=gap) if name.startswith("num_") else _category(u, gap)
            )
        score = ndtr((z - self._cut) / self._tau)
        y = random.random(rows) < score
        return pa.table(
            {
                "id": pa.array(np.arange(start, start + rows, dtype=np.int64)),
                "group": pa.DictionaryArray.from_arrays(s.astype(np.int8), list(self.groups)),
                **made,
                "score": pa.array(score),
                "y": pa.array(y.astype(np.int8)),
            }
        )

    @cached_property
    def _cut(self) -> float:
        """Solve P(z > c | best-off group) = rate for c."""
        return float(-ndtri(self.rate))

    @cached_property
    def _delta(self) -> float:
        """Solve P(z > c | worst-off) = p_rule * rate for the shift of z."""
        return float(ndtri(self.rate) - ndtri(self.p_rule * self.rate))

    @cached_property
    def _tau(self) -> float:
        """Solve accuracy = E Phi(|z - c| / tau) for the label's noise, over the groups' mixture."""
        z = np.linspace(-8.0, 8.0, 4001)
        density = np.exp(-(z**2) / 2)

        def accuracy(log_tau: float) -> float:
            means = [
                share
                * np.average(
                    ndtr(np.abs(z - self._delta * d - self._cut) / np.exp(log_tau)), weights=density
                )
                for share, d in self.groups.values()
            ]
            return float(sum(means))

        if accuracy(-12.0) < self.accuracy or accuracy(12.0) > self.accuracy:
            raise ValueError(f"no label noise gives an accuracy of {self.accuracy}")
        return float(np.exp(brentq(lambda t: accuracy(t) - self.accuracy, -12.0, 12.0)))

    @cached_property
    def _columns(self) -> tuple[Floats, Floats]:
        """Shift m and weight b of every column: |b| = 1, b . m = delta, b = 0 for two of them."""
        k = len(self.columns)
        blind = np.isin(np.arange(k), (0, self.n_numeric))
        weight = np.where(blind, 0.0, 1.0 / np.arange(1, k + 1))
        weight /= np.linalg.norm(weight)
        shift = np.where(np.arange(k) % 3 == 2, 0.0, weight)  # every third column knows no S
        shift *= self._delta / (weight @ shift)
        return np.where(blind, self.proxy, shift), weight


def _number(j: int, u: Floats) -> Floats:
    """Numbers of three kinds: roughly normal, skewed like an income, and whole."""
    if j % 3 == 0:
        return u * 10 + 50
    return np.exp(u / 2 + 10) if j % 3 == 1 else np.floor(np.exp(u / 2 + 1))


def _category(u: Floats, gap: Bools | None) -> Any:
    """Levels a to h, from the lowest to the highest eighth of a standard normal variable."""
    pa = need("pyarrow", extra="datasets")
    code = np.searchsorted(ndtri(np.arange(1, LEVELS) / LEVELS), u).astype(np.int8)
    return pa.DictionaryArray.from_arrays(
        pa.array(code, mask=gap), [chr(ord("a") + i) for i in range(LEVELS)]
    )


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise ValueError(f"{name} must be above {low:g} and below {high:g}, got {value!r}")
