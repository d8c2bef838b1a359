"""Count a period where its people lie, note it in the history, and judge every guarantee."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from scipy.stats import binom

from fairpatch._tools import checks as check
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch.disclose.protected import Protected, outcome, reviewed
from fairpatch.identity.compare import Comparison, Finding, IfUnlike, Severity
from fairpatch.life.guarantees import GONE, Watch, watch
from fairpatch.life.history import History, NotedFinding, Period, period_name
from fairpatch.life.newly_approved import matured_of
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import changed_rate, selection_rate
from fairpatch.measure.recounted import NotKnownError, evenly_known, in_groups_of
from fairpatch.patched import PatchedModel
from fairpatch.report.signed import patch_hash
from fairpatch.target import Target

COMPARED = 50_000
"""Rows of a large table that are enough to compare with those of the fit."""
CHANCE = 1e-4
"""As few of a group as that come by chance in so few periods."""
Shares = Mapping[str, Mapping[str, float]]
"""By feature, which share of people each group is."""
NOISE, MUCH = 0.0, 0.01
"""Decisions that are another patch's: noticed, and refused beyond this share."""


def monitor(
    model: PatchedModel,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    target: Target,
    period: str,
    history: History,
    decided: str | None = None,
    labels: Literal["all", "sample"] = "all",
    replace: bool = False,
    before: Counts | None = None,
    compare_with: Any = None,
    expected: Shares | None = None,
    show_small_counts: bool = False,
    if_unlike: IfUnlike = "refuse",
) -> Watch:
    """Add one period to the history and test all guarantees again.

    Parameters
    ----------
    model : PatchedModel
        f with its patch.
    X : frame or table of an engine
        The period's rows.
    y : array or str, optional
        Labels, or their column; may have gaps. Without them what needs labels waits: give the same
        period again when they have come.
    sensitive_features : frame, series, dict, array, or names of columns
        May have gaps.
    target : Target
        What is guaranteed.
    period : str
        2026-11; or a year, quarter, week or day.
    history : History
        The file of counts. Nobody's row is in it, but small counts are: keep it as you keep S.
    decided : str, optional
        A column of the decisions that were made, as ``apply`` writes it or in words: they are
        counted, the patch is not worked out again, and whether they are its decisions is tried on
        some rows. Where the roles name one that the table has, it is that.
    labels : {"all", "sample"}
        Whether labels come for everybody, or for a random sample among people decided alike.
    replace : bool
        Whether this corrects a period that is there.
    before : Counts, optional
        Earlier people, such as those who certified the patch: they tell what to look at, so that
        the first period counts already. Given with it, and kept in the history.
    compare_with : rows of X, optional
        Fewer rows to compare with those of the fit, where X is very large; without labels.
    expected : mapping, optional
        By feature, which share of people each group was when the patch was learned:
        ``{"sex": {"f": 0.48, "m": 0.52}}``. A group that has vanished is found in the first period
        already then; later ones are compared with those before.
    show_small_counts : bool
        Suppress nothing; for authorised readers only.
    if_unlike : {"refuse", "warn", "ignore"}
        Where no decisions were made that could be counted, and the table is one that ``apply``
        refuses: then nobody was decided by this patch, and nothing is counted.

    Returns
    -------
    Watch
        A verdict on every guarantee, over all periods.
    """
    check.a("model", model, PatchedModel, "FairPatch(...).fit(...).patched_", needed=True)
    check.a("target", target, Target, "Target(p_rule=0.8)", needed=True)
    check.a("history", history, History, "History('life/history.jsonl')", needed=True)
    period_name(period)
    if model.patch.action == "refer" and decided is None:
        raise ValueError(
            "this patch refers people, and what became of them is not known: name the column of "
            "the decisions that were made, decided='decision'"
        )
    about_people: dict[str, Any] = {
        "sensitive_features": sensitive_features,
        "comparisons": target.comparisons,
    }
    decided = model.decided_in(X) if decided is None else decided
    used, X, y, sensitive_features, _ = model.that_count(X, y, sensitive_features)
    about_people["sensitive_features"] = sensitive_features
    earlier = [p for p in history.of(patch_hash(model.patch)) if p.period != period]
    rows, labels_of = (X, y) if compare_with is None else (compare_with, None)
    comparison = model.compare(model.features(rows, labels_of, sensitive_features))
    if decided is None and comparison.refused:
        comparison.act(if_unlike)
    counts = model.count(X, y, decided=decided, **about_people)
    judged: dict[str, Any] = {}
    if model.patch.roles.weight is not None:
        fewer = model.count(X, y, decided=decided, thinned=True, **about_people)
        drawn = in_groups_of(fewer, counts).to_dict()
        judged = {name: drawn[name] for name in ("parts", "persons") if name in drawn}
        judged["thinned"] = drawn["n"]
    # where places are limited, or people look again, others decide too
    if decided is not None and model.patch.action == "decide" and target.places is None:
        comparison += _own_decisions(model, rows, decided, sensitive_features)
    if used:
        found = Finding("notice", "rows", "used", 1.0, used.removesuffix("."))
        comparison += Comparison(0, (found,))
    about: dict[str, Any] = {
        "period": period,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "patch": patch_hash(model.patch),
    }
    if not counts.total:
        raise ValueError(f"there is nobody in the table of {period}: nothing is counted")
    if before is not None:
        history.append(Period.of(before, **about, before=True))
    findings = [
        NotedFinding(severity=f.severity, what=f.what, figure=f.figure, value=f.value, text=f.text)
        for f in comparison.findings
    ]
    counted = Period.of(
        counts,
        **about,
        **judged,
        labels=labels,
        outcomes=model.patch.outcomes,
        matured=matured_of(model, X, y, sensitive_features, decided),
        findings=(
            *findings,
            *_new_groups(counts, earlier),
            *_gone_groups(counts, _shares(earlier, before, expected)),
        ),
        replaces=replace or _groups_have_come(history, about, counts),
        unprotected=show_small_counts,
        shown={
            **shown(counts, target, show_small=show_small_counts),
            "bad_outcome": model.patch.decision.bad_outcome,
            **_looked_at(model, X, counts, about_people),
        },
    )
    new = history.append(counted)
    return watch(history, target, patch=counted.patch, added=new)


