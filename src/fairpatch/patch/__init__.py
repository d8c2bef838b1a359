"""The artefact in the middle: the Patch, how it is applied, and its file. Never imports torch."""

from fairpatch.patch.expressions import decision_expr, ratio_expr
from fairpatch.patch.file import load, save, schema
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import (
    CategoryWeight,
    Column,
    Concept,
    LevelWeight,
    NumberWeight,
    Provenance,
)

__all__ = [
    "CategoryWeight",
    "Column",
    "Concept",
    "LevelWeight",
    "NumberWeight",
    "Patch",
    "Provenance",
    "decision_expr",
    "load",
    "ratio_expr",
    "save",
    "schema",
]
