"""A retrained model and its old patch: keep it, rescale it, or learn again near it.

All three are judged on the same people, whom none of them has seen, each at a third of the error:
the target, changes against the new f, and churn, the decisions that differ from the previous ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Ints
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch._tools.tables import Table
from fairpatch.card.learner import retune
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.fit import Fitted, with_fingerprint
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.data.outcomes import outlook_of
from fairpatch.data.rows import Rows
from fairpatch.data.splits import CertificationSample, count_rows
from fairpatch.disclose.protected import reviewed
from fairpatch.identity.fingerprint import with_probe
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.rates import changed_rate, share
from fairpatch.patch import Patch
from fairpatch.patched import PatchedModel
from fairpatch.target import Target

Way = Literal["keep", "rescale", "learn"]
WAYS: tuple[Way, ...] = ("keep", "rescale", "learn")
WORDS = {
    "keep": "the old patch as it is",
    "rescale": "with other points needed",
    "learn": "learned again",
}


DEARER, ABOUT = 1.25, 0.005
"""Changes are about as few up to so many times the fewest, or so much more of all decisions."""


def _most(share: Estimate) -> float:
    """A share, or the most that it may be."""
    known = share.value if share.within is None else share.within[1]
    return 1.0 if known is None else known


@dataclass(frozen=True, eq=False)
class RefitOption:
    """One way to go on, and what it does on people whom it has not seen."""

    way: Way
    model: PatchedModel
    certificate: Certificate
    changes: Estimate
    """Against the new f."""
    churn: Estimate
    """Against what was decided until now, of people of whom that is known."""
    max_churn: float | None = None
    exact_churn: float | None = None
    """For the budget; what is told of it may be less."""

    @property
    def within(self) -> bool:
        """Whether it keeps the budget for churn, as far as these people tell."""
        if self.max_churn is None:
            return True
        return self.exact_churn is not None and self.exact_churn <= self.max_churn

    @property
    def good(self) -> bool:
        """Whether it is certified within the budget."""
        return self.within and self.certificate.verdict.holds


@dataclass(frozen=True, eq=False)
class Refit:
    """Every way that there is, and why others are none."""

    options: dict[Way, RefitOption]
    not_possible: dict[Way, str]
    f_churn: Estimate
    """Decisions that the retraining itself changes, before any patch."""
    target: Target
    fresh: Rows
    """The people whom all were judged on."""
    people: int
    """In all."""
    fitted: Fitted | None = None
    """The fit of what was learned again."""
    frontier: Frontier | None = None
    """What could be had on the new model."""

    @property
    def out_of_budget(self) -> bool:
        """Whether the retraining alone changes more decisions than may differ."""
        most, moved = self.target.max_churn, self.f_churn.value
        return most is not None and moved is not None and moved > most

    @property
    def recommended(self) -> RefitOption | None:
        """The least that does: certified within the budget, and no dearer than the cheapest is.

        Of those that change about as few decisions, the one that touches the patch least.
        """
        good = [o for way in WAYS if (o := self.options.get(way)) and o.good]
        least = min((_most(o.changes) for o in good), default=0.0)
        return next((o for o in good if _most(o.changes) <= DEARER * least + ABOUT), None)

    def __str__(self) -> str:
        rows = [
            [
                f"{way}: {WORDS[way]}",
                option.certificate.verdict,
                _percent(option.changes),
                _percent(option.churn) + ("" if option.within else " (over the budget)"),
                str(len(option.model.patch.lines)) if option.model.patch.card else "",
            ]
            for way, option in self.options.items()
        ]
        best = self.recommended
        alone = f"The retraining itself changes {_percent(self.f_churn)} of f's decisions"
        if self.out_of_budget:
            notes = [
                f"{alone}, more than the {self.target.max_churn:.1%} that may differ from the "
                "previous: ask for a larger max_churn."
            ]
        else:
            notes = [*(f"{way}: {why}." for way, why in self.not_possible.items()), f"{alone}."]
        any_certified = any(o.certificate.verdict.holds for o in self.options.values())
        within = " within the budget" if any_certified else ""
        notes.append(
            f"No way is certified{within}: read the verdicts before you go on."
            if best is None
            else f"Recommended: {best.way}, {WORDS[best.way]}."
        )
        return Table(
            "The old patch and the new model",
            ["way", "target", "changes of the new model", "differ from the previous", "lines"],
            rows,
            notes,
        ).text()

    __repr__ = __str__


def refit(
    old: PatchedModel,
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    target: Target,
    exclude: Sequence[str] = (),
    seed: int = 0,
    **options: Any,
) -> Refit:
    """Go on with a retrained f.

    Parameters
    ----------
    old : PatchedModel
        The old f with its patch. Where it is a score column, X has it beside the new one.
    estimator : the new f, as ``FairPatch`` takes it.
    X, y, sensitive_features : people whom neither f was trained on, and from whom the old patch was
        not learned: of people whom it knows, its verdict says little.
    target : Target
        The target; ``max_churn`` is the budget.
    exclude : columns that the patch must not use.
    seed : int
        Same seed, same patch.
    options : as ``FairPatch`` takes them, such as ``learner`` and ``categories``.

    Returns
    -------
    Refit
        Every way there is, with its certificate, changes and churn.
    """
    from fairpatch.front import FairPatch  # noqa: PLC0415 monitoring does not wait for learners

    check.a("old", old, PatchedModel, "FairPatch(...).fit(...).patched_", needed=True)
    check.a("target", target, Target, "Target(p_rule=0.8)", needed=True)
    decision = old.patch.decision
    # three ways are judged on the same people: each at a third of the error
    target = target.replace(confidence=1 - (1 - target.confidence) / len(WAYS))
    g = FairPatch(
        estimator, target, decision=decision, exclude=(*exclude, *old.score_columns),
        roles=old.patch.roles, random_state=seed,
        **options,
    )  # fmt: skip
    base = BaseModel(estimator, decision, old.patch.roles)
    rows = PatchedModel(base, old.patch, old.classes).rows(X, y, sensitive_features)
    rows = replace(rows, previous=old.favoured(rows.X))
    unread = (*exclude, *old.score_columns, *old.patch.roles.exclude)
    judged = rows.numbered(unread).split_codes(g.splits, seed) == 2
    first, fresh = (rows.take(np.flatnonzero(part)) for part in (~judged, judged))
    fitted: Fitted | None = None
    made: dict[Way, PatchedModel] = {}
    lost: dict[Way, str] = {}

    def on_new(patch: Patch) -> PatchedModel:
        outlook = outlook_of(first, decision, patch, old.patch.roles.doubt)
        known = with_fingerprint(patch.model_copy(update={"outlook": outlook}), first)
        known = with_probe(known, base, first.X)
        return PatchedModel(base, known, old.classes)

    made["keep"] = on_new(old.patch)
    judged_by: dict[Way, Certificate | None] = {}
    try:
        rescaled, judged_by["rescale"] = retune(
            old.patch, first, target, CertificationSample(fresh)
        )
        made["rescale"] = on_new(rescaled)
    except (TargetNotReachedError, ValueError) as error:
        lost["rescale"] = _why(error)
    try:
        g.fit(X, y, sensitive_features=sensitive_features, previous=old)
        made["learn"] = g.patched_
    except TargetNotReachedError as error:
        lost["learn"], frontier = _why(error), error.frontier
        if target.max_churn is not None:
            lost["learn"] = f"with a churn of at most {target.max_churn:g}, {lost['learn']}"
    else:
        fitted, frontier, judged_by["learn"] = g.fitted_, g.frontier_, g.certificate_
    ways: dict[Way, RefitOption] = {}
    past = _previous(fresh)
    for way, model in made.items():
        counts = count_rows(fresh, model.patch, target.comparisons)
        decided = model.patch.decide(fresh.X, fresh.f).astype(np.int64)
        ways[way] = RefitOption(
            way,
            model,
            judged_by.get(way) or certify(counts, target),
            reviewed(counts, target.metrics).rate(changed_rate()),
            churn(fresh, decided),
            target.max_churn,
            _apart(past, decided),
        )
    before = replace(old, patch=old.patch.with_strength(0.0)).favoured(fresh.X)
    moved = _differ(before, (fresh.f > 0).astype(np.int64))
    return Refit(ways, lost, moved, target, fresh, len(rows), fitted, frontier)


def churn(rows: Rows, decided: Ints) -> Estimate:
    """The share of people whose decision differs from the previous one, where that is known."""
    return _differ(_previous(rows), decided)


def _previous(rows: Rows) -> Ints:
    return np.full(len(rows), -1) if rows.previous is None else rows.previous


def _apart(past: Ints, decided: Ints) -> float | None:
    """The share that differs, exactly, of people whose decision then is known (not -1)."""
    known = past >= 0
    return float(np.mean(past[known] != decided[known])) if known.any() else None


def _differ(past: Ints, decided: Ints) -> Estimate:
    """The same as far as it may be told."""
    n, exact = int((past >= 0).sum()), _apart(past, decided)
    if exact is None:
        return Estimate.undefined("no previous decision is known")
    k = round(exact * n)
    if too_few(k) or too_few(n - k):
        return Estimate.withhold(_about(k, n))
    return share(k, n, "nobody")


def _about(k: int, n: int) -> tuple[float, float]:
    """What may be told of few: fewer than ten, or all but that."""
    few = min(1.0, (MIN_PEOPLE - 1) / n)
    return (0.0, few) if k < MIN_PEOPLE else (1 - few, 1.0)


def _percent(share_of: Estimate) -> str:
    if share_of.within is not None:
        return f"{share_of.within[0]:.1%} to {share_of.within[1]:.1%}"
    return "not known" if share_of.value is None else f"{share_of.value:.1%}"


def _why(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
