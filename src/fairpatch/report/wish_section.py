"""What each wish costs, as the review shows it: by full tens of the people who were chosen on."""

from fairpatch.choose.fit import Fitted
from fairpatch.floor import full_tens
from fairpatch.report.figures import Shown

ENOUGH = 100
"""Promoted people, at least, so that a share of them to two digits counts nobody."""


class WishCost(Shown):
    """The preferred patch with one wish more or less, on the selection rows."""

    name: str
    """The wish."""
    reached: bool
    """Whether the target can be met so."""
    changes: float | None
    """Share of changed decisions, by full tens of people."""
    accuracy: float | None
    """Share of decisions that equal the outcome, to two digits."""
    promoted_outcome: float | None
    """Of the promoted, the share with the good outcome; null where they are few."""


def wish_section(fitted: Fitted | None) -> list[WishCost]:
    """The table of a fit; none where there is no fit, or its people have weights."""
    if fitted is None or fitted.frontier is None or fitted.patch.roles.weight is not None:
        return []
    people = next(iter(fitted.frontier.dials[0].values())).people
    rows = []
    for wish in fitted.wishes:
        rate = wish.change_rate
        many = 0 if rate is None else full_tens(round(rate * people))
        shown = wish.promoted_outcome is not None and many >= ENOUGH
        rows.append(
            WishCost(
                name=wish.name,
                reached=rate is not None,
                changes=None if rate is None else round(many / people, 3),
                accuracy=None if wish.accuracy is None else round(wish.accuracy, 2),
                promoted_outcome=round(wish.promoted_outcome or 0.0, 2) if shown else None,
            )
        )
    return rows
