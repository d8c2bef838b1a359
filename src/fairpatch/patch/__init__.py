"""The artefact in the middle: the Patch, how it is applied, and its file. Never imports torch."""

from fairpatch.patch.edit import edit
from fairpatch.patch.expressions import decision_expr, ratio_expr
from fairpatch.patch.file import load, save, schema
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import (
    CardScale,
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    Lock,
    NumberWeight,
    Provenance,
    Range,
    RangesWeight,
    ScoreBand,
)

__all__ = [
    "CardScale",
    "CategoricalWeight",
    "CategoryWeight",
    "Column",
    "Concept",
    "Lock",
    "NumberWeight",
    "Patch",
    "Provenance",
    "Range",
    "RangesWeight",
    "ScoreBand",
    "decision_expr",
    "edit",
    "load",
    "ratio_expr",
    "save",
    "schema",
]
