"""COMMOD, the paper's method, by the paper's symbols; README.md beside this says which is where.

>>> from fairpatch.commod import Adversarial, Commod
"""

from fairpatch.commod.adversarial import Adversarial
from fairpatch.commod.estimator import Commod
from fairpatch.commod.problem import Departures, Grid, Training

__all__ = ["Adversarial", "Commod", "Departures", "Grid", "Training"]
