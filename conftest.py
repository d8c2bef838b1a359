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
NO_DATA = "needs the real data sets: set FAIRPATCH_DATA to their folder (see CONTRIBUTING.md)"


def pytest_configure() -> None:
    if SHARED.is_dir():
        os.environ.setdefault("FAIRPATCH_DATA", str(SHARED))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("FAIRPATCH_DATA"):
        return
    for item in items:
        if item.get_closest_marker("data") or item.path.name == "README.md":
            item.add_marker(pytest.mark.skip(reason=NO_DATA))
