"""The Patch: a small, readable file, and what it does to a base model's scores.

    c_j(x)    = intercept + sum of weights of x's raw values      a concept
    points(x) = offset + sum_j weight_j c_j(x)
    g_logit   = r(x) * f_logit                                    the patched score

The ratio r is one of two. The paper's reads x alone; a card (METHOD section 12) also knows on which
side of its threshold f is (d = 1 where f denies, -1 where it approves) and how sure (m, 0 to 1):

    r(x) = 1 + strength * points(x)
    r(x) = 1 + strength * (sureness * m(x) - d(x) * points(x)) / price,   kept within -1 and 1

A decision changes exactly where r < 0, or r = 0 and f approves; at f_logit = 0 nothing changes. To
approve is the favourable decision: of a model that predicts harm it is decision 0, and f_logit is
the log-odds of being spared (see ``fairpatch.decision``). On
a card most people have r = 1: their scores stay as they are.
Reading a patch executes nothing: it is data, checked against a schema.
"""

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.special import expit, logit

from fairpatch._arrays import Bools, Floats
from fairpatch._hints import did_you_mean
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction, untouched
from fairpatch.patch.decide import decide
from fairpatch.patch.fingerprint import Fingerprint
from fairpatch.patch.lines import Line, lines_of
from fairpatch.patch.parts import (
    CardScale,
    Column,
    Concept,
    Number,
    Part,
    Provenance,
    merge,
    repeated,
)
from fairpatch.patch.terms import activation
from fairpatch.patch.words import tables

NUDGE = 1 + 1e-9
"""A person whose points are exactly the price changes: in every engine, however it rounds."""


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
    version: Literal[4] = 4
    columns: tuple[Column, ...]
    concepts: tuple[Concept, ...]
    card: CardScale | None = None
    """Price and sureness, where the patch is a card of points."""
    offset: Number = 0.0
    """What everybody has to begin with."""
    strength: Annotated[Number, Field(ge=0.0)] = 1.0
    decision: Decision = Decision()
    """What f decides, for which the patch was learned."""
    direction: Direction = "both"
    reason_codes: dict[str, str] = Field(default_factory=dict)
    """By the name of a line: what stands for it where reasons are given."""
    provenance: Provenance = Provenance()
    fingerprint: Fingerprint | None = None
    """What f's scores and the columns looked like: tells whether they still do."""

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
        """Decision 1 is a score above this."""
        return self.decision.threshold

    @model_validator(mode="after")
    def _columns_are_declared(self) -> Self:
        twice = repeated(column.name for column in self.columns)
        if twice is not None:
            raise ValueError(f"column {twice!r} is declared twice; keep one of the two")
        declared = {column.name for column in self.columns}
        for concept in self.concepts:
            undeclared = set(concept.columns) - declared
            if undeclared:
                raise ValueError(
                    f"concept {concept.name!r} reads undeclared columns {sorted(undeclared)}"
                )
        return self

    def __str__(self) -> str:
        return "\n".join(table.text() for table in tables(self))

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in tables(self))

    def with_strength(self, strength: float) -> Self:
        """The same patch turned up or down: 0 is the base model, 1 the patch as learned."""
        return type(self).model_validate({**dict(self), "strength": strength})

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
        each, rest = self.effect(f_logit)
        ratio = np.asarray(each * self.points(X) + rest + 1.0)
        return ratio if self.card is None else np.clip(ratio, -1.0, 1.0)

    def effect(self, f_logit: Any = None) -> tuple[Any, Any]:
        """What one point adds to r, and what f's sureness adds to it: r - 1 = each points + rest.

        >>> scale = CardScale(points_needed=10, confidence_points=100)
        >>> card = Patch(columns=[], concepts=[], card=scale)
        >>> each, rest = card.effect([-1.0, 1.0])
        >>> each.round(2), rest.round(2)
        (array([-0.1,  0.1]), array([4.62, 4.62]))
        """
        if self.card is None:
            return self.strength, 0.0
        if f_logit is None:
            raise ValueError("a card needs the base model's score: give its log-odds, f_logit")
        f = np.asarray(f_logit, np.float64)
        k = self.strength * NUDGE / self.card.points_needed
        return np.where(f > 0, k, -k), k * self.card.confidence_points * base_confidence(
            f, self.decision.bar
        )

    def logits(self, X: Any, f_logit: Any) -> Floats:
        """g_logit = r * f_logit, relative to the threshold; r = 1 where the direction says so."""
        f = np.asarray(f_logit, np.float64)
        return np.where(untouched(self.direction, f > 0), f, self.ratio(X, f) * f)

    def decide(self, X: Any, f_logit: Any) -> Bools:
        """Whether a person is approved: f's decision, reversed where r says so."""
        f = np.asarray(f_logit, np.float64)
        return decide(f, self.ratio(X, f), self.direction)


def base_confidence(f_logit: Floats, bar: float) -> Floats:
    """m: how far f's probability is from its threshold, 0 there and 1 where it is farthest."""
    p = expit(f_logit + logit(bar))
    return np.asarray(np.abs(p - bar) / max(bar, 1 - bar))
