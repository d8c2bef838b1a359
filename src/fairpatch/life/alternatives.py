"""The record of alternatives: what else was tried, so that nobody need take our word for it.

A regulator asks three things of a model with a disparity: how large it is, which business need it
serves, and whether a less discriminatory alternative serves that need as well. What the need is and
how much of it may be given up is fixed in a plan *before* anything is tried; the plan names every
try; the record says what came of each. Nothing in it depends on the day or the machine: whoever has
the rows gets the same file again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.hints import did_you_mean
from fairpatch._tools.smallest_count import MIN_PEOPLE, full_tens
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.frontier import fewest, group_probabilities
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected, reviewed
from fairpatch.front import FairPatch
from fairpatch.life.plan import NEARLY, Need, Plan, Try
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import correct_rate
from fairpatch.measure.scores import group_auc
from fairpatch.patch import Patch
from fairpatch.report.figures import (
    Count,
    CountRounding,
    Figure,
    ReviewPart,
    apart,
    decided,
    figure,
    least,
)
from fairpatch.report.proxy_section import chance_of_better
from fairpatch.report.signed import patch_hash
from fairpatch.target import Target

COMPARED = 1 / 3
"""Of the rows, those that all tries are compared on: none of them has learned from these."""


class Tried(ReviewPart):
    """What came of one try, on the comparison rows; figures by full tens of people."""

    name: str
    """As the plan has it."""
    reached: bool
    """Whether a patch was found at all."""
    why_not: str | None
    """Why none was found."""
    verdict: str | None
    """Of its certificate, on rows of its own."""
    met: bool
    """Whether it meets the target: on the comparison rows, or certified and not refuted there."""
    by_chance: bool = False
    """Whether the comparison rows miss the target by no more than chance explains."""
    same_as: str | None = None
    """An earlier try that gave the same patch; it is counted once."""
    kept: bool
    """Whether the business need is kept within its tolerance."""
    changed: Count | None
    """How many decisions change."""
    fairness: dict[str, Figure]
    """What was asked for first, by feature."""
    accuracy: Figure | None
    """Share of decisions that equal the outcome."""
    need: float | None
    """The business metric beside that of the base model: points of accuracy by full tens of people,
    or by which share it is better, to two digits."""
    columns: list[str]
    """The columns that it reads."""
    proxy: float | None
    """How well its points predict the group, as an AUC to one digit."""
    patch_sha256: str | None
    """Of its patch's file."""


class Disparity(ReviewPart):
    """The base model's figure that the target limits."""

    feature: str
    """The sensitive feature."""
    metric: str
    """What it is called."""
    value: Figure
    """Of the base model."""
    limit: float
    """What was asked."""


class AlternativesRecord(ReviewPart):
    """The record."""

    format: Literal["fairpatch.alternatives"] = "fairpatch.alternatives"
    """What this is."""
    version: Literal[2] = 2
    """Of this format."""
    plan: Plan
    """What was fixed before."""
    plan_sha256: str
    """Of the plan's file."""
    disparity: list[Disparity]
    """Step 1: what the base model does."""
    business: str
    """Step 2: what the business needs, and how much may be given up."""
    base: Figure
    """The base model's accuracy on the comparison rows."""
    tried: list[Tried]
    """Step 3: everything that was tried, in the plan's order."""
    chosen: str | None
    """Which was chosen; null where none serves."""
    why: str
    """Why that one, or why none."""
    stopped: str
    """What ended the search."""
    chance: float
    """With 95 % confidence, one more try is better than the best of these at most this often."""
    fewest_known: float | None
    """The fewest changes, as a share, for any method that knows everybody's group."""
    fewest_blind: float | None
    """The share to be expected at best without it."""
    people: int
    """How many rows they were compared on, full tens."""
    versions: dict[str, str]
    """What it was made with."""


