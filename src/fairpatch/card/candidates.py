"""Scorecards as candidates: how much the push weighs against f's confidence, and which way.

Everybody's points come from scores that were learned without the person (cross-fitting): they say
which candidate is best. Everything that is shown of a candidate, and the points that it needs, is
of the scorecard itself, which is learned from all rows.
"""

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.progress import tell
from fairpatch.card.aim import TEACHERS, CellModelOptions, Limit
from fairpatch.card.bins import CardOptions, KeepOrder
from fairpatch.card.confidence import FEW, FINE, STEPS, bands_of, closed
from fairpatch.card.problem import (
    Aim,
    ScorecardProblem,
    cached_problem,
    columns_for,
    cross_fitted,
    folds_of,
    ordered,
    parted,
    scores_for,
)
from fairpatch.card.scorecard import Points, Scores, above_zero, rounded, steadied
from fairpatch.card.sense import perverse_points, turned_fields
from fairpatch.choose.learner import FARTHEST, HUNDRED, Task, hundred_ratio, needed_at, scale_of
from fairpatch.choose.objections import FAR_BELOW, MOSTLY, PERVERSE, TURNED
from fairpatch.data.splits import Crossed
from fairpatch.decision import Decision
from fairpatch.inputs.roles import Roles
from fairpatch.measure.cells import DIRECTIONS, UNKNOWN, Direction
from fairpatch.measure.metric import Metric
from fairpatch.measure.places import Swaps
from fairpatch.measure.scores import ANY, CLOSE, CLOSER, Between, close_calls, group_auc
from fairpatch.patch import CardScale, Patch, Provenance, ScoreBand
from fairpatch.patch.edit import seal
from fairpatch.patch.model import HALF
from fairpatch.patch.parts import NEVER, Lock
from fairpatch.patch.terms import with_locked
from fairpatch.target import Target

WORTH = (0.25, 0.5, 1.0)
"""What the push is worth beside f's confidence: the less, the closer the calls that change."""
COLUMNS = 6
"""Of a scorecard, at most, unless the target says otherwise."""
STEADIER = 0.1
"""How much the penalty of the push's model counts for caution: less than any step of its worth."""
BANDED = 1.0
"""How much a band of scores counts for caution: more than any worth."""
FAR, SOME = -float(np.log(9)), 0.25
"""Log-odds far below the threshold, a tenth where that is a half; of the promoted, who may be."""
FOLDS = 5
STRICTER = 0.1
"""A second aim, where it differs: the limits moved inwards by this."""


class Made(NamedTuple):
    """How a scorecard was made."""

    aim: int
    worth: float
    teacher: CellModelOptions
    keep_order: KeepOrder | None


@dataclass(frozen=True, eq=False)
class Sense:
    """What a card's lines reward."""

    turned: tuple[int, ...]
    """Fields whose points do not keep f's order, asked to or not."""
    in_order: bool
    """Whether those of numbers and ordered categories do."""
    perverse: Floats | None = None
    """Of the judged rows: points for what f likes less and turns out worse."""


@dataclass(frozen=True)
class Candidate:
    """A scorecard in one direction."""

    card: int
    aim: int
    worth: float
    teacher: CellModelOptions
    keep_order: KeepOrder | None
    direction: Direction
    between: Between | None
    """Scores outside which no decision changes."""
    constant: int
    """What is taken off the points needed to approve, and added to those needed to deny."""
    swaps: Swaps | None = None
    """Where places are limited: how many points lose an approval where so many gain one."""


