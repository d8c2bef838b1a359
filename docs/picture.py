"""Draw the README's picture, docs/picture.png: who changes, on a generated portfolio.

python docs/picture.py
"""

from pathlib import Path

import matplotlib.pyplot as plt

from fairpatch import Adversarial, FairPatch, Target, Training
from fairpatch.datasets import Population

people = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
people = people.sample(20_000, seed=0).to_pandas()
X, S = people.drop(columns=["id", "group", "y"]), people["group"]
g = FairPatch("score", Target(p_rule=0.8), learner=Adversarial(training=Training(n_steps=200))).fit(
    X, people["y"], sensitive_features=S
)
some = X.sample(2_500, random_state=0)
ratio, before = g.patch_.ratio(some), some["score"] > 0.5
changed = (g.predict(some) == 1) != before

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), width_ratios=(3, 2))
left.scatter(some["score"][~changed], ratio[~changed], s=6, color="#bdbdbd", label="stays")
left.scatter(some["score"][changed], ratio[changed], s=10, color="#b2182b", label="changes")
left.axhline(0, color="black", linewidth=0.8)
left.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
left.set(xlabel="score of the model you have", ylabel="ratio r(x) of the patch")
left.legend(frameon=False, loc="upper left")

f_rates = (X["score"] > 0.5).groupby(S, observed=True).mean()
g_rates = (X.assign(d=g.predict(X))["d"]).groupby(S, observed=True).mean()
for i, group in enumerate(f_rates.index):
    right.plot([f_rates[group], g_rates[group]], [i, i], color="#2166ac", linewidth=2)
    right.plot(f_rates[group], i, "o", color="white", markeredgecolor="#2166ac", markersize=8)
    right.plot(g_rates[group], i, "o", color="#2166ac", markersize=8)
right.set_yticks(range(len(f_rates)), [f"group {group}" for group in f_rates.index])
right.set(xlim=(0, 0.65), ylim=(-0.6, len(f_rates) - 0.4), xlabel="rate of decision 1")
right.set_title(
    f"P-Rule {f_rates.min() / f_rates.max():.2f} to {g_rates.min() / g_rates.max():.2f}; "
    f"{((X['score'] > 0.5) != (g.predict(X) == 1)).mean():.1%} change",
    fontsize=10,
)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
fig.tight_layout()
fig.savefig(Path(__file__).with_name("picture.png"), dpi=130)
