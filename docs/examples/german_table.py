"""
A German table, as a bank exports it
====================================

Semicolons, decimal commas, Windows' encoding, a score in percent, *ja* and *nein*, weights, names
with blanks and signs: from the file to a certified patch, a view for Postgres and a monitored
month, by commands alone. Nothing is repaired by hand; the one thing that nobody can guess, that a
probable default is bad for a person, is said.

Everything is written into a temporary folder.
"""

# %%
# The export
# ----------
# Two files, last year's applications and this month's. The score is a probability of default, in
# percent, and so is a copy of it that somebody left in the table as a rating.

import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import xgboost

FOLDER = Path(tempfile.mkdtemp())
JOBS = ["Angestellte", "Beamte", "Selbstständig", "Arbeitslos", "Straßenbau"]


def applications(n: int, seed: int) -> pd.DataFrame:
    """Made-up people; the bank's model asks more of women than their repayment warrants."""
    random = np.random.default_rng(seed)
    woman = random.random(n) < 0.45
    income = np.round(np.exp(random.normal(7.7 - 0.1 * woman, 0.45, n)), 2)
    rent = np.round(income * random.uniform(0.15, 0.55, n), 2)
    years = random.integers(0, 30, n)
    job = random.choice(JOBS, n, p=[0.5, 0.12, 0.2, 0.08, 0.1])
    risk = -2.0 - 1.2 * (np.log(income) - 7.6) - 0.08 * years + 3 * (rent / income - 0.35)
    risk += 1.2 * (job == "Arbeitslos") - 0.6 * (job == "Beamte")
    default = random.random(n) < 1 / (1 + np.exp(-risk))
    score = 1 / (1 + np.exp(-(risk + 0.45 * woman + 0.2 * random.normal(size=n))))
    return pd.DataFrame(
        {
            "Kunden-Nr.": np.arange(n) + 500_000 + n * seed,
            "Geschlecht": np.where(woman, "weiblich", "männlich"),
            "Einkommen (€)": income,
            "Beschäftigt seit Jahren": years,
            "Miete monatl.": rent,
            "Beruf": job,
            "PLZ": random.choice(np.r_[10_115:10_515, 80_331:80_631], n),
            "Antragsdatum": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2025" for i in range(n)],
            "Ausfall": np.where(default, "ja", "nein"),
            "Gewicht": np.round(random.uniform(0.8, 1.2, n), 2),
            "PD in %": np.round(100 * score, 4),
            "Rating": np.round(1000 - 900 * score, 2),
        }
    )


def as_the_bank_writes(value: float) -> str:
    """1234.5 as 1.234,5."""
    return f"{value:,}".replace(",", " ").replace(".", ",").replace(" ", ".")


def export(people: pd.DataFrame, path: str) -> None:
    """A file as a German spreadsheet writes it."""
    texts = {c: people[c].map(as_the_bank_writes) for c in people.select_dtypes("float")}
    people.assign(**texts).to_csv(FOLDER / path, sep=";", index=False, encoding="cp1252")


export(applications(16_000, 0), "antraege.csv")
export(applications(8_000, 1), "2026-10.csv")


def fairpatch(*arguments: str) -> str:
    """A command, with what it says."""
    command = [sys.executable, "-m", "fairpatch", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FOLDER)
    print("$ fairpatch", *arguments, "\n" + done.stdout[-1_500:] + done.stderr[-1_500:])
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


# %%
# What the columns are
# --------------------
# ``init`` finds the encoding, the decimal comma and the points between thousands, that the score is
# in percent, the weights, the key, the postcode that is no quantity, the date, and that the rating
# is the score once more. It asks which decision is good for a person.

fairpatch("init", "antraege.csv", "--favourable", "0")
settings = (FOLDER / "fairpatch.yaml").read_text(encoding="utf-8")
print(settings)

# %%
# A patch, and what the review says of it
# ---------------------------------------

fairpatch("audit", "--config", "fairpatch.yaml", "--threshold", "0.08")
fairpatch("fit", "--config", "fairpatch.yaml", "--threshold", "0.08", "--out", "run")

# %%
# The month, a view for Postgres, and how it holds
# ------------------------------------------------

fairpatch("apply", "run", "2026-10.csv", "decided.parquet", "--reasons")
fairpatch("monitor", "run", "2026-10.csv", "--period", "2026-10", "--life", "life")
key = "Kunden-Nr."
fairpatch(
    "deploy", "run", "warehouse", "--dialect", "postgres", "--key", key, "--table", "antraege"
)
decided = pd.read_parquet(FOLDER / "decided.parquet")
changed = decided[decided["fairpatch_changed"]]
print(changed[["Einkommen (€)", "PD in %", "fairpatch_reason"]].head(3).to_string())

# %%
# The same with the model itself
# ------------------------------
# LightGBM writes blanks in names as underscores, and XGBoost has no brackets: the names are mapped
# to the table's one to one, and the command says so.

columns = ["Einkommen (€)", "Beschäftigt seit Jahren", "Miete monatl."]


def save_models() -> None:
    """Two boosted models of default, in their own formats."""
    people = applications(8_000, 2)
    X, y = people[columns], (people["Ausfall"] == "ja").astype(int)
    light = lightgbm.LGBMClassifier(n_estimators=40, num_leaves=8, verbose=-1, n_jobs=1).fit(X, y)
    light.booster_.save_model(FOLDER / "light.txt")
    names = [name.replace(" ", "_") for name in columns]
    extreme = xgboost.XGBClassifier(n_estimators=40, max_depth=3, n_jobs=1)
    extreme.fit(X.set_axis(names, axis=1), y)
    extreme.save_model(FOLDER / "extreme.json")


save_models()
for model, folder in (("light.txt", "run-light"), ("extreme.json", "run-extreme")):
    config = f"{folder}.yaml"
    fairpatch("init", "antraege.csv", "--model", model, "--favourable", "0", "--out", config)
    fairpatch("fit", "--config", config, "--threshold", "0.08", "--out", folder)
