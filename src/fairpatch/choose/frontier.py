"""The frontier: every candidate with its dial, on the selection rows."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import takewhile
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import expit

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch._table import Table
from fairpatch.base import threshold_odds
from fairpatch.choose.costs import Costs, Priced
from fairpatch.choose.dial import Dial, trace
from fairpatch.choose.dial_pairs import in_layers
from fairpatch.choose.frontier_display import FrontierDisplay
from fairpatch.choose.group_probability import group_probabilities
from fairpatch.choose.learner import Learned
from fairpatch.choose.pool import HUNDRED, Pool
from fairpatch.choose.target import Requirement
from fairpatch.data.rows import Rows, layers_of, strata_of
from fairpatch.floor import too_few
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.comparisons import Comparisons, Layers
from fairpatch.measure.counts import Counts
from fairpatch.measure.direction import Direction, untouched
from fairpatch.measure.metric import METRICS, P_RULE, Metric
from fairpatch.measure.scores import displacement
from fairpatch.patch.encoding import Encoder

STOPS = 8
"""Of a card's dial, so many prices are shown."""


@dataclass(frozen=True)
class Record:
    """One candidate at one strength: its settings, and what it reaches."""

    number: int
    model: int
    strength: float
    settings: dict[str, Any]
    direction: Direction
    accuracy: float
    change_rate: float
    loss: float
    """What wrong decisions cost, for each person: 1 - accuracy, without costs."""
    size: int
    """Its concepts or lines."""
    promoted_outcome: float | None
    """Share with y = 1 of those who are promoted; None where they are few."""
    denied_outcome: float | None
    """Of those who are left denied."""
    metrics: dict[str, dict[str, float | None]]
    """By sensitive feature, then by metric; None where it is undefined."""

    def worst(self, metric: Metric) -> float:
        """The metric of the feature that is worst off; NaN where it is undefined for one."""
        values = [by_name[metric.name] for by_name in self.metrics.values()]
        known = np.array([np.nan if v is None else v for v in values])
        return float(known.min() if metric.at_least else known.max())


