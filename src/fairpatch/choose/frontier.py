"""The frontier: every candidate with its dial, on the selection rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import expit

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.smallest_count import too_few
from fairpatch.choose.learner import HUNDRED, Learned, Pool
from fairpatch.data.outcomes import Costs
from fairpatch.data.rows import Rows, layers_of, strata_of
from fairpatch.inputs.base import threshold_odds
from fairpatch.measure.bounds import Bound
from fairpatch.measure.cells import UNKNOWN, Direction, untouched
from fairpatch.measure.comparisons import Comparisons, Layers
from fairpatch.measure.counts import Counts
from fairpatch.measure.fewest_together import fewest_together
from fairpatch.measure.metric import METRICS, P_RULE, Metric
from fairpatch.measure.scores import displacement
from fairpatch.measure.strength_curve import Priced, StrengthCurve, in_layers, trace
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Requirement, Target

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
    dials: list[dict[str, StrengthCurve]]
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
) -> list[dict[str, StrengthCurve]]:  # fmt: skip
    """The dial of every ratio for every feature, where the candidates' dials may stand.

    In strata, or against a reference, there is one for each comparison.
    """
    groups, good, dials = rows.s.comparable(), rows.good, []
    weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
    for r, direction in zip(ratios, directions, strict=True):

        def traced(
            codes: Ints, weight: Floats | None = weight, r: Floats = r, d: Direction = direction
        ) -> StrengthCurve:
            return trace(
                r, rows.f, good, codes, direction=d, most=candidates.strongest, weight=weight,
                previous=rows.previous, strengths=candidates.strengths, priced=priced,
            )  # fmt: skip

        by_name: dict[str, StrengthCurve] = {}
        for k, name in enumerate(groups.features):
            codes = groups.codes[:, k]
            by_name |= (
                in_layers(layers[k], codes, weight, traced) if layers else {name: traced(codes)}
            )
        dials.append(by_name)
    return dials


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


FOLDS = 5
MOST = 10_000
"""Rows that one model learns from, at most."""


def group_probabilities(
    rows: Rows, encoder: Encoder, learned: Rows | None = None
) -> dict[str, Floats]:
    """P(second value | x) of every sensitive feature of two values, on ``rows``.

    ``learned`` are other rows that all models may learn from.
    """
    groups, Z = rows.s.comparable(), encoder.transform(rows.X)
    s = groups.codes
    more_Z, more_s = np.empty((0, Z.shape[1])), np.empty((0, s.shape[1]), np.int64)
    if learned is not None and groups.values == learned.s.values:  # or the codes would differ
        more_Z, more_s = encoder.transform(learned.X), learned.s.codes
    return {
        name: cross_fit(Z, s[:, j], more_Z, more_s[:, j])
        for j, name in enumerate(groups.features)
        if s[:, j].max() == 1 and np.bincount(s[s[:, j] >= 0, j]).min() >= 2 * FOLDS
    }


def cross_fit(Z: Floats, label: Ints, more_Z: Floats, more_label: Ints) -> Floats:
    """P(label = 1 | z) of each row from a logistic regression on the other folds' rows and more.

    A label of -1 is missing: such a row is not learned from.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 two seconds to import

    random = np.random.default_rng(0)
    fold = np.empty(len(Z), np.int64)
    for value in np.unique(label):  # every value in every fold
        of_value = np.flatnonzero(label == value)
        fold[of_value] = random.permutation(len(of_value)) % FOLDS
    q = np.empty(len(Z))
    for k in range(FOLDS):
        z = np.concatenate([Z[fold != k], more_Z])
        known = np.concatenate([label[fold != k], more_label])
        rows = np.flatnonzero(known >= 0)
        if len(rows) > MOST:
            rows = random.choice(rows, MOST, replace=False)
        model = LogisticRegression(max_iter=1_000).fit(z[rows], known[rows])
        q[fold == k] = model.predict_proba(Z[fold == k])[:, 1]
    return q


def fewest(
    target: Target,
    counts: Mapping[str, Counts],
    q: Mapping[str, Floats],
    decided: Bools,
    weight: Floats | None = None,
) -> tuple[Bound | None, float | None]:
    """The fewest changes for the target on some rows: with S known, and without reading it.

    Each requirement of each feature needs so many; the most of these is a bound for all together.
    The blind one is for features of two values, and metrics that have one.
    """
    known: list[Bound] = []
    blind: list[float] = []
    for feature, feature_counts in counts.items():
        if target.places is not None or target.comparisons is not None:
            together = _fewest_together(feature_counts, target)
            known += [] if together is None else [together]
        if target.comparisons is not None:
            continue  # the others compare everybody
        for r in target.requirements:
            if not isinstance(r.metric, Metric):
                continue
            bound = r.metric.fewest(feature_counts, r.limit, direction=target.direction)
            known += [] if bound is None else [bound]
            if feature in q:
                share = r.metric.fewest_blind(
                    q[feature], decided, r.limit, direction=target.direction, weight=weight
                )
                blind += [] if share is None else [share]
    most = max(known, key=lambda b: b.changes, default=None)
    if most is None or not blind:
        return most, max(blind, default=None)
    return most, max(*blind, most.change_rate)  # an estimate, never below what is possible


def _fewest_together(counts: Counts, target: Target) -> Bound | None:
    """The same where places are limited, or within strata: all limits of a feature together."""
    strata = () if target.comparisons is None else target.comparisons.columns
    if counts.strata_features != strata:
        return None  # people in an engine are counted by group alone
    limits = [(r.metric, r.limit) for r in target.requirements if isinstance(r.metric, Metric)]
    before = counts.along("before")
    share = float(before[1] / max(before.sum(), 1))
    room = None if target.places is None else target.places.within(share)
    return fewest_together(counts, limits, room, target.direction, target.comparisons)
