"""
Adult: sex and race, and their intersections
============================================

Two sensitive features at once. A patch that helps women may leave Black women behind: look at the
intersections.
"""

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fairpatch import FairPatch, Target, audit
from fairpatch.datasets import load
from fairpatch.patch.encoding import Encoder

adult = load("adult")
X = adult.X.drop(columns=adult.also_in_x)
S = adult.sensitive[["sex", "race"]].astype(str)
S["race"] = S["race"].where(S["race"].isin(["White", "Black"]), "Other")
X, _, y, _, S, _ = train_test_split(X, adult.y, S, train_size=16_000, random_state=0)
X_train, X_test, y_train, y_test, S_train, S_test = train_test_split(
    X, y, S, test_size=0.4, random_state=0
)
encoder = Encoder.fit(X_train)
f = make_pipeline(FunctionTransformer(encoder.transform), LogisticRegression(max_iter=2_000))
f.fit(X_train, y_train)
before = audit(X_test, y_test, sensitive_features=S_test, estimator=f)
for name, comparison in before.comparisons.items():
    print(name, "P-Rule", comparison.metrics["p_rule"])

# %%
# The target holds for each feature by itself.
g = FairPatch(f, Target(p_rule=0.7))
g.fit(X_train, y_train, sensitive_features=S_train)
print(g.choice_)
print(g.patch_)

# %%
# Before and after, for the intersections too.
import matplotlib.pyplot as plt

after = audit(X_test, y_test, sensitive_features=S_test, estimator=g)
both = [a.comparisons["sex & race"].groups for a in (before, after)]
names = [row["group"] for row in both[0]]
fig, ax = plt.subplots(figsize=(6.4, 4))
for shift, rows, colour in ((0.2, both[0], "#bbbbbb"), (-0.2, both[1], "#2166ac")):
    rates = {row["group"]: sum(row["selection_rate"].ends) / 2 for row in rows}
    ax.barh([i + shift for i in range(len(names))], [rates[n] for n in names], 0.35, color=colour)
ax.set_yticks(range(len(names)), names)
ax.set(xlabel="rate of decision 1", title="Grey: before. Blue: after.")
fig.tight_layout()
