"""
An insurance-like portfolio, generated
======================================

A portfolio of 60,000 applications with a calibrated score whose truth is known, so that what a
certificate guarantees can be compared with what is so.
"""

# %%
import numpy as np

from fairpatch import FairPatch, Target, audit
from fairpatch.datasets import Population

groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
population = Population(p_rule=0.6, accuracy=0.8, groups=groups)
portfolio = population.sample(60_000, seed=0).to_pandas()
X, y, S = portfolio.drop(columns=["id", "group", "y"]), portfolio["y"], portfolio["group"]
print(audit(X, y, sensitive_features=S, estimator="score").comparisons["group"].metrics["p_rule"])

# %%
# At most five columns, so that it can be explained in one sentence.
g = FairPatch("score", Target(p_rule=0.8, max_columns=5), max_rows=10_000)
g.fit(X, y, sensitive_features=S)
print(g.choice_)
print(g.certificate_)
print(g.patch_)

# %%
# Does it hold? Draw 300,000 other people from the same population.
fresh = population.sample(300_000, seed=1).to_pandas()
decided = g.predict(fresh.drop(columns=["id", "group", "y"]))
rates = fresh.assign(decided=decided).groupby("group", observed=True)["decided"].mean()
print(f"P-Rule in the population: {rates.min() / rates.max():.3f}")

# %%
# Who changes? Ratio against score: below 0 the decision is reversed.
import matplotlib.pyplot as plt

some = X.sample(3_000, random_state=0)
r = g.patched_.ratio(some)
changed = g.predict(some) != (some["score"] > 0.5)
fig, ax = plt.subplots(figsize=(6.4, 4))
ax.scatter(some["score"], r, s=6, c=np.where(changed, "#b2182b", "#bbbbbb"))
ax.axhline(0, color="black", linewidth=0.8)
ax.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
ax.set(xlabel="score of the base model", ylabel="ratio", title="Red: decisions that change")
fig.tight_layout()
