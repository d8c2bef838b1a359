"""Pictures of a review, data and drawing apart, as scikit-learn's displays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.report.pictures import AFTER, UP, figure, literal


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
class SegmentsDisplay:
    """P(change) inside and outside of each segment, with intervals."""

    names: Sequence[str]
    inside: Sequence[tuple[float, float, float]]
    """Value, low, high."""
    outside: Sequence[tuple[float, float, float]]
    ax_: Any = None

    def plot(self, ax: Any = None) -> "SegmentsDisplay":
        """Two points with whiskers a segment."""
        if ax is None:
            _, ax = figure(6.4, 0.9 + 0.5 * max(len(self.names), 1))
        place = np.arange(len(self.names))
        for values, shift, colour, marker, label in (
            (self.inside, -0.14, AFTER, "o", "inside"),
            (self.outside, 0.14, "0.35", "s", "outside"),
        ):
            if not len(values):
                continue
            v = np.array(values, np.float64)
            ax.errorbar(
                v[:, 0], place + shift, xerr=[v[:, 0] - v[:, 1], v[:, 2] - v[:, 0]],
                fmt=marker, color=colour, capsize=2, markersize=5, label=label,
            )  # fmt: skip
        ax.set_yticks(place, [literal(name, 52) for name in self.names])
        ax.invert_yaxis()
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("share whose decision changes (95% interval)")
        if len(self.names):
            ax.legend(frameon=False, loc="lower right")
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
    ax_: Any = None

    def plot(self, ax: Any = None) -> "DialDisplay":
        """One band a metric, mostly as thin as a line; the chosen strength is marked."""
        if ax is None:
            _, ax = figure(6.4, 3.2)
        styles = ["-", "--", "-.", ":"]
        drawn = [
            (values, UP, styles[i % 4], literal(name))
            for i, (name, values) in enumerate(self.metrics.items())
        ]
        drawn.append((self.accuracy, "0.4", "-", "accuracy"))
        drawn.append((self.change_rate, AFTER, "-", "changed decisions"))
        for ends, colour, style, name in drawn:
            low, high = np.asarray(ends).T
            ax.fill_between(self.strength, low, high, color=colour, alpha=0.25, linewidth=0)
            ax.plot(self.strength, (low + high) / 2, style, color=colour, label=name)
        ax.axvline(self.chosen, color="0.2", linewidth=0.8, linestyle=":")
        highest = max([1.0, *(np.nanmax(v, initial=0.0) for v in self.metrics.values())])
        ax.set(xlabel="strength (0 is the base model)", ylim=(0, 1.02 * highest))
        ax.legend(frameon=False, fontsize=8, loc="center right")  # "best" warns on a slow machine
        self.ax_ = ax
        return self
