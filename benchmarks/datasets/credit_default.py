"""Credit default: who fails to pay the credit card bill next month (Taiwan, 2005)."""

import numpy as np

from fairpatch.datasets.dataset import Dataset, File, github, read_csv

FILE = File(
    "credit_default/default_of_credit_card_clients.csv",
    "4edce6da569b2c30788a85fd98a9bafb1a983e8ca1a7aac875dd7ff853cbd0bb",
    github(
        "jjgold012/lab-project-fairness",
        "84bb4956bd0ea48c9548cc5227b37f3c57f140e7",
        "fairness_project/datasets/default-dataset/default_of_credit_card_clients.csv",
    ),
)
LABEL = "default payment next month"


def read() -> Dataset:
    """Read the 30,000 rows; SEX 1 is male. The label 1 is the harm."""
    raw = read_csv(FILE.locate())
    return Dataset(
        name="credit_default",
        X=raw.drop(columns=["ID", "SEX", LABEL]),
        y=raw[LABEL].to_numpy(np.int64),
        sensitive=raw[["SEX"]].assign(sex=np.where(raw["SEX"] == 1, "male", "female"))[["sex"]],
        favourable=0,
        label="does not pay next month",
        source="UCI Machine Learning Repository, Default of Credit Card Clients (Yeh 2009)",
        terms="CC BY 4.0",
    )
