"""Everything a review says, as plain data: computed once, then drawn, printed or stored.

Aggregates only. Counts below ten are hidden with their complements; no row and no value of S of a
person is in it, unless reasons are asked for by the rows' numbers.
"""

from collections.abc import Collection, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.base import scores_of
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import fewest
from fairpatch.choose.fit import Fitted
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.group_probability import group_probabilities
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.explain import concepts, proxy_risk, reasons, segments, stability
from fairpatch.explain.concepts import ConceptView
from fairpatch.measure import accuracy
from fairpatch.measure.counts import Counts
from fairpatch.measure.floor import MIN_PEOPLE, too_few
from fairpatch.measure.metric import P_RULE
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patched import PatchedModel
from fairpatch.report.card_section import card_section
from fairpatch.report.figures import figure_data
from fairpatch.report.group_section import group_section
from fairpatch.report.place_section import segment_section, tree_section
from fairpatch.report.score_section import dial_section, score_section
from fairpatch.report.suppress import hidden

MOST_EXPLAINED = 50_000
"""People on whom places, proxies and scores are told, at most."""


def summarize(
    model: PatchedModel,
    rows: Rows,
    *,
    target: Target | None,
    fitted: Fitted | None = None,
    exclude: Collection[str] = (),
    refits: int = 5,
    reasons_for: Sequence[int] = (),
) -> dict[str, Any]:
    """What a patch does on some rows, best those that nothing else has seen."""
    patch, f_logit = model.patch, rows.f
    before, after = f_logit > 0, patch.decide(rows.X, f_logit)
    counts = count_rows(rows, patch)
    changed = before != after
    # Counts are of everybody; where changes lie and what tells S is found on a sample.
    some = np.arange(len(rows))
    if len(rows) > MOST_EXPLAINED:
        some = np.sort(np.random.default_rng(0).choice(len(rows), MOST_EXPLAINED, replace=False))
    part, part_changed = rows.take(some), changed[some]
    # the groups that are compared: known, and of at least ten people
    large = {f: counts.by(f).known().large(MIN_PEOPLE) for f in counts.features}
    bounded = target or _target_reached(large, patch)
    encoder = fitted.wide_encoder if fitted else _encoder(model, rows, exclude)
    known, blind = fewest(bounded, large, group_probabilities(part, encoder), before[some])
    views = concepts(patch, part.X, part_changed, part.f)
    both = (f_logit, patch.logits(rows.X, f_logit))
    old, new = (scores_of(own, patch.decision) for own in both)
    summary: dict[str, Any] = {
        "format": "fairpatch.review",
        "version": 3,
        "people": len(rows),
        "cutoff": patch.cutoff,
        "decision": {
            "favoured": patch.decision.favoured,
            "good_outcome": patch.decision.good_outcome,
            "approved": patch.decision.sides[0],
            "denied": patch.decision.sides[1],
        },
        "features": list(counts.features),
        "asked": _asked(patch, target, exclude),
        "verdict": {
            "change": _moves(before, after),
            "bound_known": None if known is None else known.change_rate,
            "bound_blind": blind,
            "bound_for": str(bounded),
            "accuracy": _pair(accuracy, counts),
            "requirements": _requirements(large, target),
        },
        "certificate": certificate_data(fitted.certificate if fitted else None),
        "patch": _patch(patch, views),
        "groups": {
            feature: group_section(rows, after, feature, some) for feature in counts.features
        },
        "segments": [
            segment_section(s, views) for s in segments(patch, part.X, part_changed, part.f)
        ],
        "tree": tree_section(part.X, part_changed),
        "scores": score_section(old[some], new[some], part_changed, patch.cutoff),
        "proxies": [
            {"what": r.what, "feature": r.feature, "auc": r.auc, "read": r.read_by_patch}
            for r in proxy_risk(patch, part.X, part_changed, sensitive_features=part.s)
        ],
        "explained_on": len(some),
        "dial": dial_section(patch, rows, bounded.metrics),
        "frontier": _frontier(fitted.frontier if fitted else None),
        "provenance": patch.provenance.model_dump(mode="json"),
        "made_with": {"fairpatch": version("fairpatch")},
    }
    if refits and changed.any():
        if fitted is None:
            raise ValueError("learning again needs the fit itself: review with refits=0")
        found = stability(model, part, fitted, refits=refits)
        summary["stability"] = {
            "refits": refits,
            "of_changed": found.of_changed,
            "firm": found.firm,
        }
    if len(reasons_for):
        summary["reasons"] = [
            {"row": r.row, "text": str(r), "ratio": r.ratio, "direction": r.direction,
             "contributions": [list(c) for c in r.contributions]}
            for r in reasons(model, rows.X, rows=reasons_for)
        ]  # fmt: skip
    return summary


