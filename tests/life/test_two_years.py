"""The worked life of the docs, run as a script: 24 months, two retrainings, one broken month."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "life.py"


@pytest.mark.slow
def test_two_years_in_production():
    mpl.use("agg")
    ran = runpy.run_path(str(SCRIPT))
    months, words = ran["months"], dict(zip(ran["months"], ran["words"], strict=True))
    assert len(months) == 24
    assert [m for m in months if words[m] == "shown not to hold"] == [
        "2027-02",
        "2027-03",
        "2027-04",
    ]
    assert words["2027-12"] == "certified"  # the refit of May keeps what it promises
    ledger, history = ran["ledger"], ran["history"]
    patches = [ledger.in_force(f"{m}-15").patch for m in months]
    assert [patches.index(p) for p in dict.fromkeys(patches)] == [0, 8, 16]
    assert {p.period: p.patch for p in history} == dict(zip(months, patches, strict=True))
    # what is told of the broken month is what was so: rates of group b against a
    broken = next(p for p in history if p.period == "2027-02")
    assert broken.shown["metrics"]["group"]["p_rule"]["value"] < 0.6
    assert 0 < ledger.changes_since_first() < 0.2
