"""Bars of shares for a notebook and a terminal: one a group, before and after, and a mark."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from fairpatch._table import printable

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
