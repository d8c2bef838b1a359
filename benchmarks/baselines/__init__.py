"""The methods of the paper and of other packages, behind the interface of fairpatch's baselines."""

from benchmarks.baselines.adv_debias import AdvDebias
from benchmarks.baselines.coin import Coin
from benchmarks.baselines.fair_bayes import FairBayes
from benchmarks.baselines.frappe import Frappe
from benchmarks.baselines.packages import EqualizedThresholds, Oxon
from benchmarks.baselines.plug_in import PlugIn
from benchmarks.baselines.roc import Roc
from fairpatch.baselines import AwareLpp, Baseline, BayesRule, FewBayes, Lpp, Reductions

__all__ = [
    "AdvDebias",
    "AwareLpp",
    "Baseline",
    "BayesRule",
    "Coin",
    "EqualizedThresholds",
    "FairBayes",
    "FewBayes",
    "Frappe",
    "Lpp",
    "Oxon",
    "PlugIn",
    "Reductions",
    "Roc",
]
