"""The picture of a frontier: changes against fairness, with the choice and the bound."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch._extras import need
from fairpatch._pictures import figure, svg
from fairpatch.measure.metric import P_RULE, Metric

STEPS = 48
"""Limits for which the fewest changes are drawn."""


@dataclass(eq=False)
class FrontierDisplay:
    """Fairness against changed decisions; data and drawing apart, as scikit-learn's displays.

    Attributes
    ----------
    fairness, change_rate, accuracy : of every candidate as trained.
    limits, known, blind : the fewest changes for each of these limits, with S known and without;
        the latter None where the feature has more than two values, or the metric has no such bound.
    choice : (fairness, change rate) of the chosen patch, or None.
    metric : what fairness is, the first thing that the target limits.
    """

    fairness: Floats
    change_rate: Floats
    accuracy: Floats
    limits: Floats
    known: Floats
    blind: Floats | None = None
    choice: tuple[float, float] | None = None
    metric: Metric = P_RULE
    ax_: Any = None

    @classmethod
    def from_frontier(
        cls,
        frontier: Any,
        *,
        feature: str | None = None,
        choice: Any = None,
    ) -> "FrontierDisplay":
        """Take the figures of one sensitive feature of a ``Frontier``, and the bounds there."""
        records, metric = frontier.records(), frontier.asked[0]
        feature = feature or next(iter(records[0].metrics))
        values = [r.metrics[feature][metric.name] for r in records]
        fairness = np.array([np.nan if v is None else v for v in values])
        chosen = None
        if choice is not None and metric.name in choice.metrics[feature]:
            chosen = choice.metrics[feature][metric.name], choice.change_rate
        drawn = (
            fairness,
            np.array([r.change_rate for r in records]),
            np.array([r.accuracy for r in records]),
        )
        if feature not in frontier.counts.features:  # in a stratum: its bound is the choice's own
            return cls(*drawn, np.empty(0), np.empty(0), None, chosen, metric)
        counts, q = frontier.counts.by(feature), frontier.q.get(feature)
        limits = np.linspace(0.05, 0.99, STEPS)
        if not metric.at_least:  # from nearly equal to as unequal as f is
            widest = metric.of(counts, model="f").value or 1.0
            steps = STEPS // (1 if len(metric.rates) == 1 else 4)  # the sum of gaps takes longer
            limits = np.linspace(widest / steps, widest, steps)
        bounds = [metric.fewest(counts, limit, roughly=True) for limit in limits]
        known = np.array([np.nan if b is None else b.change_rate for b in bounds])
        blind = None
        if q is not None and not metric.given_y:
            decided, weight = frontier.f_logit > 0, frontier.weight
            shares = [metric.fewest_blind(q, decided, t, weight=weight) for t in limits]
            blind = np.fmax([np.nan if b is None else b for b in shares], known)
        return cls(*drawn, limits, known, blind, chosen, metric)

    def rounded(self) -> "FrontierDisplay":
        """The same to half a percent: a picture's coordinates tell as many digits as it has."""

        def coarse(values: Any) -> Any:
            return np.round(np.asarray(values, np.float64) * 200) / 200

        choice = None if self.choice is None else tuple(coarse(self.choice).tolist())
        return replace(
            self,
            fairness=coarse(self.fairness),
            change_rate=coarse(self.change_rate),
            accuracy=coarse(self.accuracy),
            known=coarse(self.known),
            blind=None if self.blind is None else coarse(self.blind),
            choice=choice,
        )

    def svg(self) -> str:
        """The picture as text that stands inside a page."""
        fig, ax = figure(6.4, 4.4)
        self.rounded().plot(ax)
        return svg(fig, "frontier")

    def plot(self, ax: Any = None) -> "FrontierDisplay":
        """Draw it. Light and dark are accuracy, so it reads in grey and for the colour-blind."""
        if ax is None:
            _, ax = need("matplotlib.pyplot", extra="plot").subplots(figsize=(6.4, 4.4))
        dots = ax.scatter(
            self.fairness, self.change_rate, c=self.accuracy, cmap="cividis", s=28,
            edgecolor="0.3", linewidth=0.4, label="candidates",
        )  # fmt: skip
        ax.figure.colorbar(dots, ax=ax, label="accuracy")
        for bound, style, label in ((self.known, "k--", "S known"), (self.blind, "k:", "S unread")):
            if bound is not None:
                there = bound > 0
                ax.plot(
                    self.limits[there], bound[there], style, linewidth=1.2,
                    label=f"fewest possible, {label}",
                )  # fmt: skip
        if self.choice is not None:
            ax.plot(*self.choice, "r*", markersize=15, markeredgecolor="k", label="chosen")
        floor = self.metric.at_least
        widest = (
            1.0 if floor else max([0.05, *self.limits, *self.fairness[~np.isnan(self.fairness)]])
        )
        ax.set(
            xlabel=f"{self.metric.words} ({'higher' if floor else 'lower'} is fairer)",
            ylabel="changed decisions",
            xlim=(0, 1.02 * widest),
            ylim=(-0.005, None),
        )
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:.1%}")
        ax.legend(loc="upper left" if floor else "upper right", frameon=False)
        self.ax_ = ax
        return self
