"""One period of a patch in use: counts, and how far the people are from those of the fit."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from fairpatch.identity.compare import Severity
from fairpatch.inputs.roles import Outcomes
from fairpatch.measure.counts import Counts
from fairpatch.measure.sampled import KNOWN_OF_ALL
from fairpatch.patch.parts import Category, Part

KINDS = {
    "year": "[0-9]{4}",
    "quarter": "[0-9]{4}-Q[1-4]",
    "month": "[0-9]{4}-(0[1-9]|1[0-2])",
    "week": "[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])",
    "day": "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
}


def period_name(name: str) -> str:
    """A name that sorts by time: a year, quarter, month, week or day."""
    if not isinstance(name, str) or kind_of(name) is None:
        raise ValueError(
            f"{name!r} is no period; expected a month as 2026-11, or 2026, 2026-Q4, 2026-W46 or "
            "2026-11-15"
        )
    return name


def kind_of(name: str) -> str | None:
    """Year, quarter, month, week or day; None where it is none of them."""
    return next((kind for kind, form in KINDS.items() if re.fullmatch(form, name)), None)


class NotedFinding(Part):
    """One thing that differs from the people and scores of the fit."""

    severity: Severity
    what: str
    figure: str
    value: float
    text: str


EVERYBODY = "everybody"
"""All newly approved people, whatever their groups."""


class Matured(Part):
    """Newly approved people of a group, what became of them, and what was expected."""

    feature: str
    group: str
    people: int = Field(description="who was denied by the base model, and approved")
    known: int = Field(description="of them, those with an outcome")
    bad: int = Field(description="of those, with the bad one")
    expected: float = Field(description="bad outcomes that were expected of those")

    @property
    def ready(self) -> bool:
        """Whether nearly all have an outcome: bad ones show before good ones."""
        return self.known >= KNOWN_OF_ALL * self.people


class Period(Part):
    """Counts of a period by group, label and decisions before and after: nobody's own row."""

    format: Literal["fairpatch.period"] = "fairpatch.period"
    version: Literal[1] = 1
    period: Annotated[str, AfterValidator(period_name)]
    at: str = Field(description="when it was counted")
    patch: str = Field(description="SHA-256 of the patch that decided")
    features: tuple[str, ...]
    groups: tuple[tuple[Category | None, ...], ...]
    strata_features: tuple[str, ...] = ()
    strata: tuple[tuple[Category | None, ...], ...] = ((),)
    n: tuple[tuple[int | float, ...], ...] = Field(
        description="people by group: stratum; label 0, 1, unknown; decision before; after"
    )
    weight: tuple[tuple[float, ...], ...] | None = None
    weight_sq: tuple[tuple[float, ...], ...] | None = None
    thinned: tuple[tuple[int, ...], ...] | None = Field(
        None,
        description="where rows weigh differently: people drawn by their weights, counted as n is",
    )
    persons: tuple[int, ...] | None = Field(
        None, description="people of each group, where they have several rows"
    )
    parts: tuple[tuple[float, ...], ...] | None = Field(
        None,
        description="rows of random parts of all people: group, stratum, label, before, after, "
        "part, rows; of those who are judged over time",
    )
    labels: Literal["all", "sample"] = Field(
        "all", description="whether labels come for everybody in time, or for a random sample"
    )
    outcomes: Outcomes = Field("everybody", description="whose outcomes there are to come")
    matured: tuple[Matured, ...] = Field((), description="what became of the newly approved")
    findings: tuple[NotedFinding, ...] = ()
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
        return cls(**{**counts.to_dict(), **about})

    @property
    def counts(self) -> Counts:
        """The table."""
        own = dict(self) if self.thinned is None else {**dict(self), "parts": None, "persons": None}
        return Counts.from_dict(own)

    @property
    def evidence(self) -> Counts:
        """Counts in which everybody weighs alike: what is judged over time."""
        if self.thinned is None:
            return self.counts
        alone = {"weight": None, "weight_sq": None, "n": self.thinned}
        return Counts.from_dict({**dict(self), **alone})

    @property
    def labelled(self) -> bool:
        """Whether what needs labels can be told: nearly all are there, or a sample's are."""
        by_label = self.counts.along("label")
        if self.outcomes != "everybody":  # of those who got what they asked for
            by_label = self.counts.along("label", "after")[:, 1]
            if not all(m.ready for m in self.matured if m.feature == EVERYBODY):
                return False
        share = by_label[:2].sum() / max(by_label.sum(), 1)
        return bool(share >= KNOWN_OF_ALL or (self.labels == "sample" and share > 0))
