"""Card: the learner of scorecards, and its options."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.card.candidates import aims_of, learn_cards, most_columns
from fairpatch.card.cells import Teacher
from fairpatch.card.crossfit import columns_for, scores_for
from fairpatch.card.door import push_problem
from fairpatch.card.options import CardOptions
from fairpatch.card.points import rounded
from fairpatch.card.previous import beside_previous
from fairpatch.choose.learner import Ask, Learned, Relearn, Task, hundred_ratio
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Crossed
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder


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
        rise. Goes before ``keep_order``.
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
        problem, _ = push_problem(
            rows, encoder, self.like(patch), ask=ask, locked=target.locks,
            comparisons=target.comparisons, roles=patch.roles,
        )  # fmt: skip
        settings = patch.provenance.settings
        worth = float(settings.get("worth", 1.0))
        teacher = Teacher(
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
