"""The history of a patch in use: one line a period, appended, counts only.

A period may come twice: first without labels, later with them. What was counted once stays, so that
nobody's verdict rests on people who were looked at twice; a correction says that it is one.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from fairpatch._tools.files import append_line, lines_of, loads_strictly
from fairpatch._tools.hints import hint
from fairpatch.identity.compare import Severity
from fairpatch.inputs.roles import Outcomes
from fairpatch.measure.counts import Counts
from fairpatch.measure.recounted import KNOWN_OF_ALL
from fairpatch.patch.parts import Category, Part

# One period of a patch in use: counts, and how far the people are from those of the fit.

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


# The history of a patch in use: one line a period, appended, counts only.

ENOUGH = 200
"""People from whom on two tables do not agree by chance."""


class History:
    """The periods of a file, in the order in which they came."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[Period]:
        return (_read(line, self.path) for line in lines_of(self.path))

    def append(self, period: Period) -> bool:
        """Add a period, and whether it was: the very same one again changes nothing.

        One that is there with other counts is refused, unless this says that it is a correction.
        """

        def line_after(lines: list[bytes]) -> bytes | None:
            earlier = [_read(line, self.path) for line in lines]
            same = [p for p in earlier if _key(p) == _key(period)]
            if same and _said(same[-1]) == _said(period):
                return None
            if period.before and any(p.patch == period.patch for p in earlier):
                raise ValueError(
                    f"{self.path} has periods of this patch already: what to look at is said "
                    "before the first of them, or not at all"
                )
            if period.replaces and not same:
                raise ValueError(f"there is no period {period.period} in {self.path} to replace")
            if same and not period.replaces and (same[-1].labelled or not period.labelled):
                raise ValueError(
                    f"period {period.period} of this patch is in {self.path} already"
                    + ("" if same[-1].labelled else ", and fewer than nine of ten labels have come")
                    + ". A look at the same people again proves nothing; a correction must say "
                    "that it is one: " + hint("replace=True", "--replace")
                )
            others = [p for p in earlier if p.patch == period.patch and not p.before]
            kinds = {kind_of(p.period) for p in others} - {kind_of(period.period)}
            if kinds:
                raise ValueError(
                    f"{self.path} counts by {kinds.pop()}, and {period.period} is a "
                    f"{kind_of(period.period)}: the same people would count twice"
                )
            twin = [p.period for p in others if p.period != period.period and _twins(p, period)]
            if twin and not period.before:
                raise ValueError(
                    f"the people of {period.period} are counted exactly as those of {twin[0]}: is "
                    "it the same table?"
                )
            return period.model_dump_json().encode()

        return append_line(self.path, line_after) is not None

    def of(self, patch: str, *, labelled: bool = False) -> list[Period]:
        """The periods of a patch as they came, each once; or as their labels came."""
        return once(self, patch, labelled=labelled)


def once(periods: Iterable[Period], patch: str, *, labelled: bool = False) -> list[Period]:
    """The periods of a patch as they came, each once; or as their labels came.

    A correction takes the place of everything that was there of its period.
    """
    latest: dict[str, Period] = {}
    for period in periods:
        if period.patch != patch or period.before:
            continue
        known = period.period in latest
        if labelled and not period.labelled:
            if period.replaces:
                latest.pop(period.period, None)
        elif not known or period.replaces:
            latest[period.period] = period
    return list(latest.values())


def before_first(periods: Iterable[Period], patch: str) -> Counts | None:
    """Counts of earlier people, where there are any."""
    return next((p.counts for p in periods if p.patch == patch and p.before), None)


def _twins(one: Period, two: Period) -> bool:
    """Whether two periods have the very same counts by group and decision, and not by chance."""
    if one.groups != two.groups or sum(map(sum, one.n)) < ENOUGH:
        return False
    a, b = (p.counts.along("group", "before", "after") for p in (one, two))
    return bool((a == b).all())


def _said(period: Period) -> dict[str, Any]:
    """What was counted, whenever that was."""
    return period.model_dump(exclude={"at", "replaces", "findings"})


def _key(period: Period) -> tuple[str, str, bool]:
    return period.patch, period.period, period.before


def _read(line: bytes, path: Path) -> Period:
    try:
        return Period.model_validate(loads_strictly(line))
    except (ValidationError, ValueError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise ValueError(f"{path} has a line that is no period ({what})") from None
