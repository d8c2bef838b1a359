"""Pictures of a review, data and drawing apart, as scikit-learn's displays."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch._pictures import AFTER, UP, figure, literal

LABEL = 0.07
"""Height of a label, in the unit of a share."""


@dataclass(eq=False)
class ConceptsDisplay:
    """What each concept is made of: the strongest columns and how far they move the ratio."""

    concepts: Sequence[tuple[str, Sequence[tuple[str, float, str]]]]
    """Name, then column, effect and the side that pushes towards a change."""
    most: int = 6
    ax_: Any = None

    def plot(self, ax: Any = None) -> "ConceptsDisplay":
        """One bar a column, concept by concept."""
        rows = [
            (
                f"{side} {column}" if side in ("low", "high", "missing") else f"{column}: {side}",
                effect,
                j,
            )
            for j, (_, parts) in enumerate(self.concepts)
            for column, effect, side in parts[: self.most]
        ]
        if ax is None:
            _, ax = figure(6.4, 0.9 + 0.26 * max(len(rows), 1))
        place = np.arange(len(rows)) + [0.7 * j for _, _, j in rows]
        shades = ["#D55E00", "#0072B2", "0.45", "#E69F00", "#56B4E9"]
        ax.barh(place, [r[1] for r in rows], color=[shades[r[2] % 5] for r in rows], height=0.75)
        ax.set_yticks(place, [literal(r[0]) for r in rows])
        ax.invert_yaxis()
        ax.set_xlabel("moves the ratio by, for one standard deviation")
        for j, (name, parts) in enumerate(self.concepts):
            positions = [p for p, r in zip(place, rows, strict=True) if r[2] == j]
            if parts:
                ax.text(1.0, positions[0] - 0.62, literal(name, 48),
                        transform=ax.get_yaxis_transform(), ha="right", va="bottom", fontsize=8,
                        style="italic")  # fmt: skip
        self.ax_ = ax
        return self


@dataclass(eq=False)
class DialDisplay:
    """What is asked, accuracy and changes over the patch's strength."""

    strength: Floats
    metrics: dict[str, Floats]
    """By what they are called: what each lies between, (steps, 2)."""
    accuracy: Floats
    change_rate: Floats
    chosen: float
    limits: dict[str, float] = field(default_factory=dict)
    """By what they are called: what was asked."""
    ax_: Any = None

    def plot(self, ax: Any = None) -> "DialDisplay":
        """One band a metric; the chosen strength and the limits are marked."""
        if ax is None:
            _, ax = figure(6.4, 3.2)
        styles = ["-", "--", "-.", ":"]
        drawn = [
            (values, UP, styles[i % 4], literal(name))
            for i, (name, values) in enumerate(self.metrics.items())
        ]
        drawn.append((self.accuracy, "0.4", "-", "accuracy"))
        drawn.append((self.change_rate, AFTER, "-", "changed decisions"))
        ends_at: list[tuple[float, str, str]] = []
        for ends, colour, style, name in drawn:
            low, high = np.asarray(ends).T
            ax.fill_between(self.strength, low, high, color=colour, alpha=0.25, linewidth=0)
            middle = (low + high) / 2
            ax.plot(self.strength, middle, style, color=colour)
            known = np.flatnonzero(~np.isnan(middle))
            if len(known):  # a line says itself what it is
                ends_at.append((float(middle[known[-1]]), colour, name))
        for y, colour, name in _apart(ends_at):
            ax.annotate(name, (self.strength[-1], y), xytext=(4, 0), textcoords="offset points",
                        va="center", fontsize=8, color=colour, annotation_clip=False)  # fmt: skip
        ax.axvline(self.chosen, color="0.2", linewidth=0.8, linestyle=":")
        ax.annotate("reviewed", (self.chosen, 0.0), xytext=(3, 3), textcoords="offset points",
                    fontsize=8, color="0.2")  # fmt: skip
        for name, limit in self.limits.items():
            ax.axhline(limit, color=UP, linewidth=0.8, linestyle="--")
            ax.annotate(f"target, {literal(name)}", (0, limit), xytext=(2, 2), fontsize=8,
                        textcoords="offset points", color=UP)  # fmt: skip
        highest = max([1.0, *(np.nanmax(v, initial=0.0) for v in self.metrics.values())])
        ax.set(xlabel="strength (0 is the base model)", ylim=(0, 1.02 * highest))
        self.ax_ = ax
        return self


def _apart(labels: Sequence[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Labels at the ends of lines, moved upwards where two would lie on each other."""
    placed: list[tuple[float, str, str]] = []
    for y, colour, name in sorted(labels):
        least = placed[-1][0] + LABEL if placed else -np.inf
        placed.append((max(y, least), colour, name))
    return placed
