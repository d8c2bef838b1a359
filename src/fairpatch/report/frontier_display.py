"""The picture of a frontier: changes against fairness, with the choice and the bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._extras import need
from fairpatch.choose.choice import Choice
from fairpatch.choose.frontier import Frontier
from fairpatch.measure.blind import fewest_blind
from fairpatch.measure.bounds import fewest_for_p_rule

Floats = NDArray[np.float64]


@dataclass(eq=False)
class FrontierDisplay:
    """P-Rule against changed decisions; data and drawing apart, as scikit-learn's displays.

    Attributes
    ----------
    p_rule, change_rate, accuracy : of every candidate as trained.
    targets, known, blind : the fewest changes for each of these P-Rules, with S known and
        without; the latter None where the feature has more than two values.
    choice : (P-Rule, change rate) of the chosen patch, or None.
    """

    p_rule: Floats
    change_rate: Floats
    accuracy: Floats
    targets: Floats
    known: Floats
    blind: Floats | None = None
    choice: tuple[float, float] | None = None
    ax_: Any = None

    @classmethod
    def from_frontier(
        cls,
        frontier: Frontier,
        *,
        feature: str | None = None,
        choice: Choice | None = None,
    ) -> "FrontierDisplay":
        """Take the figures of one sensitive feature, and the bounds on the same rows."""
        records = frontier.records()
        feature = feature or next(iter(records[0]["metrics"]))
        targets = np.linspace(0.05, 0.99, 48)
        counts, q = frontier.counts.by(feature), frontier.q.get(feature)
        found = [fewest_for_p_rule(counts, t) for t in targets]
        known = np.array([np.nan if b is None else b.change_rate for b in found])
        blind = None
        if q is not None:
            decided, weight = frontier.f_logit > 0, frontier.weight
            shares = [fewest_blind(q, decided, t, weight=weight) for t in targets]
            blind = np.fmax([np.nan if b is None else b for b in shares], known)
        chosen = None
        if choice is not None and "p_rule" in choice.metrics[feature]:
            chosen = choice.metrics[feature]["p_rule"], choice.change_rate
        return cls(
            np.array([r["metrics"][feature]["p_rule"] for r in records]),
            np.array([r["change_rate"] for r in records]),
            np.array([r["accuracy"] for r in records]),
            targets,
            known,
            blind,
            chosen,
        )

    def plot(self, ax: Any = None) -> "FrontierDisplay":
        """Draw it. Light and dark are accuracy, so it reads in grey and for the colour-blind."""
        if ax is None:
            _, ax = need("matplotlib.pyplot", extra="plot").subplots(figsize=(6.4, 4.4))
        dots = ax.scatter(
            self.p_rule, self.change_rate, c=self.accuracy, cmap="cividis", s=28,
            edgecolor="0.3", linewidth=0.4, label="candidates",
        )  # fmt: skip
        ax.figure.colorbar(dots, ax=ax, label="accuracy")
        for bound, style, label in ((self.known, "k--", "S known"), (self.blind, "k:", "S unread")):
            if bound is not None:
                there = bound > 0
                ax.plot(
                    self.targets[there], bound[there], style, linewidth=1.2,
                    label=f"fewest possible, {label}",
                )  # fmt: skip
        if self.choice is not None:
            ax.plot(*self.choice, "r*", markersize=15, markeredgecolor="k", label="chosen")
        ax.set(
            xlabel="P-Rule (higher is fairer)",
            ylabel="changed decisions",
            xlim=(0, 1.02),
            ylim=(-0.005, None),
        )
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:.1%}")
        ax.legend(loc="upper left", frameon=False)
        self.ax_ = ax
        return self
