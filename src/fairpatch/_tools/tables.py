"""Small tables and figures: text for a terminal, HTML for a notebook, SVG for a page."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from fairpatch._tools.extras import need

# A small table, as text for a terminal and as HTML for a notebook: same cells, both escaped.

_STYLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums;font-size:.95em"
_WIDEST = 72


@dataclass(frozen=True)
class Table:
    """A title, a header, rows of cells, and notes below. The first column is left-aligned."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """Aligned columns; control characters of the data are shown, not obeyed.

        >>> print(Table("Rates", ["group", "rate"], [["a", "0.5"], ["longer", "0.25"]]).text())
        Rates
          group   rate
          a        0.5
          longer  0.25
        """
        grid = [[printable(cell) for cell in row] for row in [self.header, *self.rows]]
        width = [max(len(row[j]) for row in grid) for j in range(len(self.header))]
        lines = [
            "  " + "  ".join([row[0].ljust(width[0]), *map(str.rjust, row[1:], width[1:])]).rstrip()
            for row in grid
        ]
        notes = [f"  {printable(note, 400)}" for note in self.notes]
        return "\n".join([printable(self.title, 200), *lines, *notes])

    def html(self) -> str:
        """The same as an HTML table without scripts."""

        def cells(tag: str, row: Sequence[str]) -> str:
            align = ["left;white-space:pre-wrap", *["right;white-space:nowrap"] * (len(row) - 1)]
            return "".join(
                f'<{tag} style="text-align:{a};padding:.15em .6em">{escape(printable(c))}</{tag}>'
                for a, c in zip(align, row, strict=True)
            )

        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in self.rows)
        notes = "".join(
            f"<div><small>{escape(printable(n, 400))}</small></div>" for n in self.notes
        )
        return (
            f'<div style="overflow-x:auto"><strong>{escape(printable(self.title, 200))}</strong>'
            f'<table style="{_STYLE}"><thead><tr>{cells("th", self.header)}</tr></thead>'
            f"<tbody>{body}</tbody></table>{notes}</div>"
        )


def printable(cell: str, widest: int = _WIDEST) -> str:
    """One line, no control or direction-changing characters, cut where it is very long."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(cell))
    return clean if len(clean) <= widest else clean[: widest - 1] + "…"


# Bars of shares for a notebook and a terminal: one a group, before and after, and a mark.

HAD, UP, DOWN, EMPTY = "#0072b2", "#008060", "#b8860b", "#e8ebee"
WIDTH = 40
"""Characters of a bar of text."""


@dataclass(frozen=True)
class Bar:
    """A share, and what it becomes; None where it is withheld."""

    name: str
    before: float | None
    after: float | None = None

    @property
    def label(self) -> str:
        """The name, as it may be printed."""
        return printable(self.name)

    @property
    def words(self) -> str:
        """The figures."""
        if self.before is None:
            return "withheld"
        text = f"{self.before:.0%}"
        return text if self.after is None else f"{text} → {self.after:.0%}"


@dataclass(frozen=True)
class Bars:
    """Some bars under one title.

    >>> print(Bars("Approved", [Bar("a", 0.25, 0.5)], mark=0.4).text())
    Approved (| marks the target)
      a  ██████████▒▒▒▒▒▒|▒▒▒....................  25% → 50%
    """

    title: str
    bars: Sequence[Bar] = field(default_factory=list)
    mark: float | None = None

    def text(self) -> str:
        """For a terminal."""
        wide = max((len(bar.label) for bar in self.bars), default=0)
        lines = [
            printable(self.title, 200) + (" (| marks the target)" if self.mark is not None else "")
        ]
        lines += [f"  {bar.label:<{wide}}  {self._line(bar)}  {bar.words}" for bar in self.bars]
        return "\n".join(lines)

    def _line(self, bar: Bar) -> str:
        before = bar.before or 0.0
        after = before if bar.after is None else bar.after
        had, rest = (round(WIDTH * v) for v in (min(before, after), max(before, after)))
        line = "█" * had + ("▒" if after >= before else "░") * (rest - had)
        line = line.ljust(WIDTH, ".")
        if self.mark is None:
            return line
        at = min(round(WIDTH * self.mark), WIDTH - 1)
        return f"{line[:at]}|{line[at + 1 :]}"

    def html(self) -> str:
        """For a notebook: no script, no style sheet."""
        title = escape(printable(self.title, 200))
        return f"<div><strong>{title}</strong>{''.join(map(self._row, self.bars))}</div>"

    def _row(self, bar: Bar) -> str:
        before = bar.before or 0.0
        after = before if bar.after is None else bar.after
        parts = [(min(before, after), HAD), (max(after - before, 0), UP),
                 (max(before - after, 0), DOWN)]  # fmt: skip
        spans = "".join(
            f'<span style="display:block;height:100%;width:{100 * share:.2f}%;background:{colour}">'
            "</span>"
            for share, colour in parts
        )
        mark = "" if self.mark is None else (
            f'<i style="position:absolute;top:0;bottom:0;width:2px;left:{100 * self.mark:.2f}%;'
            'background:#000"></i>'
        )  # fmt: skip
        label = f"{bar.label}: {bar.words}"
        return (
            f'<div style="max-width:36rem;margin:.3em 0"><div style="display:flex;'
            f'justify-content:space-between"><span>{escape(bar.label)}</span>'
            f"<span>{escape(bar.words)}</span></div>"
            f'<div role="img" aria-label="{escape(label)}" style="position:relative;display:flex;'
            f'height:1em;background:{EMPTY};border-radius:3px;overflow:hidden">{spans}{mark}</div>'
            "</div>"
        )


# Figures as SVG text that stands inside a page: the same bytes each time, no font, no network.

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
