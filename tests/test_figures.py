"""No page prints a figure that its command did not print, or hides that it is old."""

import importlib.util
import json
from pathlib import Path

import pytest

from benchmarks.behind import PYTHON

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("made", ROOT / "docs" / "figures" / "made.py")
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)

RENEW = "make figures ONLY={}; or, to say that it is older than its code, make figures ONLY=note"


def test_every_printed_block_is_as_it_was_printed_and_says_how_old_it_is():
    known, blocks = made.made(), made.blocks()
    assert len(blocks) > 10
    for block in blocks:
        about = known.get(block.command)
        assert about is not None, f"{block.page.name}: nobody ran {block.command!r}"
        assert about["text"] == block.digest, f"{block.page.name}: edited by hand: {block.command}"
        if about["python"] == PYTHON:
            told = made.note(block, about) in block.whole
            assert told, f"{block.page.name}, {block.command}: {RENEW.format(block.name)}"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page with one figure, and code behind it."""
    (tmp_path / "code.py").write_text("x = 1\n")
    monkeypatch.setattr(made, "DOCS", tmp_path)
    monkeypatch.setattr(made, "MADE", tmp_path / "made.json")
    monkeypatch.setattr(
        made, "changed", lambda about, _: about["code"] != (tmp_path / "code.py").read_text()
    )
    text = (
        "# Page\n\n```\n$ python -m benchmarks cost    # two cores\nchanges 0.031\n```\n\nMore.\n"
    )
    (tmp_path / "page.md").write_text(text)
    (block,) = made.blocks()
    about = {
        "commit": "abc",
        "day": "2026-11-18",
        "python": PYTHON,
        "code": "x = 1\n",
        "text": block.digest,
    }
    (tmp_path / "made.json").write_text(json.dumps({block.command: about}))
    made.write_notes()
    return tmp_path / "page.md"


def test_a_planted_figure_and_older_code_are_noticed(page):
    assert "```\n\n*Printed on 2026-11-18 by commit abc.*\n\nMore." in page.read_text()
    (block,) = made.blocks()
    about = made.made()[block.command]
    assert made.note(block, about) in block.whole
    page.write_text(page.read_text().replace("0.031", "0.021"))
    assert made.blocks()[0].digest != about["text"]  # by hand
    page.write_text(page.read_text().replace("0.021", "0.031"))
    (page.parent / "code.py").write_text("x = 2\n")
    (block,) = made.blocks()
    assert made.note(block, about) not in block.whole  # older than its code, and does not say so
    made.write_notes()
    assert "before later changes of the code behind it.*\n\nMore." in page.read_text()
    made.write_notes()
    assert page.read_text().count("Printed on") == 1
