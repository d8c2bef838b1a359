"""Options of a target at the door: each refusal says what was expected, and what came."""

from typing import Any, Literal

from fairpatch import _checks as check
from fairpatch.choose.close_calls import ANY
from fairpatch.choose.costs import Costs
from fairpatch.decision import Decision
from fairpatch.measure.comparisons import Comparisons
from fairpatch.measure.direction import DIRECTIONS
from fairpatch.measure.places import Places
from fairpatch.patch.locks import locks_of

Preference = Literal["changes", "accuracy"]


def check_options(values: dict[str, Any]) -> None:
    """Say which option is wrong, what was expected and what came."""
    for name, highest in (
        ("max_displacement", 1.0),
        ("max_churn", 1.0),
        ("max_extra_changes", 1.0),
    ):
        if values[name] is not None:
            check.number(name, values[name], 0, highest)
    if values["max_columns"] is not None:
        check.whole("max_columns", values["max_columns"], 1)
    check.one_of("direction", values["direction"], DIRECTIONS)
    check.one_of("action", values["action"], ("decide", "refer"))
    if values["action"] == "refer" and values["direction"] == "demote_only":
        raise ValueError(
            "a second look takes nothing away: with action='refer', direction must be "
            "'promote_only'"
        )
    confidence = values["confidence"]
    if not isinstance(confidence, check.NUMBERS) or not 0.5 < confidence < 1:
        raise ValueError(f"confidence must be above 0.5 and below 1; got {confidence!r}")
    for name in ("price_per_change", "price_per_churn", "safety_margin", "close_calls"):
        check.number(name, values[name], 0)
    if values["max_proxy"] is not None:
        check.number("max_proxy", values["max_proxy"], 0.5, 1.0)
    if values["reads"] is not None:
        check.names("reads", values["reads"])
    if values["only_between"] is not None:
        _check_between(values["only_between"])
    locks_of(values["locked"] or {})
    locks_of(values["where"] or {}, unless=True)
    if values["costs"] is not None:
        Costs.of(values["costs"])
    Comparisons.of(values["within"], values["strata"], values["reference"])
    if values["within"] is None and values["strata"] != "each":
        raise ValueError("strata says how groups are compared within some columns: give within")


def places_of(values: dict[str, Any]) -> Places:
    """What approvals asks for; one way only, their number cannot be kept."""
    places = Places.of(values["approvals"])
    if places.kept and values["direction"] != "both":
        raise ValueError(
            "approvals='keep' means that whoever gains an approval takes another one's place: "
            f"direction must be 'both'; got {values['direction']!r}"
        )
    return places


def _check_between(value: Any) -> None:
    """Two scores, the lower first; of what unit, the decision says."""
    pair = tuple(value) if isinstance(value, list | tuple) else ()
    numbers = all(isinstance(v, check.NUMBERS) and not isinstance(v, bool) for v in pair)
    if len(pair) != 2 or not numbers or not pair[0] < pair[1]:
        raise ValueError(
            f"only_between must be two scores, the lower first, as (0.1, 0.9); got {value!r}"
        )


def check_scores(only_between: tuple[float, float] | None, decision: Decision) -> None:
    """Refuse scores that this decision's are not: probabilities are from 0 to 1."""
    if only_between is None or only_between == ANY:
        return
    low, high = only_between
    relative = decision.cuts is not None  # then both are distances from each threshold
    if not (relative or decision.in_points) and not 0 <= low < high <= 1:
        raise ValueError(
            f"only_between must be two probabilities, as (0.1, 0.9); got {only_between!r}"
        )
    if (relative or decision.in_points) and not low < decision.cut < high:
        around = "distances from the threshold, as (-40, 40)" if relative else (
            f"two scores on either side of the threshold, {decision.above}"
        )  # fmt: skip
        raise ValueError(f"only_between must be {around}; got {only_between!r}")


def order_of(prefer: Any) -> tuple[Preference, ...] | None:
    """What comes first, changes or accuracy, as two words."""
    if prefer is None:
        return None
    order: tuple[Any, ...] = (prefer,) if isinstance(prefer, str) else tuple(prefer)
    if len(order) == 1 and order[0] in ("changes", "accuracy"):
        order = ("changes", "accuracy") if order[0] == "changes" else ("accuracy", "changes")
    if sorted(order) != ["accuracy", "changes"]:
        raise ValueError(
            f"prefer must order 'changes' and 'accuracy', the more important first; got {prefer!r}"
        )
    return order
