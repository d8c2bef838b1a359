"""What the user asks for: what must hold, and how much may change. No lambda in sight."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.dial import Path
from fairpatch.learn.problem import Direction, Fairness

Floats = NDArray[np.float64]
Preference = Literal["changes", "accuracy"]

WORDS = {
    "p_rule": "P-Rule",
    "demographic_parity_difference": "rate difference",
    "equal_opportunity_difference": "TPR gap",
    "disparate_mistreatment": "DM",
    "max_changes": "changed decisions",
}


@dataclass(frozen=True)
class Requirement:
    """One thing that must hold."""

    name: str
    limit: float

    @property
    def at_least(self) -> bool:
        """Whether the limit is a floor; otherwise it is a ceiling."""
        return self.name == "p_rule"

    def values(self, path: Path) -> Floats:
        """Its metric along a path."""
        return {
            "p_rule": path.p_rule,
            "demographic_parity_difference": path.rate_difference,
            "equal_opportunity_difference": path.tpr_gap,
            "disparate_mistreatment": path.mistreatment,
            "max_changes": path.change_rate,
        }[self.name]

    def met(self, path: Path) -> NDArray[np.bool_]:
        """Where along a path it holds; nowhere where the metric is undefined."""
        values = self.values(path)
        with np.errstate(invalid="ignore"):
            return values >= self.limit if self.at_least else values <= self.limit

    def __str__(self) -> str:
        return f"{WORDS[self.name]} {'at least' if self.at_least else 'at most'} {self.limit:g}"


@dataclass(frozen=True)
class Target:
    """What must hold for the patched model.

    Parameters
    ----------
    p_rule : float, optional
        Lowest group's rate of decision 1 over the highest group's, at least.
    demographic_parity_difference, equal_opportunity_difference, disparate_mistreatment : optional
        Rate difference, TPR gap, TPR gap + FPR gap: at most. With several sensitive features,
        every one of them must meet every limit.
    max_changes : float, optional
        Share of decisions that may change, at most.
    max_displacement : float, optional
        Mean distance of the patched from the base model's probability, at most: few changes can
        be far ones.
    max_columns : int, optional
        Columns that the patch may read, at most: a patch of five columns is read in a minute.
    direction : {"both", "promote_only", "demote_only"}
        Which decisions may change.
    exclude : sequence of str
        Columns that the patch must not read.
    confidence : float
        Level of the certificate.
    prefer : order of preference among patches that meet the target.

    Examples
    --------
    >>> print(Target(p_rule=0.8, max_changes=0.1))
    P-Rule at least 0.8, changed decisions at most 0.1
    """

    p_rule: float | None = None
    demographic_parity_difference: float | None = None
    equal_opportunity_difference: float | None = None
    disparate_mistreatment: float | None = None
    max_changes: float | None = None
    max_displacement: float | None = None
    max_columns: int | None = None
    direction: Direction = "both"
    exclude: Sequence[str] = ()
    confidence: float = 0.95
    prefer: tuple[Preference, ...] = ("changes", "accuracy")

    def __post_init__(self) -> None:
        if not self.fairness_requirements:
            raise ValueError(
                "a target needs p_rule, demographic_parity_difference, "
                "equal_opportunity_difference or disparate_mistreatment"
            )
        for requirement in self.requirements:
            if not 0 <= requirement.limit <= (2 if "mistreat" in requirement.name else 1):
                raise ValueError(
                    f"{requirement.name} must be a number from 0 to 1; got {requirement.limit!r}"
                )
        if self.max_columns is not None and self.max_columns < 1:
            raise ValueError(f"max_columns must be at least 1; got {self.max_columns!r}")
        if not 0.5 < self.confidence < 1:
            raise ValueError(f"confidence must be above 0.5 and below 1; got {self.confidence!r}")
        if sorted(self.prefer) != ["accuracy", "changes"]:
            raise ValueError(f"prefer must order 'changes' and 'accuracy'; got {self.prefer!r}")

    @property
    def fairness_requirements(self) -> list[Requirement]:
        """Those on the groups."""
        return [r for r in self.requirements if r.name != "max_changes"]

    @property
    def requirements(self) -> list[Requirement]:
        """Everything that was asked for."""
        found = {name: getattr(self, name) for name in WORDS}
        return [Requirement(name, limit) for name, limit in found.items() if limit is not None]

    @property
    def fairness(self) -> Fairness:
        """What the training works towards."""
        given_y = self.equal_opportunity_difference is not None
        given_y |= self.disparate_mistreatment is not None
        return "equalized_odds" if given_y and self.p_rule is None else "demographic_parity"

    def inside(self, margin: float) -> "Target":
        """The same target with its fairness limits moved inwards, never quite to their ends."""
        limits = {
            r.name: min(r.limit + margin, 0.1 * r.limit + 0.9)
            if r.at_least
            else max(r.limit - margin, 0.1 * r.limit)
            for r in self.fairness_requirements
        }
        return replace(self, **limits)  # type: ignore[arg-type]

    def __str__(self) -> str:
        text = ", ".join(map(str, self.requirements))
        return text if self.max_columns is None else f"{text}, at most {self.max_columns} columns"
