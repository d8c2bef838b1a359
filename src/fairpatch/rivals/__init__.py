"""The competitors behind one interface, for fair comparisons in one run.

Two of them are trained with torch, which only they need: they are imported on first use.
"""

from typing import TYPE_CHECKING, Any

from fairpatch._extras import need
from fairpatch.rivals.bayes_rule import BayesRule, FewBayes
from fairpatch.rivals.lpp import AwareLpp, Lpp
from fairpatch.rivals.packages import EqualizedThresholds, Oxon, Reductions
from fairpatch.rivals.rival import Rival
from fairpatch.rivals.roc import Roc

if TYPE_CHECKING:
    from fairpatch.rivals.adv_debias import AdvDebias
    from fairpatch.rivals.frappe import Frappe

_TRAINED = {"AdvDebias": "fairpatch.rivals.adv_debias", "Frappe": "fairpatch.rivals.frappe"}

__all__ = [
    "AdvDebias",
    "AwareLpp",
    "BayesRule",
    "EqualizedThresholds",
    "FewBayes",
    "Frappe",
    "Lpp",
    "Oxon",
    "Reductions",
    "Rival",
    "Roc",
]


def __getattr__(name: str) -> Any:
    if name in _TRAINED:
        need("torch", extra="adversarial")
        return getattr(need(_TRAINED[name], extra="adversarial"), name)
    raise AttributeError(f"module 'fairpatch.rivals' has no attribute {name!r}")
