"""The picture's data, and that it draws."""

import matplotlib as mpl
import numpy as np
import pytest

from fairpatch.choose.frontier_display import FrontierDisplay
from fairpatch.choose.frontier_file import load_frontier, save_frontier


@pytest.fixture(scope="module")
def fitted(two_groups, quick_fit):
    g, X, *_ = quick_fit
    return two_groups, X, g


def test_it_draws_candidates_choice_and_bound(fitted, tmp_path):
    mpl.use("Agg")
    _, _, g = fitted
    display = FrontierDisplay.from_frontier(g.frontier_, choice=g.choice_).plot()
    assert display.choice[0] >= 0.8
    assert (np.diff(display.known) >= 0).all()
    assert (np.diff(display.blind) >= 0).all()
    display.ax_.figure.savefig(tmp_path / "frontier.png")
    assert (tmp_path / "frontier.png").stat().st_size > 5_000
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[:3] == ["candidates", "fewest possible, S known", "fewest possible, S unread"]
    mpl.pyplot.close("all")


def test_a_frontier_is_saved_and_another_patch_taken_from_it(fitted, tmp_path):
    _, _, g = fitted
    saved = load_frontier(save_frontier(g.frontier_, tmp_path / "frontier.json"))
    assert len(saved.patches) == len(saved.records) == len(saved.pareto) > 50
    for record, patch in zip(saved.records[::20], saved.patches[::20], strict=True):
        assert patch == g.frontier_.candidates.patch(record.model, record.strength)


def test_a_frontier_is_a_frame(fitted):
    _, _, g = fitted
    frame = g.frontier_.frame()
    assert len(frame) == len(g.frontier_.records())
    assert frame["p_rule group"].between(0, 1).all()
    assert g.frontier_.frame("polars").columns == list(frame.columns)
