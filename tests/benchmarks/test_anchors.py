"""Our baselines beside others': what is missing is said, and what differs is counted."""

import importlib.util

import numpy as np
import pytest

from benchmarks import anchors, margin
from benchmarks.paper import starting_model


@pytest.mark.data
def test_a_package_that_is_missing_is_said():
    if importlib.util.find_spec("aif360"):
        pytest.skip("AIF360 is installed here")
    result = anchors.run(splits=1, pairs=["roc"], datasets=["law_school"])
    assert result["rows"] == []
    assert "roc: not compared, No module named 'aif360'" in anchors.show(result)


@pytest.mark.data
def test_a_difference_is_counted(monkeypatch):
    test = starting_model("law_school", 1)
    ours = np.zeros(len(test.y_test), bool)
    theirs = ours.copy()
    theirs[:10] = True
    monkeypatch.setitem(anchors.PAIRS, "roc", lambda *_: [("as it is", ours, theirs)])
    rows = [row for split in (1, 2) for row in anchors.work("roc", "law_school", split)]
    assert rows[0]["differ"] == pytest.approx(10 / len(ours))
    text = anchors.show({"rows": rows, "missing": {}})
    assert "as it is" in text
    assert f"{10 / len(ours):.3f}" in text


def test_a_margin_for_any_distribution_needs_more_rows(monkeypatch):
    """With 3,000 rows it is wider than what is asked for: nothing can be certified."""
    monkeypatch.setattr(margin, "ROWS", (3_000, 10_000))
    monkeypatch.setattr(margin, "METHODS", {"blind": margin.blind})
    runs = margin.run(fits=2)["runs"]
    assert [r["certified"] for r in runs] == [False, False, True, True]
    assert not any(r["violates"] for r in runs[2:])
