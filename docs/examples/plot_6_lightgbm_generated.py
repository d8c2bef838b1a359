"""
Boosted trees as the base model
===============================

LightGBM decides; the patch corrects it; both go into one ONNX graph and give the same
decisions there.
"""

# %%
import tempfile
from pathlib import Path

from lightgbm import LGBMClassifier

from fairpatch import FairPatch, Target
from fairpatch.datasets import Population
from fairpatch.engines.onnx import merged_graph, run_graph, save_graph

groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
population = Population(p_rule=0.55, accuracy=0.8, groups=groups)
numbers = [c for c in population.columns if c.startswith("num_")]
train = population.sample(20_000, seed=0).to_pandas()
f = LGBMClassifier(n_estimators=60, num_leaves=15, verbose=-1, random_state=0)
f.fit(train[numbers], train["y"])

# %%
# A fit on rows that f was not trained on: f's mistakes on its own training rows are too few.
people = population.sample(20_000, seed=1).to_pandas()
g = FairPatch(f, Target(p_rule=0.7))
g.fit(people[numbers], people["y"], sensitive_features=people["group"])
print(g.choice_)
print(g.certificate_)
print(g.patch_)

# %%
# One graph, in double precision: every decision is the same.
fresh = population.sample(50_000, seed=2).to_pandas()[numbers]
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
