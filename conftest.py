"""What every test and doctest shares: where the real data is, and what is skipped without it."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that main does not turn red by chance; the machine is noisy.
settings.register_profile("fairpatch", derandomize=True, deadline=None)
settings.load_profile("fairpatch")

ROOT = Path(__file__).parent
SHARED = ROOT.parent / "shared" / "data"
# Scripts of the site: Sphinx runs them.
collect_ignore_glob = ["docs/*.py", "docs/examples/*", "docs/gallery/*"]
# What `make quick` runs: the mathematics, with no engine but pandas and DuckDB.
QUICK = (
    "measure", "disclose", "patch", "commod/test_candidates.py", "choose/test_choice.py",
    "choose/test_costs.py", "choose/test_dial.py", "data/test_splits.py", "commod/test_losses.py",
    "commod/test_ratio.py",
    "test_faults.py", "test_package.py",
)  # fmt: skip
# and `make mutants`, on the rooms where figures are made
MUTANTS = (
    "measure", "disclose", "patch", "choose", "card", "identity", "report", "cli", "life",
    "engines",
    "data/test_splits.py", "test_patched.py", "test_front.py", "test_third_learner.py",
)  # fmt: skip
HEAVY = {"slow", "cluster", "timing", "data"}
NO_DATA = "needs the real data sets: set FAIRPATCH_DATA to their folder (see CONTRIBUTING.md)"


def pytest_configure() -> None:
    if SHARED.is_dir():
        os.environ.setdefault("FAIRPATCH_DATA", str(SHARED))


def is_light(item: pytest.Item, places: tuple[str, ...]) -> bool:
    """Whether a test is of these places, and needs no cluster, no data and no minutes."""
    here = [ROOT / "tests" / name for name in places]
    alone = "spark" not in getattr(item, "fixturenames", ())
    marks = {mark.name for mark in item.iter_markers()}
    return alone and not marks & HEAVY and any(item.path.is_relative_to(p) for p in here)


@pytest.hookimpl(tryfirst=True)  # before -m is read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_light(item, QUICK):
            item.add_marker(pytest.mark.quick)
        if is_light(item, MUTANTS):
            item.add_marker(pytest.mark.mutants)
            item._nodeid = item.nodeid  # mutmut 3.8 reads the name that pytest 9.1 had for it
    if os.environ.get("FAIRPATCH_DATA"):
        return
    for item in items:
        if item.get_closest_marker("data") or item.path.name == "README.md":
            item.add_marker(pytest.mark.skip(reason=NO_DATA))