@dataclass(frozen=True, eq=False)
class Cards:
    """Scorecards that differ in their aim, in how much the push is worth, and in direction."""

    cards: tuple[Points, ...]
    models: tuple[Candidate, ...]
    ratios: Floats
    """r where a hundred points are needed, by scores that have not seen the person."""
    final: Floats
    """The same by the scorecard itself."""
    needed: Floats
    """Whole points that may be needed, the most first."""
    bands: dict[tuple[Direction, Between | None], tuple[ScoreBand, ...]]
    locked: tuple[Lock, ...]
    """Whose decisions are a matter of policy."""
    decision: Decision
    roles: Roles
    provenance: Provenance
    why_left_out: dict[str, str]
    """By column: why no scorecard reads it."""
    fine: dict[tuple[Direction, Between | None], tuple[ScoreBand, ...]] = field(
        default_factory=dict
    )
    """The same for cards of few columns; as many are shown as decide differently."""
    senses: tuple["Sense", ...] = ()
    """Of each card."""
    f_logit: Floats = field(default_factory=lambda: np.zeros(0))
    """Of the judged rows."""
    observed: bool = True
    """Whether outcomes of those whom f denies are known."""

    @property
    def directions(self) -> list[Direction]:
        """Of each candidate."""
        return [model.direction for model in self.models]

    @property
    def strengths(self) -> Floats:
        """Those at which whole points are needed."""
        return np.append(0.0, HUNDRED / (self.needed - HALF))

    @property
    def strongest(self) -> float:
        """Fewer than one point needed."""
        return float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.models)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m, with as many points needed as belong to a strength."""
        model = self.models[m]
        needed, direction = needed_at(strength), model.direction
        if model.swaps is not None:
            direction = model.swaps.direction_at(needed)
        scale = scale_of(needed, model.constant, direction, model.swaps)
        concepts, shift = above_zero(self.cards[model.card].concepts, scale, direction)
        card = CardScale(
            # one way, the other number is its mirror image
            approve_at=scale["approve_at"] + (-shift if direction == "demote_only" else shift),
            deny_at=scale["deny_at"] + (-shift if direction == "promote_only" else shift),
            confidence=self._bands(model)[model.direction, model.between],
            locked=self.locked,
        )
        read = {name for concept in concepts for name in concept.columns}
        used = [f.column for f in self.cards[model.card].fields if f.column.name in read]
        patch = Patch(
            columns=with_locked(used, self.locked),
            concepts=concepts,
            card=card,
            strength=1.0 if strength else 0.0,
            decision=self.decision,
            roles=self.roles,
            direction=direction,
            provenance=self.provenance,
        )
        few = self._bands(model) is self.fine and self.fine != self.bands
        return seal(closed(patch) if few else patch, self.about(m))

    def _bands(
        self, model: Candidate
    ) -> dict[tuple[Direction, Between | None], tuple[ScoreBand, ...]]:
        few = len(self.cards[model.card].points) <= FEW
        return self.fine if few else self.bands

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        model = self.models[m]
        return {
            "learner": "card",
            "aim": model.aim,
            "worth": model.worth,
            "inverse_penalty": model.teacher.inverse_penalty,
            "factored": model.teacher.factored,
            "direction": model.direction,
            "between": model.between and list(model.between),
            "keep_order": model.keep_order,
        }

    def sense(self, m: int, strength: float) -> tuple[str, ...]:
        """What speaks against the lines of candidate m at a strength, in words."""
        own, r = self.senses[self.models[m].card], self.final[m]
        found = [] if own.in_order else [TURNED]
        up = (self.f_logit <= 0) & (1 + strength * (r - 1) < 0)
        if own.perverse is not None:  # who is promoted, and who would not be without those points
            still = 1 + strength * (r + own.perverse / HUNDRED - 1) < 0
            found += [PERVERSE] if np.sum(up & ~still) > MOSTLY * np.sum(up) else []
        # where nobody has seen what becomes of the denied, f's score is all that is known of them
        far = not self.observed and np.sum(up & (self.f_logit < FAR)) > SOME * np.sum(up)
        return (*found, *([FAR_BELOW] if far else []))

    def turned(self, m: int) -> tuple[str, ...]:
        """Columns whose points turn f's order round."""
        card, own = self.cards[self.models[m].card], self.senses[self.models[m].card]
        return tuple(card.fields[j].column.name for j in own.turned)

    def caution(self, m: int) -> float:
        """More for close calls only, and the less the push is worth beside f's confidence.

        Then, the steadier its model.
        """
        model = self.models[m]
        banded = 0.0 if model.between is None else BANDED + model.between[0]
        return banded - model.worth - STEADIER * model.teacher.inverse_penalty

    def size(self, m: int) -> int:
        """Its attributes."""
        return self.cards[self.models[m].card].attributes

    def swaps(self, m: int) -> Swaps | None:
        """How many points lose an approval where so many gain one."""
        return self.models[m].swaps


