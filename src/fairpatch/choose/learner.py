"""What a learner must do. A new one is one new room: nothing else asks which learner it is.

Learners are found by name among the installed packages' entry points, group ``fairpatch.learners``:
that is how the command line and ``fairpatch.yaml`` know ours (``card``, ``adversarial``), and
anybody else's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import entry_points
from typing import Any, ClassVar, Protocol, runtime_checkable

from pydantic import TypeAdapter

from fairpatch._arrays import Floats, Ints
from fairpatch._hints import did_you_mean
from fairpatch.choose.pool import Pool
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Splits
from fairpatch.decision import Decision
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder

ENTRY_POINTS = "fairpatch.learners"
"""The group in which a package names its learners."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a learner is given.

    Attributes
    ----------
    splits : Splits
        Rows to learn from and to choose on, with f's scores. The certification set is in there
        too, and no learner may look at it.
    encoder : Encoder
        Of the columns that a patch may read.
    decision : Decision
        What f decides.
    roles : Roles
        What the columns are.
    target : Target
        What the patched model has to meet.
    seed : int
        For everything that is drawn at random.
    previous : Patch or None
        The patch in force until now: decisions that differ from its own cost something.
    ask : callable or None
        Rows in, f's log-odds out; None where f is a column of scores and cannot be asked.
    memory : dict
        What a learner may keep for the same rows, for when only the wishes change.
    cross_fit : bool
        Whether candidates are to be compared on people whom they have not seen; not where only
        what a wish costs is to be seen.
    """

    splits: Splits
    encoder: Encoder
    decision: Decision
    target: Target
    seed: int = 0
    previous: Patch | None = None
    ask: "Ask | None" = None
    memory: dict[str, Any] = field(default_factory=dict, repr=False)
    cross_fit: bool = True
    roles: Roles = PLAIN


@dataclass(frozen=True, eq=False)
class Learned:
    """What a learner gives: candidates, and their ratios on rows they were not learned from.

    Attributes
    ----------
    pool : Pool
        The candidates.
    rows : Rows
        Rows on which they are compared.
    ratios : array of shape (candidates, rows)
        r of each candidate at strength 1. Cross-fitted where ``rows`` were learned from too.
    final : array of the same shape, optional
        r of the candidates as they will be used, where ``ratios`` are cross-fitted: those say
        which candidate is best, these how strong it has to be.
    counts : Counts, optional
        Of f's decisions for everybody, where ``rows`` are a sample.
    learned_from : Rows, optional
        Rows to estimate P(S | x) on, where they are not ``rows``.
    importance : dict of column to float
        How much each column moves the candidates, for ``Target.max_columns``; empty of a learner
        that keeps to it by itself.
    left_out : dict of column to str
        Why candidates do not read a column, whatever it could say.
    """

    pool: Pool
    rows: Rows
    ratios: Floats
    final: Floats | None = None
    counts: Counts | None = None
    learned_from: Rows | None = None
    importance: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


Ask = Callable[[Any], Floats]
"""Rows in, f's log-odds out."""
Relearn = Callable[[Ints, int], Floats]
"""Learns from some rows with a seed, and gives the ratios of all of them."""


@runtime_checkable
class Learner(Protocol):
    """A way to learn candidates. A frozen dataclass: its fields are its options, also in YAML."""

    name: ClassVar[str]
    """Its entry point, which is its name in ``fairpatch.yaml``."""

    def learn(self, task: Task) -> Learned:
        """Learn candidates for a target."""
        ...

    def relearn(
        self, patch: Patch, rows: Rows, encoder: Encoder, target: Target | None,
        ask: Ask | None = None,
    ) -> Relearn:  # fmt: skip
        """How to learn this patch again from parts of these rows, to see who still changes."""
        ...


def learner_names() -> list[str]:
    """Names of the learners that are installed.

    >>> learner_names()
    ['adversarial', 'card']
    """
    return sorted({entry.name for entry in entry_points(group=ENTRY_POINTS)})


def learner_of(options: Mapping[str, Any]) -> Learner:
    """The learner that options ask for, ``name`` among them; every other is one of its fields.

    >>> learner_of({"name": "card", "max_bins": 4}).max_bins
    4
    """
    rest = dict(options)
    name = rest.pop("name", None)
    known = learner_names()
    if name not in known:
        raise ValueError(
            f"learner must be one of {', '.join(known)}; got {name!r}"
            + did_you_mean(str(name), known)
        )
    entry, *others = entry_points(group=ENTRY_POINTS, name=str(name))
    if others:
        places = ", ".join(e.value for e in (entry, *others))
        raise ValueError(
            f"several packages have a learner {name!r}: {places}. Uninstall all but one"
        )
    kind = entry.load()
    allowed = [f.name for f in fields(kind)] if is_dataclass(kind) else []
    for option in rest:
        if option not in allowed:
            raise ValueError(
                f"the learner {name!r} has no option {option!r}{did_you_mean(option, allowed)}; "
                f"it has {', '.join(allowed) or 'none'}"
            )
    learner: Learner = TypeAdapter(kind).validate_python(rest)
    return learner


def options_of(learner: Learner) -> dict[str, Any]:
    """A learner as options, plain data: what ``learner_of`` takes."""
    data: dict[str, Any] = TypeAdapter(type(learner)).dump_python(learner, mode="json")
    return {"name": learner.name, **data}
