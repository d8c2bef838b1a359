"""Beyond the paper: all methods on nine problems and many seeds, at equal fairness on test rows.

A method's curve goes from f to much fairness. Where it first reaches a level of fairness on the
test rows, by interpolation between the two models on either side, its changes and its accuracy are
compared: so nobody looks better for promising less. Each bound is for that very level, on the same
rows. Methods that choose among many models choose on rows of their own, then turn their dial.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.beyond_table import show
from benchmarks.journal import Records, Run, execute, write_results
from benchmarks.methods import BASELINES, FINER, sweep
from benchmarks.problems import PROBLEMS, Parts, parts
from benchmarks.sample import Sample
from fairpatch._arrays import Bools
from fairpatch.card.learner import Card
from fairpatch.choose.choice import options
from fairpatch.choose.dial import trace
from fairpatch.choose.fit import fit_target, train_frontier
from fairpatch.choose.learner import Task
from fairpatch.choose.not_reached import TargetNotReachedError
from fairpatch.choose.pool import dial_ratio
from fairpatch.choose.target import Target
from fairpatch.commod.adversarial import Adversarial
from fairpatch.commod.problem import Grid
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Crossed, Splits
from fairpatch.decision import Decision
from fairpatch.measure.counts import Counts
from fairpatch.measure.direction import untouched
from fairpatch.measure.metric import MISTREATMENT, P_RULE, Metric
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder

LEVELS = (0.7, 0.8, 0.9)
"""P-Rules; for equalized odds, how much of f's DM has to go."""
WITHIN = 0.02
GRID = Grid.of(np.geomspace(0.3, 100, 16), (0.3, 1.0), (0.01,))
OURS: dict[str, dict[str, Any]] = {
    "fairpatch": {},
    "fairpatch, accurate": {"price_per_change": 0.0},
    "fairpatch, order not kept": {"keep_order": None},
}
"""Scorecards: as by default, where accuracy is preferred, and free of the base model's order."""
FAIRNESS = {"demographic_parity": P_RULE, "equalized_odds": MISTREATMENT}

__all__ = ["run", "show"]


def runs(
    problems: list[str], seeds: int, bases: list[str], methods: list[str], fairness: str
) -> list[Run]:
    """Data sets x methods x seeds x base models, as a declaration."""
    return [
        {
            "experiment": "beyond",
            "fairness": fairness,
            "problem": p,
            "base": base,
            "seed": seed,
            "method": method,
        }
        for base in bases
        for seed in range(seeds)
        for p in problems
        for method in methods
    ]


def work(run: Run) -> Records:
    """One method on one split: what it does where it reaches each level."""
    own = parts(run["problem"], run["seed"], run["base"])
    metric = FAIRNESS[run["fairness"]]
    levels = _levels(own.test, metric)
    own_way: dict[str, Callable[..., Records]] = {"bound": _bounds, "COMMOD": _adversarial}
    own_way |= dict.fromkeys(OURS, _push)
    find = own_way.get(run["method"], _curve)
    return find(run, own, metric, levels)


def _levels(test: Sample, metric: Metric) -> dict[float, float]:
    """What each level asks of the metric: a P-Rule as it is, of a gap what is left of f's."""
    if metric.how == "ratio":
        return {level: level for level in LEVELS}
    before = figures(test, test.f_logit > 0, metric)["value"]
    return {level: (1 - level) * float(before) for level in LEVELS}


def figures(sample: Sample, after: Bools, metric: Metric) -> dict[str, Any]:
    """What decisions do on some rows, and how those turn out who are promoted or left denied."""
    before, y = sample.f_logit > 0, sample.y
    counts = Counts.from_arrays(
        decision=before, new_decision=after, y=y, sensitive_features=sample.s
    )
    value = metric.of(counts).value
    return {
        "value": np.nan if value is None else float(value),
        "accuracy": float(np.mean(after == y)),
        "changes": float(np.mean(after != before)),
        "promoted": float(np.mean(after & ~before)),
        "promoted_good": float(np.mean(after & ~before & (y == 1))),
        "denied": float(np.mean(~after & ~before)),
        "denied_good": float(np.mean(~after & ~before & (y == 1))),
    }


def _curve(run: Run, own: Parts, metric: Metric, levels: dict[float, float]) -> Records:
    """A baseline, learned from all rows that ours may learn from, along its dial."""
    models = sweep(
        run["method"], own.split(own.both), run["fairness"], run["seed"], grid=GRID, n_concepts=3,
        values=FINER.get(run["method"]),
    )  # fmt: skip
    points = [figures(own.test, own.test.f_logit > 0, metric)]
    points += [figures(own.test, model.decide(own.test), metric) for model in models]
    return [{"level": level, **crossing(points, metric, at)} for level, at in levels.items()]


