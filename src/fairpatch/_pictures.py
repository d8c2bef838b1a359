"""Figures as SVG text that stands inside a page: the same bytes each time, no font, no network."""

import io
from typing import Any

from fairpatch._extras import need

STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes that belong to no window and touch no global state."""
    make = need("matplotlib.figure", extra="plot").Figure
    with need("matplotlib", extra="plot").rc_context(STYLE):
        fig = make(figsize=(width, height), layout="constrained")
        fig.get_layout_engine().set(w_pad=0.15)  # a browser's letters may be wider than ours
        return fig, fig.subplots()


def svg(fig: Any, name: str) -> str:
    """The figure as an <svg> element; ``name`` keeps ids of several figures apart."""
    mpl = need("matplotlib", extra="plot")
    buffer = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
