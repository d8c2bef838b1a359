"""What a learner must do. A new one is one new room: nothing else asks which learner it is.

Learners are found by name among the installed packages' entry points, group ``fairpatch.learners``:
that is how the command line and ``fairpatch.yaml`` know ours (``card``, ``adversarial``), and
anybody else's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import entry_points
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from pydantic import TypeAdapter

from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.hints import did_you_mean
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Splits
from fairpatch.decision import Decision
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.measure.cells import Direction
from fairpatch.measure.counts import Counts
from fairpatch.measure.places import Places, Swaps
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.model import HALF, weights_of
from fairpatch.target import Target

HUNDRED = 100.0
"""Points needed at strength 1."""
FARTHEST = 130
"""Points of f's confidence, at most, where a decision may change at all."""
STRONGEST = 3.0
"""A weak patch turned up is a patch too: up to this strength, unless its points are counted."""


class Pool(Protocol):
    """M candidates, each of them at any strength: r_s = 1 + s (r - 1)."""

    @property
    def decision(self) -> Decision:
        """What f decides."""

    @property
    def roles(self) -> Roles:
        """What the columns are."""

    @property
    def directions(self) -> Sequence[Direction]:
        """Of each candidate."""

    @property
    def strengths(self) -> Floats | None:
        """The strengths a candidate may have; None for any up to ``strongest``."""

    @property
    def strongest(self) -> float:
        """The largest strength that is tried."""

    def __len__(self) -> int:
        """How many candidates."""

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m at a strength."""

    def about(self, m: int) -> dict[str, Any]:
        """The settings that make candidate m, for people to read."""

    def caution(self, m: int) -> float:
        """More where f's confidence counts for more; alike where a learner cannot say."""

    def size(self, m: int) -> int:
        """How many concepts or attributes candidate m has."""


def sense_of(pool: Pool, m: int, strength: float) -> tuple[str, ...]:
    """What speaks against the lines of candidate m, of pools that know."""
    return tuple(getattr(pool, "sense", lambda *_: ())(m, strength))


def swaps_of(pool: Pool, m: int) -> Swaps | None:
    """How many points lose an approval where so many gain one, of pools that limit places."""
    swaps: Swaps | None = getattr(pool, "swaps", lambda _: None)(m)
    return swaps


