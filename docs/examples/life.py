"""
Two years in production
=======================

Twenty-four months of a patched model: a guarantee that is checked every month, labels that come
three months late, two retrainings, and one month in which something breaks. The population is
generated, so what is true is known.
"""

# %%
# A model, a patch, and a life
# ----------------------------
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpatch import BaseModel, FairPatch, PatchedModel, Target
from fairpatch.datasets import Population
from fairpatch.life import History, Ledger, monitor, refit, watch
from fairpatch.life.history_page import history_page
from fairpatch.report.signed import patch_hash

population = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
numbers = ["num_0", "num_1", "num_2", "num_3", "num_4"]


def people(seed, n=3_000):
    frame = population.sample(n, seed=seed).to_pandas().drop(columns=["id", "score"])
    return frame.fillna({name: frame[name].median() for name in numbers})


def trained(rows):
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(rows[numbers], rows["y"])


def scored(rows, models):
    return rows.assign(**{name: f.predict_proba(rows[numbers])[:, 1] for name, f in models.items()})


models = {"score_1": trained(people(1))}
target = Target(p_rule=0.75, equal_opportunity_difference=0.2, safety_margin=1)
first = FairPatch("score_1", target).fit(
    scored(people(2, 6_000), models), "y", sensitive_features=["group"]
)
print(first.certificate_)

folder = Path(tempfile.mkdtemp())
history, ledger = History(folder / "history.jsonl"), Ledger(folder / "ledger.jsonl")
g = first.patched_
ledger.append(
    "fitted", patch_hash(g.patch), since="2026-01-01",
    facts={"target": str(target), "change_rate": round(first.choice_.change_rate, 4)},
)  # fmt: skip
ledger.append("applied", patch_hash(g.patch), since="2026-01-01")

# %%
# Twenty-four months
# ------------------
# In the fourteenth a feed loses part of what the score is made of, for people of group b alone, as
# it happens. The model is retrained after eight months and after sixteen.
months = [f"{2026 + t // 12}-{t % 12 + 1:02}" for t in range(24)]
kept, words = {}, []
for t, month in enumerate(months):
    if t in (8, 16):
        name = f"score_{1 + t // 8}"
        models[name] = trained(pd.concat([kept[m] for m in months[t - 8 : t]])[[*numbers, "y"]])
        found = refit(
            g, name, scored(people(50 + t, 6_000), models), "y", sensitive_features=["group"],
            target=target, exclude=[*models],
        )  # fmt: skip
        print(month, found, sep="\n")
        option, before = found.recommended or found.options["learn"], patch_hash(g.patch)
        g = PatchedModel(BaseModel(name), option.model.patch)
        ledger.append(
            "refitted", patch_hash(g.patch), since=f"{month}-01",
            facts={"way": option.way, "churn": round(option.churn.value, 4), "after_patch": before},
        )  # fmt: skip
        ledger.append("applied", patch_hash(g.patch), since=f"{month}-01")
    rows = scored(people(100 + t), models)
    if month == "2027-02":
        hit = (rows["group"] == "b") & (np.arange(len(rows)) % 3 > 0)
        rows.loc[hit, [*models]] *= 0.4
    kept[month] = rows
    own = {"sensitive_features": ["group"], "target": target, "history": history}
    now = monitor(g, rows.drop(columns="y"), period=month, **own)
    late = months[t - 3] if t >= 3 else None
    if late is not None and not (t - 3 < 8 <= t or t - 3 < 16 <= t):
        now = monitor(g, kept[late], "y", period=late, **own)
    words.append(now.verdict)
    ledger.append("monitored", patch_hash(g.patch), facts={"period": month, "verdict": now.verdict})
print(dict(zip(months, words, strict=True)))
print(now)

# %%
# What was so
# -----------
# The auditor's question is one call. The history holds counts only; the page draws it.
for day in ("2026-05-15", "2027-03-15", "2027-10-15"):
    found = ledger.in_force(day)
    print(day, found.patch[:8], [e.event for e in found.entries if e.event != "monitored"])
print(f"at most {ledger.changes_since_first():.1%} of decisions differ from the first model's")
page = folder / "history.html"
page.write_text(history_page(history, target, ledger.entries()), encoding="utf-8")
print(f"{page.name}: {page.stat().st_size / 1000:.0f} kB, {len(ledger.verify())} entries")

# %%
# The interval may be looked at every month: it is right for all of them together.
fig, ax = plt.subplots(figsize=(7, 3.6))
for patch in dict.fromkeys(p.patch for p in history):
    promise = watch(history, target, patch=patch).guarantees[0]
    at = [months.index(name) for name in promise.periods]
    ax.fill_between(at, promise.stands.low, promise.stands.high, alpha=0.25)
    own = {p.period: p.shown["metrics"]["group"]["p_rule"]["value"] for p in history.of(patch)}
    ax.plot(at, [own[name] for name in promise.periods], "o", markersize=4)
ax.axhline(target.p_rule, color="black", linestyle="--", linewidth=1)
ax.set_xticks(range(0, 24, 3), months[::3])
ax.set(ylabel="P-Rule", ylim=(0.4, 1.02), title="Three patches, two years, one broken month")
fig.tight_layout()
