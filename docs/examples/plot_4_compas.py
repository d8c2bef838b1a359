"""
COMPAS, with its caveats
========================

The paper's second data set. Read this first: the label is re-*arrest*, not re-offence, and it
carries the policing it comes from. Decision 1 is the harm here. The example shows how to count the
favourable outcome; it is no advice to use such a score.
"""

# %%
# The favourable decision is 0. To keep the example simple we flip the label: 1 now means "not
# arrested again". (``Decision(favourable=0)`` does the same without a change to the table.)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fairpatch import FairPatch, Target, audit
from fairpatch.datasets import load
from fairpatch.patch.encoding import Encoder

compas = load("compas")
X, S = compas.X.drop(columns=compas.also_in_x), compas.sensitive["race"]
y = 1 - compas.y
X_own, X_rest, y_own, y_rest, S_own, S_rest = train_test_split(
    X, y, S, test_size=0.7, random_state=0, stratify=S
)
X_train, X_test, y_train, y_test, S_train, S_test = train_test_split(
    X_rest, y_rest, S_rest, test_size=0.4, random_state=0, stratify=S_rest
)
encoder = Encoder.fit(X_own)
f = make_pipeline(FunctionTransformer(encoder.transform), LogisticRegression(max_iter=2_000))
f.fit(X_own, y_own)  # the patch learns from other people than the model did
print(audit(X_test, y_test, sensitive_features=S_test, estimator=f))

# %%
# A patch of at most six columns, that takes nobody's favourable decision away.
target = Target(p_rule=0.85, direction="promote_only", max_columns=6)
g = FairPatch(f, target).fit(X_train, y_train, sensitive_features=S_train)
print(g.choice_)
print(g.certificate_)
print(g.patch_)

# %%
# Who changes, in at most two questions a segment:
from fairpatch.explain import segments

changed = g.predict(X_test) != f.predict(X_test)
for segment in segments(g.patch_, X_test, changed, g.base_.logits(X_test))[:4]:
    print(segment)

# %%
# Which columns that the patch uses are proxies for race? That is for a person to judge.
import matplotlib.pyplot as plt

from fairpatch.explain import proxy_risk

risks = proxy_risk(g.patch_, X_test, changed, sensitive_features=S_test)[:10][::-1]
fig, ax = plt.subplots(figsize=(6.4, 3.8))
colours = ["#2166ac" if risk.read_by_patch else "#bbbbbb" for risk in risks]
ax.barh([risk.what for risk in risks], [risk.auc for risk in risks], color=colours)
ax.axvline(0.5, color="black", linewidth=0.8)
ax.set(xlim=(0.4, 1), xlabel="how well it predicts race (AUC); blue: used by the patch")
fig.tight_layout()
