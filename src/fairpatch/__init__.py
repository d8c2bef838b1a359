"""fairpatch: make a model people already trust fairer, by changing few decisions.

Names are imported on first use, so that ``import fairpatch`` stays fast.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpatch import commod as commod
    from fairpatch import datasets as datasets
    from fairpatch import life as life
    from fairpatch import measure as measure
    from fairpatch import patch as patch
    from fairpatch.card.learner import Card as Card
    from fairpatch.choose.objections import TargetNotReachedError as TargetNotReachedError
    from fairpatch.decision import Decision as Decision
    from fairpatch.front import FairPatch as FairPatch
    from fairpatch.inputs.base import BaseModel as BaseModel
    from fairpatch.inputs.roles import Roles as Roles
    from fairpatch.patch.model import Patch as Patch
    from fairpatch.patched import PatchedModel as PatchedModel
    from fairpatch.report.audit import audit as audit
    from fairpatch.report.review import review as review
    from fairpatch.report.signed import About as About
    from fairpatch.target import Target as Target

__version__ = "0.2.0"

_HOME = {
    "About": "fairpatch.report.signed",
    "BaseModel": "fairpatch.inputs.base",
    "Card": "fairpatch.card.learner",
    "Decision": "fairpatch.decision",
    "FairPatch": "fairpatch.front",
    "Patch": "fairpatch.patch.model",
    "PatchedModel": "fairpatch.patched",
    "Roles": "fairpatch.inputs.roles",
    "Target": "fairpatch.target",
    "TargetNotReachedError": "fairpatch.choose.objections",
    "audit": "fairpatch.report.audit",
    "review": "fairpatch.report.review",
}
_MOVED = {
    "Adversarial": "fairpatch.commod",
    "Audit": "fairpatch.report.audit",
    "Commod": "fairpatch.commod",
    "Counts": "fairpatch.measure",
    "Departures": "fairpatch.commod",
    "Grid": "fairpatch.commod",
    "Training": "fairpatch.commod",
}
"""Names that were here in 0.1, and answer for one release more."""
_ROOMS = ("commod", "datasets", "life", "measure", "patch")

__all__ = [
    "About",
    "BaseModel",
    "Card",
    "Decision",
    "FairPatch",
    "Patch",
    "PatchedModel",
    "Roles",
    "Target",
    "TargetNotReachedError",
    "__version__",
    "audit",
    "datasets",
    "life",
    "measure",
    "patch",
    "review",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"fairpatch.{name}")
    if name in _MOVED:
        now = f"{_MOVED[name]}.{name}"
        warnings.warn(f"fairpatch.{name} is now {now}", FutureWarning, stacklevel=2)
    elif name not in _HOME:
        raise AttributeError(f"module 'fairpatch' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name) or _MOVED[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
