"""What a loader returns, and where its files come from: FAIRPATCH_DATA, a cache, the source."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.extras import need

if TYPE_CHECKING:
    import pandas as pd


# Where a data set's files come from: FAIRPATCH_DATA, else a cache filled from the public source.
#
# Only sources whose bytes equal the files we tested with are fetched, at a pinned commit and with a
# sha256. For the others the message says what to get and where to put it.

VARIABLE = "FAIRPATCH_DATA"


@dataclass(frozen=True)
class File:
    """One file of a data set."""

    path: str
    """Below the data folder, as ``data_set/file``."""
    sha256: str
    url: str | None = None
    """A pinned public address with the very same bytes, if there is one."""
    hint: str = ""
    """Where else to get it."""

    def locate(self) -> Path:
        """Find the file, fetching it where that is possible and needed."""
        given = os.environ.get(VARIABLE)
        if given:
            path = Path(given) / self.path
            if not path.is_file():
                raise FileNotFoundError(
                    f"{path} is missing ({VARIABLE}={given}). {self._advice(path)}"
                )
            return path
        return self._from_cache()

    def _from_cache(self) -> Path:
        pooch = need("pooch", extra="datasets")
        target = Path(pooch.os_cache("fairpatch")) / self.path
        if target.is_file() and pooch.file_hash(str(target)) == self.sha256:
            return target
        if self.url is None:
            raise FileNotFoundError(f"{target} is missing or has changed. {self._advice(target)}")
        try:
            pooch.retrieve(self.url, f"sha256:{self.sha256}", path=target.parent, fname=target.name)
        except Exception as error:
            # one line instead of the four chained tracebacks of an HTTP client
            raise OSError(
                f"could not download {self.path} ({type(error).__name__}). {self._advice(target)}"
            ) from None
        return target

    def _advice(self, target: Path) -> str:
        where = f"Get it from {self.url or self.hint}" if self.url or self.hint else "Get it"
        return (
            f"{where} and put it at {target} (sha256 {self.sha256}), "
            f"or set {VARIABLE} to a folder that has {self.path}."
        )


def github(repository: str, commit: str, path: str) -> str:
    """Give the address of a file of a public repository at a commit."""
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


# What a loader returns.


@dataclass(frozen=True, eq=False)
class Dataset:
    """A binary decision problem with sensitive features, as its source published it.

    Attributes
    ----------
    name : as in ``fairpatch.datasets.NAMES``.
    X : raw columns; the sensitive features are in it only where ``also_in_x`` says so.
    y : 0 or 1 a row; ``label`` says what 1 means.
    sensitive : sensitive features, a column each; the first is the usual one.
    favourable : the label that is good for a person.
    label, source, terms : in words.
    weight : survey weights, where the source has them.
    """

    name: str
    X: "pd.DataFrame"
    y: Ints
    sensitive: "pd.DataFrame"
    favourable: int
    label: str
    source: str
    terms: str
    weight: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.y) == len(self.sensitive):
            raise ValueError(f"{self.name}: X, y and sensitive differ in length")
        if set(np.unique(self.y)) != {0, 1}:
            raise ValueError(f"{self.name}: y must have the labels 0 and 1")

    @property
    def also_in_x(self) -> list[str]:
        """Sensitive features that the base models of the literature read too."""
        return [name for name in self.sensitive.columns if name in self.X.columns]

    def __repr__(self) -> str:
        return (
            f"Dataset {self.name}: {len(self.X):,} rows, {self.X.shape[1]} columns\n"
            f"  y = 1: {self.label} ({self.y.mean():.3f}); favourable: {self.favourable}\n"
            f"  sensitive: {', '.join(self.sensitive.columns)}\n"
            f"  source: {self.source}\n"
            f"  terms: {self.terms}"
        )


def read_csv(*args: Any, **options: Any) -> "pd.DataFrame":
    """``pandas.read_csv`` that takes no word for a missing value unless told to."""
    pandas = need("pandas", extra="datasets")
    options = {"keep_default_na": False, "na_values": [""]} | options
    frame: pd.DataFrame = pandas.read_csv(*args, **options)
    return frame