def learn_cards(both: Crossed, task: Task, options: CardOptions) -> Cards:
    """Learn scorecards for a target from rows that f has been asked about."""
    rows, target = both.rows, task.target
    problem, why = cached_problem(rows, both.weight, task, options)
    most = most_columns(target)
    folds = folds_of(3 * rows.s.comparable().strata + rows.y, FOLDS, task.seed, rows.person)
    judged = np.ones(len(rows), bool) if both.known_to_f is None else ~both.known_to_f
    folds[~judged] = -1  # always learned from
    aims = [
        (teacher, i, aim)
        for teacher in TEACHERS
        if not teacher.factored or target.given_y
        for i, aim in enumerate(aims_of(problem, target, teacher))
    ]
    cards: list[Points] = []
    crossed: list[Floats] = []
    made: list[Made] = []
    ways = [(own, aim) for own in options.tried for aim in aims]
    each = parted(problem, folds) if task.cross_fit else []
    for k, (own, (teacher, i, aim)) in enumerate(ways):

        def done(share: float, k: int = k) -> None:
            tell("learning", (k + 0.8 * share) / len(ways))

        here = ordered(problem, own)
        for columns in _column_choices(here, aim, most, task):
            used = _blind_enough(here, aim, columns, target.max_proxy)
            parts = cross_fitted(each, aim, used, here.rules, done)
            scores, *others = steadied(
                scores_for(here, aim, used), [other for _, other in parts], here.rules
            )
            parts = [(inside, o) for (inside, _), o in zip(parts, others, strict=True)]
            for worth in WORTH:
                card = rounded(scores, problem.fields, problem.pieces, worth, options)
                if any(_same(card, other) for other in cards):
                    continue  # among them the one without columns: fewer points needed, for all
                made.append(Made(i, worth, teacher, own.keep_order))
                cards.append(card)
                crossed.append(_by_folds(problem, parts, card, worth, options))
        done(1.0)
    return _pool(problem, rows.X, task, options, judged, cards, crossed, made, why)


def most_columns(target: Target) -> int:
    """Of a scorecard for this target."""
    return COLUMNS if target.max_columns is None else target.max_columns


def _column_choices(problem: ScorecardProblem, aim: Aim, most: int, task: Task) -> list[list[int]]:
    """The columns that say the push best; and those of the previous scorecard, with new points."""
    best = columns_for(problem, aim, most)
    if task.previous is None or task.previous.card is None:
        return [best]
    names = {column.name for column in task.previous.columns}
    kept = [j for j, field in enumerate(problem.fields) if field.column.name in names]
    return [best, kept] if kept and sorted(kept) != sorted(best) else [best]