def _looked_at(
    model: PatchedModel, X: Any, counts: Counts, about: dict[str, Any]
) -> dict[str, Any]:
    """Of a patch that refers people: which share of them was approved, to two digits."""
    if model.patch.action != "refer":
        return {}
    referred = float(model.count(X, **about).along("before", "after", of="weight")[0, 1])
    approved = float(counts.along("before", "after", of="weight")[0, 1])
    return {"referred_approved": _share(round(min(approved, referred)), round(referred))}


def _new_groups(counts: Counts, earlier: Sequence[Period]) -> Iterator[NotedFinding]:
    """Groups of at least ten people that no earlier period has."""
    for feature in counts.features if earlier else ():
        known = {name for p in earlier for name in p.counts.by(feature).group_names}
        known_groups = counts.by(feature).known()
        for name, size in zip(known_groups.group_names, known_groups.heads, strict=True):
            if name not in known and size >= MIN_PEOPLE:
                text = f"{name!r} is a group of {feature!r} that was not there before"
                yield NotedFinding(
                    severity="notice", what=feature, figure="new_group", value=1, text=text
                )


def _groups_have_come(history: History, about: Mapping[str, str], counts: Counts) -> bool:
    """Whether the period is there with nobody's group known, and some are known now."""
    same = [p for p in history.of(about["patch"]) if p.period == about["period"]]
    return bool(same) and not _known(same[-1].counts) and bool(_known(counts))


def _known(counts: Counts) -> int:
    """Of how many people some group is known."""
    return max((int(counts.by(f).known().heads.sum()) for f in counts.features), default=0)


def _shares(
    earlier: Sequence[Period], before: Counts | None, expected: Shares | None
) -> Shares:  # fmt: skip
    """Which share of people each group was: in earlier periods, else when it was learned."""
    tables = [p.counts for p in earlier] or ([] if before is None else [before])
    found: dict[str, dict[str, float]] = {f: dict(s) for f, s in (expected or {}).items()}
    for feature in tables[0].features if tables else ():
        people: dict[str, float] = {}
        for counts in tables:
            known = counts.by(feature).known()
            for name, size in zip(known.group_names, known.heads, strict=True):
                people[name] = people.get(name, 0.0) + float(size)
        total = sum(people.values())
        if total:
            found[feature] = {name: size / total for name, size in people.items()}
    return found


