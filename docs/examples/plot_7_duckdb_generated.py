"""
A score column in DuckDB
========================

A table of 200,000 rows stays in the database. Audit, fit, certificate and decisions are queries;
only counts and a sample leave it.
"""

# %%
import duckdb

from fairpatch import Decision, FairPatch, Target, audit
from fairpatch.datasets import Population
from fairpatch.patch.apply import apply

groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
people = Population(p_rule=0.6, accuracy=0.8, groups=groups).sample(200_000, seed=0)
table = duckdb.sql("SELECT * FROM people")
found = audit(table, "y", sensitive_features=["group"], estimator="score")
print("P-Rule", found.comparisons["group"].metrics["p_rule"])

# %%
# The key tells rows apart: by its hash they are split and sampled, the same rows on every engine.
g = FairPatch("score", Target(p_rule=0.8), max_rows=10_000, decision=Decision(key="id"))
g.fit(table, "y", sensitive_features=["group"])
print(g.certificate_)
print(g.patch_)

# %%
# Decisions, changes and reasons are columns.
decided = apply(g.patch_, table, "score", with_reason=True)
print(
    decided.aggregate(
        '"group", fairpatch_reason, count(*) AS people, avg(fairpatch_decision::INT) AS rate',
        '"group", fairpatch_reason',
    )
    .order('"group", people DESC')
    .df()
)

# %%
# The whole frontier, chosen on other rows of the table.
from fairpatch.choose.frontier_display import FrontierDisplay

display = FrontierDisplay.from_frontier(g.frontier_, choice=g.choice_).plot()
