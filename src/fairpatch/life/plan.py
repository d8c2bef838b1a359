"""The plan of a search for alternatives: what is fixed before anything is tried."""

import hashlib
from typing import Any, Literal

from pydantic import Field

from fairpatch.decision import Decision
from fairpatch.measure.cells import Direction
from fairpatch.measure.scores import ANY, close_calls
from fairpatch.patch.parts import Part
from fairpatch.target import Target

STRICTER = (0.05, 0.1)
"""How much further than the target some tries go."""
FEW_COLUMNS = (1, 2, 3)
NEARLY = 0.02
"""A disparity that differs by less is the same."""
PROXY = (0.8, 0.7)


class Need(Part):
    """The business need, and how much of it may be given up: fixed before the search.

    Parameters
    ----------
    metric : what the business measures. accuracy: share of decisions that equal the outcome;
        approvals: how many are approved; expected_loss: the sum of ``amount`` over those approved
        without the good outcome; profit: that of ``gain`` over those approved with the good one,
        less the loss; auc and ks: how well the score parts the two outcomes.
    tolerance : by how much it may get worse: points of accuracy, auc or ks; for the others, a share
        of what the base model has.
    amount : column of what is at risk with each person, for expected_loss and profit.
    gain : column of what is earned with each person, for profit.
    prefer : which alternative is chosen of those that keep the need and meet the target: the least
        disparity, which is what the law asks for, or the fewest changed decisions.
    """

    metric: Literal["accuracy", "approvals", "expected_loss", "profit", "auc", "ks"] = "accuracy"
    tolerance: float = Field(default=0.02, ge=0.0)
    amount: str | None = None
    gain: str | None = None
    prefer: Literal["least_disparity", "fewest_changes"] = "least_disparity"


class Try(Part):
    """One alternative that is to be tried: the configured one with something changed."""

    name: str
    target: dict[str, Any] = Field(default_factory=dict)
    """Options of the target that differ."""
    keep_order: bool = True
    """Whether points follow the base model's order."""


class Plan(Part):
    """What is fixed before anything is tried."""

    format: Literal["fairpatch.plan"] = "fairpatch.plan"
    version: Literal[1] = 1
    need: Need
    target: dict[str, Any]
    label: str | None
    """None where there are no outcomes."""
    sensitive: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    """Columns that policy keeps from the patch."""
    only_between: tuple[float, float] | None = None
    """Scores outside which policy lets no decision change."""
    seed: int
    data_sha256: str | None
    """Of the rows."""
    model_sha256: str | None = None
    """Of the base model's file, where it is one."""
    tries: tuple[Try, ...]

    @property
    def rule(self) -> str:
        """How the choice is made."""
        best = {
            "least_disparity": "the one with the least disparity; of those that nearly have it "
            f"(within {NEARLY:g}), the one with the fewest changed decisions",
            "fewest_changes": "the one with the fewest changed decisions; of equals, the first",
        }[self.need.prefer]
        return (
            "Of the tries that meet the target on the comparison rows and keep the business need "
            f"within its tolerance: {best}."
        )

    @property
    def sha256(self) -> str:
        """Of the plan, as its file has it."""
        return hashlib.sha256(self.model_dump_json(indent=1).encode()).hexdigest()


def tries_for(target: Target, decision: Decision) -> tuple[Try, ...]:
    """What is tried for a target: each wish that people ask about, and stricter targets."""
    tries = [Try(name="as configured")]
    if target.only_between is None:
        close = close_calls(decision)
        tries += [
            Try(name="close calls only", target={"only_between": list(close)}),
            Try(name="any score may change", target={"only_between": list(ANY)}),
        ]
    tries.append(Try(name="the base model's order not kept", keep_order=False))
    ways: tuple[tuple[str, Direction], ...] = (
        ("no approval withdrawn", "promote_only"),
        ("no new approval", "demote_only"),
    )
    tries += [
        Try(name=name, target={"direction": direction})
        for name, direction in ways
        if target.direction == "both"
    ]
    tries += [
        Try(name=f"at most {n} column{'s' * (n > 1)}", target={"max_columns": n})
        for n in FEW_COLUMNS
        if target.max_columns is None or n < target.max_columns
    ]
    tries += [
        Try(name=f"points that predict the group with AUC {auc:g} at most",
            target={"max_proxy": auc})
        for auc in PROXY
        if target.max_proxy is None or auc < target.max_proxy
    ]  # fmt: skip
    for more in STRICTER:
        inside = target.inside(more)
        limits = {r.name: r.limit for r in inside.fairness_requirements}
        if limits != {r.name: r.limit for r in target.fairness_requirements}:
            tries.append(Try(name=f"the target stricter by {more:g}", target=limits))
    return tuple(tries)