def search(
    plan: Plan,
    make: Callable[[Target, bool], FairPatch],
    X: Any,
    say: Callable[[str], object] = lambda _: None,
) -> tuple[AlternativesRecord, Patch | None]:
    """Try what the plan says; gives the record, and the patch that was chosen.

    ``make`` gives an estimator for a target, whose points keep the base model's order or not.
    X holds the label and the sensitive features under the plan's names. ``say`` is told which try
    is being made.
    """
    table = nw.from_native(X, eager_only=True)
    order = np.random.default_rng(plan.seed).permutation(len(table))
    cut = int(len(table) * COMPARED)
    compared, learned = (
        table[np.sort(part).tolist()].to_native() for part in (order[:cut], order[cut:])
    )
    sensitive, target = list(plan.sensitive), Target(**plan.target)
    money = Money.of(compared, plan.need)  # before the long work: its column may be missing
    results: list[tuple[Try, FairPatch | None, str | None]] = []
    for i, one in enumerate(plan.tries):
        say(f"{i + 1} of {len(plan.tries)}: {one.name}")
        asked = target.replace(**one.target)
        try:
            g = make(asked, one.keep_order)
            g.fit(learned, plan.label, sensitive_features=sensitive)
            results.append((one, g, None))
        except TargetNotReachedError as error:
            results.append((one, None, str(error)))
    first = next((g for _, g, _ in results if g is not None), None)
    if first is None:  # that nothing serves is a record, too: of what f itself does
        trivial = {r.metric.name: 0.001 if r.metric.at_least else 0.999
                   for r in target.fairness_requirements}  # fmt: skip
        first = make(target.replace(**trivial, max_changes=1.0), True)
        first.fit(learned, plan.label, sensitive_features=sensitive)
    rows = first.patched_.rows(compared, plan.label, sensitive)
    counts = decided(rows, rows.f > 0)
    published = reviewed(counts, target.metrics)
    tried = _told_once(
        [_tried(one, g, why, rows, target, plan.need, money) for one, g, why in results]
    )
    chosen, why = _choose(tried, target, plan.need)
    large = {f: counts.by(f).known().large(MIN_PEOPLE) for f in counts.features}
    q = group_probabilities(rows, first.fitted_.wide_encoder)
    known, blind = fewest(target, large, q, rows.f > 0)
    record = AlternativesRecord(
        plan=plan,
        plan_sha256=plan.sha256,
        disparity=_disparity(published, target),
        business=_business(plan.need, observed=bool((rows.y != UNKNOWN).all())),
        base=figure(published.rate(correct_rate("f"))),
        tried=tried,
        chosen=chosen,
        why=why,
        stopped=f"All {len(plan.tries)} tries of the plan were made.",
        chance=chance_of_better(max(sum(t.reached and t.same_as is None for t in tried), 1)),
        fewest_known=None if known is None else round(full_tens(known.changes) / known.people, 3),
        fewest_blind=None if blind is None else round(blind, 3),
        people=full_tens(len(rows)),
        versions={p: version(p) for p in ("fairpatch", "numpy", "scikit-learn")},
    )
    patch = next((g.patch_ for one, g, _ in results if g is not None and one.name == chosen), None)
    return record, patch


@dataclass(frozen=True, eq=False)
class Money:
    """What is at risk with each person, and what is earned."""

    amount: Floats | None = None
    gain: Floats | None = None

    @classmethod
    def of(cls, X: Any, need: Need) -> "Money":
        """The columns that a business metric is about; a gap is nobody's zero."""
        wanted = {"expected_loss": ("amount",), "profit": ("amount", "gain")}.get(need.metric, ())
        return cls(**{what: _column(X, getattr(need, what), what, need) for what in wanted})


def _column(X: Any, name: str | None, what: str, need: Need) -> Floats:
    if name is None:
        said = {"amount": "what is at risk", "gain": "what is earned"}[what]
        raise ValueError(f"{need.metric} needs {what}: the column of {said}")
    table = nw.from_native(X, eager_only=True)
    if name not in table.columns:
        raise ValueError(
            f"{what} names {name!r}, which is not among the columns"
            f"{did_you_mean(name, table.columns)}. A column that is ignored is not read: "
            "exclude keeps it from the patch and leaves it there"
        )
    values = np.asarray(table[name].cast(nw.Float64).to_numpy(), np.float64)
    gaps = int((~np.isfinite(values)).sum())
    if gaps:
        raise ValueError(
            f"{what} names {name!r}, which has no value in {gaps:,} of {len(values):,} rows: it "
            "must say what each applicant would cost or earn, whatever was decided, as the amount "
            "that was applied for does"
        )
    return values


