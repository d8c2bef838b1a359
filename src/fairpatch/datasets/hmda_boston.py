"""HMDA Boston: whose mortgage is denied (Home Mortgage Disclosure Act, 1990)."""

import numpy as np

from fairpatch.datasets.dataset import Dataset, read_csv
from fairpatch.datasets.files import File, github

FILE = File(
    "hmda_boston/HMDA.csv",
    "d142067a4bad8835339f562f57dd2b402e9a5ba7f3b77238d72f0f4efa6fee54",
    github(
        "vincentarelbundock/Rdatasets",
        "1dcc2bf5f955cc1224a3e1307256e1fe86b68dae",
        "csv/AER/HMDA.csv",
    ),
)


def read() -> Dataset:
    """Read the 2,380 rows; the label 1, denied, is the harm."""
    raw = read_csv(FILE.locate())
    race = np.where(raw["afam"] == "yes", "African American", "Other")
    return Dataset(
        name="hmda_boston",
        X=raw.drop(columns=["rownames", "deny", "afam"]),
        y=np.asarray(raw["deny"] == "yes", np.int64),
        sensitive=raw[["afam", "single"]].assign(race=race)[["race", "single"]],
        favourable=0,
        label="mortgage denied",
        source="Munnell et al. 1996, Stock and Watson, by Rdatasets (AER)",
        terms="none definite",
    )
