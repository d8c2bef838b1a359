"""The Patch: a small, readable file, and what it does to a base model's scores.

    c_j(x)    = intercept + sum of weights of x's raw values      a concept
    points(x) = offset + sum_j weight_j c_j(x)
    g_logit   = r(x) * f_logit                                    the patched score

The ratio r is one of two. The paper's reads x alone; a scorecard also knows on which side of its
threshold f is, and how confident: c, whole points by the band that the score lies in. With what
somebody is short of a change,

    short(x) = approve_at - points(x) + c      where f denies
               points(x) - deny_at + c         where f approves

    r(x) = 1 + strength * points(x)                                     the paper's
    r(x) = (short(x) - 1/2) / max(points needed, 1),  within -1 and 1    a scorecard's

All of it whole numbers, so r is never 0 and every engine decides alike; the scorecard is on
(strength 1) or off (strength 0).

A decision changes exactly where r < 0, or r = 0 and f approves. To approve is the favourable
decision: of a model that predicts harm it is decision 0, and f_logit is the log-odds of being
spared (see ``fairpatch.decision``). On a card most people have r = 1: their scores stay as they
are.
Reading a patch executes nothing: it is data, checked against a schema.
"""

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.special import logit

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.hints import did_you_mean
from fairpatch.decision import Decision
from fairpatch.inputs.base import AT_THRESHOLD, CLIP, NO_SCORE, thresholds_of
from fairpatch.inputs.past_decisions import round_score
from fairpatch.inputs.roles import Outcomes, Roles
from fairpatch.inputs.values import place_of
from fairpatch.measure.cells import Direction, may_demote, may_promote, untouched
from fairpatch.patch.columns import Columns, holds
from fairpatch.patch.decide import decide
from fairpatch.patch.learned import Fingerprint, Outlook
from fairpatch.patch.lines import Line, lines_of
from fairpatch.patch.parts import (
    MOST_POINTS,
    NEVER,
    CardScale,
    Column,
    Concept,
    Lock,
    Number,
    Part,
    Pilot,
    Provenance,
    merge,
    repeated,
)
from fairpatch.patch.terms import activation, locked_rows
from fairpatch.patch.words import tables

HALF = 0.5
"""Whole points: who is short of nothing changes, who is short of one point does not."""