def _tried(
    one: Try, g: FairPatch | None, why: str | None, rows: Rows, target: Target, need: Need,
    money: Money,
) -> Tried:  # fmt: skip
    if g is None:
        return Tried(
            name=one.name, reached=False, why_not=why, verdict=None, met=False, kept=False,
            changed=None, fairness={}, accuracy=None, need=None, columns=[], proxy=None,
            patch_sha256=None,
        )  # fmt: skip
    patch, tens = g.patch_, CountRounding()
    decision = patch.decide(rows.X, rows.f)
    counts = decided(rows, decision)
    met, _ = keeps(rows, decision, target)
    certified = g.certificate_ is not None and g.certificate_.verdict.holds
    by_chance = not met and certified and not _refuted(counts, target)
    worse = _given_up(need, rows, patch, decision, money)
    return Tried(
        name=one.name,
        reached=True,
        why_not=None,
        verdict=None if g.certificate_ is None else str(g.certificate_.verdict),
        met=met or by_chance,
        by_chance=by_chance,
        kept=worse <= need.tolerance,
        changed=tens.count(np.sum(decision != (rows.f > 0))),
        fairness={f: apart(target.metrics[0], counts, f, tens) for f in counts.features},
        accuracy=tens.share(
            float(
                np.average(np.where(decision, rows.good, 1 - rows.good), weights=rows.sample_weight)
            )
            * len(rows),
            float(len(rows)),
        ),
        need=_by_tens(need, -worse, len(rows)),
        columns=[column.name for column in patch.columns],
        proxy=max(round(group_auc(patch.points(rows.X), codes), 1) for codes in rows.s.codes.T),
        patch_sha256=patch_hash(patch),
    )


def _refuted(counts: Counts, target: Target) -> bool:
    """Whether the comparison rows show that the target does not hold."""
    return any(
        r.metric.judge(counts.by(f).known(), r.limit, target.confidence).verdict is Verdict.REFUTED
        for r in target.fairness_requirements
        if isinstance(r.metric, Metric)
        for f in counts.features
    )


def _told_once(tried: list[Tried]) -> list[Tried]:
    """Each with the first try that gave the same patch."""
    first: dict[str, str] = {}
    found = []
    for t in tried:
        same = None if t.patch_sha256 is None else first.setdefault(t.patch_sha256, t.name)
        found.append(t.model_copy(update={"same_as": same if same != t.name else None}))
    return found


def keeps(rows: Rows, decision: Bools, target: Target) -> tuple[bool, float]:
    """Whether decisions meet the target; and by how much they miss it, at worst."""
    counts, missed = decided(rows, decision), 0.0
    for r in target.fairness_requirements:
        for feature in counts.features:
            value = r.metric.of(counts.by(feature)).value  # type: ignore[union-attr]
            if value is None:
                return False, np.inf
            missed = max(missed, (r.limit - value) if r.metric.at_least else (value - r.limit))
    return missed <= 0, missed


def _given_up(need: Need, rows: Rows, patch: Patch, decision: Bools, money: Money) -> float:
    """How much worse the business metric gets: points, or a share of what it was."""
    before, good = rows.f > 0, rows.good
    w = np.ones(len(rows)) if rows.sample_weight is None else np.asarray(rows.sample_weight)
    if need.metric == "accuracy":
        right, then = (
            np.average(np.where(d, good, 1 - good), weights=w) for d in (before, decision)
        )
        return float(right - then)
    if need.metric in ("auc", "ks"):
        one, two = (_parting(need, rows, score, w) for score in (rows.f, _patched(rows, patch)))
        return one - two
    if need.metric == "approvals":
        return float(1 - w[decision].sum() / max(w[before].sum(), 1e-9))
    loss = np.zeros(len(rows)) if money.amount is None else money.amount * (1 - good)
    if need.metric == "profit":
        earned = np.zeros(len(rows)) if money.gain is None else money.gain * good
        then, now = (float(np.sum((w * (earned - loss))[d])) for d in (before, decision))
        return (then - now) / abs(then) if then else float(now < 0)
    then, now = (float(np.sum((w * loss)[d])) for d in (before, decision))
    return now / then - 1 if then else float(now > 0)