@dataclass(frozen=True, eq=False)
class Patches:
    """Patches at hand as candidates: cards at every whole number of points, others at any strength.

    All of them are cards that need the same points, or none is one.
    """

    patches: tuple[Patch, ...]
    strengths: Floats | None
    swapped: tuple[Swaps | None, ...]

    @classmethod
    def of(
        cls, patches: Sequence[Patch], rows: Rows, places: Places | None = None
    ) -> tuple["Patches", Floats]:
        """Patches as they were learned, at strength 1, and their ratios of some rows."""
        whole = [patch.with_strength(1.0) for patch in patches]
        alike: dict[Any, Floats] = {}  # patches that differ in scale and direction share points
        for patch in whole:
            if (patch.concepts, patch.offset) not in alike:
                alike[patch.concepts, patch.offset] = patch.points(rows.X)
        points = [alike[patch.concepts, patch.offset] for patch in whole]
        swapped = [
            _swaps(patch, of_rows, rows, places)
            for patch, of_rows in zip(whole, points, strict=True)
        ]
        ratios = [
            dial_ratio(patch, of_rows, rows.f, rows.X, swaps)
            for patch, of_rows, swaps in zip(whole, points, swapped, strict=True)
        ]
        strengths = None if whole[0].card is None else _whole_points(np.array(ratios))
        return cls(tuple(whole), strengths, tuple(swapped)), np.array(ratios)

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.patches[0].decision

    @property
    def roles(self) -> Roles:
        """The same of all of them."""
        return self.patches[0].roles

    @property
    def directions(self) -> list[Direction]:
        """Of each patch."""
        return [patch.direction for patch in self.patches]

    @property
    def strongest(self) -> float:
        """Fewer than one point needed; or a few times as strong as it was learned."""
        return STRONGEST if self.strengths is None else float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.patches)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Patch m at a strength."""
        return at_strength(self.patches[m], strength, self.swapped[m])

    def about(self, m: int) -> dict[str, Any]:
        """What made it."""
        return dict(self.patches[m].provenance.settings)

    def caution(self, m: int) -> float:  # noqa: ARG002 they are what they are
        """Nothing to choose between."""
        return 0.0

    def size(self, m: int) -> int:
        """Its lines, or its concepts."""
        patch = self.patches[m]
        return len(patch.concepts if patch.card is None else patch.lines)

    def swaps(self, m: int) -> Swaps | None:
        """How many points lose an approval where so many gain one."""
        return self.swapped[m]


def _swaps(patch: Patch, points: Floats, rows: Rows, places: Places | None) -> Swaps | None:
    """Of a scorecard both ways, where places are limited."""
    if places is None or patch.card is None or patch.direction != "both":
        return None
    sure = patch.confidence(rows.f, rows.X)
    weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
    most = 2 * _reach(patch)
    gain = np.arange(most, 0, -1, dtype=np.float64)
    share = places.aim(rows.f > 0, weight)
    return Swaps.of(points + _reach(patch), sure, rows.f, gain, share, weight)


def dial_ratio(
    patch: Patch, points: Floats, f_logit: Floats, X: Any = None, swaps: Swaps | None = None
) -> Floats:
    """The paper's r; of a scorecard the one where a hundred points are needed from its anchor.

    X says who is locked, where the card locks anybody.
    """
    if patch.card is None:
        each, rest = patch.effect(f_logit)
        return np.asarray(1 + each * points + rest)
    own = points + anchor(patch, swaps)
    return hundred_ratio(own, patch.confidence(f_logit, X), f_logit, swaps)


def hundred_ratio(
    points: Floats, confidence: Floats, f_logit: Floats, swaps: Swaps | None = None
) -> Floats:
    """r of a scorecard where a hundred points are needed: the dial goes from there."""
    lose = points + confidence
    if swaps is not None:
        lose = swaps.short(lose)
    return np.asarray(1 + np.where(f_logit > 0, lose, confidence - points) / HUNDRED)


def anchor(patch: Patch, swaps: Swaps | None = None) -> int:
    """What is taken off the points needed to approve, and added to those needed to deny.

    Both ways, points to approve and to deny keep their middle. One way, it is so large that any
    number of points may be needed.
    """
    if patch.card is None:
        return 0
    if patch.direction == "both" and swaps is None:
        return -(patch.card.approve_at + patch.card.deny_at) // 2
    return -_reach(patch) if patch.direction == "demote_only" else _reach(patch)


def _reach(patch: Patch) -> int:
    """More points than anybody can have."""
    weights = [weight for concept in patch.concepts for weight in weights_of(concept)]
    return int(sum(abs(weight) for weight in weights)) + FARTHEST


def scale_of(
    needed: int, constant: int, direction: Direction, swaps: Swaps | None = None
) -> dict[str, int]:
    """The points to approve and to deny, where so many are needed from a constant.

    >>> scale_of(30, 10, "both"), scale_of(30, 10, "promote_only")
    ({'approve_at': 20, 'deny_at': -40}, {'approve_at': 20, 'deny_at': -20})
    """
    lose = needed if swaps is None else swaps.lose_at(needed)
    gain, loss = needed - constant, lose + constant
    if direction == "promote_only":
        loss = gain
    elif direction == "demote_only":
        gain = loss
    return {"approve_at": gain, "deny_at": -loss}


def constant_of(patch: Patch, strength: float) -> int:
    """The constant of a scorecard at a strength: the points needed are counted from it."""
    if patch.card is None:
        return 0
    needed = needed_at(strength)
    if patch.direction == "demote_only":
        return -needed - patch.card.deny_at
    return needed - patch.card.approve_at


def needed_at(strength: float) -> int:
    """The whole points that belong to a strength.

    >>> needed_at(100 / 29.5), needed_at(0.0)
    (30, 100)
    """
    return round(HUNDRED / strength + HALF) if strength else round(HUNDRED)


def _whole_points(ratios: Floats) -> Floats:
    """0, and the strengths at which whole points are needed: the most first."""
    short = (1 - ratios) * HUNDRED
    most = int(np.ceil(np.max(short, initial=0.0))) + 1
    return np.append(0.0, HUNDRED / (np.arange(most, 0, -1) - HALF))


def at_strength(patch: Patch, strength: float, swaps: Swaps | None = None) -> Patch:
    """A patch turned up or down: a scorecard then needs fewer or more points. At 0 it is off."""
    if patch.card is None or not strength:
        return patch.with_strength(strength)
    needed, direction = needed_at(strength), patch.direction
    if swaps is not None:
        direction = swaps.direction_at(needed)
    scale = scale_of(needed, anchor(patch, swaps), direction, swaps)
    card = patch.card.model_copy(update=scale)
    return patch.model_copy(update={"card": card, "direction": direction})


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
