"""
A lender's month
================

Decisions as they are made: three products, knock-outs that no patch may touch, a budget of
approvals, loans that weigh by their size, race as probabilities for a tenth of the applicants, and
two targets at once. A patch is fitted, reviewed and deployed to Postgres, and a month is monitored.
The population is generated.
"""

# %%
# The applicants
# --------------
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from fairpatch import Decision, FairPatch, Roles, Target
from fairpatch.datasets import Population
from fairpatch.engines.deploy import Destination, pack
from fairpatch.life import History, monitor

population = Population(
    p_rule=0.65, accuracy=0.8, proxy=2.0, groups={"white": (0.7, 0.0), "black": (0.3, 1.0)}
)


def applicants(seed, n):
    """A table as a lender has it: of one in ten, race is known by probabilities alone."""
    random = np.random.default_rng(seed)
    frame = population.sample(n, seed=seed).to_pandas().rename(columns={"group": "race"})
    frame["product"] = random.choice(["card", "loan", "mortgage"], n, p=[0.5, 0.3, 0.2])
    frame["policy"] = random.choice(["open", "knock-out"], n, p=[0.93, 0.07])
    frame["exposure"] = np.where(frame["product"] == "mortgage", 3.0, 1.0)
    near = frame["num_0"].fillna(50) < 42
    share = frame["race"].eq("black").groupby(near).mean()
    frame["p_black"] = near.map(share).round(3)
    frame["p_white"] = 1 - frame["p_black"]
    frame["race"] = np.where(random.random(n) < 0.1, None, frame["race"])
    return frame


contract = Decision(approved="approved", denied="declined")
roles = Roles(
    key="id", weight="exposure", probable={"race": {"white": "p_white", "black": "p_black"}}
)
target = Target(
    p_rule=0.75, equal_opportunity_difference=0.3, within="product", approvals="keep",
    locked={"policy": "knock-out"}, safety_margin=1,
)  # fmt: skip
print(target)

# %%
# Fit: one scorecard that keeps the number of approvals, in every product
# -----------------------------------------------------------------------
g = FairPatch("score", target, decision=contract, roles=roles)
g = g.fit(applicants(1, 24_000), "y", sensitive_features=["race"])
print(g.choice_)
print(g.certificate_)

# %%
# Review: the page that a committee reads
# ---------------------------------------
folder = Path(tempfile.mkdtemp())
review = g.review(applicants(3, 8_000), "y", sensitive_features=["race"], refits=0)
print(review.to_html(folder / "review.html").name, "written")

# %%
# Deploy: a view for Postgres, its way back and its tests
# -------------------------------------------------------
place = Destination("applicants", "decided", "id", ("policy",), "postgres")
files = pack(g.patch_, "score", "view", place)
print(", ".join(files))

# %%
# A month: exactly so many approvals, and what became of the target
# -----------------------------------------------------------------
month = applicants(2, 12_000)
budget = int((month["score"] > 0.5).sum())
decided = g.patched_.apply(month, approvals=budget)
made = decided["fairpatch_decision"]
print(f"{made.sum():,} approved of {len(month):,}, as many as the budget of {budget:,}")
print(f"{decided['fairpatch_changed'].mean():.1%} of decisions change, "
      f"{decided['fairpatch_by_places'].sum():,} by the number of places")  # fmt: skip
locked = month["policy"] == "knock-out"
print(f"{int(decided['fairpatch_changed'][locked].sum())} of {locked.sum():,} knock-outs change")

history = History(folder / "history.jsonl")
table = duckdb.from_df(month.assign(made=made))
watched = monitor(
    g.patched_, table, "y", sensitive_features=["race"], target=target, period="2026-10",
    history=history, decided="made",
)  # fmt: skip
print(watched)
