"""Applications, made up, and a model of them: replace both by your own."""

import numpy as np
import pandas as pd
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

ROLES = ["developer", "analyst", "support", "sales"]
NUMBERS, CATEGORIES = ["experience", "test_score"], ["role", "degree", "career_break"]


def applications(rows: int, seed: int) -> pd.DataFrame:
    """People, and whether those who were hired did well after a year."""
    random = np.random.default_rng(seed)
    woman = random.random(rows) < 0.45
    experience = random.gamma(3, 3, rows).round()
    test_score = random.normal(60, 12, rows).clip(0, 100).round()
    kinds = ["none", "parental leave", "illness", "travel"]
    of_women = random.choice(kinds, rows, p=[0.5, 0.4, 0.05, 0.05])
    of_men = random.choice(kinds, rows, p=[0.85, 0.05, 0.05, 0.05])
    career_break = np.where(woman, of_women, of_men)
    role = random.choice(ROLES, rows)
    degree = random.choice(["none", "bachelor", "master"], rows, p=[0.3, 0.45, 0.25])
    worth = 0.08 * experience + 0.05 * (test_score - 60) + 0.3 * (degree == "master")
    did_well = random.random(rows) < 1 / (1 + np.exp(-(worth - 0.6)))
    return pd.DataFrame({
        "id": np.arange(rows), "role": role, "degree": degree, "experience": experience,
        "test_score": test_score, "career_break": career_break,
        "sex": np.where(woman, "female", "male"),
        "did_well": np.where(did_well, "yes", "no"),
    })  # fmt: skip


def main() -> None:
    """The model learned from years in which a break was held against people."""
    old = applications(20_000, 0)
    broken = old["career_break"] != "none"
    held_against = broken & (np.random.default_rng(9).random(len(old)) < 0.4)
    labels = np.where(held_against, "no", old["did_well"])
    read = make_column_transformer(
        (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), CATEGORIES)
    )
    model = make_pipeline(read, LogisticRegression(max_iter=500))
    skops.io.dump(model.fit(old[NUMBERS + CATEGORIES], labels), "model.skops")
    applications(40_000, 1).to_parquet("applications.parquet", index=False)
    applications(900, 2).to_parquet("month.parquet", index=False)


if __name__ == "__main__":
    main()