def _gone_groups(counts: Counts, shares: Shares) -> Iterator[NotedFinding]:
    """Groups of which there are fewer than half as many as were expected, and not by chance."""
    for feature in counts.features:
        known = counts.by(feature).known()
        here = dict(zip(known.group_names, known.heads, strict=True))
        total = int(sum(here.values()))
        if not total and shares.get(feature):
            text = f"nobody's {feature} is known in this period: nothing can be said of it"
            yield NotedFinding(severity="refuse", what=feature, figure=GONE, value=1, text=text)
        for name, share in shares.get(feature, {}).items():
            size = int(here.get(name, 0))
            if size >= share * total / 2 or binom.cdf(size, total, min(share, 1.0)) >= CHANCE:
                continue
            now = "nobody" if not size else "fewer than ten people" if too_few(size) else (
                f"about {size / total:.0%}")  # fmt: skip
            text = (
                f"of {name!r} ({feature}), {share:.0%} of the people before, there is {now} now: "
                "what holds for the others says nothing of them"
            )
            yield NotedFinding(severity="refuse", what=feature, figure=GONE, value=1, text=text)


def _own_decisions(model: PatchedModel, rows: Any, decided: str, sensitive: Any) -> Comparison:
    """Whether decisions that were made are this patch's."""
    made, expected = (
        model.count(rows, sensitive_features=sensitive, decided=name).along("before", "after")
        for name in (decided, None)
    )
    people = int(expected.sum())
    # by decisions before and after: who was decided otherwise is in another cell
    apart = float(abs(made - expected).sum()) / 2 / max(people, 1)
    if apart <= NOISE:
        return Comparison(people, ())
    few = too_few(apart * people)
    many = "some" if few else f"at least {apart:.1%}"
    text = f"{many} of the decisions in {decided!r} are not this patch's"
    severity: Severity = "refuse" if apart > MUCH else "notice"
    return Comparison(people, (Finding(severity, "decision", "decision", apart, text),))


def shown(counts: Counts, target: Target, *, show_small: bool = False) -> dict[str, Any]:
    """A period's figures as they may be told: small counts are not, nor what tells them."""
    table = reviewed(counts, target.metrics, show_small=show_small)
    known = counts.along("label")
    nobody = sum(
        int(n) for group, n in zip(counts.groups, counts.sizes, strict=True) if None in group
    )
    return {
        "whole": table.whole,
        "people": table.people().data,
        "changed": table.rate(changed_rate()).data,
        "approved_before": table.rate(selection_rate("f")).data,
        "approved": table.rate(selection_rate("g")).data,
        "rates": {feature: _rates(table, feature) for feature in counts.features},
        "promoted_outcome": table.rate(outcome("promoted")).data,
        "denied_outcome": table.rate(outcome("left denied")).data,
        "metrics": {
            feature: {
                r.name: _metric(table, r.metric, feature, show_small=show_small).data
                for r in target.requirements
                if isinstance(r.metric, Metric)
            }
            for feature in counts.features
        },
        "label_unknown": _share(int(known[UNKNOWN]), counts.total),
        "group_unknown": _share(nobody, counts.total),
    }


def _rates(table: Protected, feature: str) -> dict[str, dict[str, Any]]:
    """Of each group that may be shown, the share with the favourable decision."""
    hidden = table.hidden(feature)
    return {
        name: {
            "before": table.rate(selection_rate("f"), feature, group=g).data,
            "after": table.rate(selection_rate("g"), feature, group=g).data,
        }
        for g, name in enumerate(table.by(feature).group_names)
        if not hidden[g]
    }


def _metric(table: Protected, metric: Metric, feature: str, *, show_small: bool) -> Estimate:
    """As the verdict has it: of people who are known, whatever was decided, equally often."""
    counts = table.by(feature)
    try:
        even = evenly_known(counts, with_label=metric.given_y)
    except NotKnownError as error:
        return table.metric(metric, feature) if counts.weighted else Estimate.undefined(str(error))
    if even == counts.known():
        return table.metric(metric, feature)
    return reviewed(even, [metric], show_small=show_small).metric(metric, feature)


def _share(k: int, n: int) -> float | None:
    """A share to two digits; None where fewer than ten people are behind it."""
    return None if too_few(k) or too_few(n - k) else round(k / max(n, 1), 2)
