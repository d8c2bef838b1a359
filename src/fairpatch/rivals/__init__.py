"""The competitors behind one interface, for fair comparisons in one run."""

from fairpatch.rivals.adv_debias import AdvDebias
from fairpatch.rivals.bayes_rule import BayesRule
from fairpatch.rivals.frappe import Frappe
from fairpatch.rivals.lpp import AwareLpp, Lpp
from fairpatch.rivals.packages import EqualizedThresholds, Oxon, Reductions
from fairpatch.rivals.rival import Rival
from fairpatch.rivals.roc import Roc

__all__ = [
    "AdvDebias",
    "AwareLpp",
    "BayesRule",
    "EqualizedThresholds",
    "Frappe",
    "Lpp",
    "Oxon",
    "Reductions",
    "Rival",
    "Roc",
]
