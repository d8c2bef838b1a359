"""What each wish costs: the preferred patch with and without it, on the same selection rows.

People decide on trade-offs they can see. Each line learns again with one wish changed and chooses
as the fit did, by the scorecards' own figures; only the choice itself is certified.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairpatch._table import Table
from fairpatch.choose.choice import Choice, choose
from fairpatch.choose.close_calls import ANY, close_calls
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Learner, Task
from fairpatch.choose.not_reached import TargetNotReachedError


@dataclass(frozen=True)
class Wish:
    """What is reached with one wish more or less; None where the target is out of reach."""

    name: str
    change_rate: float | None
    accuracy: float | None = None
    promoted_outcome: float | None = None
    """Share with the good outcome of those who are promoted; None where they are few."""

    @classmethod
    def of(cls, name: str, choice: Choice | None) -> "Wish":
        """The figures of a choice."""
        if choice is None:
            return cls(name, None)
        return cls(name, choice.change_rate, choice.accuracy, choice.promoted_outcome)


def wishes(
    task: Task, learner: Learner, frontier: Frontier, choice: Choice, preferred: Choice
) -> tuple[Wish, ...]:
    """The choice, the same without its certificate, and each wish changed."""
    table = [Wish.of("as chosen", choice)]
    if choice.change_rate != preferred.change_rate:
        table.append(Wish.of("without the certificate's margin", preferred))
    for name, other, asked in _others(task, learner, frontier, preferred):
        table.append(Wish.of(name, _chosen(replace(task, target=asked), other, frontier)))
    if preferred.bound is not None:
        table.append(Wish("the fewest, with the group known", preferred.bound.change_rate))
    return tuple(table)


def _others(
    task: Task, learner: Learner, frontier: Frontier, preferred: Choice
) -> Iterator[tuple[str, Learner, Any]]:
    """Each wish changed: what it is called, the learner and the target."""
    target = task.target
    if not hasattr(learner, "keep_order"):  # no scorecard: to learn again would take minutes
        return
    kept = frontier.candidates.about(preferred.model).get("keep_order")
    other: Any = replace(learner, keep_order=None if kept else "numbers")  # type: ignore[type-var]
    yield f"the base model's order {'not ' if kept else ''}kept", other, target
    between = frontier.candidates.about(preferred.model).get("between")
    if between is not None:
        yield "any score may change", learner, target.replace(only_between=ANY)
    elif target.only_between is None:
        close = close_calls(task.decision)
        words = f"close calls only, scores from {close[0]:g} to {close[1]:g}"
        if task.decision.cuts is not None:
            words = f"close calls only, scores within {close[1]:g} of the threshold"
        yield words, learner, target.replace(only_between=close)
    if target.max_proxy is not None:
        yield "no limit on proxies", learner, target.replace(max_proxy=None)
    if target.places is not None:
        yield "as many approvals as it takes", learner, target.replace(approvals=None)
    elif target.direction == "both":
        yield "as many approvals as before", learner, target.replace(approvals="keep")
    one_way = preferred.direction == "promote_only"
    if target.places is None and target.direction == "both" and not one_way:
        yield "no approval withdrawn", learner, target.replace(direction="promote_only")
    elif target.direction != "both" and target.action == "decide":
        yield "changes both ways", learner, target.replace(direction="both")


def _chosen(task: Task, learner: Learner, like: Frontier) -> Choice | None:
    """What would be preferred; None where nothing meets the target."""
    learned = learner.learn(replace(task, cross_fit=False, previous=None))
    frontier = Frontier.trace(
        learned, task.encoder, task.target.metrics, q=like.q,
        comparisons=task.target.comparisons, costs=task.target.priced_by,
    )  # fmt: skip
    try:
        return choose(frontier, task.target)[-1]
    except TargetNotReachedError:
        return None


def wish_table(table: Sequence[Wish], outcome: str, *, observed: bool = True) -> Table:
    """For people to read; ``observed``, whether everybody's outcome is known."""
    rows = [
        [w.name, _percent(w.change_rate, 1), "" if w.accuracy is None else f"{w.accuracy:.3f}",
         _percent(w.promoted_outcome, 0) if w.promoted_outcome is not None else ""]
        for w in table
    ]  # fmt: skip
    header = ["condition", "changes", "accuracy", f"promoted with {outcome}"]
    if not observed:
        header, rows = [*header[:2], "expected accuracy"], [row[:3] for row in rows]
    return Table("What each condition costs, on the selection rows", header, rows)


def _percent(value: float | None, digits: int) -> str:
    return "out of reach" if value is None else f"{value:.{digits}%}"
