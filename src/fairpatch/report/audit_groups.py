"""The groups of an audit: side by side, and as adverse impact is filed, against a reference.

    impact ratio       rate / reference's rate; below 0.8, the four-fifths rule asks why
    SD                 z of two proportions, the rate pooled; below -2, the courts' rule of thumb
    Fisher             the exact test's two-sided p
    odds ratio         the odds of a favourable decision, over the reference's
    shortfall          people more who would have one at the reference's rate
    score              mean score less the reference's, in standard deviations of everybody's score

Everything is worked out from what the audit shows anyway: where a count is told in tens, a figure
that needs it is not shown.
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from fairpatch._tools.hints import did_you_mean, hint
from fairpatch._tools.tables import Table
from fairpatch.decision import Decision
from fairpatch.disclose.protected import Protected
from fairpatch.disclose.suppress import PublishedCount
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
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

# The groups of an audit side by side: what is told of each, and how far apart they are.

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


# Adverse impact, as US lenders and employers file it: every group against a reference.

FOUR_FIFTHS = 0.8
DEVIATIONS = -2.0
FEW = 0.02
"""Of all people: a category of fewer may be left out of Local Law 144's table."""


@dataclass(frozen=True)
class ImpactRow:
    """One group; None where a figure is not shown or not defined."""

    group: str
    people: PublishedCount
    selected: int | None
    rate: float | None
    impact_ratio: float | None
    difference: float | None
    odds_ratio: float | None
    standard_deviations: float | None
    fisher_p: float | None
    shortfall: float | None
    score_difference: float | None
    few: bool
    """Whether fewer than 2 % of the people are in it."""
    unknown: bool = False
    """Whether it is those of whom a feature is not known."""

    @property
    def adverse(self) -> bool:
        """Whether both rules of thumb speak of adverse impact."""
        ratio, deviations = self.impact_ratio, self.standard_deviations
        return (
            ratio is not None
            and ratio < FOUR_FIFTHS
            and deviations is not None
            and deviations < DEVIATIONS
        )


@dataclass(frozen=True)
class AdverseImpact:
    """The table of one sensitive feature, or of an intersection."""

    feature: str
    reference: str
    rows: tuple[ImpactRow, ...]
    weighted: bool
    """Whether people weigh differently: then no test is told, as none of them would be right."""
    several: bool = False
    """Whether somebody has several rows: no test is told either, as rows are no people."""

    def table(self, favoured: str) -> Table:
        """As it is printed."""
        rows = [
            [
                row.group + (" (reference)" if row.group == self.reference else ""),
                str(row.people),
                "-" if row.selected is None else f"{row.selected:,}",
                _number(row.rate, 3),
                _number(row.impact_ratio, 3),
                _number(row.difference, 3, sign=True),
                _number(row.odds_ratio, 2),
                _number(row.standard_deviations, 2, sign=True),
                _p(row.fisher_p),
                "-" if row.shortfall is None else f"{row.shortfall:,.0f}",
                _number(row.score_difference, 2, sign=True),
            ]
            for row in self.rows
        ]
        people = "rows" if self.several else "people"
        header = ["group", people, "selected", "rate", "impact ratio", "difference", "odds ratio",
                  "SD", "Fisher p", "shortfall", "score"]  # fmt: skip
        return Table(
            f"Adverse impact by {self.feature}; selected: {favoured}", header, rows, [*self.notes()]
        )

    def notes(self) -> Iterable[str]:
        """What is found, and how to read it."""
        adverse = [row.group for row in self.rows if row.adverse]
        if adverse:
            yield (
                f"Below four fifths of {self.reference}'s rate, by more than two standard "
                f"deviations: {', '.join(adverse)}."
            )
        if self.feature.endswith("(estimated groups)"):
            yield (
                "Estimated groups: everybody counts in each by their probability, whatever the "
                "order of the groups. SD and Fisher's test take these for known people."
            )
        if any(row.impact_ratio is None and not row.unknown for row in self.rows):
            show = hint("show_small_counts=True", "--show-small-counts")
            yield f"What is not shown would tell a count below ten; {show} shows it to whom it may."
        few = [row.group for row in self.rows if row.few]
        if few:
            yield f"Fewer than 2 % of the people, which a table may leave out: {', '.join(few)}."
        if any(row.unknown for row in self.rows):
            yield (
                "Whose group is not known is in no group: they are counted, and compared with "
                "nobody."
            )
        if self.several:
            yield (
                "Rows, of which some people have several: SD and Fisher's test, which take them "
                "for people, are not told. The intervals of the audit count people."
            )
        if self.weighted:
            yield "People weigh differently: counts are sums of weights, and no test is told."
        yield (
            "SD: z of two proportions, pooled. Shortfall: people more at the reference's rate. "
            "Score: difference of mean scores, in standard deviations of all."
        )

    @property
    def data(self) -> dict[str, Any]:
        """As plain data."""
        rows = [
            {**asdict(row), "people": row.people.data, "adverse": row.adverse} for row in self.rows
        ]
        return {"feature": self.feature, "reference": self.reference, "groups": rows}


