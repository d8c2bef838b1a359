"""COMPAS: who is arrested again within two years (the paper's second data set).

y = 1 is the harm here. The paper counts the P-Rule over y = 1 all the same.
"""

import numpy as np

from fairpatch.datasets.dataset import Dataset, read_csv
from fairpatch.datasets.files import File, github

FILE = File(
    "compas/propublica-recidivism_original.csv",
    "7a7a84d6e01462818915ace4b5e21f616dda549a9086d7bc21f48ca1057f33e5",
    github(
        "algofairness/fairness-comparison",
        "80b34d25bb9b0387691c6cb8651f0e40edd262c8",
        "fairness/data/preprocessed/propublica-recidivism_original.csv",
    ),
)


def read() -> Dataset:
    """Read the 6,167 rows of the fairness-comparison repository."""
    raw = read_csv(FILE.locate())
    race = raw["race"]
    return Dataset(
        name="compas",
        X=raw.drop(columns=["race", "sex-race", "two_year_recid"]),
        y=raw["two_year_recid"].to_numpy(np.int64),
        sensitive=race.to_frame("race_detail").assign(
            race=np.where(race == "Caucasian", "Caucasian", "Other"), sex=raw["sex"]
        )[["race", "race_detail", "sex"]],
        favourable=0,
        label="arrested again within two years",
        source="ProPublica from Florida public records, by fairness-comparison",
        terms="none stated for the data; the repository is under Apache-2.0",
    )