def _patched(rows: Rows, patch: Patch) -> Floats:
    return np.asarray(patch.logits(rows.X, rows.f))


def _parting(need: Need, rows: Rows, score: Floats, w: Floats) -> float:
    """AUC, or the greatest distance between the distributions of the known outcomes."""
    from sklearn.metrics import roc_auc_score, roc_curve  # noqa: PLC0415 two seconds to import

    told = np.flatnonzero(rows.y != UNKNOWN)
    y = rows.y[told]
    if len(np.unique(y)) < 2:
        raise ValueError(f"{need.metric} needs rows of both outcomes to compare: there are none")
    if need.metric == "auc":
        return float(roc_auc_score(y, score[told], sample_weight=w[told]))
    fpr, tpr, _ = roc_curve(y, score[told], sample_weight=w[told])
    return float(np.max(tpr - fpr))


def _by_tens(need: Need, better: float, people: int) -> float:
    """What may be shown of it: accuracy by full tens of people, a share to two digits."""
    if need.metric in ("auc", "ks"):
        return round(better, 3)
    if need.metric != "accuracy":
        return round(better, 2)
    return round(full_tens(abs(better) * people) / people * (1 if better > 0 else -1), 3)


def _choose(tried: list[Tried], target: Target, need: Need) -> tuple[str | None, str]:
    """By the plan's rule; tens of people, so that the record itself shows why."""
    serve = [t for t in tried if t.reached and t.met and t.kept]
    if not serve:
        met = sum(t.met for t in tried)
        return None, (
            f"None qualifies: {met} of {len(tried)} tries meet the target"
            + (", and none of these keeps the business need within its tolerance." if met else ".")
        )
    near, words = serve, "changes the fewest decisions"
    if need.prefer == "least_disparity":
        reached = [_worst(t, target) for t in serve]
        near = [t for t, v in zip(serve, reached, strict=True) if v >= max(reached) - NEARLY]
        words = "leaves the least disparity, or nearly, and of those changes the fewest decisions"
    best = min(near, key=lambda t: 0 if t.changed is None else least(t.changed))
    others = [t for t in tried if t.reached and not (t.met and t.kept)]
    return best.name, (
        f"{len(serve)} of {len(tried)} tries meet the target and keep the business need; this one "
        f"{words}. {len(others)} others were found and do not qualify."
    )


def _worst(tried: Tried, target: Target) -> float:
    """What was asked for first, of the feature that is worst off; more is fairer."""
    sign = 1 if target.metrics[0].at_least else -1
    return min(sign * (figure.middle or 0.0) for figure in tried.fairness.values())


def _disparity(table: Protected, target: Target) -> list[Disparity]:
    return [
        Disparity(
            feature=feature,
            metric=r.metric.words,
            value=figure(table.metric(r.metric, feature, model="f")),  # type: ignore[arg-type]
            limit=r.limit,
        )
        for r in target.fairness_requirements
        for feature in table.counts.features
    ]


def _business(need: Need, *, observed: bool) -> str:
    if need.metric == "accuracy":
        seen = "Accuracy" if observed else "Expected accuracy"
        return f"{seen}, which may fall by at most {need.tolerance:g}."
    if need.metric == "approvals":
        return f"The number of approvals, which may fall by at most {need.tolerance:.0%}."
    if need.metric in ("auc", "ks"):
        what = "The AUC" if need.metric == "auc" else "The KS distance"
        return f"{what} of the score, which may fall by at most {need.tolerance:g}."
    if need.metric == "profit":
        return (
            f"Profit, the sum of {need.gain} over those approved with the good outcome less that "
            f"of {need.amount} over the others, which may fall by at most {need.tolerance:.0%}."
        )
    return (
        f"Expected loss, the sum of {need.amount} over those approved without the good outcome, "
        f"which may rise by at most {need.tolerance:.0%}."
    )
