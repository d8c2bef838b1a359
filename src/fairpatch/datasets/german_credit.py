"""German Credit: who is a good credit risk."""

import numpy as np

from fairpatch.datasets.dataset import Dataset, read_csv
from fairpatch.datasets.files import File, github

FILE = File(
    "german_credit/german.data",
    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    github(
        "axa-rev-research/ROAD-fairness",
        "a9cb3ab66370a2afd37b880ae658258161baef1a",
        "data/german.data",
    ),
)
COLUMNS = [
    "checking_status", "duration", "credit_history", "purpose", "credit_amount", "savings",
    "employment", "installment_rate", "personal_status", "other_debtors", "residence_since",
    "property", "age", "other_installments", "housing", "existing_credits", "job", "dependents",
    "telephone", "foreign_worker", "risk",
]  # fmt: skip


def read() -> Dataset:
    """Read the 1,000 rows; sex comes from personal_status (A92: female), which leaves X with it."""
    raw = read_csv(FILE.locate(), sep=" ", names=COLUMNS)
    sensitive = raw[["age"]].assign(
        sex=np.where(raw["personal_status"] == "A92", "female", "male"),
        age=np.where(raw["age"] > 25, "above 25", "25 or less"),
    )
    return Dataset(
        name="german_credit",
        X=raw.drop(columns=["risk", "personal_status", "age"]),
        y=np.asarray(raw["risk"] == 1, np.int64),
        sensitive=sensitive[["sex", "age"]],
        favourable=1,
        label="good credit risk",
        source="UCI Machine Learning Repository, Statlog German Credit (Hofmann 1994)",
        terms="CC BY 4.0",
    )