class Patch(Part):
    """A learned correction of a base model: readable, storable, applicable anywhere.

    Examples
    --------
    >>> from fairpatch.patch import Column, Concept, NumberWeight
    >>> patch = Patch(
    ...     columns=[Column(name="age", kind="number")],
    ...     concepts=[Concept(name="young", weight=-1.0, intercept=3.0,
    ...                       numbers=[NumberWeight(column="age", coefficient=-0.1, missing=0.0)])])
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [15.0, 25.0, 45.0]})
    >>> patch.ratio(people)
    array([-0.5,  0.5,  2.5])
    >>> patch.decide(people, f_logit=[-1.0, -1.0, 1.0])
    array([ True, False,  True])
    >>> patch.with_strength(0.5).ratio(people)
    array([0.25, 0.75, 1.75])
    """

    format: Literal["fairpatch.patch"] = "fairpatch.patch"
    version: Literal[2] = 2
    columns: tuple[Column, ...]
    concepts: tuple[Concept, ...]
    card: CardScale | None = None
    """How many points change a decision, where the patch is a scorecard."""
    offset: Number = 0.0
    """What everybody has to begin with; of a scorecard nothing."""
    strength: Annotated[Number, Field(ge=0.0)] = 1.0
    decision: Decision = Decision()
    """What f decides, for which the patch was learned."""
    roles: Roles = Roles()
    """What the columns of its tables are."""
    direction: Direction = "both"
    action: Literal["decide", "refer"] = "decide"
    """Whether it changes decisions itself, or refers people to a person who does."""
    reason_codes: dict[str, str] = Field(default_factory=dict)
    """By the name of a line: what stands for it where reasons are given."""
    pilot: Pilot | None = None
    """Whom the card acts for, where it is not everybody."""
    provenance: Provenance = Provenance()
    fingerprint: Fingerprint | None = None
    """What f's scores and the columns looked like: tells whether they still do."""
    outlook: Outlook | None = None
    """What was expected of people whose outcome nobody has seen."""

    @model_validator(mode="after")
    def _bands_are_scores(self) -> Self:
        if self.card is None or self.decision.in_points or self.decision.cuts is not None:
            return self
        for band in self.card.confidence:
            if any(end is not None and not 0 <= end <= 1 for end in (band.at_least, band.below)):
                raise ValueError(f"a band of the score ends outside of 0 to 1: {band!r}")
        return self

    @model_validator(mode="after")
    def _its_threshold_is_known(self) -> Self:
        if isinstance(self.decision.threshold, str):
            raise ValueError("a patch names its thresholds, and no column that holds them")
        cuts = self.decision.cuts
        if cuts is not None and cuts.by not in {column.name for column in self.columns}:
            column = Column(name=cuts.by, kind="category")
            object.__setattr__(self, "columns", (*self.columns, column))
        return self

    @model_validator(mode="after")
    def _a_pilot_has_its_key(self) -> Self:
        if self.pilot is None:
            return self
        if self.card is None:
            raise ValueError("only a scorecard can act for some people alone")
        if self.pilot.key not in {column.name for column in self.columns}:
            column = Column(name=self.pilot.key, kind="number")
            object.__setattr__(self, "columns", (*self.columns, column))
        return self

    @model_validator(mode="before")
    @classmethod
    def _threshold_is_the_decision(cls, data: Any) -> Any:
        """A threshold alone is a decision that is said in short."""
        if not isinstance(data, dict) or "threshold" not in data:
            return data
        if "decision" in data:
            raise ValueError("give the threshold in the decision alone")
        rest = {name: value for name, value in data.items() if name != "threshold"}
        return {**rest, "decision": {"threshold": data["threshold"]}}

    @property
    def threshold(self) -> float:
        """Decision 1 is a score above this, where there is one threshold for all."""
        return self.decision.cut

    @property
    def outcomes(self) -> Outcomes:
        """Whose outcome was known when it was learned."""
        return "everybody" if self.outlook is None else self.outlook.outcomes

    @model_validator(mode="after")
    def _a_scorecard_has_whole_points(self) -> Self:
        if self.card is None:
            return self
        if self.strength not in (0.0, 1.0):
            raise ValueError(
                f"a scorecard is on (strength 1) or off (0); got {self.strength:g}. Fewer points "
                "needed make it stronger: card.approve_at"
            )
        for concept in self.concepts:
            if concept.numbers and any(n.coefficient for n in concept.numbers):
                raise ValueError(f"a scorecard has bins and no slopes; {concept.name!r} has one")
            if concept.intercept or concept.weight != 1.0:
                raise ValueError(f"{concept.name!r} of a scorecard must weigh 1, and nothing else")
            for weight in weights_of(concept):
                if weight != round(weight) or abs(weight) > MOST_POINTS:
                    raise ValueError(f"points of a scorecard are whole numbers; got {weight:g}")
        if self.offset:
            raise ValueError("what everybody has belongs in the points needed: offset must be 0")
        return self

    @model_validator(mode="after")
    def _who_is_referred_may_gain(self) -> Self:
        if self.action == "refer" and (self.direction != "promote_only" or self.card is None):
            raise ValueError(
                "a patch that refers people is a scorecard, and a second look takes nothing away: "
                "its direction must be 'promote_only'"
            )
        return self

    @model_validator(mode="after")
    def _columns_are_declared(self) -> Self:
        twice = repeated(column.name for column in self.columns)
        if twice is not None:
            raise ValueError(f"column {twice!r} is declared twice; keep one of the two")
        declared = {column.name for column in self.columns}
        lock = self.card.lock if self.card is not None else None
        for concept in (*self.concepts, *([lock] if lock else [])):
            undeclared = set(concept.columns) - declared
            if undeclared:
                raise ValueError(
                    f"concept {concept.name!r} reads undeclared columns {sorted(undeclared)}"
                )
        numbers = {column.name for column in self.columns if column.kind == "number"}
        kinds: dict[str, str] = {}
        for concept in (*self.concepts, *([lock] if lock else [])):
            for part in concept.categories:
                held = holds(entry.category for entry in part.categories)
                if held != "both" and kinds.setdefault(part.column, held) != held:
                    raise ValueError(
                        f"column {part.column!r} is compared with text in one place and with "
                        "numbers in another: no table could have both"
                    )
        for concept in self.concepts:
            wrong = {n.column for n in concept.numbers} | {r.column for r in concept.ranges}
            wrong = (wrong - numbers) | ({c.column for c in concept.categories} & numbers)
            if wrong:
                name = min(wrong)
                kind = "number" if name in numbers else "category"
                raise ValueError(f"{concept.name!r} reads {name!r}, a {kind}, as something else")
        return self

    @property
    def decides_by(self) -> tuple[str, ...]:
        """Sensitive features that it reads: none, unless somebody said that the law allows it."""
        sensitive = self.provenance.sensitive_features
        return tuple(c.name for c in self.columns if c.name in sensitive)

    def __str__(self) -> str:
        told = [f"It decides by {' and '.join(self.decides_by)}."] if self.decides_by else []
        return "\n".join([*(table.text() for table in tables(self)), *told])

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in tables(self))

    def with_strength(self, strength: float) -> Self:
        """The same patch turned up or down: 0 is the base model, 1 the patch as learned.

        A card is on (1) or off (0): ``PatchedModel.retune`` finds the points needed for a target.
        """
        check.number("strength", strength, 0)
        return type(self).model_validate({**dict(self), "strength": strength})

    def with_pilot(self, share: float, key: str, seed: int = 0) -> Self:
        """The same card for a share of people, drawn by a hash of their key.

        The certificate is of the card for everybody; a pilot bounds the risk until outcomes of the
        newly approved are known.
        """
        pilot = Pilot(share=share, key=key, seed=seed)
        return type(self).model_validate({**dict(self), "pilot": pilot})

    def with_names(self, names: dict[str, str]) -> Self:
        """The same patch with concepts renamed: {"concept 1": "short credit history"}."""
        unknown = sorted(set(names) - {c.name for c in self.concepts})
        if unknown:
            known = [c.name for c in self.concepts]
            raise ValueError(f"there is no concept {unknown}; the patch has {known}")
        renamed = [c.model_copy(update={"name": names.get(c.name, c.name)}) for c in self.concepts]
        return type(self).model_validate({**dict(self), "concepts": renamed})

    def with_reason_codes(self, codes: dict[str, str]) -> Self:
        """The same card with codes for its lines: {"age 45 and above": "R07"}."""
        known = [line.name for line in self.lines]
        for name in codes:
            if name not in known:
                raise ValueError(
                    f"there is no line {name!r}; the card has {', '.join(map(repr, known))}"
                    + did_you_mean(name, known)
                )
        return self.model_copy(update={"reason_codes": {**self.reason_codes, **codes}})

    @property
    def lines(self) -> list[Line]:
        """Who gets how many points, line by line."""
        columns = {column.name: column for column in self.columns}
        return [line for concept in self.concepts for line in lines_of(concept, columns)]

    def points(self, X: Any) -> Floats:
        """The weighted sum of every row of a frame or array."""
        return activation(merge(self.concepts, self.offset), self.columns, X)

    def ratio(self, X: Any, f_logit: Any = None) -> Floats:
        """r(x) of every row of a frame or array; a card needs f's log-odds for it."""
        each, rest = self.effect(f_logit, X)
        ratio = np.asarray(each * self.points(X) + (rest + 1.0))
        return ratio if self.card is None else np.clip(ratio, -1.0, 1.0)

    def effect(self, f_logit: Any = None, X: Any = None) -> tuple[Any, Any]:
        """What one point adds to r, and what f's sureness adds to it: r - 1 = each points + rest.

        X says who is locked, where the card locks anybody.

        >>> card = Patch(columns=[], concepts=[], card=CardScale(approve_at=10))
        >>> each, rest = card.effect([-1.0, 1.0])
        >>> each.round(2), rest.round(2)
        (array([-0.1,  0.1]), array([-0.05, -0.05]))
        """
        if self.card is None:
            return self.strength, 0.0
        if f_logit is None:
            raise ValueError("a card needs the base model's score: give its log-odds, f_logit")
        f = np.asarray(f_logit, np.float64)
        gain, loss = self.needed
        needed = np.where(f > 0, loss, gain)
        unit = self.strength / np.maximum(needed, 1)
        short = needed + self.confidence(f, X) - HALF
        return np.where(f > 0, unit, -unit), unit * short - self.strength

    @property
    def needed(self) -> tuple[int, int]:
        """Points needed to approve, and below zero to deny; one way, they are the same."""
        if self.card is None:
            return 0, 0
        gain, loss = self.card.approve_at, -self.card.deny_at
        return (
            gain if may_promote(self.direction) else loss,
            loss if may_demote(self.direction) else gain,
        )

    @property
    def changes_at(self) -> int | None:
        """Of a scorecard the points at which it changes a decision: to deny if that is all."""
        if self.card is None:
            return None
        return self.card.approve_at if may_promote(self.direction) else self.card.deny_at

    def confidence(self, f_logit: Any, X: Any = None) -> Floats:
        """The points that f's confidence is worth: those of the band that each score lies in.

        Bands are compared as log-odds, which tell a score from every round one beside it
        (``BaseModel.logits_of``): it lies in the same band here and in every engine. Who is locked
        has more than anybody could overcome.
        """
        worth = [band.weight for band in self.card.bands] if self.card is not None else []
        points = np.array([*worth, 0.0])[self.band(f_logit, X)]
        points = np.where(self._knocked_out(f_logit), float(NEVER), points)
        if self.card is None or not (self.card.locked or self.pilot):
            return points
        if X is None:
            raise ValueError("the card has locked rows: give their columns, X, with the scores")
        return np.where(self.locks(X) | self._outside_pilot(X), float(NEVER), points)

    def _knocked_out(self, f_logit: Any) -> Bools:
        """Who was denied without a score: nothing changes that."""
        return np.asarray(np.asarray(f_logit) == NO_SCORE) & self.decision.knocks_out

    def _outside_pilot(self, X: Any) -> Bools:
        """Who stays as the base model decides, as the card acts for some people only."""
        if self.pilot is None:
            return np.zeros(1, bool)
        keys = Columns.of(X).values(Column(name=self.pilot.key, kind="number"))
        known = np.isfinite(keys)
        at = place_of(np.where(known, keys, 0).astype(np.int64), self.pilot.seed)
        return np.asarray(~known | (at >= self.pilot.below))

    @property
    def scope(self) -> tuple[Lock, ...]:
        """The conditions of the rows that it is for: all others are locked, and count nowhere."""
        locked = () if self.card is None else self.card.locked
        return tuple(lock for lock in locked if lock.unless)

    def locks(self, X: Any) -> Bools:
        """Whose decision is a matter of policy, and stays as f has it."""
        return locked_rows(self.card.locked if self.card is not None else (), X)

    def band(self, f_logit: Any, X: Any = None) -> Ints:
        """The number of the band of confidence that each score lies in; -1 where in none.

        X says which threshold is whose, where there are several.
        """
        f = np.asarray(f_logit, np.float64)
        number, bands = np.full(len(f), -1), () if self.card is None else self.card.confidence
        t = thresholds_of(self.decision, X) if bands else 0.0
        for i, band in enumerate(bands):
            inside = np.ones(len(f), bool)
            if band.at_least is not None:
                inside &= self._at_least(f, band.at_least, t)
            if band.below is not None:
                inside &= ~self._at_least(f, band.below, t)
            number[inside] = i
        return number

    def _at_least(self, f: Floats, end: float, t: Any) -> Bools:
        """Whether f's score is at least a band's end, a score or so far from each threshold."""
        edge = log_odds(
            end if self.decision.cuts is None else round_score(t + end), t, self.decision
        )
        of_one = np.where(np.abs(f) <= AT_THRESHOLD, 0.0, self.decision.sign * f)
        return np.asarray(of_one >= edge)

    def logits(self, X: Any, f_logit: Any) -> Floats:
        """g_logit = r * f_logit, relative to the threshold; r = 1 where the direction says so."""
        f = np.asarray(f_logit, np.float64)
        own = untouched(self.direction, f > 0) | self._knocked_out(f)
        return np.where(own, f, self.ratio(X, f) * f)

    def decide(self, X: Any, f_logit: Any) -> Bools:
        """Whether a person is approved: f's decision, reversed where r says so."""
        f = np.asarray(f_logit, np.float64)
        check.log_odds("f_logit", f)
        ratio = np.where(self._knocked_out(f), 1.0, self.ratio(X, f))
        return decide(f, ratio, self.direction)


def log_odds(score: Any, threshold: Any, decision: Decision) -> Any:
    """A score's log-odds relative to the threshold, as ``fairpatch.inputs.base`` works them out."""
    if decision.in_points:
        return (score - threshold) * decision.scale.unit
    with np.errstate(divide="ignore"):
        inside = np.clip(np.asarray(score, np.float64), 0.0, 1.0)
        values = np.clip(logit(inside), -CLIP, CLIP) - logit(threshold)
    return np.where(inside == threshold, 0.0, values)


def weights_of(concept: Concept) -> list[float]:
    """Every number of points that a concept of a scorecard can give."""
    return [
        *(n.missing for n in concept.numbers),
        *(r.weight for part in concept.ranges for r in part.ranges),
        *(part.missing for part in concept.ranges),
        *(e.weight for part in concept.categories for e in part.categories),
        *(w for part in concept.categories for w in (part.missing, part.other)),
    ]
