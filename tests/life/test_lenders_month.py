"""The lender's month runs, and everything it asks for holds at once."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from fairpatch._tools.verdict import Verdict

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "lenders_month.py"


@pytest.fixture(scope="module")
def month():
    return runpy.run_path(str(SCRIPT))


def test_everything_is_certified_at_once(month):
    g = month["g"]
    assert g.certificate_.verdict is Verdict.CERTIFIED
    assert len(g.certificate_.results) == 7  # two limits in three products, and the places
    assert g.certificate_.assumption is None  # whose race is known certified
    assert not {"race", "p_black", "p_white", "policy"} & {
        line.column for line in g.patch_.lines if hasattr(line, "column")
    }
    assert 0.01 < g.choice_.change_rate < 0.1


def test_the_budget_is_kept_to_the_person_and_no_knock_out_changes(month):
    decided, people = month["decided"], month["month"]
    assert decided["fairpatch_decision"].sum() == month["budget"]
    assert not decided["fairpatch_changed"][people["policy"] == "knock-out"].any()


def test_the_target_holds_in_the_population(month):
    new = month["applicants"](50, 60_000)
    truth = month["population"].sample(60_000, seed=50).to_pandas()["group"]
    after = month["g"].predict(new.drop(columns=["race", "y"])) == 1
    for product in ("card", "loan", "mortgage"):
        here = (new["product"] == product).to_numpy()
        rates = [np.mean(after[here & (truth == g).to_numpy()]) for g in ("black", "white")]
        assert min(rates) / max(rates) > 0.72


def test_the_pack_is_for_postgres_and_reads_nothing_sensitive(month):
    files = month["files"]
    assert {"decided.sql", "rollback.sql", "README.md"} <= set(files)
    for name in ("race", "p_black", "p_white"):
        assert f'"{name}"' not in files["decided.sql"]
    assert month["watched"].approvals.kept
    assert not month["watched"].verdict.fails
    assert (month["folder"] / "review.html").stat().st_size > 20_000