def crossing(points: list[dict[str, Any]], metric: Metric, limit: float) -> dict[str, Any]:
    """Where a curve first reaches the limit, between the two points on either side."""
    kept = [p for p in points if not np.isnan(p["value"])]
    met = [bool(metric.met(p["value"], limit)) for p in kept]
    if True not in met:
        return {"reached": False}
    k = met.index(True)
    if not k:
        return {"reached": True, **kept[0]}
    one, two = kept[k - 1], kept[k]
    share = (limit - one["value"]) / (two["value"] - one["value"])
    return {"reached": True, **{n: one[n] + share * (two[n] - one[n]) for n in one}}


def _adversarial(_: Run, own: Parts, metric: Metric, levels: dict[float, float]) -> Records:
    """The paper's learner: candidates chosen on the selection rows, the dial turned on the tests.

    As ever: of those within 0.02 of the best accuracy, the fewest changes.
    """
    splits = Splits(_rows(own.learn), _rows(own.select))
    targets = {level: _target(metric, limit) for level, limit in levels.items()}
    first = next(iter(targets.values()))
    frontier = train_frontier(
        Task(splits, Encoder.fit(own.learn.X), Decision(), first), Adversarial(GRID)
    )[0]
    found = []
    for (level, limit), choices in zip(
        levels.items(), options(frontier, list(targets.values())), strict=True
    ):
        best = max((c.accuracy for c in choices), default=0.0) - WITHIN
        near = [c for c in choices if c.accuracy >= best]
        record: dict[str, Any] = {"reached": False}
        if near:
            m = min(near, key=lambda c: (c.change_rate, -c.accuracy)).model
            record = turned(frontier.candidates.patch(m), own.test, metric, limit)
        found.append({"level": level, **record})
    return found


def turned(patch: Patch, test: Sample, metric: Metric, limit: float) -> dict[str, Any]:
    """A patch turned up until it reaches the limit on these rows."""
    direction = patch.direction
    ratio = dial_ratio(patch, patch.points(test.X), test.f_logit)
    dial = trace(ratio, test.f_logit, test.y, test.s, direction=direction)
    met = np.flatnonzero(metric.met(metric.along(dial), limit))
    if not len(met):
        return {"reached": False}
    r = 1 + dial.strength[met[0]] * (ratio - 1)
    before = test.f_logit > 0
    after = np.where(untouched(direction, before), before, before ^ (r < 0))
    return {"reached": True, **figures(test, after, metric)}


def _push(run: Run, own: Parts, metric: Metric, levels: dict[float, float]) -> Records:
    """Ours: a card for each level, chosen on the rows that it was cross-fitted on."""
    learned = own.both
    splits = Splits(_rows(own.learn), _rows(own.select), Crossed(_rows(learned)))
    encoder = Encoder.fit(learned.X)
    options: dict[str, Any] = OURS[run["method"]]
    learner = Card(keep_order=options.get("keep_order", "numbers"))
    found: Records = []
    for level, limit in levels.items():
        target = _target(metric, limit).replace(
            price_per_change=options.get("price_per_change", 1.0)
        )
        try:
            task = Task(splits, encoder, Decision(), target, run["seed"], ask=own.learn.f.logits)
            fitted = fit_target(task, learner)
        except TargetNotReachedError:
            found.append({"level": level, "reached": False})
            continue
        columns = len(fitted.patch.columns)
        # where f meets the level on the learning rows the card is turned off: turn it on again
        own_card = fitted.patch.with_strength(1.0)
        record: dict[str, Any] = turned(own_card, own.test, metric, limit)
        at_once = figures(own.test, fitted.patch.decide(own.test.X, own.test.f_logit), metric)
        found.append(
            {"level": level, **record, "columns": columns, "delivered": at_once["value"],
             "direction": fitted.patch.direction}
        )  # fmt: skip
    return found


def _bounds(_: Run, own: Parts, metric: Metric, levels: dict[float, float]) -> Records:
    """The fewest changes with S known for each level, on the test rows."""
    test = own.test
    counts = Counts.from_arrays(decision=test.f_logit > 0, y=test.y, sensitive_features=test.s)
    found = {level: metric.fewest(counts, limit) for level, limit in levels.items()}
    return [
        {"level": level, "reached": b is not None, "changes": b and b.change_rate}
        for level, b in found.items()
    ]


def _target(metric: Metric, limit: float) -> Target:
    asked: dict[str, Any] = {metric.name: limit}
    return Target(**asked)


def _rows(sample: Sample) -> Rows:
    return Rows.of(sample.X, sample.y, sample.s, f_logit=sample.f_logit)


def run(
    out: Path = Path("build/beyond"),
    seeds: int = 20,
    problems: list[str] | None = None,
    bases: list[str] | None = None,
    methods: list[str] | None = None,
    fairness: str = "demographic_parity",
    jobs: int = 2,
) -> dict[str, Any]:
    """Everything that the journal does not have yet."""
    every = ["bound", *OURS, "COMMOD", *BASELINES]
    todo = runs(
        problems or list(PROBLEMS), seeds, bases or ["logistic"], methods or every, fairness
    )
    out.mkdir(parents=True, exist_ok=True)
    entries = execute(todo, work, out / "journal.jsonl", jobs=jobs, progress=True)
    write_results(entries, out)
    return {"out": str(out)}
