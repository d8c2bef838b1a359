"""The groups' mean scores, in standard deviations of everybody's: one GROUP BY of sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats
from fairpatch._fetch import rows_of
from fairpatch.decision import PLAIN, Decision
from fairpatch.inputs.values import Value, plain
from fairpatch.measure.groups import Groups

Sums = tuple[float, float, float]
"""People, their scores, and the squares of those."""

OWN = "fairpatch_sum_"
"""Names that no column of a table has."""


@dataclass(frozen=True)
class ScoreMeans:
    """Sums of scores by the combinations of all sensitive features."""

    features: tuple[str, ...]
    sums: Mapping[tuple[Value, ...], Sums]

    @classmethod
    def of_rows(cls, score: Floats, sensitive_features: Any) -> "ScoreMeans":
        """Of people in memory."""
        groups = Groups.of(sensitive_features)
        keys, where = np.unique(groups.codes, axis=0, return_inverse=True)
        parts = [np.bincount(where.ravel(), w) for w in (np.ones(len(score)), score, score**2)]
        named = [
            tuple(
                None if code < 0 else values[code]
                for code, values in zip(key, groups.values, strict=True)
            )
            for key in keys
        ]
        return cls(groups.features, dict(zip(named, zip(*parts, strict=True), strict=True)))

    @classmethod
    def of_table(
        cls, table: Any, score: str, features: Sequence[str], decision: Decision = PLAIN
    ) -> "ScoreMeans":
        """Of a table in an engine; scores that are no probability are left out."""
        p = decision.compared(nw.col(score).cast(nw.Float64))
        frame = nw.from_native(table).filter((p >= 0.0) & (p <= 1.0))
        sums = [nw.len(), p.sum(), (p * p).sum()]
        named = [e.alias(f"{OWN}{i}") for i, e in enumerate(sums)]
        rows = rows_of(frame.lazy().group_by(*features).agg(*named))
        found = {
            tuple(plain(row[f]) for f in features): tuple(row[f"{OWN}{i}"] for i in range(3))
            for row in rows
        }
        return cls(tuple(features), found)

    def by(self, *features: str) -> dict[str, float]:
        """By a group's name, of one feature or of an intersection: its mean in deviations."""
        people, total, squares = (sum(v[i] for v in self.sums.values()) for i in range(3))
        spread = sqrt(max(squares / people - (total / people) ** 2, 0.0)) if people else 0.0
        if not spread:
            return {}
        places = [self.features.index(f) for f in features]
        found: dict[str, list[float]] = {}
        for key, (n, s, _) in self.sums.items():
            name = " & ".join("(missing)" if key[i] is None else str(key[i]) for i in places)
            here = found.setdefault(name, [0.0, 0.0])
            here[0] += n
            here[1] += s
        return {name: s / n / spread for name, (n, s) in found.items()}
