"""Draw the README's picture, docs/picture.png: approvals and repayment, before and after a patch.

python docs/picture.py
"""

from pathlib import Path

import matplotlib.pyplot as plt

from fairpatch import Decision, FairPatch, Target
from fairpatch.datasets import load_loans

BEFORE, AFTER = "#7b8794", "#0072b2"

loans = load_loans()
known, later = loans[:14_000], loans[14_000:]
g = FairPatch("score", Target(p_rule=0.8), decision=Decision(threshold=0.8), exclude=["age"])
g.fit(known, "repaid", sensitive_features=["sex"])
decided = g.patched_.apply(later)
before, after = later["score"] > 0.8, decided["fairpatch_decision"]
changed = decided["fairpatch_changed"]

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=(1, 1))
for i, sex in enumerate(("female", "male")):
    own = later["sex"] == sex
    for offset, which, colour in ((0.19, before, BEFORE), (-0.19, after, AFTER)):
        share = which[own].mean()
        left.barh(i + offset, share, 0.36, color=colour)
        left.text(share + 0.01, i + offset, f"{share:.0%}", va="center", fontsize=9)
rates = {name: [which[later["sex"] == sex].mean() for sex in ("female", "male")]
         for name, which in (("before", before), ("after", after))}  # fmt: skip
left.set_yticks((0, 1), ("women", "men"))
left.set(xlim=(0, 0.75), title="Who is approved")
for at, name in ((1.19, "before"), (0.81, "after")):
    low, high = rates[name]
    left.text(0.01, at, f"{name}, P-Rule {low / high:.2f}", color="white", va="center", fontsize=9)
who = (
    (f"approved as before ({before.mean():.0%})", before, BEFORE),
    (f"newly approved ({changed.mean():.1%})", changed, AFTER),
    (f"still declined ({(~after).mean():.0%})", ~after, "#d9dee3"),
)
for i, (_, which, colour) in enumerate(reversed(who)):
    share = later["repaid"][which].mean()
    right.barh(i, share, 0.6, color=colour)
    right.text(share + 0.01, i, f"{share:.0%}", va="center", fontsize=9)
right.set_yticks(range(3), [name for name, *_ in reversed(who)])
right.set(xlim=(0, 1.08), title="How many of them repay")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
fig.tight_layout()
fig.savefig(Path(__file__).with_name("picture.png"), dpi=130)
