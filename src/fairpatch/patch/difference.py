"""What differs between two patches, as weights of their ratios on raw values."""

from fairpatch.patch.lines import where
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import merge


def difference(one: Patch, two: Patch) -> list[tuple[str, float, float]]:
    """Every weight that differs: what it is of, in the first patch, in the second."""
    a, b = _weights(one), _weights(two)
    return [
        (name, a.get(name, 0.0), b.get(name, 0.0))
        for name in sorted(a | b)
        if abs(a.get(name, 0.0) - b.get(name, 0.0)) > 1e-12
    ]


def _weights(patch: Patch) -> dict[str, float]:
    """A card's lines; or the ratio as one table of weights, strength and concepts multiplied in."""
    if patch.card is not None:
        return {
            **_thresholds(patch),
            "points to approve": float(patch.card.approve_at),
            "points to deny": float(patch.card.deny_at),
            **{f"confidence, score {where(band)}": band.weight for band in patch.card.bands},
            **{f"locked, {lock}": 1.0 for lock in patch.card.locked},
            "share of people it acts for": patch.pilot.share if patch.pilot else 1.0,
            "refers": float(patch.action == "refer"),
            "strength": patch.strength,
            **{line.name: line.points for line in patch.lines},
        }
    whole = merge(patch.concepts, patch.offset, patch.strength)
    weights = {"everybody": 1.0 + whole.intercept, **_thresholds(patch)}
    for number in whole.numbers:
        weights[f"{number.column}, each unit"] = number.coefficient
        weights[f"{number.column}, missing"] = number.missing
    for category in whole.categories:
        weights |= {f"{category.column} is {e.category!r}": e.weight for e in category.categories}
        weights[f"{category.column}, missing"] = category.missing
    return weights


def _thresholds(patch: Patch) -> dict[str, float]:
    cuts = patch.decision.cuts
    if cuts is None:
        return {"threshold": patch.decision.cut}
    return {f"threshold, {cuts.by} {cut.value!r}": cut.threshold for cut in cuts.at}
