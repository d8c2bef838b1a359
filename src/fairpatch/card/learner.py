"""Card: the learner of scorecards; the one in force as a candidate; and the points needed anew."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.card.aim import CellModelOptions
from fairpatch.card.bins import CardOptions
from fairpatch.card.candidates import Cards, aims_of, learn_cards, most_columns
from fairpatch.card.confidence import FEW, closed, opened
from fairpatch.card.problem import columns_for, scorecard_problem, scores_for
from fairpatch.card.scorecard import rounded
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import choose
from fairpatch.choose.fit import certify_in_sequence
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Ask, Learned, Patches, Relearn, Task, hundred_ratio
from fairpatch.data.rows import Rows
from fairpatch.data.splits import CertificationRows, Crossed
from fairpatch.decision import Decision
from fairpatch.inputs.roles import Roles
from fairpatch.measure.cells import Direction
from fairpatch.measure.places import Places, Swaps
from fairpatch.patch import CardScale, Patch
from fairpatch.patch.edit import is_as_learned, seal
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.terms import with_locked
from fairpatch.target import Target

# The scorecard in force until now as a candidate beside new ones: same points, or same columns.
#
# A retrained f rarely needs other columns. Where the previous scorecard serves the new f as well as
# a new one, fewer decisions differ from those so far, and a reader knows it already.


@dataclass(frozen=True, eq=False)
class Joined:
    """New scorecards, and after them the previous one in every direction."""

    new: Cards
    previous: Patches
    ratios: Floats
    final: Floats
    strengths: Floats

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.new.decision

    @property
    def roles(self) -> Roles:
        """What the columns are."""
        return self.new.roles

    @property
    def directions(self) -> list[Direction]:
        """Of each candidate."""
        return [*self.new.directions, *self.previous.directions]

    @property
    def strongest(self) -> float:
        """Fewer than one point needed."""
        return float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.new) + len(self.previous)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m, with as many points needed as belong to a strength."""
        if m < len(self.new):
            return self.new.patch(m, strength)
        patch = self.previous.patch(m - len(self.new), strength)
        patch = patch if self.new.fine == self.new.bands else closed(patch)
        return seal(patch, self.about(m)) if strength else patch

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        if m < len(self.new):
            return self.new.about(m)
        patch = self.previous.patches[m - len(self.new)]
        return {"learner": "previous card", "direction": patch.direction}

    def caution(self, m: int) -> float:
        """Of new ones their own; the previous one keeps its confidence, and is as good as any."""
        return self.new.caution(m) if m < len(self.new) else 0.0

    def sense(self, m: int, strength: float) -> tuple[str, ...]:
        """What speaks against its lines; the previous one is in force already."""
        return self.new.sense(m, strength) if m < len(self.new) else ()

    def size(self, m: int) -> int:
        """Its attributes."""
        return self.new.size(m) if m < len(self.new) else self.previous.size(m - len(self.new))

    def swaps(self, m: int) -> Swaps | None:
        """How many points lose an approval where so many gain one."""
        return self.new.swaps(m) if m < len(self.new) else self.previous.swaps(m - len(self.new))


def beside_previous(
    new: Cards, previous: Patch, rows: Rows, places: Places | None = None
) -> Joined:
    """New candidates and the previous scorecard on the same rows, on one scale of points."""
    provenance = new.provenance.model_copy(update={"edits": previous.provenance.edits})
    same = {"strength": 1.0, "decision": new.decision, "roles": new.roles, "provenance": provenance}
    card = previous.card or CardScale(approve_at=1)
    by_direction = new.fine if len(previous.concepts) <= FEW else new.bands
    cards = [
        previous.model_copy(
            update={
                **same,
                "card": card.model_copy(update={"confidence": bands, "locked": new.locked}),
                "columns": with_locked(previous.columns, new.locked),
                "direction": one,
            }
        )
        for (one, _), bands in by_direction.items()
    ]
    pool, ratios = Patches.of(cards, rows, places)
    strengths = np.union1d(new.strengths, pool.strengths if pool.strengths is not None else ())
    crossed, final = (np.concatenate([x, ratios]) for x in (new.ratios, new.final))
    return Joined(new, pool, crossed, final, strengths)


# Card: the learner of scorecards, and its options.


