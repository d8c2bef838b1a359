"""
Comparing baselines
===================

The same rows, every method at all its settings: how many decisions change for which
P-Rule?
One seed and one small data set; the full comparison is on the page of figures.
"""

# %%
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from benchmarks.baselines import Frappe, Lpp, Roc
from fairpatch.commod import Commod
from fairpatch.datasets import load

law = load("law_school")
S = (law.sensitive["race"] == "White").to_numpy().astype(int)
X_train, X_test, y_train, y_test, S_train, S_test = train_test_split(
    law.X, law.y, S, test_size=0.3, random_state=11
)
f = make_pipeline(MinMaxScaler(), LogisticRegression()).fit(X_train, y_train)
before = f.predict(X_test)


def measured(decided):
    rates = [decided[S_test == v].mean() for v in (0, 1)]
    return min(rates) / max(rates), (decided != before).mean()


# %%
# ROC reads the sensitive feature when it decides; the others do not.
found = {"ROC (reads S)": [], "LPP": [], "FRAPPE": [], "COMMOD": []}
for band in np.linspace(0.02, 0.14, 7):
    roc = Roc(f, band).fit(X_train, y_train, sensitive_features=S_train)
    found["ROC (reads S)"].append(measured(roc.predict(X_test, sensitive_features=S_test)))
for alpha in np.geomspace(0.3, 0.01, 8):
    found["LPP"].append(
        measured(Lpp(f, alpha).fit(X_train, y_train, sensitive_features=S_train).predict(X_test))
    )
for strength in np.geomspace(1, 0.01, 5):
    frappe = Frappe(f, strength).fit(X_train, y_train, sensitive_features=S_train)
    found["FRAPPE"].append(measured(frappe.predict(X_test)))
for fair in np.geomspace(0.2, 5, 8):
    g = Commod(f, lambda_fair=fair).fit(X_train, y_train, sensitive_features=S_train)
    found["COMMOD"].append(measured(g.predict(X_test)))
print(g.patch_)

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6.4, 4.2))
for (name, points), marker in zip(found.items(), "^sDo", strict=True):
    rule, changes = np.array(sorted(points)).T
    ax.plot(rule, changes, marker=marker, markersize=5, linewidth=1, label=name)
ax.set(xlabel="P-Rule on test rows", ylabel="share of decisions that change", xlim=(0, 1))
ax.legend(frameon=False)
fig.tight_layout()
