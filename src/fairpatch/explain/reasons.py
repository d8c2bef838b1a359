"""Why one person's decision changes, and the smallest difference that would have kept it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.explain.contributions import Contributions, contributions
from fairpatch.explain.moves import Difference, Moves
from fairpatch.inputs.values import plain
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import merge
from fairpatch.patch.terms import activation
from fairpatch.patch.words import lacking_lines, reason_lines
from fairpatch.patched import PatchedModel


@dataclass(frozen=True)
class Reason:
    """One changed decision."""

    row: int
    direction: Literal["promotion", "demotion"]
    ratio: float
    baseline: float
    contributions: tuple[tuple[str, float], ...]
    """Column and what it adds to the ratio, those that pushed it down first; sums to r - 1."""
    keeps: tuple[Difference, ...]
    """The smallest difference found that would have kept f's decision."""
    tally: tuple[int, int, int] | None = None
    """Of a card: the points, those that the base model's confidence is worth, and those needed."""
    lines: tuple[str, ...] = ()
    """Of a card: its lines that pushed towards the change, as ``apply`` and SQL say them."""
    names: tuple[str, ...] = ()
    """Of a card: the same without points, or by their codes."""

    def to_customer(self) -> str:
        """The same as the person should read it: what counted less, never a reward for a risk."""
        counted = self.names or tuple(column for column, v in self.contributions if v < 0)[:3]
        if not counted:
            return ""
        side = "against you" if self.direction == "promotion" else "in your favour"
        return f"What counted less {side}: {'; '.join(counted)}."

    def __str__(self) -> str:
        text = f"{self.direction}: "
        if self.tally is None:
            text += f"ratio {self.ratio:.2f}"
            pushed = [f"{c} ({v:+.2f})" for c, v in self.contributions if v < 0][:3]
        else:
            points, confidence, needed = self.tally
            against = f" less {confidence} for the base model's confidence" if confidence else ""
            text += f"{points} points{against}, {needed} needed"
            pushed = list(self.lines)
        if pushed:
            text += f", pushed {'down ' if self.tally is None else ''}by {', '.join(pushed)}"
        if self.keeps:
            text += f"; f's decision would stand with {' and '.join(map(str, self.keeps))}"
        return text


def reasons(
    model: PatchedModel, X: Any, *, rows: Sequence[int] | None = None, reference: Any = None
) -> list[Reason]:
    """A reason for every changed row of X, or for some of them.

    ``reference`` gives the average person, the ranges and the spreads; X itself where not given.

    Parameters
    ----------
    model : PatchedModel
        f with its patch.
    X : frame or array
        Rows as f takes them.
    rows : sequence of int, optional
        Numbers of rows; all that change by default.
    reference : frame or array, optional
        Rows for averages and ranges; X where they are not given.

    Returns
    -------
    list of Reason
        One for each changed row.
    """
    f, patch = model.logits(X), model.patch
    changed = patch.decide(X, f) != (f > 0)
    wanted = np.flatnonzero(changed) if rows is None else [r for r in rows if changed[r]]
    known = contributions(patch, X, reference, f_logit=f)
    moves = Moves.of(patch, X if reference is None else reference)
    held = Columns.of(X)
    values = {c.name: held.values(c) for c in patch.columns}
    each = np.broadcast_to(patch.effect(f, X)[0], len(f))
    (lines, names), tallies = _lines(patch, X, f > 0), _tallies(patch, X, f)
    return [
        replace(
            _reason(int(row), known, moves, values, f, float(each[row]), tallies[row]),
            lines=tuple(lines[row]),
            names=tuple(names[row]),
        )
        for row in wanted
    ]


def _tallies(patch: Patch, X: Any, f: Floats) -> list[tuple[int, int, int] | None]:
    """Everybody's points towards a change, what confidence is worth, and what is needed."""
    if patch.card is None:
        return [None] * len(f)
    turned = np.where(f > 0, -1, 1) * patch.points(X)
    gain, loss = patch.needed
    needed = np.where(f > 0, loss, gain)
    rows = np.stack([turned, patch.confidence(f, X), needed]).T.round().astype(int).tolist()
    return [(a, b, c) for a, b, c in rows]


def _lines(patch: Patch, X: Any, approved: Bools) -> tuple[list[list[str]], list[list[str]]]:
    """Everybody's lines that push towards a change of f's decision, with points and without."""
    texts: list[list[str]] = [[] for _ in approved]
    names: list[list[str]] = [[] for _ in approved]
    for line in reason_lines(patch) if patch.card is not None else ():
        points = activation(merge([line.part]), patch.columns, X)
        for row in np.flatnonzero(np.where(approved, points < 0, points > 0)):
            texts[row].append(line.text)
            names[row].append(line.name)
    silent = approved & np.array([not text for text in texts], bool)
    for line in lacking_lines(patch):
        points = activation(merge([line.part]), patch.columns, X)
        for row in np.flatnonzero(silent & (points < 0)):
            texts[row].append(line.text)
            names[row].append(line.name)
    return texts, names


def _reason(
    row: int,
    known: Contributions,
    moves: Moves,
    values: dict[str, Any],
    f: Floats,
    each: float,
    tally: tuple[int, int, int] | None,
) -> Reason:
    parts = sorted(zip(known.columns, known.values[row], strict=True), key=lambda c: c[1])
    ratio = float(1 + known.baseline + known.values[row].sum())
    here = {name: plain(column[row]) for name, column in values.items()}
    return Reason(
        row,
        "demotion" if f[row] > 0 else "promotion",
        ratio,
        known.baseline,
        tuple((name, float(value)) for name, value in parts),
        moves.smallest(here, ratio, each),
        tally,
    )
