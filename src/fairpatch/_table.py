"""A small table, as text for a terminal and as HTML for a notebook: same cells, both escaped."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums;font-size:.95em"
_WIDEST = 40


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
