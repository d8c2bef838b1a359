"""Cards as candidates: one for each aim, at several confidence points and in each direction.

Everybody's points come from a card that was learned without the person (cross-fitting): so they say
which candidate is best, and what to expect. The card itself is learned from all rows, and the
points it needs are found on it: the cards of the folds are not the card, and would need others.
"""

import hashlib
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch._progress import tell
from fairpatch.card.aim import Limit
from fairpatch.card.crossfit import Aim, PushProblem, cross_fitted, folds_of, learn_points
from fairpatch.card.fields import fields_of
from fairpatch.card.options import CardOptions
from fairpatch.card.points import HUNDRED, Points
from fairpatch.card.select import Seen
from fairpatch.choose.learner import Task
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Crossed
from fairpatch.decision import Decision
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.measure.metric import Metric
from fairpatch.patch import CardScale, Patch, Provenance
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.model import NUDGE, base_confidence
from fairpatch.patch.sealed import seal

CONFIDENCE_POINTS = (0.0, 25.0, 50.0, 100.0, 200.0, 400.0, 800.0)
"""Points that the base model's full confidence may be worth."""
FOLDS = 5
MOST_STRENGTHS = 20_000
"""Numbers of points needed that are tried, at most."""
STRICTER = 0.1
"""A second aim, where it differs: the limits moved inwards by this."""


@dataclass(frozen=True, eq=False)
class Cards:
    """Cards that differ in their aim, in their confidence points, and in direction."""

    cards: tuple[Points, ...]
    """One an aim, learned from all rows."""
    models: tuple[tuple[int, float, Direction], ...]
    """Of each candidate: which card, its confidence points, and the direction."""
    ratios: Floats
    """r where a hundred points are needed, by a card that has not seen the person."""
    final: Floats
    """The same by the card itself."""
    strengths: Floats
    """Whole points are needed."""
    decision: Decision
    provenance: Provenance

    @property
    def directions(self) -> list[Direction]:
        """Of each candidate."""
        return [direction for _, _, direction in self.models]

    @property
    def strongest(self) -> float:
        """Fewer than one point needed."""
        return float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.models)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m, which needs a hundred points over the strength."""
        which, sure, direction = self.models[m]
        points = self.cards[which]
        concepts = points.concepts()
        read = {name for concept in concepts for name in concept.columns}
        needed = HUNDRED / strength if strength else HUNDRED
        patch = Patch(
            columns=tuple(f.column for f in points.fields if f.column.name in read),
            concepts=concepts,
            card=CardScale(points_needed=round(needed, 6), confidence_points=sure),
            offset=points.everybody,
            strength=1.0 if strength else 0.0,
            decision=self.decision,
            direction=direction,
            provenance=self.provenance,
        )
        return seal(patch, self.about(m))

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        which, sure, direction = self.models[m]
        return {"learner": "card", "aim": which, "confidence_points": sure, "direction": direction}

    def size(self, m: int) -> int:
        """Its lines."""
        return len(self.cards[self.models[m][0]].lines)

    def importance(self) -> dict[str, float]:
        """How many points each column moves, over all cards."""
        moves: dict[str, float] = {}
        for card in self.cards:
            for line, points in zip(card.lines, card.points, strict=True):
                field = card.fields[line.field]
                moved = abs(points) * (1.0 if line.members else field.spread)
                moves[field.column.name] = moves.get(field.column.name, 0.0) + moved
        return moves


def learn_cards(both: Crossed, task: Task, options: CardOptions) -> Cards:
    """Learn the cards for a target from rows that f has been asked about."""
    rows, direction = both.rows, task.target.direction
    problem = push_problem(rows, task.encoder, task.decision, options, both.weight)
    aims = aims_of(problem, task.target)
    folds = folds_of(2 * rows.s.comparable().strata + rows.y, FOLDS, task.seed)
    judged = np.ones(len(rows), bool) if both.known_to_f is None else ~both.known_to_f
    folds[~judged] = -1  # always learned from
    crossed, cards = [], []
    for k, aim in enumerate(aims):

        def done(share: float, k: int = k) -> None:
            tell("learning", (k + 0.8 * share) / len(aims))

        crossed.append(cross_fitted(problem, aim, options, folds, done))
        done(1.0)
        cards.append(learn_points(problem, aim, options))
    directions = DIRECTIONS if direction == "both" else (direction,)
    models = tuple(
        (a, sure, direction)
        for a in range(len(aims))
        for sure in CONFIDENCE_POINTS
        for direction in directions
    )
    judged_rows = np.flatnonzero(judged)
    each = np.where(rows.f > 0, NUDGE, -NUDGE)[judged_rows] / HUNDRED
    sure_each = problem.sure[judged_rows] * NUDGE / HUNDRED
    whole = [card.of(problem.seen) for card in cards]
    ratios, final = (
        np.array([1 + each * points[a][judged_rows] + sure * sure_each for a, sure, _ in models])
        for points in (crossed, whole)
    )
    most = int(np.ceil(max(np.abs(points).max(initial=0.0) for points in (*crossed, *whole)))) + 1
    if most <= MOST_STRENGTHS:
        needed = np.arange(1, most + 1)
    else:  # whole points all the same, but not each of them
        needed = np.unique(np.geomspace(1, most, MOST_STRENGTHS).round())
    strengths = np.append(0.0, HUNDRED / needed[::-1])
    return Cards(
        tuple(cards), models, ratios, final, strengths, task.decision, _provenance(rows, options)
    )


def push_problem(
    rows: Rows,
    encoder: Encoder,
    decision: Decision,
    options: CardOptions,
    weight: Floats | None = None,
) -> PushProblem:
    """The rows as the learner of a card takes them."""
    held = Columns.of(rows.X)
    columns = list({f.column.name: f.column for f in encoder.features}.values())
    options.check_columns([column.name for column in columns])
    fields = fields_of(held, columns, options)
    read = [field.read(held) for field in fields]
    return PushProblem(
        encoder.transform(rows.X),
        fields,
        Seen(tuple(piece for piece, _ in read), tuple(away for _, away in read)),
        rows.s.comparable().codes,
        rows.y,
        rows.f > 0,
        base_confidence(rows.f, decision.bar),
        np.ones(len(rows)) if weight is None else weight,
    )


def aims_of(problem: PushProblem, target: Target) -> list[Aim]:
    """At the target; and at a stricter one, where that has other multipliers."""
    asked = [
        [Limit(r.metric, r.limit) for r in asked_for.requirements if isinstance(r.metric, Metric)]
        for asked_for in (target, target.inside(STRICTER))
    ]
    first, second = Aim.each(problem, asked)
    return [first] if _alike(first, second) else [first, second]


def _alike(one: Aim, two: Aim) -> bool:
    a, b = (np.concatenate(aim.alphas) for aim in (one, two))
    return float(a @ b) > 0.99 * float(np.linalg.norm(a) * np.linalg.norm(b))


def _provenance(rows: Rows, options: CardOptions) -> Provenance:
    return Provenance(
        settings={"max_lines": options.max_lines},
        sensitive_features=rows.s.features,
        training_rows=len(rows),
        base_scores_sha256=hashlib.sha256(rows.f.astype("<f8").tobytes()).hexdigest(),
        versions={
            "python": platform.python_version(),
            **{package: version(package) for package in ("fairpatch", "numpy", "scikit-learn")},
        },
    )
