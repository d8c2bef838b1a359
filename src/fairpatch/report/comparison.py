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
    SOME_ONLY,
    Rate,
    approved_outcome,
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
"""What is shown of a group where everybody's outcome is known."""
OF_SOME = {"selection_rate": selection_rate(), "approved_outcome": approved_outcome()}
"""What is shown where outcomes of the denied are missing."""


def shown_rates(counts: Counts) -> dict[str, Rate]:
    """What is shown of a group, by whose outcomes are known."""
    return RATES if counts.outcomes == "everybody" else OF_SOME


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
                for key, rate in shown_rates(self.counts).items()
            }
            for i, name in enumerate(self.counts.group_names)
            if not hidden[i]
        ]

    @property
    def unknown(self) -> list[str]:
        """Names of what is no group: people of whom a feature is not known."""
        names = zip(self.counts.groups, self.counts.group_names, strict=True)
        return [name for group, name in names if None in group]

    @property
    def n_hidden(self) -> int:
        """How many groups are too small to be shown."""
        return sum(self._hidden)

    @property
    def _hidden(self) -> list[bool]:
        small = self.counts.heads < self.min_count
        return [
            bool(s or h) for s, h in zip(small, self.protected.hidden(*self.features), strict=True)
        ]

    def table(self, decision: Decision) -> Table:
        """The groups, one a row; what rests on outcomes that are not known is left out."""
        told = list(shown_rates(self.counts))
        rows = [
            [g["group"], str(g["people"]), *(_short(g[name]) for name in told)] for g in self.groups
        ]
        favoured = f"gets decision {decision.favourable}"
        if decision.approved is not None:
            favoured = f"is {decision.approved}"
        good, bad = decision.good_outcome, decision.bad_outcome
        notes = []
        if "accuracy" in told:
            notes.append(
                f"TPR and FPR: share that {favoured} of those with {good}, and of those with {bad}."
            )
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
            notes.append(f"People whose {self.name} is not known are not compared.")
        names = {
            "base_rate": good, "selection_rate": decision.favoured, "true_positive_rate": "TPR",
            "false_positive_rate": "FPR", "accuracy": "accuracy",
            "approved_outcome": f"{good}, of {decision.sides[0]}",
        }  # fmt: skip
        people = "people" if self.counts.persons is None else "rows"
        header = ["group", people, *(names[name] for name in told)]
        return Table(f"By {self.name}", header, rows, notes)


def told_rows(metrics: dict[str, Estimate], level: str, title: str) -> Table:
    """How far apart the groups are; what rests on outcomes that are not known is left out."""
    rows = [
        [*metric_row(m.title, estimate), " / ".join(estimate.between or ())]
        for m in METRICS
        for estimate in [metrics[m.key]]
        if estimate.reason not in SOME_ONLY.values()
    ]
    return Table(title, ["", "value", level, "lowest and highest"], rows, notes(metrics))


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
    some = sorted(reasons & set(SOME_ONLY.values()))
    left_out = [f"TPR gap, FPR gap and DM are left out: {reason}." for reason in some]
    return [*left_out, *(f"Undefined: {reason}." for reason in sorted(reasons.difference(some)))]