def _encoder(model: PatchedModel, rows: Rows, exclude: Collection[str]) -> Encoder:
    """Of all columns that a patch could have read, where the fit itself is not at hand."""
    hidden = {model.base.score_column or "", *exclude, *rows.s.features}
    return Encoder.fit(rows.X, exclude=hidden & set(Columns.of(rows.X).names), strict=False)


def _asked(patch: Patch, target: Target | None, exclude: Collection[str]) -> dict[str, Any]:
    if target is not None:
        return {
            "text": str(target),
            "direction": target.direction,
            "confidence": target.confidence,
            "exclude": list(dict.fromkeys([*exclude, *target.exclude])),
        }
    own = patch.provenance.settings
    lambdas = [k for k in ("lambda_fair", "lambda_ratio", "lambda_concepts") if k in own]
    text = ", ".join(f"{k} = {own[k]:g}" for k in lambdas)
    return {
        "text": f"no target; {text}",
        "direction": patch.direction,
        "exclude": list(exclude),
    }


def _target_reached(large: dict[str, Counts], patch: Patch) -> Target:
    """Without a target, bounds are for the P-Rule that was reached."""
    values = [P_RULE.of(own).value or 0.0 for own in large.values()]
    return Target(p_rule=float(np.floor(min(values) * 1000) / 1000), direction=patch.direction)


def _moves(before: Bools, after: Bools) -> dict[str, Any]:
    up, down = int(np.sum(~before & after)), int(np.sum(before & ~after))
    hide = any(hidden([up, down]))
    return {
        "changed": None if too_few(up + down) else up + down,
        "change_rate": None if too_few(up + down) else (up + down) / len(before),
        "promoted": None if hide and up else up,
        "demoted": None if hide and down else down,
    }


def _pair(metric: Any, counts: Counts) -> dict[str, Any]:
    return {"before": figure_data(metric(counts, model="f")), "after": figure_data(metric(counts))}


def _requirements(large: dict[str, Counts], target: Target | None) -> list[dict[str, Any]]:
    """Every requirement and feature, before and after; the P-Rule in any case."""
    asked = {r.metric: r for r in target.fairness_requirements} if target else {}
    found = []
    for feature, own in large.items():
        for metric in dict.fromkeys([P_RULE, *(target.metrics if target else ())]):
            pair = _pair(metric.of, own)
            value, requirement = pair["after"]["value"], asked.get(metric)
            met = None
            if requirement is not None and value is not None:
                met = bool(metric.met(value, requirement.limit))
            found.append(
                {"feature": feature, "name": metric.words, **pair,
                 "limit": None if requirement is None else requirement.limit,
                 "met": met}
            )  # fmt: skip
    return found


def certificate_data(certificate: Certificate | None) -> dict[str, Any] | None:
    """A certificate as plain data."""
    if certificate is None:
        return None
    return {
        "word": certificate.word,
        "confidence": certificate.target.confidence,
        "warning": certificate.warning,
        "verdicts": [
            {
                "requirement": str(v.requirement),
                "feature": v.feature,
                "word": v.word,
                "estimate": figure_data(v.estimate),
                "people": v.people,
                "people_needed": v.people_needed,
            }
            for v in certificate.verdicts
        ],
    }


def _patch(patch: Patch, views: Sequence[ConceptView]) -> dict[str, Any]:
    """The concepts and what they are made of."""
    return {
        "strength": patch.strength,
        "direction": patch.direction,
        "offset": patch.offset,
        "card": None if patch.card is None else card_section(patch),
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
    }


def _frontier(frontier: Frontier | None) -> dict[str, Any] | None:
    if frontier is None:
        return None
    return {"candidates": len(frontier.dials), "pareto": int(frontier.pareto().sum())}
