"""Checks: every verdict of a command in one form, for whatever machine reads it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fairpatch.choose.certificate import Certificate
from fairpatch.verdict import Verdict, worst


@dataclass(frozen=True)
class Check:
    """One verdict."""

    name: str
    about: str
    verdict: Verdict
    text: str
    limit: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "verdict": str(self.verdict)}


def worst_of(checks: Sequence[Check]) -> Verdict:
    """The worst verdict of some checks."""
    return worst(check.verdict for check in checks)


def checks_of(certificate: Certificate) -> tuple[Check, ...]:
    """The results of a certificate, with as much of their figures as may be shown."""
    return tuple(
        Check(
            name=result.requirement.name, about=result.feature, verdict=result.verdict,
            text=f"{result.requirement} ({result.feature}): {result.verdict}, {estimate}",
            limit=result.requirement.limit, value=estimate.value, low=estimate.low,
            high=estimate.high,
        )
        for result, (estimate, _) in zip(certificate.results, certificate.shown, strict=True)
    )  # fmt: skip
