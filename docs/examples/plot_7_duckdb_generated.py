"""
A score column in DuckDB
========================

A table of 200,000 rows stays in the database. Audit, fit, certificate and decisions are queries;
only counts and a sample leave it.
"""

# %%
import duckdb

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.datasets import load_loans
from fairpatch.patch.apply import apply

loans = load_loans(200_000)
table = duckdb.sql("SELECT * FROM loans")
bank, roles = Decision(threshold=0.8), Roles(key="id", exclude=["age"])
said = {"decision": bank, "roles": roles}
found = audit(table, "repaid", sensitive_features=["sex"], estimator="score", **said)
print("P-Rule", found.comparisons["sex"].metrics["p_rule"])

# %%
# The key tells rows apart: by its hash they are split and sampled, the same rows on every engine.
g = FairPatch("score", Target(p_rule=0.8), max_rows=10_000, **said)
g.fit(table, "repaid", sensitive_features=["sex"])
print(g.certificate_)
print(g.patch_)

# %%
# Decisions, changes and reasons are columns.
decided = apply(g.patch_, table, "score", with_reason=True)
print(
    decided.aggregate(
        "sex, fairpatch_reason, count(*) AS people, avg(repaid) AS repaid",
        "sex, fairpatch_reason",
    )
    .order("sex, people DESC")
    .df()
)

# %%
# The whole frontier, chosen on other rows of the table.
frame = g.frontier_.frame()
asked = next(name for name in frame if name.startswith("p_rule"))
axes = frame.plot.scatter(x=asked, y="change_rate", c="accuracy", cmap="cividis")
axes.axvline(0.8, color="black", linewidth=0.8)

# %%
# The patches to choose from, and what conditions cost:
print(g.menu_)
