"""Rows that models are measured on, encoded once for all of them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.inputs.base import BaseModel
from fairpatch.patch.encoding import Encoder


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows with their labels and groups (0 and 1), and the base model f."""

    X: Any
    y: Ints
    s: Ints
    f: BaseModel
    _encoded: dict[int, tuple[Encoder, Floats]] = field(default_factory=dict)

    @cached_property
    def f_logit(self) -> Floats:
        """f's log-odds."""
        return self.f.logits(self.X)

    @cached_property
    def f_score(self) -> Floats:
        """f's probabilities."""
        return self.f.scores(self.X)

    def encoded(self, encoder: Encoder) -> Floats:
        """The rows in an encoder's columns."""
        if id(encoder) not in self._encoded:  # kept with its encoder: no other gets its id
            self._encoded[id(encoder)] = encoder, encoder.transform(self.X)
        return self._encoded[id(encoder)][1]
