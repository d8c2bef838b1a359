"""The frontier: every candidate with its dial, on rows that it was not trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairpatch.choose.candidates import Candidates
from fairpatch.choose.dial import Path, trace
from fairpatch.choose.group_probability import group_probabilities
from fairpatch.choose.rows import Rows, codes
from fairpatch.choose.target import Target
from fairpatch.measure.counts import Counts
from fairpatch.measure.scores import displacement
from fairpatch.measure.show import Table
from fairpatch.patch.model import untouched

Floats = NDArray[np.float64]

STRONGEST = 3.0
"""The dial is tried up to this strength: a weak patch turned up is a patch too."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The paths of all candidates on the selection rows, one for each sensitive feature."""

    candidates: Candidates
    paths: list[dict[str, Path]]
    """By candidate, then by feature."""
    ratios: Floats
    f_logit: Floats
    counts: Counts
    """Of f's decisions, for the bounds."""
    q: dict[str, Floats]
    """P(S = the second value | x) of each feature of two values, for the blind bound."""
    weight: Floats | None = None
    """For how many people each row stands, where the rows are a sample."""

    @classmethod
    def trace(
        cls,
        candidates: Candidates,
        rows: Rows,
        f_logit: Floats,
        learned: Rows | None = None,
        counts: Counts | None = None,
    ) -> "Frontier":
        """Follow every candidate's dial on rows that it was not trained on.

        ``learned``, the rows that it was trained on, serve to estimate P(S|x). ``counts`` are of
        f's decisions for everybody, where the rows are a sample with weights.
        """
        names, s = codes(rows.sensitive_features, len(rows))
        counts = counts or Counts.from_arrays(
            decision=f_logit > 0, y=rows.y, sensitive_features=rows.sensitive_features
        )
        weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
        ratios = candidates.ratio(rows.X)
        paths = [
            {
                name: trace(
                    r, f_logit, rows.y, group, direction=direction, most=STRONGEST, weight=weight
                )
                for name, group in zip(names, s.T, strict=True)
            }
            for r, direction in zip(ratios, candidates.directions, strict=True)
        ]
        q = group_probabilities(rows, candidates.encoder, learned)
        return cls(candidates, paths, ratios, f_logit, counts, q, weight)

    def displacement(self, m: int, strength: float) -> float:
        """Mean |g - f| of candidate m at a strength: how far probabilities move (METHOD 8)."""
        f, t = self.f_logit, float(logit(self.candidates.cutoff))
        moved = (1 + strength * (self.ratios[m] - 1)) * f
        moved = np.where(untouched(self.candidates.directions[m], f), f, moved)
        return displacement(expit(f + t), expit(moved + t), self.weight)

    def met(self, m: int, target: Target, *, changes: bool = True) -> NDArray[np.bool_]:
        """Along candidate m's dial: where the target is met."""
        wanted = target.requirements if changes else target.fairness_requirements
        by_feature = [r.met(path) for path in self.paths[m].values() for r in wanted]
        return np.asarray(np.logical_and.reduce(by_feature))

    def records(self) -> list[dict[str, Any]]:
        """One record a candidate as trained (strength 1): its settings and metrics."""
        grid, W = self.candidates.grid, self.candidates.ratios.W
        found = []
        for m, by_feature in enumerate(self.paths):
            first = next(iter(by_feature.values()))
            k = int(first.at(1.0))
            metrics = {
                name: {
                    "p_rule": float(path.p_rule[k]),
                    "demographic_parity_difference": float(path.rate_difference[k]),
                    "disparate_mistreatment": float(path.mistreatment[k]),
                }
                for name, path in by_feature.items()
            }
            found.append(
                {
                    "model": m,
                    "lambda_fair": grid.fair[m],
                    "lambda_ratio": grid.ratio[m],
                    "lambda_concepts": grid.concepts[m],
                    "seed": grid.seeds[m],
                    "direction": self.candidates.directions[m],
                    "accuracy": float(first.accuracy[k]),
                    "change_rate": float(first.change_rate[k]),
                    "concepts": int((W[m] != 0).any(-1).sum()),
                    "metrics": metrics,
                }
            )
        return found

    def __str__(self) -> str:
        kept = int(self.pareto().sum())
        return f"Frontier of {len(self.paths)} candidates, {kept} of them beaten by none"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        best = [r for r, kept in zip(self.records(), self.pareto(), strict=True) if kept]
        return table(best, str(self)).html()

    def frame(self, backend: Any = "pandas") -> Any:
        """The records as a frame of pandas, polars or pyarrow: one column a metric and feature."""
        columns: dict[str, list[Any]] = {}
        for record in self.records():
            flat = {k: v for k, v in record.items() if k != "metrics"}
            for feature, metrics in record["metrics"].items():
                flat |= {f"{name} {feature}": value for name, value in metrics.items()}
            for name, value in flat.items():
                columns.setdefault(name, []).append(value)
        columns["pareto"] = self.pareto().tolist()
        return nw.from_dict(columns, backend=backend).to_native()

    def pareto(self) -> NDArray[np.bool_]:
        """Candidates that none other beats or equals in fairness, accuracy and changes at once."""
        rows = np.array(
            [
                [
                    min(v["p_rule"] for v in r["metrics"].values()),
                    r["accuracy"],
                    -r["change_rate"],
                ]
                for r in self.records()
            ]
        )
        rows = np.nan_to_num(rows)
        beaten = [
            bool(((rows >= row).all(1) & (rows > row).any(1)).any())
            or bool((rows[:m] == row).all(1).any())  # of equal ones the first
            for m, row in enumerate(rows)
        ]
        return ~np.array(beaten)


def table(records: Sequence[dict[str, Any]], title: str) -> Table:
    """Records of candidates for people to read, those with the fewest changes first."""
    features = list(records[0]["metrics"]) if records else []
    rows = [
        [
            str(r["model"]),
            f"{r['change_rate']:.1%}",
            f"{r['accuracy']:.3f}",
            *(f"{r['metrics'][f]['p_rule']:.3f}" for f in features),
        ]
        for r in sorted(records, key=lambda r: float(r["change_rate"]))
    ]
    header = ["candidate", "changes", "accuracy", *(f"P-Rule, {f}" for f in features)]
    return Table(title, header, rows)
