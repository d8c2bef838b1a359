"""Law School: who passes the bar exam at the first attempt (the paper's first data set)."""

import numpy as np

from fairpatch.datasets.dataset import Dataset, read_csv
from fairpatch.datasets.files import File, github

FILE = File(
    "law_school/lawschool.csv",
    "7bc6ada636067f0613cbdc2e42db766684ca8fe32189006d315d84fbd8e1ef1a",
    github(
        "algowatchpenn/GerryFair",
        "e007abe5e9409b87de6189a92ce71d6b2fb21bb6",
        "dataset/lawschool.csv",
    ),
)
FEATURES = ["cluster", "lsat", "ugpa", "zfygpa", "zgpa", "fulltime", "fam_inc", "age", "gender"]
RACES = {
    "race1": "Other",
    "race2": "Asian",
    "race3": "Black",
    "race4": "Hispanic",
    "race5": "Hispanic",
    "race6": "Hispanic",
    "race7": "White",
    "race8": "Other",
}


def read() -> Dataset:
    """Read the 1,823 rows that the paper used."""
    raw = read_csv(FILE.locate())
    race = raw[list(RACES)].idxmax(axis=1).map(RACES)
    sensitive = race.to_frame("race_detail").assign(
        race=np.where(raw["race7"] == 1, "White", "Non-White"), gender=raw["gender"]
    )
    return Dataset(
        name="law_school",
        X=raw[FEATURES],
        y=raw["bar1"].to_numpy(np.int64),
        sensitive=sensitive[["race", "race_detail", "gender"]],
        favourable=1,
        label="passes the bar exam at the first attempt",
        source="LSAC National Longitudinal Bar Passage Study (Wightman 1998), by GerryFair",
        terms="none stated for the data; the repository is under MIT",
    )
