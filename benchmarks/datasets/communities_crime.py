"""Communities and Crime: which US communities have much violent crime."""

import numpy as np

from fairpatch.datasets.dataset import Dataset, File, github, read_csv

FILE = File(
    "communities_crime/communities_and_crime.csv.gz",
    "a4e5c6388be9e0fb726ed83110e2e34c8a791af93bba9a0f32a62084d349eed8",
    github(
        "scikit-learn-contrib/MAPIE",
        "60031ac78aa6b46142c29d6ed6bad33dc081802e",
        "examples/data/communities_and_crime.csv.gz",
    ),
)
NOT_FEATURES = ["state", "county", "community", "communityname", "fold", "ViolentCrimesPerPop"]
RACE = ["racepctblack", "racePctWhite", "racePctAsian", "racePctHisp"]


def read() -> Dataset:
    """Read the 1,994 communities; y = 1 above the median of violent crimes, which is the harm."""
    raw = read_csv(FILE.locate())
    crimes = raw["ViolentCrimesPerPop"]
    black = np.where(raw["racepctblack"] >= 0.06, "0.06 or more", "below 0.06")
    return Dataset(
        name="communities_crime",
        X=raw.drop(columns=NOT_FEATURES + RACE),
        y=np.asarray(crimes > crimes.median(), np.int64),
        sensitive=raw[["racepctblack"]].assign(share_black=black)[["share_black"]],
        favourable=0,
        label="violent crimes above the median",
        source="UCI Machine Learning Repository, Communities and Crime (Redmond 2009), by MAPIE",
        terms="CC BY 4.0; the repository is under BSD-3-Clause",
    )
