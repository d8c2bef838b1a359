"""A figure is not older than the code behind it: what is changed is named."""

import json
from pathlib import Path

import pytest

from benchmarks import reproduction
from benchmarks.behind import PYTHON, changed, code, stamp

ROOT = Path(__file__).parents[2]


def test_a_change_of_the_code_is_noticed_and_a_comment_is_not(tmp_path):
    (tmp_path / "a.py").write_text('"""One."""\nx = 1\n')
    (tmp_path / "b.py").write_text("y = 1\n")
    made = {"code": code(["*.py"], tmp_path)}
    (tmp_path / "a.py").write_text('"""Two."""\nx = 1  # said otherwise\n')
    assert changed(made, ["*.py"], tmp_path) == []
    (tmp_path / "a.py").write_text("x = 2\n")
    assert changed(made, ["*.py"], tmp_path) == ["a.py"]
    (tmp_path / "b.py").unlink()
    (tmp_path / "c.py").write_text("z = 1\n")
    assert changed(made, ["*.py"], tmp_path) == ["a.py", "b.py", "c.py"]


def test_every_pattern_names_files_and_a_stamp_its_commit():
    for pattern in reproduction.BEHIND:
        assert list(ROOT.glob(pattern)), pattern
    made = stamp(reproduction.BEHIND)
    assert len(made["code"]) > 30
    assert made["commit"]


def test_the_reproduction_is_as_new_as_its_code():
    """Run ``make paper`` again and copy its page to docs/reproduction where this fails."""
    made = json.loads((ROOT / "docs" / "reproduction" / "made.json").read_text(encoding="utf-8"))
    if made["python"] != PYTHON:
        pytest.skip(f"hashed by Python {made['python']}")
    assert changed(made, reproduction.BEHIND) == []
