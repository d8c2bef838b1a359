"""Bank marketing: who subscribes to a term deposit after a call."""

import numpy as np

from fairpatch.datasets.dataset import Dataset, File, read_csv

FILE = File(
    "bank_marketing/bank_marketing.csv",
    "b44507c26634736d4a0619ec2d7c4b6ff56a2c63cbeb5176d3134e7b25e416f0",
    hint="the repository mostly-ai/public-demo-data, bank_marketing/bank_marketing.csv.gz at "
    "commit 64020409bdc85b7a04a2e510be00f9f4cf47fd3d, unpacked",
)


def read() -> Dataset:
    """Read the 45,211 rows; ``unknown`` is missing. Age 25 to 60 is the advantaged group."""
    raw = read_csv(FILE.locate(), na_values=["unknown"])
    sensitive = raw[["marital"]].assign(
        age=np.where(raw["age"].between(25, 60), "25 to 60", "other"),
        marital=np.where(raw["marital"] == "married", "married", "other"),
    )
    return Dataset(
        name="bank_marketing",
        X=raw.drop(columns=["y", "age", "marital"]),
        y=np.asarray(raw["y"] == "yes", np.int64),
        sensitive=sensitive[["age", "marital"]],
        favourable=1,
        label="subscribes to the deposit",
        source="UCI Machine Learning Repository, Bank Marketing (Moro et al. 2014)",
        terms="CC BY 4.0",
    )
