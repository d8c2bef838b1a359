"""
A lender's portfolio
====================

60,000 loan applications with a bank's own score. They are made up, so what a certificate guarantees
can be compared with what is so among people whom nobody has looked at.
"""

# %%
import numpy as np

from fairpatch import Decision, FairPatch, Target, audit
from fairpatch.datasets import load_loans

bank = Decision(threshold=0.8)  # it approves above 0.8
portfolio = load_loans(60_000)
before = audit(portfolio, "repaid", sensitive_features=["sex"], estimator="score", decision=bank)
print("P-Rule", before.comparisons["sex"].metrics["p_rule"])

# %%
# At most four columns, so that it can be explained in one sentence.
target = Target(p_rule=0.8, max_columns=4)
g = FairPatch("score", target, decision=bank, exclude=["age"], max_rows=10_000)
g.fit(portfolio, "repaid", sensitive_features=["sex"])
print(g.choice_)
print(g.certificate_)
print(g.patch_)

# %%
# Does it hold? Ask 300,000 other applicants.
others = load_loans(300_000, seed=1)
approved = g.predict(others) == 1
rates = others.assign(approved=approved).groupby("sex")["approved"].mean()
print(f"P-Rule among all others: {rates['female'] / rates['male']:.3f}")

# %%
# Who is approved now, and was not? People close to the threshold, who repay nearly as often as
# those whom the model approves itself.
import matplotlib.pyplot as plt

newly = approved & (others["score"] <= 0.8)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
edges = np.linspace(0.3, 1.0, 36)
left.hist(others["score"], edges, color="#c8d0d8", label="all applicants")
left.hist(others["score"][newly], edges, color="#0072b2", label="newly approved")
left.set(xlabel="score of the base model", ylabel="applicants")
left.legend(frameon=False, loc="upper left")
shares = {
    "approved\nas before": others["repaid"][others["score"] > 0.8].mean(),
    "newly\napproved": others["repaid"][newly].mean(),
    "still\ndeclined": others["repaid"][~approved].mean(),
}
bars = right.bar(list(shares), list(shares.values()), color=["#7b8794", "#0072b2", "#d9dee3"])
right.bar_label(bars, [f"{share:.0%}" for share in shares.values()])
right.set(ylim=(0, 1), ylabel="share that repays")
fig.tight_layout()
