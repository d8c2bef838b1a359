"""Everything a review says, as plain data: computed once, then drawn, printed or stored.

Aggregates only. Counts below ten are hidden with their complements; no row and no value of S of a
person is in it, unless reasons are asked for by the rows' numbers.
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import fewest
from fairpatch.choose.dial import trace
from fairpatch.choose.group_probability import group_probabilities
from fairpatch.choose.rows import Rows, codes
from fairpatch.choose.target import WORDS, Target
from fairpatch.commod import Commod
from fairpatch.explain import (
    ChangeTree,
    change_audit,
    concepts,
    f1_by_depth,
    proxy_risk,
    reasons,
    segments,
    stability,
)
from fairpatch.explain.change_tree import Leaf
from fairpatch.measure import accuracy, demographic_parity_difference, disparate_mistreatment
from fairpatch.measure import p_rule as measure_p_rule
from fairpatch.measure.audit import MIN_COUNT
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.fairness import tpr_gap
from fairpatch.measure.scores import displacement, rank_inversions
from fairpatch.report.suppress import hidden

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BINS = 20
STEPS = 41
MOST_EXPLAINED = 50_000
"""People on whom places, proxies and scores are told, at most."""
"""Strengths that the dial shows."""
METRICS = {
    "p_rule": measure_p_rule,
    "demographic_parity_difference": demographic_parity_difference,
    "equal_opportunity_difference": tpr_gap,
    "disparate_mistreatment": disparate_mistreatment,
}


def summarize(
    model: Commod,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    refits: int = 5,
    reasons_for: Sequence[int] = (),
) -> dict[str, Any]:
    """What a fitted patch does on some rows, best those that nothing else has seen."""
    labels = model.labels_of(y)
    f_logit, patch = model.base_.logits(X), model.patch_
    before, after = f_logit > 0, patch.decide(X, f_logit)
    rows = Rows(X, labels, sensitive_features)
    counts = Counts.from_arrays(
        decision=before, new_decision=after, y=labels, sensitive_features=sensitive_features
    )
    changed = before != after
    # Counts are of everybody; where changes lie and what tells S is found on a sample.
    some = np.arange(len(labels))
    if len(labels) > MOST_EXPLAINED:
        some = np.sort(np.random.default_rng(0).choice(len(labels), MOST_EXPLAINED, replace=False))
    part, part_changed = rows.take(some), changed[some]
    # the groups that are compared: known, and of at least ten people
    large = {f: counts.by(f).known().large(MIN_COUNT) for f in counts.features}
    target = model.target or _target_reached(large, patch.direction)
    q = group_probabilities(part, model.wide_encoder_)
    known, blind = fewest(target, large, q, before[some])
    views = concepts(patch, part.X, part_changed)
    offset = float(logit(patch.cutoff))
    old, new = expit(f_logit + offset), expit(patch.logits(X, f_logit) + offset)
    summary: dict[str, Any] = {
        "format": "fairpatch.review",
        "version": 1,
        "people": len(labels),
        "cutoff": patch.cutoff,
        "features": list(counts.features),
        "asked": _asked(model),
        "verdict": {
            "change": _moves(before, after),
            "bound_known": None if known is None else known.change_rate,
            "bound_blind": blind,
            "bound_for": str(target),
            "accuracy": _pair(accuracy, counts),
            "requirements": _requirements(large, target, asked=model.target is not None),
        },
        "certificate": _certificate(getattr(model, "certificate_", None)),
        "patch": {
            "strength": patch.strength,
            "direction": patch.direction,
            "offset": patch.offset,
            "columns": [column.name for column in patch.columns],
            "concepts": [
                {
                    "name": view.name,
                    "plain_name": view.plain_name,
                    "weight": view.weight,
                    "share_of_changes": view.share_of_changes,
                    "ingredients": [
                        {"column": i.column, "effect": i.effect, "towards_change": i.towards_change}
                        for i in view.ingredients
                    ],
                }
                for view in views
            ],
        },
        "groups": {
            feature: _groups(X, before, after, labels, sensitive_features, feature, some)
            for feature in counts.features
        },
        "segments": [_segment(s, views) for s in segments(patch, part.X, part_changed)],
        "tree": _tree(part.X, part_changed),
        "scores": _scores(old[some], new[some], part_changed, patch.cutoff),
        "proxies": [
            {"what": r.what, "feature": r.feature, "auc": r.auc, "read": r.read_by_patch}
            for r in proxy_risk(
                patch, part.X, part_changed, sensitive_features=part.sensitive_features
            )
        ],
        "explained_on": len(some),
        "dial": _dial(model, X, labels, f_logit, sensitive_features),
        "frontier": _frontier(model),
        "provenance": patch.provenance.model_dump(mode="json"),
        "made_with": {"fairpatch": version("fairpatch")},
    }
    if refits and changed.any():
        found = stability(
            model,
            part.X,
            model.classes_[part.y],
            sensitive_features=part.sensitive_features,
            refits=refits,
        )
        summary["stability"] = {
            "refits": refits,
            "of_changed": found.of_changed,
            "firm": found.firm,
        }
    if len(reasons_for):
        summary["reasons"] = [
            {"row": r.row, "text": str(r), "ratio": r.ratio, "direction": r.direction,
             "contributions": [list(c) for c in r.contributions]}
            for r in reasons(patch, X, f_logit, rows=reasons_for)
        ]  # fmt: skip
    return summary


def _asked(model: Commod) -> dict[str, Any]:
    if model.target is not None:
        target = model.target
        return {
            "text": str(target),
            "direction": target.direction,
            "confidence": target.confidence,
            "exclude": list(target.exclude),
        }
    settings = {k: getattr(model, k) for k in ("lambda_fair", "lambda_ratio", "lambda_concepts")}
    text = ", ".join(f"{k} = {v:g}" for k, v in settings.items())
    return {
        "text": f"no target; {text}",
        "direction": model.direction,
        "exclude": list(model.exclude),
    }


def _target_reached(large: dict[str, Counts], direction: Any) -> Target:
    """Without a target, bounds are for the P-Rule that was reached."""
    values = [measure_p_rule(own).value or 0.0 for own in large.values()]
    return Target(p_rule=float(np.floor(min(values) * 1000) / 1000), direction=direction)


def _moves(before: Bools, after: Bools) -> dict[str, Any]:
    up, down = int(np.sum(~before & after)), int(np.sum(before & ~after))
    hide = any(hidden([up, down]))
    return {
        "changed": None if 0 < up + down < MIN_COUNT else up + down,
        "change_rate": None if 0 < up + down < MIN_COUNT else (up + down) / len(before),
        "promoted": None if hide and up else up,
        "demoted": None if hide and down else down,
    }


def _pair(metric: Any, counts: Counts) -> dict[str, Any]:
    return {"before": _plain(metric(counts, model="f")), "after": _plain(metric(counts))}


def _requirements(large: dict[str, Counts], target: Target, *, asked: bool) -> list[dict[str, Any]]:
    """Every requirement and feature, before and after; the P-Rule in any case."""
    limits = {r.name: r for r in target.fairness_requirements} if asked else {}
    names = dict.fromkeys(["p_rule", *limits])
    found = []
    for feature, own in large.items():
        for name in names:
            pair = _pair(METRICS[name], own)
            value, requirement = pair["after"]["value"], limits.get(name)
            met = None
            if requirement is not None and value is not None:
                met = (
                    value >= requirement.limit
                    if requirement.at_least
                    else value <= requirement.limit
                )
            found.append(
                {"feature": feature, "name": WORDS[name], **pair,
                 "limit": None if requirement is None else requirement.limit, "met": met}
            )  # fmt: skip
    return found


def _certificate(certificate: Certificate | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    return {
        "word": certificate.word,
        "confidence": certificate.target.confidence,
        "verdicts": [
            {
                "requirement": str(v.requirement),
                "feature": v.feature,
                "word": v.word,
                "estimate": _plain(v.estimate),
                "people": v.people,
                "people_needed": v.people_needed,
            }
            for v in certificate.verdicts
        ],
    }


def _groups(
    X: Any,
    before: Bools,
    after: Bools,
    y: Any,
    sensitive_features: Any,
    feature: str,
    sample: NDArray[np.intp],
) -> dict[str, Any]:
    """By group: sizes, rates and changes; then swap set and who is left out."""
    audit = change_audit(
        X,
        before,
        after,
        y,
        sensitive_features=sensitive_features,
        feature=feature,
        sample=sample,
    )
    names = list(audit.sizes)
    sizes = [audit.sizes[name] for name in names]
    promoted = [audit.by_group[name].promoted for name in names]
    demoted = [audit.by_group[name].demoted for name in names]
    rare = hidden(sizes)
    hide_up, hide_down = hidden(promoted, sizes), hidden(demoted, sizes)
    compared = [name for name in names if audit.sizes[name] >= MIN_COUNT]
    best = {
        when: max((rates[name].value or 0.0 for name in compared), default=0.0)
        for when, rates in (("before", audit.rates_before), ("after", audit.rates_after))
    }
    found = []
    for i, name in enumerate(names):
        if 0 < sizes[i] < MIN_COUNT:
            found.append({"group": name, "hidden": True})
            continue
        rates = {"before": audit.rates_before[name], "after": audit.rates_after[name]}
        found.append(
            {
                "group": name,
                "hidden": False,
                "people": None if rare[i] else sizes[i],
                # rounded: a rate to the last digit times the people would tell a hidden count
                **{
                    f"rate_{when}": _coarse(rate, sizes[i])
                    if hide_up[i] or hide_down[i] or rare[i]
                    else _plain(rate, digits=2)
                    for when, rate in rates.items()
                },
                **{
                    f"impact_ratio_{when}": round((rate.value or 0.0) / best[when], 2)
                    if best[when]
                    else None
                    for when, rate in rates.items()
                },
                "promoted": None if hide_up[i] or rare[i] else promoted[i],
                "demoted": None if hide_down[i] or rare[i] else demoted[i],
            }
        )
    swap = audit.swap
    hide_swap = hidden([s.people for s in swap])
    ones = [round((s.outcome_rate.value or 0.0) * s.people) for s in swap]
    hide_rate = hidden(ones, [s.people for s in swap])
    return {
        "rows": found,
        "swap": [
            {
                "what": s.what,
                "people": None if hide else s.people,
                "outcome_rate": None if hide or hide_too else _plain(s.outcome_rate, digits=2),
            }
            for s, hide, hide_too in zip(swap, hide_swap, hide_rate, strict=True)
        ],
        "neglected": _leaves(audit.neglected),
    }


def _segment(segment: Any, views: Any) -> dict[str, Any]:
    plain = {view.name: view.plain_name for view in views}
    inside = round((segment.inside.value or 0.0) * segment.people)
    outside = round((segment.outside.value or 0.0) * segment.others)
    hide = any(hidden([inside, outside], [segment.people, segment.others]))
    hide |= segment.people < MIN_COUNT
    return {
        "concept": plain.get(segment.concept, segment.concept),
        "where": str(segment),
        "towards_change": segment.towards_change,
        "people": None if segment.people < MIN_COUNT else segment.people,
        "inside": None if hide else _plain(segment.inside),
        "outside": None if hide else _plain(segment.outside),
    }


def _tree(X: Any, changed: Bools) -> dict[str, Any]:
    """A tree that tells the changes, and its F1 on the half of the rows that it has not seen."""
    half = np.random.default_rng(0).permutation(len(changed)) < len(changed) // 2
    rows = Rows(X, changed.astype(np.int64))
    one, two = rows.take(np.flatnonzero(half)), rows.take(np.flatnonzero(~half))
    f1: dict[int, float] = {}
    if one.y.any() and two.y.any():
        f1 = f1_by_depth(one.X, one.y == 1, two.X, two.y == 1, (1, 2, 3, 4))
    leaves = ChangeTree.fit(X, changed, max_depth=3).leaves if changed.any() else ()
    return {
        "f1_by_depth": {str(depth): value for depth, value in f1.items()},
        "leaves": _leaves(leaves),
    }


def _leaves(leaves: Sequence[Leaf]) -> list[dict[str, Any]]:
    """Leaves as one table of one total: what is hidden does not follow from the others."""
    hide = hidden([leaf.changed for leaf in leaves], [leaf.people for leaf in leaves])
    return [
        {
            "where": str(leaf),
            "people": leaf.people,
            "changed": None if is_hidden else leaf.changed,
            "change_rate": None if is_hidden else leaf.change_rate,
        }
        for leaf, is_hidden in zip(leaves, hide, strict=True)
    ]


def _scores(old: Floats, new: Floats, changed: Bools, cutoff: float) -> dict[str, Any]:
    """How far scores move, and old against new in bins of at least ten people."""
    table, _, _ = np.histogram2d(new, old, BINS, [[0, 1], [0, 1]])
    sure = np.abs(old[changed] - cutoff)
    return {
        "displacement": displacement(old, new),
        "rank_inversions": rank_inversions(old, new),
        "distance_from_cutoff": float(np.median(sure)) if len(sure) >= MIN_COUNT else None,
        "bins": [[int(v) if v >= MIN_COUNT else None for v in row] for row in table],
    }


def _dial(
    model: Commod, X: Any, y: NDArray[np.int64], f_logit: Floats, sensitive_features: Any
) -> dict[str, Any]:
    """Every metric at evenly spaced strengths, from the base model to twice the patch."""
    patch = model.patch_
    names, s = codes(sensitive_features, len(y))
    ratio = patch.with_strength(1.0).ratio(X)
    most = 2 * patch.strength or 1.0
    at = np.linspace(0, most, STEPS)
    found: dict[str, Any] = {"strength": at.tolist(), "chosen": patch.strength, "p_rule": {}}
    for j, name in enumerate(names):
        group = s[:, j]
        for g in range(group.max() + 1):  # a small group is in no comparison
            group = np.where((group == g) & (np.sum(group == g) < MIN_COUNT), -1, group)
        _, group = np.unique(np.append(group, -1), return_inverse=True)
        group = group[:-1] - 1  # -1 again, and no gap in the codes
        path = trace(ratio, f_logit, y, group, direction=patch.direction, most=most)
        k = path.at(at)
        found["p_rule"][name] = [_rounded(v) for v in path.p_rule[k]]
        found["change_rate"] = [
            None if 0 < n < MIN_COUNT else _rounded(n / len(y)) for n in path.changed[k]
        ]
        found["accuracy"] = [_rounded(v) for v in path.accuracy[k]]
    return found


def _frontier(model: Commod) -> dict[str, Any] | None:
    frontier = getattr(model, "frontier_", None)
    if frontier is None:
        return None
    return {"candidates": len(frontier.paths), "pareto": int(frontier.pareto().sum())}


def _plain(estimate: Estimate, digits: int = 6) -> dict[str, Any]:
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {
        **{k: None if v is None else round(v, digits) for k, v in numbers.items()},
        "reason": estimate.reason,
    }


def _coarse(rate: Estimate, people: int) -> dict[str, Any]:
    """A rate to the nearest ten people, so that it tells no smaller count; without an interval."""
    if rate.value is None:
        return _plain(rate)
    step = max(MIN_COUNT / people, 0.01)
    return _plain(Estimate(min(1.0, round(rate.value / step) * step)), digits=3)


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)
