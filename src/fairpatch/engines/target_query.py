"""A target as a query that gives a row for every pair of groups that violates it: a test for dbt.

A file of dbt's ``tests/`` folder fails where its query gives rows. This one looks at one table by
itself, at the confidence of the target, as a certificate does; looking again and again is what
``fairpatch monitor`` is for.
"""

from collections.abc import Sequence
from typing import Any

from scipy.special import ndtri

from fairpatch._tools.extras import need
from fairpatch.decision import Decision
from fairpatch.engines.sql import Dialect, as_text, place_of
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.inputs.sensitive import grouped_table
from fairpatch.measure.comparisons import ENOUGH
from fairpatch.measure.metric import Metric
from fairpatch.patch.apply import DECISION
from fairpatch.patch.expressions import in_scope_table
from fairpatch.target import Target

_KINDS = {bool: "boolean", int: "int64", float: "float64"}


def target_sql(
    target: Target,
    decision: Decision,
    roles: Roles = PLAIN,
    *,
    sensitive: list[str],
    label: str | None = None,
    table: str = "decided",
    dialect: Dialect = "duckdb",
    groups: int = 2,
) -> str:
    """The query. ``groups`` is how many there are of a feature, for the error of all pairs.

    Of metrics given y it needs the label's column; a sum of gaps is not asked here.
    """
    requirements = askable(target, label)
    asked = [(metric, limit, feature) for metric, limit in requirements for feature in sensitive]
    if not asked:
        raise ValueError(f"nothing of {target} can be asked of a table without labels, or by pairs")
    if any(metric.given_y for metric, _, _ in asked) and decision.positive is None:
        raise ValueError("the patch does not say which label is the positive one: learn it anew")
    odd = [n for n in (*sensitive, label or "") if any(sign in n for sign in ("{{", "{%", "{#"))]
    if odd:
        raise ValueError(f"column {odd[0]!r} would be run as a template by dbt: rename it")
    ibis = need("ibis", extra="sql")
    # declared as numbers, so that the cast to text is written for columns of any type
    within = () if target.comparisons is None else target.comparisons.columns
    types = {**dict.fromkeys((*sensitive, *within), "int64"), DECISION: "boolean"}
    if roles.weight is not None:
        types[roles.weight] = "float64"
    if label is not None:
        types[label] = _KINDS.get(type(decision.positive), "string")
    name, where = place_of(table)
    for lock in target.scope:
        types.setdefault(lock.column, _KINDS.get(type(next(iter(lock.values), 0.0)), "string"))
    table = in_scope_table(target.scope, ibis.table(types, name=name, **where))
    people = grouped_table(table, roles, sensitive)
    for feature, names in (target.not_compared or {}).items():
        if feature in sensitive:  # a missing value stays missing
            people = people.mutate(
                **{feature: people[feature].cast("string").isin(list(map(str, names))).ifelse(
                    None, people[feature].cast("string"))})  # fmt: skip
    enough = float(-ndtri((1 - target.confidence) / max(groups * (groups - 1), 1)))
    violations = [
        _broken(ibis, _rates(people, metric, feature, label, decision, roles.weight, within),
                metric, limit, feature, enough, within, _reference(target, feature))
        for metric, limit, feature in asked
    ]  # fmt: skip
    return as_text(ibis.union(*violations) if len(violations) > 1 else violations[0], dialect)


def askable(target: Target, label: str | None) -> list[tuple[Metric, float]]:
    """The requirements that a query can ask by pairs of groups; those given y need a label."""
    if target.strata == "standardised":
        return []  # no pair of groups, but of mixes
    return [
        (r.metric, r.limit)
        for r in target.requirements
        if isinstance(r.metric, Metric) and len(r.metric.rates) == 1
        if label is not None or not r.metric.given_y
    ]


