"""ACS Income: whose income is above 50,000 US dollars (American Community Survey of 2018)."""

import numpy as np

from fairpatch._tools.extras import need
from fairpatch.datasets.dataset import Dataset, File, read_csv

_HINT = (
    "the repository dssg/aequitas, datasets/FolkTables at commit "
    "4dc71c69cdf15f3dfa53638665d722f5f1763bad, its parquet file of the same name written as csv"
)
FILES = (
    File(
        "acs_income/ACSIncome.validation.csv.gz",
        "cece2d17f7ceac7ac8886d16346df97e86a944ccd1b13f4972bfb39eed5dfeaa",
        hint=_HINT,
    ),
    File(
        "acs_income/ACSIncome.test.csv.gz",
        "60ada01bb5f70373035cb05bf130fdfa9a551fc6b0a51739f2092eb81db500e9",
        hint=_HINT,
    ),
)
CODES = ["COW", "MAR", "OCCP", "POBP", "RELP"]
RACES = [
    "White", "Black", "American Indian", "Alaska Native", "American Indian or Alaska Native",
    "Asian", "Pacific Islander", "Other", "Two or more",
]  # fmt: skip


def read() -> Dataset:
    """Read the 332,900 + 332,900 rows; codes are categories, not numbers."""
    pandas = need("pandas", extra="datasets")
    raw = pandas.concat(
        [read_csv(file.locate(), dtype=dict.fromkeys(CODES, "str")) for file in FILES],
        ignore_index=True,
    )
    sensitive = raw[["RAC1P"]].assign(
        race=np.where(raw["RAC1P"] == 0, "White", "Non-White"),
        race_detail=np.array(RACES, dtype=object)[raw["RAC1P"].to_numpy()],
        sex=np.where(raw["SEX"] == 1, "male", "female"),
    )
    return Dataset(
        name="acs_income",
        X=raw.drop(columns=["index", "PINCP", "RAC1P", "SEX"]),
        y=raw["PINCP"].to_numpy(np.int64),
        sensitive=sensitive[["race", "race_detail", "sex"]],
        favourable=1,
        label="income above 50,000 US dollars",
        source="US Census Bureau, ACS public-use microdata 2018 (folktables), by aequitas",
        terms="a US government work; the repository is under MIT",
    )
