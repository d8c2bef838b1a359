"""Whether certificates keep their promise, and what they cost: many fits on known populations.

A certified patch is applied to a large sample of its population: at most 5 % of all fits may
certify a patch that violates the target there. Beside it how often one is certified, and how many
times as many decisions change as the preferred patch would.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import journal
from fairpatch._tools.tables import Table
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.datasets import Population
from fairpatch.front import FairPatch
from fairpatch.inputs.roles import Roles
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import Metric
from fairpatch.target import Target

TRUTH_ROWS, TRUTH_SEED = 200_000, 10_000
NOT_FEATURES = ["id", "group", "y"]
WEIGHT = "weight"
HEAVY = 10.0
VERDICTS = ("inconclusive", "not met", "shown not to hold", "not reached")
"""What else comes out of a fit."""


@dataclass(frozen=True)
class Setting:
    """A population and what is asked for."""

    rows: int = 3_000
    shares: tuple[float, ...] = (0.7, 0.3)
    """Of the groups, the best off first and the worst off last."""
    population: dict[str, Any] = field(default_factory=dict)
    target: dict[str, Any] = field(default_factory=lambda: {"p_rule": 0.8})
    weighted: bool = False
    """Whether some people weigh ten times as much, approved ones twice as often."""

    def sample(self, rows: int, seed: int) -> Any:
        """People of the population."""
        disadvantage = np.linspace(0.0, 1.0, len(self.shares)).tolist()
        groups = dict(zip("abc", zip(self.shares, disadvantage, strict=True), strict=False))
        options = {"p_rule": 0.6, "accuracy": 0.8, **self.population}
        people = Population(groups=groups, **options).sample(rows, seed=seed).to_pandas()
        if self.weighted:
            often = np.where(people["score"] > 0.5, 0.08, 0.04)
            heavy = np.random.default_rng(seed).random(rows) < often
            people[WEIGHT] = np.where(heavy, HEAVY, 1.0)
        if "within" in self.target:  # the worst off are half as often in the last products
            random = np.random.default_rng([seed, 1])
            product = random.choice(3, rows, p=[0.5, 0.3, 0.2])
            moved = (people["group"] != "a") & (random.random(rows) < 0.5)
            people[self.target["within"]] = np.array(["x", "y", "z"])[np.where(moved, 0, product)]
        return people

    def fit(self, seed: int) -> FairPatch:
        """A patch for it, learned from a sample of its own."""
        people = self.sample(self.rows, seed)
        roles = Roles(weight=WEIGHT) if self.weighted else None
        g = FairPatch("score", Target(**self.target), roles=roles, random_state=seed)
        return g.fit(
            people.drop(columns=NOT_FEATURES), people["y"], sensitive_features=people["group"]
        )


SETTINGS = {
    "as it is": Setting(),
    "half as many rows": Setting(rows=1_500),
    "10,000 rows": Setting(rows=10_000),
    "a small group": Setting(shares=(0.9, 0.1)),
    "three groups": Setting(shares=(0.5, 0.3, 0.2)),
    "few are approved": Setting(population={"rate": 0.15}),
    "far from the target": Setting(population={"p_rule": 0.4}),
    "weights that go with the decision": Setting(weighted=True),
    "difference of approval rates": Setting(target={"demographic_parity_difference": 0.08}),
    "difference of true positive rates": Setting(target={"equal_opportunity_difference": 0.12}),
    "no approval withdrawn": Setting(target={"p_rule": 0.8, "direction": "promote_only"}),
    "close calls only": Setting(target={"p_rule": 0.8, "only_between": (0.1, 0.9)}),
    "as many approvals": Setting(target={"p_rule": 0.8, "approvals": "keep"}),
    "in each of three products": Setting(rows=6_000, target={"p_rule": 0.75, "within": "product"}),
    "standardised over three products": Setting(
        target={"p_rule": 0.8, "within": "product", "strata": "standardised"}
    ),
}


def violates(g: FairPatch, truth: Any) -> bool:
    """Whether the patched decisions miss the target in the population."""
    X = truth.drop(columns=NOT_FEATURES)
    within = g.target.comparisons
    counts = Counts.from_arrays(
        decision=truth["score"] > 0.5,
        new_decision=g.predict(X) == 1,
        y=truth["y"].to_numpy(),
        sensitive_features={"group": truth["group"]},
        sample_weight=truth.get(WEIGHT),
        strata=None if within is None else {name: truth[name] for name in within.columns},
    )
    values = [
        (r, r.metric.of(table).value)
        for r in g.target.fairness_requirements
        if isinstance(r.metric, Metric)
        for table in g.target.compare(counts).values()
    ]
    if g.target.places is not None:
        places = next(r for r in g.target.requirements if r.metric is g.target.places)
        values.append((places, g.target.places.estimate(counts, 0.95).value))
    return any(not r.met(np.array([value]))[0] for r, value in values)


def one(run: journal.Run) -> journal.Records:
    """One fit of the journal."""
    setting = replace(SETTINGS[run["setting"]], rows=run["rows"])
    return [_one(setting, _truth(run["setting"]), run["seed"], pick=run.get("pick", False))]


@cache
def _truth(name: str) -> Any:
    return SETTINGS[name].sample(TRUTH_ROWS, TRUTH_SEED)


def _one(setting: Setting, truth: Any, seed: int, *, pick: bool = False) -> dict[str, Any]:
    """The verdict, the truth, and how many times as many decisions change.

    ``pick`` plays somebody who takes the scorecard where it is certified, else whichever other
    patch of the menu is, and of two the one that is worse in truth.
    """
    try:
        g = setting.fit(seed)
    except TargetNotReachedError:
        return {"verdict": "not reached"}
    verdict = str(g.certificate_.verdict) if g.certificate_ else "not reached"
    if pick and verdict != "certified":
        others = [e.name for e in g.menu_[1:] if e.pickable and e.verdict is Verdict.CERTIFIED]
        if others:
            wrong = any(violates(g.pick(name), truth) for name in others)
            return {"verdict": "certified", "violates": wrong, "times": None, "picked": True}
    if verdict != "certified":
        return {"verdict": verdict}
    before = g.preferred_.change_rate
    times = g.choice_.change_rate / before if before else None
    return {"verdict": verdict, "violates": violates(g, truth), "times": times}


def run(
    fits: int = 500,
    rows: int | None = None,
    settings: Sequence[str] = ("as it is",),
    pick: bool = False,
    out: Path = Path("build/certificate"),
    jobs: int = 1,
) -> dict[str, Any]:
    """Fit, certify, and look at the truth; a journal lets a stopped run go on."""
    todo = [
        {"setting": name, "rows": rows or SETTINGS[name].rows, "seed": seed}
        | ({"pick": True} if pick else {})
        for name in settings
        for seed in range(fits)
    ]
    entries = journal.execute(todo, one, out / "journal.jsonl", jobs=jobs)
    runs = [{"setting": e["run"]["setting"], **e["records"][0]} for e in entries]
    return {"fits": fits, "rows": rows, "runs": runs}


def show(result: dict[str, Any]) -> str:
    """Validity, and the power beside it."""
    lines = []
    for name in dict.fromkeys(r["setting"] for r in result["runs"]):
        mine = [r for r in result["runs"] if r["setting"] == name]
        certified = [r for r in mine if r["verdict"] == "certified"]
        extra = [r["times"] for r in certified if r["times"] is not None]
        violating = sum(r["violates"] for r in certified)
        times = f"{np.median(extra):.2f}" if extra else "-"
        rows = result["rows"] or SETTINGS[name].rows
        others = [sum(r["verdict"] == v for r in mine) / len(mine) for v in VERDICTS]
        lines.append(
            [name, f"{rows:,}", str(len(mine)), f"{len(certified) / len(mine):.3f}",
             f"{violating / len(mine):.3f}", times, *(f"{share:.3f}" for share in others)]
        )  # fmt: skip
    header = ["setting", "rows", "fits", "certified", "of all, violating", "x changes", *VERDICTS]
    return Table("Certificates on populations that are known", header, lines).text()
