"""What f's scores and the columns looked like when the patch was learned: part of its file.

``fairpatch.identity`` works it out, and compares with it later.
"""

from pydantic import Field

from fairpatch.patch.parts import Category, Number, Part


class ColumnPrint(Part):
    """What a column looked like."""

    column: str
    edges: tuple[Number, ...] = ()
    """Of a number: round values near its deciles."""
    categories: tuple[Category, ...] = ()
    """Of a category: those of at least ten people."""
    shares: tuple[Number, ...] = ()
    """Of the people with a value: at most each edge; or of each category."""
    others: Number = 0.0
    """Of them, those with a category that is not listed."""
    missing: Number = 0.0
    means: tuple[Number | None, ...] = ()
    """f's mean score up to each edge, from the one before; or of each category. None where few."""


class Fingerprint(Part):
    """What f's scores and the columns looked like."""

    people: int
    edges: tuple[Number, ...]
    """Round values near the deciles of f's score."""
    shares: tuple[Number, ...]
    """Of people with a score of at most each edge."""
    mean: Number
    columns: tuple[ColumnPrint, ...] = ()
    probe: dict[str, tuple[Category | None, ...]] = Field(default_factory=dict)
    """Values of which made-up people are made."""
    probe_scores: tuple[Number, ...] = ()
    """f's scores of them."""
    model_sha256: str | None = None
    """Of the base model's file, where it came from one."""
