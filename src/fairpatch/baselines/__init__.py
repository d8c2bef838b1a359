"""What a review compares a patch with: other methods behind one interface."""

from fairpatch.baselines.baseline import Baseline
from fairpatch.baselines.bayes_rule import BayesRule, FewBayes
from fairpatch.baselines.lpp import AwareLpp, Lpp
from fairpatch.baselines.reductions import Reductions

__all__ = ["AwareLpp", "Baseline", "BayesRule", "FewBayes", "Lpp", "Reductions"]
