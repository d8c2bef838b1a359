"""A lender's own file, all of it at once: from init to a monitored month, without a hand repair.

Points, thresholds by product, outcomes of the approved only, some of them too young, and a CSV in a
German dialect.
"""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from fairpatch.datasets import load_loans
from fairpatch.patch import load

JOBS = {"part-time": "Teilzeit", "full-time": "Vollzeit", "retired": "Rente",
        "self-employed": "selbständig", "temporary": "befristet"}  # fmt: skip
CUTS = {"Karte": 655, "Raten": 635}
DIALECT = {"sep": ";", "decimal": ",", "index": False, "encoding": "cp1252"}


def applications(seed, rows, *, approved=None):
    """Applications with outcomes of the approved, of whom one in seven is too young."""
    people = load_loans(rows, seed, score="points")
    random = np.random.default_rng([12_345, seed])
    made = pd.DataFrame(
        {
            "Antrag": people["id"], "Einkommen": people["income"] / 1_000,
            "Betrag": people["amount"], "Beschäftigung": people["employment"].map(JOBS),
            "Dauer": people["tenure"], "Schuldenquote": people["debt_ratio"],
            "Rückstände": people["late_payments"],
            "Produkt": np.where(random.random(rows) < 0.35, "Karte", "Raten"),
            "Geschlecht": people["sex"].map({"male": "m", "female": "w"}),
            "Punkte": people["score"],
        }
    )  # fmt: skip
    told = made["Punkte"] > made["Produkt"].map(CUTS) if approved is None else approved(made)
    young = random.random(rows) < (0.15 if approved is None else 0.03)
    paid = np.where(people["repaid"] == 1, "ja", "nein")
    return made.assign(zurückgezahlt=np.where(told & ~young, paid, None))


def command(*arguments, cwd, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "fairpatch", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    here = tmp_path_factory.mktemp("lender")
    applications(1, 16_000).to_csv(here / "antraege.csv", **DIALECT)
    command("init", "antraege.csv", "--favourable", 1, cwd=here)
    return here


def test_init_sees_points_thresholds_by_product_and_whose_outcomes_there_are(folder):
    text = (folder / "fairpatch.yaml").read_text()
    assert "score_unit: points" in text
    assert 'threshold: {"Produkt": {"Karte": 655, "Raten": 635}}' in text
    assert 'outcomes: "?"' in text
    said = command("fit", "-c", "fairpatch.yaml", "--out", "run", cwd=folder, code=2)
    assert "outcomes: only you can answer" in said.stderr


def test_from_the_file_to_a_monitored_month(folder):
    options = ("--outcomes", "approved", "--p-rule", 0.8)
    fitted = command("fit", "-c", "fairpatch.yaml", "--out", "run", *options, cwd=folder)
    assert "Certificate at 95%: certified" in fitted.stderr
    assert "are expected to have y = ja" in fitted.stdout + fitted.stderr
    patch = load(folder / "run" / "patch.json")
    assert patch.decision.cuts.by_value == CUTS
    assert "below the threshold" in str(patch)
    page = (folder / "run" / "review.html").read_text()
    assert "none of the denied have an outcome" in page
    assert "<td>accuracy</td>" not in page

    later = applications(2, 4_000)
    later.drop(columns="zurückgezahlt").to_csv(folder / "monat.csv", **DIALECT)
    command("apply", "run", "monat.csv", "entschieden.parquet", "--reasons", cwd=folder)
    decided = pd.read_parquet(folder / "entschieden.parquet")
    before = decided["Punkte"] > decided["Produkt"].map(CUTS)
    changed = decided["fairpatch_decision"] != before
    assert (changed == decided["fairpatch_changed"]).all()
    assert 0.01 < changed.mean() < 0.1

    # the month again, a year later: what became of those whom the patch approved
    after = dict(zip(decided["Antrag"], decided["fairpatch_decision"], strict=True))
    matured = applications(2, 4_000, approved=lambda made: made["Antrag"].map(after))
    matured.to_csv(folder / "monat_2027_12.csv", **DIALECT)
    watched = command("monitor", "run", "monat_2027_12.csv", cwd=folder)
    assert "outcomes of the newly approved" in watched.stdout
    assert "as expected so far" in watched.stdout
    assert "y = nein" in watched.stdout


def test_a_pilot_acts_for_some_and_says_so(folder):
    if not (folder / "run").exists():
        pytest.skip("the run above failed")
    options = ("--pilot", 0.2, "--key", "Antrag")
    done = command("apply", "run", "monat.csv", "pilot.parquet", *options, cwd=folder)
    assert "its certificate is for everybody" in done.stderr
    some, whole = (
        pd.read_parquet(folder / f"{name}.parquet").set_index("Antrag")["fairpatch_changed"]
        for name in ("pilot", "entschieden")
    )
    assert not (some & ~whole).any()
    assert 0.05 < some.sum() / whole.sum() < 0.4
