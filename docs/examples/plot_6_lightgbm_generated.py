"""
Boosted trees as the base model
===============================

LightGBM decides; the patch corrects it; both go into one ONNX graph and give the same
decisions there.
"""

# %%
# A model of repayment. What it learns from is old: of the part-timers who repaid, a quarter was
# written down as lost.
import tempfile
from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier

from fairpatch import Decision, FairPatch, Target
from fairpatch.datasets import load_loans
from fairpatch.engines.onnx import merged_graph, run_graph, save_graph

numbers = ["income", "amount", "tenure", "debt_ratio", "late_payments", "history", "part_time"]


def applicants(rows, seed):
    """Numbers only, as the model wants them; and sex, for the audit."""
    loans = load_loans(rows, seed)
    return loans.assign(part_time=(loans["employment"] == "part-time").astype(int))


old = applicants(20_000, 1)
lost = (old["part_time"] == 1) & (np.random.default_rng(0).random(len(old)) < 0.25)
f = LGBMClassifier(n_estimators=60, num_leaves=15, verbose=-1, random_state=0)
f.fit(old[numbers], old["repaid"] * ~lost)

# %%
# A fit on rows that f was not trained on: f's mistakes on its own training rows are too few.
people = applicants(20_000, 2)
g = FairPatch(f, Target(p_rule=0.8), decision=Decision(threshold=0.8))
g.fit(people[numbers], people["repaid"], sensitive_features=people[["sex"]])
print(g.choice_)
print(g.certificate_)
print(g.patch_)

# %%
# One graph, in double precision: every decision is the same.
fresh = applicants(50_000, 3)[numbers]
path = save_graph(merged_graph(g.patched_, fresh.head(500)), Path(tempfile.mkdtemp()) / "g.onnx")
found = run_graph(path, fresh)["fairpatch_decision"]
print((found == g.predict(fresh)).all(), path.stat().st_size, "bytes")

# %%
# How far do scores move? Those on the diagonal stay as they were.
import matplotlib.pyplot as plt

some = fresh.head(3_000)
fig, ax = plt.subplots(figsize=(5, 4.6))
ax.scatter(f.predict_proba(some)[:, 1], g.predict_proba(some)[:, 1], s=5, color="#2166ac")
ax.plot([0, 1], [0, 1], color="black", linewidth=0.8)
ax.set(xlabel="probability of the base model", ylabel="patched probability")
fig.tight_layout()
