"""What a review compares a patch with: other methods behind one interface."""

from fairpatch.baselines.baseline import Baseline, Reductions
from fairpatch.baselines.programs import AwareLpp, BayesRule, FewBayes, Lpp

__all__ = ["AwareLpp", "Baseline", "BayesRule", "FewBayes", "Lpp", "Reductions"]
