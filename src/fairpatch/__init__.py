"""fairpatch: make a model people already trust fairer, by changing few decisions.

Names are imported on first use, so that ``import fairpatch`` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpatch import datasets as datasets
    from fairpatch import life as life
    from fairpatch import measure as measure
    from fairpatch import patch as patch
    from fairpatch.base import BaseModel as BaseModel
    from fairpatch.card.learner import Card as Card
    from fairpatch.choose.findings import TargetNotReachedError as TargetNotReachedError
    from fairpatch.choose.target import Target as Target
    from fairpatch.commod.adversarial import Adversarial as Adversarial
    from fairpatch.commod.estimator import Commod as Commod
    from fairpatch.commod.problem import Departures as Departures
    from fairpatch.commod.problem import Grid as Grid
    from fairpatch.commod.problem import Training as Training
    from fairpatch.decision import Decision as Decision
    from fairpatch.front import FairPatch as FairPatch
    from fairpatch.inputs.roles import Roles as Roles
    from fairpatch.measure.counts import Counts as Counts
    from fairpatch.patch.model import Patch as Patch
    from fairpatch.patched import PatchedModel as PatchedModel
    from fairpatch.report.audit import Audit as Audit
    from fairpatch.report.audit import audit as audit
    from fairpatch.report.identity import About as About
    from fairpatch.report.review import review as review

__version__ = "0.1.0"

_HOME = {
    "About": "fairpatch.report.identity",
    "Adversarial": "fairpatch.commod.adversarial",
    "Audit": "fairpatch.report.audit",
    "BaseModel": "fairpatch.base",
    "Card": "fairpatch.card.learner",
    "Commod": "fairpatch.commod.estimator",
    "Counts": "fairpatch.measure.counts",
    "Decision": "fairpatch.decision",
    "Departures": "fairpatch.commod.problem",
    "FairPatch": "fairpatch.front",
    "Grid": "fairpatch.commod.problem",
    "Patch": "fairpatch.patch.model",
    "PatchedModel": "fairpatch.patched",
    "Roles": "fairpatch.inputs.roles",
    "Target": "fairpatch.choose.target",
    "TargetNotReachedError": "fairpatch.choose.findings",
    "Training": "fairpatch.commod.problem",
    "audit": "fairpatch.report.audit",
    "review": "fairpatch.report.review",
}
_ROOMS = ("datasets", "life", "measure", "patch")

__all__ = [
    "About",
    "Adversarial",
    "Audit",
    "BaseModel",
    "Card",
    "Commod",
    "Counts",
    "Decision",
    "Departures",
    "FairPatch",
    "Grid",
    "Patch",
    "PatchedModel",
    "Roles",
    "Target",
    "TargetNotReachedError",
    "Training",
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
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'fairpatch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
