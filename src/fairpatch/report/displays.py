"""Pictures of a review, data and drawing apart, as scikit-learn's displays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.report.pictures import AFTER, BEFORE, DOWN, UP, figure, literal


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
            own = [p for p, r in zip(place, rows, strict=True) if r[2] == j]
            if parts:
                ax.text(1.0, own[0] - 0.62, literal(name, 48), transform=ax.get_yaxis_transform(),
                        ha="right", va="bottom", fontsize=8, style="italic")  # fmt: skip
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
class ScoresDisplay:
    """The patched against the base model's probabilities, in bins; small bins are blank."""

    people: Floats
    """(bins of g, bins of f); NaN where too few."""
    cutoff: float = 0.5
    ax_: Any = None

    def plot(self, ax: Any = None) -> "ScoresDisplay":
        """A grid of grey, the diagonal, and the cut-off."""
        if ax is None:
            _, ax = figure(4.6, 3.9)
        edges = np.linspace(0, 1, len(self.people) + 1)
        mesh = ax.pcolormesh(edges, edges, self.people, cmap="Greys", vmin=0)
        ax.figure.colorbar(mesh, ax=ax, label="people")
        ax.plot([0, 1], [0, 1], "--", color=UP, linewidth=1)
        ax.axhline(self.cutoff, color=AFTER, linewidth=0.8)
        ax.axvline(self.cutoff, color=AFTER, linewidth=0.8)
        ax.set(xlabel="base model's probability", ylabel="patched probability")
        ax.set_aspect("equal")
        self.ax_ = ax
        return self


@dataclass(eq=False)
class ChangesDisplay:
    """Share of each group that is promoted and demoted."""

    groups: Sequence[str]
    promoted: Sequence[float | None]
    demoted: Sequence[float | None]
    """None where too few people to show."""
    ax_: Any = None

    def plot(self, ax: Any = None) -> "ChangesDisplay":
        """Promotions to the right, demotions to the left."""
        if ax is None:
            _, ax = figure(6.4, 0.8 + 0.42 * max(len(self.groups), 1))
        place = np.arange(len(self.groups))
        up = np.array([np.nan if v is None else v for v in self.promoted], np.float64)
        down = np.array([np.nan if v is None else v for v in self.demoted], np.float64)
        ax.barh(place, np.nan_to_num(up), color=UP, height=0.6, label="promoted")
        ax.barh(place, -np.nan_to_num(down), color=DOWN, height=0.6, label="demoted", hatch="//",
                edgecolor="white")  # fmt: skip
        for p, u, d in zip(place, up, down, strict=True):
            if np.isnan(u) or np.isnan(d):
                ax.text(0, p, " too few to show", va="center", fontsize=8)
        ax.axvline(0, color="0.2", linewidth=0.8)
        ax.set_yticks(place, [literal(g) for g in self.groups])
        ax.invert_yaxis()
        ax.xaxis.set_major_formatter(lambda v, _: f"{abs(v):.0%}")
        widest = max([0.01, *np.nan_to_num(up), *np.nan_to_num(down)]) * 1.15
        ax.set_xlim(-widest if np.nansum(down) > 0 else -0.05 * widest, widest)
        ax.set_xlabel("share of the group")
        ax.legend(frameon=False, loc="best")
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
        ax.legend(frameon=False, fontsize=8)
        self.ax_ = ax
        return self


@dataclass(eq=False)
class RatesDisplay:
    """Rate of the favourable decision of each group before and after."""

    groups: Sequence[str]
    before: Sequence[tuple[float, float]]
    after: Sequence[tuple[float, float]]
    """What each lies between: two equal numbers where it is told."""
    of: str = "decision 1"
    """What people call the favourable decision."""
    ax_: Any = None

    def plot(self, ax: Any = None) -> "RatesDisplay":
        """An arrow a group."""
        if ax is None:
            _, ax = figure(6.4, 0.8 + 0.42 * max(len(self.groups), 1))
        place = np.arange(len(self.groups))
        before, after = (
            np.array(own, np.float64).reshape(-1, 2) for own in (self.before, self.after)
        )
        for p, b, a in zip(place, before, after, strict=True):
            if b[0] == b[1] and a[0] == a[1]:
                ax.annotate(
                    "", (a[0], p), (b[0], p), arrowprops={"arrowstyle": "->", "color": "0.4"}
                )
        for ends, colour, marker, shift, label in (
            (before, BEFORE, "o", -0.12, "before"),
            (after, AFTER, "D", 0.12, "after"),
        ):
            told = ends[:, 0] == ends[:, 1]
            ax.scatter(ends[told, 0], place[told], color=colour, marker=marker, edgecolor="0.3",
                       label=label, zorder=3)  # fmt: skip
            # no more is told than what it lies between
            ax.hlines(place[~told] + shift, *ends[~told].T, color=colour, linewidth=4)
        ax.set_yticks(place, [literal(g) for g in self.groups])
        ax.set_ylim(len(self.groups) - 0.5, -0.5)
        ax.set_xlim(0, max([0.05, *before.ravel(), *after.ravel()]) * 1.12)
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
        ax.set_xlabel(f"rate of {literal(self.of)}")
        ax.legend(frameon=False, loc="center left")
        self.ax_ = ax
        return self
