"""The Patch: a small, readable file, and what it does to a base model's scores.

    c_j(x) = intercept + sum of weights of x's raw values      a concept
    r(x)   = 1 + strength * (offset + sum_j weight_j c_j(x))   the ratio
    g      = r(x) * f_logit                                    the patched score

A decision changes exactly where r < 0, or r = 0 and f approves; at f_logit = 0 nothing changes.
Reading a patch executes nothing: it is data, checked against a schema.
"""

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from fairpatch._arrays import Bools, Floats
from fairpatch.measure.direction import Direction, untouched
from fairpatch.patch.parts import Column, Concept, Number, Part, Provenance, merge
from fairpatch.patch.terms import activation
from fairpatch.patch.words import tables


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
    version: Literal[1] = 1
    columns: tuple[Column, ...]
    concepts: tuple[Concept, ...]
    offset: Number = 0.0
    """The average person's ratio, less 1."""
    strength: Annotated[Number, Field(ge=0.0)] = 1.0
    cutoff: Annotated[Number, Field(gt=0.0, lt=1.0)] = 0.5
    direction: Direction = "both"
    provenance: Provenance = Provenance()

    @model_validator(mode="after")
    def _columns_are_declared(self) -> Self:
        declared = {column.name for column in self.columns}
        for concept in self.concepts:
            undeclared = set(concept.columns) - declared
            if undeclared:
                raise ValueError(
                    f"concept {concept.name!r} reads undeclared columns {sorted(undeclared)}"
                )
        return self

    def __str__(self) -> str:
        found = tables(self.concepts, self.offset, self.strength, self.direction)
        return "\n".join(table.text() for table in found)

    def _repr_html_(self) -> str:
        found = tables(self.concepts, self.offset, self.strength, self.direction)
        return "".join(table.html() for table in found)

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

    def ratio(self, X: Any) -> Floats:
        """r(x) of every row of a frame or array."""
        whole = merge(self.concepts, self.offset, self.strength)
        return 1.0 + activation(whole, self.columns, X)

    def logits(self, X: Any, f_logit: Any) -> Floats:
        """g_logit = r * f_logit, relative to the cut-off; r = 1 where the direction says so."""
        f = np.asarray(f_logit, np.float64)
        return np.where(untouched(self.direction, f > 0), f, self.ratio(X) * f)

    def decide(self, X: Any, f_logit: Any) -> Bools:
        """f's decision, reversed where r says so. No logarithm and no product, so no rounding."""
        f = np.asarray(f_logit, np.float64)
        r = self.ratio(X)
        patched = np.where(f > 0, r > 0, (f < 0) & (r < 0))
        return np.where(untouched(self.direction, f > 0), f > 0, patched)
