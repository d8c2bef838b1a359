"""
Mortgages in Boston
===================

HMDA data of 2,380 mortgage applications. A logistic regression predicts who is accepted. Its
approvals meet the four-fifths rule; the lender wants a P-Rule of 0.9 all the same. How few
decisions have to change?
"""

# %%
# The base model, as somebody may have validated it. Race is not among its columns. fairpatch counts
# decision 1 as the favourable one, so say which label that is.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fairpatch import FairPatch, Target, audit
from fairpatch.datasets import load
from fairpatch.patch.encoding import Encoder

hmda = load("hmda_boston")
print(f"1 means: {hmda.label}; the favourable label is {hmda.favourable}")
y = hmda.y if hmda.favourable == 1 else 1 - hmda.y  # now 1 is the favourable outcome
X, S = hmda.X.drop(columns=hmda.also_in_x), hmda.sensitive["race"]
X_own, X_rest, y_own, y_rest, S_own, S_rest = train_test_split(
    X, y, S, test_size=0.7, random_state=0, stratify=S
)
X_train, X_test, y_train, y_test, S_train, S_test = train_test_split(
    X_rest, y_rest, S_rest, test_size=0.4, random_state=0, stratify=S_rest
)
encoder = Encoder.fit(X_own)
f = make_pipeline(FunctionTransformer(encoder.transform), LogisticRegression(max_iter=1_000))
f.fit(X_own, y_own)  # the patch learns from other people than the model did
print(audit(X_test, y_test, sensitive_features=S_test, estimator=f))

# %%
# Ask for a P-Rule of 0.9, and take no approval away.
g = FairPatch(f, Target(p_rule=0.9, direction="promote_only"))
g.fit(X_train, y_train, sensitive_features=S_train)
print(g.choice_)
print(g.certificate_)
print(g.patch_)

# %%
# All candidates: what each reaches, and how many decisions it changes.
frame = g.frontier_.frame()
asked = next(name for name in frame if name.startswith("p_rule"))
axes = frame.plot.scatter(x=asked, y="change_rate", c="accuracy", cmap="cividis")
axes.axvline(0.8, color="black", linewidth=0.8)

# %%
# The patches to choose from, and what conditions cost:
print(g.menu_)

# %%
# On rows that nothing has seen:
after = audit(X_test, y_test, sensitive_features=S_test, estimator=g)
print("P-Rule", after.comparisons["race"].metrics["p_rule"])