@dataclass(frozen=True)
class Card(CardOptions):
    """Learn a scorecard: a few columns in a few bins with whole points, the same every time.

    A scorecard reads at most six columns, unless ``Target(max_columns=...)`` says otherwise.

    Parameters
    ----------
    keep_order : {"auto", "numbers", "all"} or None
        Points never rank two values of a column against the base model: in numbers and ordered
        categories, in all columns, or not at all. So nobody earns points for what the base model
        counts against people. "auto": in numbers and ordered categories, unless that costs clearly
        more changes.
    max_bins : int
        Most bins of a number, or groups of a category.
    points_step : int
        Points are multiples of this.
    monotonic : dict of column to 1 or -1
        1: the points never fall as the column rises ("older never counts against"); -1: they never
        rise. Overrides ``keep_order``.
    free : columns
        Columns whose order need not be kept: what the menu's price list says of each.
    signs : dict of column to 1 or -1
        1: no attribute of the column takes points away; -1: none gives any.
    ordered : dict of column to its categories
        Categories that have an order (education, grades), the lowest first: only neighbours stand
        together. Ordered categories of pandas and enumerations of polars are known already.
    names : dict of column to str
        What people call a column.
    category_names : dict of column to dict of category to str
        What people call its categories.
    groupings : dict of column to dict of name to categories
        Categories that stay together under one name, as codes of one kind; the others stand alone.

    Examples
    --------
    >>> Card(keep_order="all", monotonic={"age": 1}, names={"hpw": "hours a week"}).max_bins
    5
    """

    name: ClassVar[str] = "card"

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 scikit-learn's
        """Everything that can be set, as scikit-learn asks for it."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def like(self, patch: Patch) -> "Card":
        """With the order that a scorecard was learned in."""
        if self.keep_order != "auto":
            return self
        return replace(self, keep_order=patch.provenance.settings.get("keep_order"))

    def learn(self, task: Task) -> Learned:
        """Learn scorecards for a target, cross-fitted over the rows to learn and to choose on."""
        both = task.splits.both or Crossed(task.splits.learn)
        cards = learn_cards(both, task, self)
        rows = both.rows
        if both.known_to_f is not None:
            rows = rows.take(np.flatnonzero(~both.known_to_f))
        learned = Learned(
            cards, rows, cards.ratios, cards.final, both.counts, left_out=cards.why_left_out
        )
        if task.previous is None or task.previous.card is None:
            return learned
        joined = beside_previous(cards, task.previous, rows, task.target.places)
        return replace(learned, pool=joined, ratios=joined.ratios, final=joined.final)

    def relearn(
        self, patch: Patch, rows: Rows, encoder: Encoder, target: Target | None,
        ask: Ask | None = None,
    ) -> Relearn:  # fmt: skip
        """Learn the columns and points again, at the scorecard's own aim, worth and direction."""
        if target is None:
            raise ValueError("a card is learned for a target: review with refits=0")
        problem, _ = scorecard_problem(
            rows, encoder, self.like(patch), ask=ask, locked=target.locks,
            comparisons=target.comparisons, roles=patch.roles,
        )  # fmt: skip
        settings = patch.provenance.settings
        worth = float(settings.get("worth", 1.0))
        teacher = CellModelOptions(
            float(settings.get("inverse_penalty", 0.3)), bool(settings.get("factored", False))
        )
        most, sure = most_columns(target), patch.confidence(rows.f, rows.X)

        options = self.like(patch)

        def again(drawn: Ints, _: int) -> Floats:
            some = problem.take(drawn)
            aims = aims_of(some, target, teacher)
            aim = aims[min(int(settings.get("aim", 0)), len(aims) - 1)]
            scores = scores_for(some, aim, columns_for(some, aim, most))
            card = rounded(scores, problem.fields, problem.pieces, worth, options)
            return hundred_ratio(card.of(problem.pieces) + card.constant, sure, rows.f)

        return again


# The points needed of a patch at hand, found again: after an edit, or on next year's rows.

EDITED = "lines differ from those that were learned"


def retune(
    patch: Patch, rows: Rows, target: Target, fresh: CertificationRows
) -> tuple[Patch, Certificate]:
    """The weakest strength that meets the target on these rows and is certified on fresh ones.

    As in a fit; raises where no strength meets the target.
    """
    turning = patch if target.places else opened(patch, rows.f, target.only_between)
    pool, ratios = Patches.of([turning], rows, target.places)
    encoder = Encoder.fit(rows.X, strict=False)
    frontier = Frontier.trace(
        Learned(pool, rows, ratios), encoder, target.metrics, comparisons=target.comparisons,
        costs=target.priced_by,
    )  # fmt: skip
    rungs = certify_in_sequence(choose(frontier, target), pool, target, fresh)
    certificate = rungs.certificate
    retuned = pool.patch(0, rungs.choice.strength)
    retuned = retuned if target.places else closed(retuned)
    if target.action != retuned.action:
        retuned = type(patch).model_validate({**dict(retuned), "action": target.action})
    if is_as_learned(retuned) or retuned.provenance.edits:
        return retuned, certificate
    noted = retuned.provenance.model_copy(update={"edits": (EDITED,)})
    return retuned.model_copy(update={"provenance": noted}), certificate
