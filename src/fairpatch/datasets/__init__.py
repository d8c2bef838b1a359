"""A lender's table to try things on, real data sets, and populations whose truth is known."""

from collections.abc import Callable

from fairpatch.datasets.dataset import Dataset
from fairpatch.datasets.loans import load_loans
from fairpatch.datasets.population import Population
from fairpatch.datasets.public import adult, compas, german_credit, hmda_boston, law_school

_READERS: dict[str, Callable[[], Dataset]] = {
    reader.__name__: reader for reader in (adult, compas, german_credit, hmda_boston, law_school)
}
NAMES = tuple(_READERS)

__all__ = ["NAMES", "Dataset", "Population", "load", "load_loans"]


def load(name: str) -> Dataset:
    """Load a data set by name, as its source published it: raw columns, no scaling, no one-hot.

    Files are read from the folder in the environment variable ``FAIRPATCH_DATA`` if that is set,
    else from a cache of the user's, filled from the public source on first use.

    Parameters
    ----------
    name : str
        One of ``fairpatch.datasets.NAMES``.

    Returns
    -------
    Dataset
    """
    if name not in NAMES:
        raise ValueError(f"no data set {name!r}; there are: {', '.join(NAMES)}")
    return _READERS[name]()
