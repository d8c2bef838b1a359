"""One period of a patch in use: counts, and how far the people are from those of the fit."""

import re
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field

from fairpatch.measure.counts import Counts
from fairpatch.measure.sampled import KNOWN_OF_ALL
from fairpatch.patch.compare import Word
from fairpatch.patch.parts import Level, Part

KINDS = {
    "year": "[0-9]{4}",
    "quarter": "[0-9]{4}-Q[1-4]",
    "month": "[0-9]{4}-(0[1-9]|1[0-2])",
    "week": "[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])",
    "day": "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
}
CELLS = (3, 2, 2)


def period_name(name: str) -> str:
    """A name that sorts by time: a year, quarter, month, week or day."""
    if kind_of(name) is None:
        raise ValueError(
            f"{name!r} is no period; expected a month as 2026-11, or 2026, 2026-Q4, 2026-W46 or "
            "2026-11-15"
        )
    return name


def kind_of(name: str) -> str | None:
    """Year, quarter, month, week or day; None where it is none of them."""
    return next((kind for kind, form in KINDS.items() if re.fullmatch(form, name)), None)


class Found(Part):
    """One thing that differs from the people and scores of the fit."""

    word: Word
    what: str
    figure: str
    value: float
    text: str


class Period(Part):
    """Counts of a period by group, label and decisions before and after: nobody's own row."""

    format: Literal["fairpatch.period"] = "fairpatch.period"
    version: Literal[1] = 1
    period: Annotated[str, AfterValidator(period_name)]
    at: str = Field(description="when it was counted")
    patch: str = Field(description="SHA-256 of the patch that decided")
    features: tuple[str, ...]
    groups: tuple[tuple[Level | None, ...], ...]
    n: tuple[tuple[int, ...], ...] = Field(
        description="people by group: label 0, 1, unknown; decision before; decision after"
    )
    weight: tuple[tuple[float, ...], ...] | None = None
    weight_sq: tuple[tuple[float, ...], ...] | None = None
    labels: Literal["all", "sample"] = Field(
        "all", description="whether labels come for everybody in time, or for a random sample"
    )
    findings: tuple[Found, ...] = ()
    before: bool = Field(
        False, description="whether these are earlier people, who tell what to look at"
    )
    unprotected: bool = Field(False, description="whether small counts are shown of it")
    replaces: bool = Field(False, description="whether it corrects what was there before")
    shown: dict[str, Any] = Field(
        default_factory=dict, description="figures of the period as they may be told"
    )

    @classmethod
    def of(cls, counts: Counts, **about: Any) -> "Period":
        """A period with these counts."""

        def flat(table: Any) -> tuple[tuple[Any, ...], ...]:
            return tuple(tuple(own.ravel().tolist()) for own in table)

        weighted = not np.array_equal(counts.weight, counts.n)
        return cls(
            features=counts.features,
            groups=counts.groups,
            n=flat(counts.n),
            weight=flat(counts.weight) if weighted else None,
            weight_sq=flat(counts.weight_sq) if weighted else None,
            **about,
        )

    @property
    def counts(self) -> Counts:
        """The table."""
        shape = (len(self.groups), *CELLS)
        n = np.array(self.n, np.int64).reshape(shape)
        weight, squares = (
            n.astype(float) if own is None else np.array(own, float).reshape(shape)
            for own in (self.weight, self.weight_sq)
        )
        return Counts(self.features, self.groups, n, weight, squares)

    @property
    def labelled(self) -> bool:
        """Whether what needs labels can be told: nearly all are there, or a sample's are."""
        by_label = self.counts.n.sum((0, 2, 3))
        share = by_label[:2].sum() / max(by_label.sum(), 1)
        return bool(share >= KNOWN_OF_ALL or (self.labels == "sample" and share > 0))
