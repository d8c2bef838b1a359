"""Card: the learner of a card of points, and its options."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.card.candidates import aims_of, learn_cards, push_problem
from fairpatch.card.crossfit import learn_points
from fairpatch.card.options import CardOptions
from fairpatch.card.previous import beside_previous
from fairpatch.choose.learner import Learned, Relearn, Task
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Crossed
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder


@dataclass(frozen=True)
class Card(CardOptions):
    """Learn a card of points: a few readable lines, the same every time.

    Parameters
    ----------
    max_lines : int or None
        Most lines that the card may have; None for as many as add something.
    monotonic : dict of column to 1 or -1
        1: the points never fall as the column rises ("older never counts against"); -1: they never
        rise.
    signs : dict of column to 1 or -1
        1: no line of the column takes points away; -1: none gives any.
    names : dict of column to str
        What people call a column.
    category_names : dict of column to dict of category to str
        What people call its categories.
    groupings : dict of column to dict of name to categories
        Categories that stay together under one name, as codes of one kind; the others stand alone.

    Examples
    --------
    >>> Card(max_lines=5, monotonic={"age": 1}, names={"hpw": "hours a week"}).max_lines
    5
    """

    name: ClassVar[str] = "card"

    def learn(self, task: Task) -> Learned:
        """Learn cards for a target, cross-fitted over the rows to learn from and to choose on."""
        both = task.splits.both or Crossed(task.splits.learn)
        cards = learn_cards(both, task, self)
        rows = both.rows
        if both.known_to_f is not None:
            rows = rows.take(np.flatnonzero(~both.known_to_f))
        learned = Learned(
            cards, rows, cards.ratios, cards.final, both.counts, importance=cards.importance()
        )
        if task.previous is None or task.previous.card is None:
            return learned
        joined = beside_previous(cards, task.previous, rows, task.target.direction)
        return replace(learned, pool=joined, ratios=joined.ratios, final=joined.final)

    def relearn(self, patch: Patch, rows: Rows, encoder: Encoder, target: Target | None) -> Relearn:
        """Learn the lines and points again, at the card's own aim and confidence points."""
        if target is None:
            raise ValueError("a card is learned for a target: review with refits=0")
        problem = push_problem(rows, encoder, patch.decision, self)
        each, rest = patch.effect(rows.f)

        def again(drawn: Ints, _: int) -> Floats:
            some = problem.take(drawn)
            aims = aims_of(some, target)
            which = min(int(patch.provenance.settings.get("aim", 0)), len(aims) - 1)
            points = learn_points(some, aims[which], self).of(problem.seen)
            return np.asarray(each * points + rest)

        return again