def _pool(
    problem: ScorecardProblem, X: Any, task: Task, options: CardOptions, judged: Any,
    cards: list[Points], crossed: list[Floats], made: Sequence["Made"],
    why: dict[str, str],
) -> Cards:  # fmt: skip
    """The scorecards in every direction that is allowed, and their ratios of the judged rows."""
    here, target = np.flatnonzero(judged), task.target
    directions = DIRECTIONS if target.direction == "both" else (target.direction,)
    swapped = target.places is not None and target.direction == "both"
    if swapped:
        directions = ("both",)  # one way only, a batch of so many places would take it all back
    whole = [card.of(problem.pieces) for card in cards]
    coarse, fine = (
        {
            (d, between): bands_of(problem.f_logit, task.decision, d, between, steps)
            for d in directions
            for between in _betweens(task)
        }
        for steps in (STEPS, STEPS if target.places else FINE)  # places move whom they must
    )
    bare = Patch(columns=(), concepts=(), decision=task.decision)
    f_logit, step = problem.f_logit[here], gcd(options.points_step, *STEPS)
    share = target.places.aim(f_logit > 0, problem.weight[here]) if target.places else 0.0
    models: list[Candidate] = []
    ratios: list[Floats] = []
    final: list[Floats] = []
    highest = 1.0
    for c, card in enumerate(cards):
        bands = fine if len(card.points) <= FEW else coarse
        for (d, between), by_band in bands.items():
            constant, swaps = card.constant, None
            # nobody loses, or who does follows from who gains: any number may be needed to gain
            if d == "promote_only" or swapped:
                constant = int(FARTHEST - card.reach[0])
            elif d == "demote_only":
                constant = -int(FARTHEST + card.reach[1])
            scale = CardScale(approve_at=1, confidence=by_band)
            sure = bare.model_copy(update={"card": scale}).confidence(problem.f_logit, X)
            sure = np.where(problem.locked, float(NEVER), sure)[here]
            if swapped:
                own = whole[c][here] + constant
                gain = np.arange(own.max(initial=1.0), 0, -step)
                swaps = Swaps.of(own, sure, f_logit, gain, share, problem.weight[here])
            models.append(Candidate(c, *made[c], d, between, constant, swaps))
            for points, table in ((crossed[c], ratios), (whole[c], final)):
                table.append(hundred_ratio(points[here] + constant, sure, f_logit, swaps))
                highest = max(highest, float(np.abs(points[here] + constant).max(initial=0.0)))
    top = int(-(-highest // step) + 1) * step
    return Cards(
        tuple(cards), tuple(models), np.array(ratios), np.array(final),
        np.arange(top, 0, -step, dtype=np.float64), coarse, target.locks, task.decision, task.roles,
        _provenance(task, problem), why, fine,
        tuple(_sense(problem, card, here) for card in cards), f_logit,
        bool(np.all(problem.y != UNKNOWN)),
    )  # fmt: skip


def _sense(problem: ScorecardProblem, card: Points, judged: Ints) -> Sense:
    perverse = perverse_points(card, problem.orders, problem.pieces, problem.y, problem.f_logit)
    turned = turned_fields(card, problem.orders)
    return Sense(
        turned,
        not any(problem.fields[j].in_order for j in turned),
        None if perverse is None else perverse[judged],
    )


def _betweens(task: Task) -> tuple[Between | None, ...]:
    """The scores that may change: as asked; otherwise any of them, or close calls only."""
    only = task.target.only_between
    if only is None:
        return (None, *(close_calls(task.decision, odds) for odds in (CLOSE, CLOSER)))
    return (None if only == ANY else only,)


def _by_folds(
    problem: ScorecardProblem, parts: list[tuple[Any, Scores]], card: Points, worth: float,
    options: CardOptions,
) -> Floats:  # fmt: skip
    """Everybody's points by a scorecard that has not seen the person."""
    points = card.of(problem.pieces)
    for inside, scores in parts:
        other = rounded(scores, problem.fields, problem.pieces, worth, options)
        # its own zero, so that the two scorecards are compared where they mean the same
        shift = other.constant - card.constant
        points[inside] = (other.of(problem.pieces) + shift)[inside]
    return points


def _same(one: Points, two: Points) -> bool:
    return one.points.keys() == two.points.keys() and all(
        np.array_equal(one.points[j], two.points[j]) for j in one.points
    )


def _blind_enough(
    problem: ScorecardProblem, aim: Aim, used: list[int], most: float | None
) -> list[int]:
    """The columns without those that tell S, until the points tell it no better than allowed."""
    if most is None:
        return used

    def telling(some: list[int]) -> float:
        points = scores_for(problem, aim, some).of(problem.pieces)
        return max(group_auc(points, s) for s in problem.groups.T)

    while used and telling(used) > most:
        without = [[j for j in used if j != out] for out in used]
        used = min(without, key=lambda some: telling(some) if some else 0.5)
    return used


def aims_of(problem: ScorecardProblem, target: Target, teacher: CellModelOptions) -> list[Aim]:
    """At the target; and at a stricter one, where that has other multipliers."""
    asked = [
        [Limit(r.metric, r.limit) for r in asked_for.requirements if isinstance(r.metric, Metric)]
        for asked_for in (target, target.inside(STRICTER))
    ]
    first, second = Aim.each(problem, asked, teacher, target.places)
    return [first] if _alike(first, second) else [first, second]


def _alike(one: Aim, two: Aim) -> bool:
    a, b = (np.concatenate(aim.alphas) for aim in (one, two))
    return float(a @ b) > 0.99 * float(np.linalg.norm(a) * np.linalg.norm(b))


def _provenance(task: Task, problem: ScorecardProblem) -> Provenance:
    rows = (task.splits.both or Crossed(task.splits.learn)).rows
    return Provenance(
        settings={"order_from": "f" if task.ask else "scores"},
        sensitive_features=rows.s.features,
        training_rows=len(problem.y),
        base_scores_sha256=hashlib.sha256(problem.f_logit.astype("<f8").tobytes()).hexdigest(),
        versions={
            "python": platform.python_version(),
            **{package: version(package) for package in ("fairpatch", "numpy", "scikit-learn")},
        },
    )