@dataclass(frozen=True, eq=False)
class Frontier:
    """The dials of all candidates on the selection rows, one for each sensitive feature."""

    candidates: Pool
    dials: list[dict[str, Dial]]
    """By candidate, then by feature."""
    ratios: Floats
    f_logit: Floats
    counts: Counts
    """Of f's decisions, for the bounds."""
    q: dict[str, Floats]
    """P(S = the second value | x) of each feature of two values, for the blind bound."""
    weight: Floats | None = None
    """For how many people each row stands, where the rows are a sample."""
    asked: tuple[Metric, ...] = (P_RULE,)
    """What the target limits: the metrics that candidates are compared by."""
    crossed: "Frontier | None" = None
    """The same candidates by scores that have not seen the person, where the dials are of those
    that have: it says which candidate is best, and nothing of it is shown."""
    unit: float = 2.0
    """What a decision that differs costs at most: a change and an error."""
    threshold_odds: Any = 0.0
    """The log-odds of the good outcome at the threshold; one a row where there are several."""
    observed: bool = True
    """Whether everybody's outcome is known; errors are expected ones otherwise."""

    @classmethod
    def trace(
        cls,
        learned: Learned,
        encoder: Encoder,
        asked: tuple[Metric, ...] = (P_RULE,),
        q: dict[str, Floats] | None = None,
        comparisons: Comparisons | None = None,
        costs: Costs | None = None,
    ) -> "Frontier":
        """Follow every candidate, as it will be used, through all strengths."""
        rows, pool = learned.rows, learned.pool
        counts = learned.counts or Counts.from_arrays(
            decision=rows.f > 0, y=rows.labels, sensitive_features=rows.s.comparable(),
            person=rows.person, strata=strata_of(comparisons, rows.X), outcomes=rows.outcomes,
        )  # fmt: skip
        weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
        priced = None if costs is None else costs.read(rows.X, rows.good)
        layers = layers_of(rows, comparisons)
        if q is None and comparisons is not None:
            q = {}  # the blind bound compares everybody
        elif q is None:
            q = group_probabilities(rows, encoder, learned.learned_from)

        def traced(ratios: Floats, crossed: "Frontier | None" = None) -> "Frontier":
            dials = dials_of(ratios, pool.directions, rows, pool, layers, priced)
            unit = 2.0 if priced is None else priced.unit
            seen = bool((rows.y != UNKNOWN).all())
            odds = threshold_odds(pool.decision, rows.X)
            about = (q, weight, asked, crossed, unit, odds, seen)
            return cls(pool, dials, ratios, rows.f, counts, *about)

        if learned.final is None:
            return traced(learned.ratios)
        return traced(learned.final, traced(learned.ratios))

    def displacement(self, m: int, strength: float) -> float:
        """Mean |g - f| of candidate m at a strength: how far probabilities move (METHOD 8)."""
        f, t = self.f_logit, self.threshold_odds
        r = 1 + strength * (self.ratios[m] - 1)
        if strength and self.candidates.strengths is not None:  # a card's, by its own points needed
            gain, loss = self.candidates.patch(m, strength).needed
            short = r * HUNDRED / strength
            r = np.clip(short / np.maximum(np.where(f > 0, loss, gain), 1), -1, 1)
        moved = r * f
        moved = np.where(untouched(self.candidates.directions[m], f > 0), f, moved)
        return displacement(expit(f + t), expit(moved + t), self.weight)

    def moved_little(self, m: int, strength: Floats, most: float) -> int:
        """How many of these strengths, in their order, move probabilities by at most so much."""
        moves = (self.displacement(m, float(s)) <= most for s in strength)
        return sum(1 for _ in takewhile(bool, moves))

    def met(self, m: int, requirements: Sequence[Requirement]) -> Bools:
        """Along candidate m's dial: where all of these are met, for every feature."""
        kept = [r.met(r.along(dial)) for dial in self.dials[m].values() for r in requirements]
        return np.asarray(np.logical_and.reduce(kept))

    def records(self) -> list[Record]:
        """One record a candidate as trained; a card at several prices."""
        return list(self._records)

    @cached_property
    def _records(self) -> tuple[Record, ...]:
        records: list[Record] = []
        for m, by_feature in enumerate(self.dials):
            first = next(iter(by_feature.values()))
            promoted, left = first.outcomes
            for k in self._stops(m):
                up = float(first.promoted[k])
                records.append(
                    Record(
                        number=len(records),
                        model=m,
                        strength=float(first.strength[k]) if self.candidates.strengths is not None
                        else 1.0,
                        settings=self.candidates.about(m),
                        direction=self.candidates.directions[m],
                        accuracy=float(first.accuracy[k]),
                        change_rate=float(first.change_rate[k]),
                        loss=float(first.mean_loss[k]),
                        size=self.candidates.size(m),
                        promoted_outcome=None if too_few(up) or not up else float(promoted[k]),
                        denied_outcome=None if too_few(first.denied - up) else _known(left[k]),
                        metrics={
                            feature: {
                                metric.name: _known(metric.along(dial.only(k))[0])
                                for metric in METRICS
                            }
                            for feature, dial in by_feature.items()
                        },
                    )
                )  # fmt: skip
        return tuple(records)

    def _stops(self, m: int) -> list[int]:
        """Where a candidate's dial is shown: as trained, or at some prices up to its fairest."""
        dials = list(self.dials[m].values())
        if self.candidates.strengths is None:
            return [int(dials[0].at(1.0))]
        values = np.array([self.asked[0].along(dial) for dial in dials])
        worst = values.min(0) if self.asked[0].at_least else -values.max(0)
        fairest = int(np.nan_to_num(worst, nan=-np.inf).argmax())
        changed = dials[0].changed[: fairest + 1]
        wanted = np.linspace(0, float(changed[-1]), STOPS + 1)
        return sorted({int(np.searchsorted(changed, n)) for n in wanted})

    def __str__(self) -> str:
        kept = int(self.pareto().sum())
        many = len(self.records())
        return f"Frontier of {many} candidates, {kept} of them beaten by none"

    __repr__ = __str__

    def plot(self, ax: Any = None, *, choice: Any = None) -> FrontierDisplay:
        """Draw changed decisions against what is asked, with the fewest possible.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a figure of its own otherwise.
        choice : Choice, optional
            To mark with a star: ``choice_`` of a fit.

        Returns
        -------
        FrontierDisplay
            With the figures behind it, and the axes as ``ax_``.
        """
        return FrontierDisplay.from_frontier(self, choice=choice).plot(ax)

    def _repr_html_(self) -> str:
        best = [r for r, kept in zip(self.records(), self.pareto(), strict=True) if kept]
        rows = table(best, str(self), self.asked, observed=self.observed).html()
        if find_spec("matplotlib") is None:
            return rows
        picture = FrontierDisplay.from_frontier(self).svg()
        folded = f"<details><summary>As a table</summary>{rows}</details>"
        return f"<div><p>{self}</p>{picture}{folded}</div>"

    def frame(self, backend: Any = "pandas") -> Any:
        """The records as a frame of pandas, polars or pyarrow: one column a metric and feature."""
        columns: dict[str, list[Any]] = {}
        for record in self.records():
            flat = {k: v for k, v in asdict(record).items() if k not in ("metrics", "settings")}
            flat |= {k: v for k, v in record.settings.items() if k not in flat}
            for feature, metrics in record.metrics.items():
                flat |= {f"{name} {feature}": value for name, value in metrics.items()}
            for name in dict.fromkeys([*columns, *flat]):
                known = columns.setdefault(name, [None] * record.number)
                known.append(flat.get(name))
        columns["pareto"] = self.pareto().tolist()
        return nw.from_dict(columns, backend=backend).to_native()

    def pareto(self) -> Bools:
        """Candidates that none other beats or equals in what is asked, accuracy and changes."""
        rows = np.array(
            [
                [
                    *(r.worst(m) if m.at_least else -r.worst(m) for m in self.asked),
                    -r.loss,
                    -r.change_rate,
                ]
                for r in self.records()
            ]
        )
        rows = np.nan_to_num(rows, nan=-np.inf)
        beaten = [
            bool(((rows >= row).all(1) & (rows > row).any(1)).any())
            or bool((rows[:m] == row).all(1).any())  # of equal ones the first
            for m, row in enumerate(rows)
        ]
        return ~np.array(beaten)


