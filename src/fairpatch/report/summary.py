"""Everything a review says, as plain data: computed once, then drawn, printed or stored.

Aggregates only, computed from the protected table (``fairpatch.measure.disclose``) or rounded to
tens of people; no row and no value of S of a person is in it, unless reasons are asked for by the
rows' numbers.
"""

from collections.abc import Collection, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from fairpatch.base import scores_of
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import fewest
from fairpatch.choose.fit import Fitted
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.group_probability import group_probabilities
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.explain import concepts, proxy_risk, reasons, stability
from fairpatch.explain.concepts import ConceptView
from fairpatch.measure.counts import Counts
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.protected import Protected
from fairpatch.measure.rates import changed_rate, correct_rate
from fairpatch.measure.reviewed import move, reviewed
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patched import PatchedModel
from fairpatch.report.card_section import card_section
from fairpatch.report.figures import figure_data
from fairpatch.report.group_section import group_section, swap_section
from fairpatch.report.place_section import find, left_out_section, segment_section, tree_section
from fairpatch.report.score_section import dial_section, score_section

MANY_VALUES = 50
"""Of a column whose AUC is told beside hidden counts, at least."""
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
    show_small_counts: bool = False,
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
    found = find(patch, part, after[some])
    metrics = target.metrics if target else ()
    whole = len(some) == len(rows)
    table = reviewed(
        counts, metrics, places=found.places if whole else (), show_small=show_small_counts
    )
    there = table
    if not whole:  # a sample is other people, as far as anybody can tell
        sampled = Counts.from_arrays(
            decision=part.f > 0, new_decision=after[some], y=part.y, sensitive_features=part.s
        )
        there = reviewed(sampled, (), places=found.places, show_small=show_small_counts)
    bounded = target or _target_reached(table, patch)
    encoder = fitted.wide_encoder if fitted else _encoder(model, rows, exclude)
    known, blind = fewest(bounded, large, group_probabilities(part, encoder), before[some])
    views = concepts(patch, part.X, part_changed, part.f)
    both = (f_logit, patch.logits(rows.X, f_logit))
    old, new = (scores_of(own, patch.decision) for own in both)
    summary: dict[str, Any] = {
        "format": "fairpatch.review",
        "version": 4,
        "protected": not show_small_counts,
        "people": table.people().data,
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
            "change": _moves(table),
            "bound_known": _bound(None if known is None else known.changes, table),
            "bound_blind": None if blind is None else round(blind, 3 if table.whole else 2),
            "bound_for": str(bounded),
            "accuracy": {
                "before": figure_data(table.rate(correct_rate("f"))),
                "after": figure_data(table.rate(correct_rate("g"))),
            },
            "requirements": _requirements(table, target),
        },
        "certificate": certificate_data(fitted.certificate if fitted else None, table),
        "patch": _patch(patch, views, int(part_changed.sum())),
        "groups": {feature: group_section(table, feature) for feature in counts.features},
        "swap": swap_section(table),
        "left_out": left_out_section(found, there),
        "segments": segment_section(found, views, there),
        "tree": tree_section(found, there),
        "scores": score_section(
            old[some], new[some], part_changed, patch.cutoff, moved=table.whole
        ),
        "proxies": [
            {"what": r.what, "feature": r.feature, "auc": round(r.auc, 2), "read": r.read_by_patch}
            for r in proxy_risk(patch, part.X, part_changed, sensitive_features=part.s)
            if table.whole or _has_many_values(part.X, r.what)
        ],
        "sampled": not whole,
        "explained_on": table.people().data if whole else len(some),
        "dial": dial_section(patch, rows, bounded.metrics, table),
        "frontier": _frontier(fitted.frontier if fitted else None),
        "signed": None,
        "provenance": patch.provenance.model_dump(mode="json"),
        "made_with": {"fairpatch": version("fairpatch")},
    }
    if refits and changed.any():
        if fitted is None:
            raise ValueError("learning again needs the fit itself: review with refits=0")
        again = stability(model, part, fitted, refits=refits)
        summary["stability"] = {
            "refits": refits,
            "of_changed": round(again.of_changed, 2),
            "firm": round(again.firm, 2),
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


def _target_reached(table: Protected, patch: Patch) -> Target:
    """Without a target, bounds are for the P-Rule that was reached."""
    ends = [table.metric(P_RULE, feature).ends for feature in table.counts.features]
    least = min(max(0.0, own[0]) if own else 0.0 for own in ends)
    return Target(p_rule=float(np.floor(least * 100) / 100), direction=patch.direction)


def _moves(table: Protected) -> dict[str, Any]:
    return {
        "changed": table.number(changed_rate().hits).data,
        "change_rate": figure_data(table.rate(changed_rate(), method="clopper_pearson")),
        **{what: table.number(move(what).hits).data for what in ("promoted", "demoted")},
    }


def _bound(changes: int | None, table: Protected) -> float | None:
    """The fewest changes as a share; where small counts are hidden, by the full tens of them."""
    if changes is None:
        return None
    told = changes if table.whole else changes // MIN_PEOPLE * MIN_PEOPLE
    return told / (table.people().high or table.counts.total)


def _requirements(table: Protected, target: Target | None) -> list[dict[str, Any]]:
    """Every requirement and feature, before and after; the P-Rule in any case."""
    asked = {r.metric: r for r in target.fairness_requirements} if target else {}
    found = []
    for feature in table.counts.features:
        for metric in dict.fromkeys([P_RULE, *(target.metrics if target else ())]):
            after, requirement = table.metric(metric, feature), asked.get(metric)
            met = None
            if requirement is not None and after.ends is not None:
                # where what is told lies on both sides of the limit, so does what may be said
                told = {bool(metric.met(end, requirement.limit)) for end in after.ends}
                met = told.pop() if len(told) == 1 else None
            found.append(
                {"feature": feature, "name": metric.words,
                 "before": figure_data(table.metric(metric, feature, model="f")),
                 "after": figure_data(after),
                 "limit": None if requirement is None else requirement.limit,
                 "met": met}
            )  # fmt: skip
    return found


def certificate_data(
    certificate: Certificate | None, table: Protected | None = None
) -> dict[str, Any] | None:
    """A certificate as plain data; of the people of a table, it tells no more than that does."""
    if certificate is None:
        return None
    same = table is not None and certificate.counts == table.counts
    shown = certificate.shown_by(table) if table is not None and same else certificate.shown
    return {
        "word": certificate.word,
        "confidence": certificate.target.confidence,
        "warning": certificate.warning,
        "verdicts": [
            {
                "requirement": str(v.requirement),
                "feature": v.feature,
                "word": v.word,
                "estimate": figure_data(estimate),
                "people": people.data,
                "people_needed": v.people_needed_about,
            }
            for v, (estimate, people) in zip(certificate.verdicts, shown, strict=True)
        ],
    }


def _has_many_values(X: Any, column: str) -> bool:
    """Whether an AUC of it is no count in disguise, as a difference of rates is: of a yes or no."""
    held = Columns.of(X)  # the ratio, and whether the decision changes, are no columns
    own = [c for c in held.described() if c.name == column]
    return bool(own) and len(np.unique(held.codes(own[0])[1])) > MANY_VALUES


def _patch(patch: Patch, views: Sequence[ConceptView], changed: int) -> dict[str, Any]:
    """The concepts and what they are made of."""
    tens = MIN_PEOPLE / changed if changed else 1.0  # ten people, as a share of those who change
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
                "share_of_changes": round(float(view.share_of_changes // tens * tens), 2),
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
