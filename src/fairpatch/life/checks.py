"""Checks: what passed and what failed, in one form for every machine that reads verdicts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fairpatch.choose.certificate import Certificate

Kind = Literal["pass", "unsure", "missed", "fail", "unlike"]
CODES: dict[Kind, int] = {"pass": 0, "unsure": 5, "missed": 3, "fail": 4, "unlike": 6}
"""Exit codes; the worst of a run's checks is the first of ``WORST`` that is there."""
WORST: tuple[Kind, ...] = ("fail", "unlike", "missed", "unsure", "pass")


@dataclass(frozen=True)
class Check:
    """One verdict."""

    name: str
    about: str
    word: str
    kind: Kind
    text: str
    limit: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def data(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def worst(checks: Sequence[Check]) -> Kind:
    """The worst of them."""
    return next((kind for kind in WORST if any(c.kind == kind for c in checks)), "pass")


def checks_of(certificate: Certificate) -> tuple[Check, ...]:
    """The verdicts of a certificate, with as much of their figures as may be told."""
    kinds: dict[str, Kind] = {
        "certified": "pass", "too few data": "unsure", "missed": "missed", "refuted": "fail"
    }  # fmt: skip
    return tuple(
        Check(
            name=v.requirement.name, about=v.feature, word=v.word, kind=kinds[v.word],
            text=f"{v.requirement} ({v.feature}): {v.word}, {estimate}", limit=v.requirement.limit,
            value=estimate.value, low=estimate.low, high=estimate.high,
        )
        for v, (estimate, _) in zip(certificate.verdicts, certificate.shown, strict=True)
    )  # fmt: skip