def dials_of(
    ratios: Iterable[Floats], directions: Iterable[Direction], rows: Rows, candidates: Pool,
    layers: Sequence[Layers] = (), priced: Priced | None = None,
) -> list[dict[str, Dial]]:  # fmt: skip
    """The dial of every ratio for every feature, where the candidates' dials may stand.

    In strata, or against a reference, there is one for each comparison.
    """
    groups, good, dials = rows.s.comparable(), rows.good, []
    weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
    for r, direction in zip(ratios, directions, strict=True):

        def traced(
            codes: Ints, weight: Floats | None = weight, r: Floats = r, d: Direction = direction
        ) -> Dial:
            return trace(
                r, rows.f, good, codes, direction=d, most=candidates.strongest, weight=weight,
                previous=rows.previous, strengths=candidates.strengths, priced=priced,
            )  # fmt: skip

        by_name: dict[str, Dial] = {}
        for k, name in enumerate(groups.features):
            codes = groups.codes[:, k]
            by_name |= (
                in_layers(layers[k], codes, weight, traced) if layers else {name: traced(codes)}
            )
        dials.append(by_name)
    return dials


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def table(
    records: Sequence[Record], title: str, asked: Sequence[Metric] = (P_RULE,), *,
    observed: bool = True,
) -> Table:  # fmt: skip
    """Records of candidates for people to read, those with the fewest changes first."""
    features = list(records[0].metrics) if records else []
    shown = [(metric, feature) for metric in asked for feature in features]
    rows = [
        [
            str(r.number),
            f"{r.change_rate:.1%}",
            f"{r.accuracy:.3f}",
            _shown(r.promoted_outcome),
            _shown(r.denied_outcome),
            *(_shown(r.metrics[feature].get(metric.name)) for metric, feature in shown),
        ]
        for r in sorted(records, key=lambda r: r.change_rate)
    ]
    header = [
        "candidate",
        "changes",
        *(
            name if observed else f"{name}, expected"
            for name in ("accuracy", "promoted: y = 1", "left denied: y = 1")
        ),
        *(f"{m.words}, {f}" for m, f in shown),
    ]
    return Table(title, header, rows)
