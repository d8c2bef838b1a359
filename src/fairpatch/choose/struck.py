"""The chosen card without one of its lines: what each is worth, as a dial of its own."""

from dataclasses import dataclass

from fairpatch.choose.choice import Choice
from fairpatch.choose.dial import Dial
from fairpatch.choose.frontier import dials_of
from fairpatch.choose.pool import Pool, constant_of, hundred_ratio, swaps_of
from fairpatch.data.rows import Rows, layers_of
from fairpatch.measure.comparisons import Comparisons
from fairpatch.measure.direction import Direction
from fairpatch.patch import edit


@dataclass(frozen=True, eq=False)
class Struck:
    """The chosen card with a line struck, at every price."""

    candidate: int
    direction: Direction
    line: str
    dials: dict[str, Dial]
    """By feature."""


def struck_lines(
    candidates: Pool, choice: Choice, rows: Rows, comparisons: Comparisons | None = None
) -> tuple[Struck, ...]:
    """Each line of the chosen card struck, on the people whom it was chosen on."""
    if not choice.strength:
        return ()
    patch = candidates.patch(choice.model, choice.strength)  # a column may count from another value
    if patch.card is None:
        return ()
    struck, layers = [], layers_of(rows, comparisons)
    for line in patch.lines:
        left = edit(patch, strike=[line.name])
        points = left.points(rows.X) + constant_of(patch, choice.strength)
        sure, swaps = left.confidence(rows.f, rows.X), swaps_of(candidates, choice.model)
        ratio = hundred_ratio(points, sure, rows.f, swaps)
        (dials,) = dials_of([ratio], [patch.direction], rows, candidates, layers)
        struck.append(Struck(choice.model, patch.direction, line.name, dials))
    return tuple(struck)