def adverse_impact(
    feature: str,
    groups: list[dict[str, Any]],
    *,
    reference: str | None,
    weighted: bool,
    several: bool = False,
    unknown: Collection[str] = (),
    scores: dict[str, float] | None = None,
) -> AdverseImpact:
    """Every shown group against the reference, or against the one with the highest rate.

    ``groups`` are as the audit shows them, ``unknown`` those of them that are none; ``scores`` each
    group's mean score in standard deviations. Of fewer than 2 % of the people, a group is the
    reference only where it is named.
    """
    known = [g for g in groups if g["group"] not in unknown]
    rated = {g["group"]: g for g in known if g["selection_rate"].value is not None}
    if not rated:
        raise ValueError(f"no group of {feature} may be shown: there is nothing to compare")
    everybody = sum(g["people"].low for g in groups)
    if reference is None:
        large = [n for n, g in rated.items() if g["people"].low >= FEW * everybody] or [*rated]
        reference = max(large, key=lambda name: rated[name]["selection_rate"].value)
    if reference not in rated:
        raise ValueError(
            f"{feature} has no group {reference!r} that may be shown; it has "
            f"{', '.join(map(repr, rated))}" + did_you_mean(reference, list(rated))
        )
    rows = [
        _row(g, rated[reference], everybody, tested=not (weighted or several), scores=scores or {})
        if g in known else _of_unknown(g)
        for g in groups
    ]  # fmt: skip
    return AdverseImpact(feature, reference, tuple(rows), weighted, several)


def _of_unknown(group: dict[str, Any]) -> ImpactRow:
    """People whose group is not known: how many, and how many of them are selected."""
    rate = _shown(group["selection_rate"])
    n = group["people"].low if group["people"].exact else None
    return ImpactRow(
        group=group["group"], people=group["people"], selected=_selected(rate, n), rate=rate,
        impact_ratio=None, difference=None, odds_ratio=None, standard_deviations=None,
        fisher_p=None, shortfall=None, score_difference=None, few=False, unknown=True,
    )  # fmt: skip


def _row(
    group: dict[str, Any],
    reference: dict[str, Any],
    everybody: int,
    *,
    tested: bool,
    scores: dict[str, float],
) -> ImpactRow:
    """One group against the reference."""
    rate, other = (_shown(g["selection_rate"]) for g in (group, reference))
    n, m = (g["people"].low if g["people"].exact else None for g in (group, reference))
    k, j = _selected(rate, n), _selected(other, m)
    name, them = group["group"], reference["group"]
    exact: tuple[int, int, int, int] | None = None
    if n is not None and m is not None and k is not None and j is not None and tested:
        exact = k, n - k, j, m - j
    own = name == them
    return ImpactRow(
        group=name,
        people=group["people"],
        selected=k,
        rate=rate,
        impact_ratio=None if rate is None or not other else rate / other,
        difference=None if rate is None or other is None else rate - other,
        odds_ratio=None if rate is None or other is None else _odds_ratio(rate, other),
        standard_deviations=None if own or exact is None else _deviations(*exact),
        fisher_p=None if own or exact is None else _fisher(*exact),
        shortfall=None if own or n is None or rate is None or other is None
        else max(0.0, n * (other - rate)),
        score_difference=None if own or name not in scores or them not in scores
        else scores[name] - scores[them],
        few=group["people"].low < FEW * everybody,
    )  # fmt: skip


def _shown(rate: Estimate) -> float | None:
    """A rate that is told with all its digits."""
    return rate.value if rate.low is not None else None


def _selected(rate: float | None, people: int | None) -> int | None:
    return None if rate is None or people is None else round(rate * people)


def _odds_ratio(one: float, two: float) -> float | None:
    """Of two rates.

    >>> _odds_ratio(0.5, 0.75)
    0.3333333333333333
    """
    if one in (0.0, 1.0) and one == two:
        return None
    odds = [inf if p == 1 else p / (1 - p) for p in (one, two)]
    return None if inf in odds or not odds[1] else odds[0] / odds[1]


def _deviations(a: int, b: int, c: int, d: int) -> float | None:
    """How many standard deviations a / (a + b) lies above c / (c + d), with a pooled rate.

    Uniform Guidelines, question 24's example: 48 of 80 and 12 of 40.

    >>> round(_deviations(12, 28, 48, 32), 2)
    -3.1
    """
    n, m = a + b, c + d
    pooled = (a + c) / (n + m)
    spread = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return (a / n - c / m) / spread if spread else None


def _fisher(a: int, b: int, c: int, d: int) -> float:
    """The two-sided p of Fisher's exact test."""
    from scipy.stats import fisher_exact  # noqa: PLC0415 a second to import, and rarely asked

    return float(fisher_exact(np.array([[a, b], [c, d]])).pvalue)


def _number(value: float | None, digits: int, *, sign: bool = False) -> str:
    return "-" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"


def _p(value: float | None) -> str:
    return "-" if value is None else "below 0.001" if value < 0.001 else f"{value:.3f}"