def _rates(
    people: Any, metric: Metric, feature: str, label: str | None, decision: Decision,
    weight: str | None, within: Sequence[str],
) -> Any:  # fmt: skip
    """Hits and people of each group, 1 being the favourable decision."""
    among = metric.rates[0]("g").labels
    rows = people.filter(people[feature].notnull() & people[DECISION].notnull())
    if label is not None and not among.all():
        good = decision.positive if decision.favourable else decision.negative
        is_good = rows[label] == good
        rows = rows.filter(rows[label].notnull() & (is_good if among[1] else ~is_good))
    good, bad = (1.0, 0.0) if decision.favourable else (0.0, 1.0)
    favoured = rows[DECISION].ifelse(good, bad)  # not every dialect makes a number of a boolean
    strata = {f"z{i}": rows[name].cast("string") for i, name in enumerate(within)}
    grouped = rows.group_by(g=rows[feature].cast("string"), **strata)
    if weight is not None:
        counted = _effective(grouped, favoured, rows[weight])
        return counted.filter(counted.people >= ENOUGH) if within else counted
    counted = grouped.aggregate(k=favoured.sum(), n=favoured.count().cast("float64"))
    return counted.filter(counted.n >= ENOUGH) if within else counted


def _effective(grouped: Any, favoured: Any, weight: Any) -> Any:
    """Hits and people as many as would have the variance of the weights, as ``Rate`` has it."""
    sums = grouped.aggregate(
        w=weight.sum(), ww=(weight * weight).sum(), h=(weight * favoured).sum(),
        hh=(weight * weight * favoured).sum(), people=favoured.count(),
    )  # fmt: skip
    sums = sums.filter(sums.w > 0)
    p = sums.h / sums.w
    spread = (1 - p) * (1 - p) * sums.hh + p * p * (sums.ww - sums.hh)
    inside = (p > 0) & (p < 1) & (spread > 0)
    n = inside.ifelse(p * (1 - p) * sums.w * sums.w / spread.nullif(0.0), sums.w * sums.w / sums.ww)
    return sums.mutate(k=p * n, n=n)


def _reference(target: Target, feature: str) -> list[str]:
    """The group that others are compared with, as text; none where all are."""
    named = target.comparisons.reference if target.comparisons is not None else ()
    return [str(value) for name, value in named if name in (None, feature)]


def _broken(
    ibis: Any, rates: Any, metric: Metric, limit: float, feature: str, enough: float,
    within: Sequence[str], reference: Sequence[str],
) -> Any:  # fmt: skip
    """Pairs of groups whose rates cannot be explained by the target, as ``judge`` has it."""
    low, high = rates, rates.view()
    same = [low[f"z{i}"] == high[f"z{i}"] for i in range(len(within))]
    both = low.join(high, [low.g != high.g, *same], lname="{name}", rname="{name}_high")
    if reference:  # only pairs with one of these
        both = both.filter(both.g.isin(reference) | both.g_high.isin(reference))
    k1, n1, k2, n2 = (both[c] for c in ("k", "n", "k_high", "n_high"))
    if metric.how == "ratio":  # the score test of p1 - tau p2, its variance where they are equal
        a = (n1 + n2) * limit
        b = -(n1 * limit + k1 + n2 + k2 * limit)
        root = (b * b - 4 * a * (k1 + k2)).abs().sqrt()
        p2 = (-b - root) / (2 * a)
        p1 = p2 * limit
        noise = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2 * limit**2
        beyond = k2 / n2 * limit - k1 / n1
    else:
        p1, p2 = (k1 + 1) / (n1 + 2), (k2 + 1) / (n2 + 2)
        noise = p1 * (1 - p1) / (n1 + 2) + p2 * (1 - p2) / (n2 + 2)
        beyond = p2 - p1 - limit
    kept = both.filter((noise > 0) & (beyond >= noise.sqrt() * enough))
    words = f"{metric.words} {metric.side} {limit:g}"
    return kept.select(
        requirement=ibis.literal(words), feature=ibis.literal(feature), lower=kept.g,
        higher=kept.g_high, **{f"stratum_{i + 1}": kept[f"z{i}"] for i in range(len(within))},
    )  # fmt: skip
