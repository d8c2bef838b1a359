"""The groups of an audit side by side: what is told of each, and how far apart they are."""

from dataclasses import dataclass
from typing import Any

from fairpatch._table import Table
from fairpatch.decision import Decision
from fairpatch.disclose.protected import Protected
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.metric import METRICS
from fairpatch.measure.rates import (
    base_rate,
    correct_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)

RATES = {
    "base_rate": base_rate(),
    "selection_rate": selection_rate(),
    "true_positive_rate": true_positive_rate(),
    "false_positive_rate": false_positive_rate(),
    "accuracy": correct_rate(),
}
"""What is shown of a group."""


@dataclass(frozen=True)
class GroupComparison:
    """The groups of one sensitive feature, or of an intersection, side by side."""

    protected: Protected
    features: tuple[str, ...]
    confidence: float
    min_count: int

    @property
    def name(self) -> str:
        """The sensitive feature, or the features of the intersection."""
        return " & ".join(self.features)

    @property
    def counts(self) -> Counts:
        """The people by these features."""
        return self.protected.by(*self.features)

    @property
    def compared(self) -> Counts:
        """The groups that are known and large enough."""
        return self.counts.known().large(self.min_count)

    @property
    def metrics(self) -> dict[str, Estimate]:
        """Every comparison of the groups: P-Rule, rate difference, TPR and FPR gap, DM."""
        return {
            m.key: self.protected.metric(
                m, *self.features, confidence=self.confidence, least=self.min_count
            )
            for m in METRICS
        }

    @property
    def groups(self) -> list[dict[str, Any]]:
        """One record a group that may be shown: people, rates. Small groups are not in it."""
        hidden = self._hidden
        return [
            {"group": name, "people": self.protected.people(*self.features, group=i)}
            | {
                key: self.protected.rate(rate, *self.features, group=i, confidence=self.confidence)
                for key, rate in RATES.items()
            }
            for i, name in enumerate(self.counts.group_names)
            if not hidden[i]
        ]

    @property
    def n_hidden(self) -> int:
        """How many groups are too small to be shown."""
        return sum(self._hidden)

    @property
    def _hidden(self) -> list[bool]:
        small = self.counts.sizes < self.min_count
        return [
            bool(s or h) for s, h in zip(small, self.protected.hidden(*self.features), strict=True)
        ]

    def table(self, decision: Decision) -> Table:
        """The groups, one a row."""
        rows = [
            [
                g["group"],
                str(g["people"]),
                *(_short(g[r]) for r in RATES),
            ]
            for g in self.groups
        ]
        favoured = f"gets decision {decision.favourable}"
        if decision.approved is not None:
            favoured = f"is {decision.approved}"
        good, bad = decision.good_outcome, decision.bad_outcome
        notes = [
            f"TPR and FPR: share that {favoured} of those with {good}, and of those with {bad}."
        ]
        if self.features in self.protected.withheld:
            notes.append(
                "Its groups are withheld: there are too many small ones to protect. Use fewer or "
                "coarser values."
            )
        elif self.n_hidden:
            few = self.n_hidden
            notes.append(
                f"{few} group{'s' if few > 1 else ''} of fewer than {self.min_count} people "
                f"{'are' if few > 1 else 'is'} suppressed and not compared."
            )
        if self.counts.known().total < self.counts.total:
            notes.append(f"People with {self.name} missing are not compared.")
        header = ["people", good, decision.favoured, "TPR", "FPR", "accuracy"]
        return Table(f"By {self.name}", ["group", *header], rows, notes)


def metric_row(name: str, estimate: Estimate) -> list[str]:
    """A figure as cells: name, value, interval."""
    if estimate.low is None:
        return [name, _short(estimate), ""]
    return [name, f"{estimate.value:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"]


def _short(estimate: Estimate) -> str:
    """A figure without its interval."""
    if estimate.value is None:
        hidden = estimate.withheld
        return str(estimate) if estimate.within else "not shown" if hidden else "undefined"
    return f"{estimate.value:.{3 if estimate.low is not None else 2}f}"


def notes(metrics: dict[str, Estimate]) -> list[str]:
    """Why metrics are undefined."""
    reasons = {m.reason for m in metrics.values() if m.reason and not m.withheld}
    return [f"Undefined: {reason}." for reason in sorted(reasons)]
