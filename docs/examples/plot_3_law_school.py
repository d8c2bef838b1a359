"""
Law School, at every strength
=============================

The paper's first data set: who passes the bar exam. One trained patch, at every strength.
"""

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fairpatch.commod import Commod, Training
from fairpatch.datasets import load

law = load("law_school")
X_train, X_test, y_train, y_test, S_train, S_test = train_test_split(
    law.X, law.y, law.sensitive["race"], test_size=0.3, random_state=11
)
f = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(X_train, y_train)
g = Commod(f, lambda_fair=1.0, lambda_concepts=0.05, training=Training(n_concepts=2))
g.fit(X_train, y_train, sensitive_features=S_train)
print(g.patch_)

# %%
# At strength 0 it is the base model, at 1 the patch as learned. Each person changes once, and never
# back.
import matplotlib.pyplot as plt
import numpy as np

strengths = np.linspace(0, 2, 81)
f_logit, white = g.base_.logits(X_test), (S_test == "White").to_numpy()
before = f_logit > 0
rule, changes = [], []
for strength in strengths:
    decided = g.patch_.with_strength(strength).decide(X_test, f_logit)
    rates = [decided[white].mean(), decided[~white].mean()]
    rule.append(min(rates) / max(rates))
    changes.append((decided != before).mean())
fig, ax = plt.subplots(figsize=(6.4, 4))
ax.plot(strengths, rule, color="black", label="P-Rule")
ax.plot(strengths, changes, color="#b2182b", linestyle="--", label="decisions that change")
ax.axvline(1, color="grey", linewidth=0.8)
ax.set(xlabel="strength of the patch", ylim=(0, 1))
ax.legend(frameon=False)
fig.tight_layout()

# %%
# Why does one person's decision change, and what would have kept it?
from fairpatch.explain import reasons

for reason in reasons(g.patched_, X_test, reference=X_train)[:3]:
    print(reason)
