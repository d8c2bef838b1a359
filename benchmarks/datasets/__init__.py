"""Data sets that only the benchmarks read, beside those that fairpatch itself loads."""

from collections.abc import Callable

from benchmarks.datasets import (
    acs_income,
    bank_marketing,
    census_income_kdd,
    communities_crime,
    credit_default,
)
from fairpatch import datasets
from fairpatch.datasets import Dataset

_FILES = (acs_income, bank_marketing, census_income_kdd, communities_crime, credit_default)
_READERS: dict[str, Callable[[], Dataset]] = {
    file.__name__.rpartition(".")[2]: file.read for file in _FILES
}
NAMES = tuple(sorted([*datasets.NAMES, *_READERS]))


def load(name: str) -> Dataset:
    """Load a data set by name, from here or from ``fairpatch.datasets``."""
    if name not in NAMES:
        raise ValueError(f"no data set {name!r}; there are: {', '.join(NAMES)}")
    return _READERS[name]() if name in _READERS else datasets.load(name)
