"""Count a period where its people lie, note it in the history, and judge what was promised."""

from datetime import UTC, datetime
from typing import Any, Literal

from fairpatch.choose.target import Target
from fairpatch.life.history import History
from fairpatch.life.period import Found, Period, period_name
from fairpatch.life.watch import Watch, watch
from fairpatch.measure.counts import UNKNOWN, Counts
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import changed_rate
from fairpatch.measure.reviewed import outcome, reviewed
from fairpatch.patched import PatchedModel
from fairpatch.report.identity import patch_hash


def monitor(
    model: PatchedModel,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    target: Target,
    period: str,
    history: History,
    labels: Literal["all", "sample"] = "all",
    replace: bool = False,
    before: Counts | None = None,
    compare_with: Any = None,
    show_small_counts: bool = False,
) -> Watch:
    """One period more: counted by one GROUP BY, appended to the history, and all of it judged.

    Parameters
    ----------
    X, y, sensitive_features : frame or table of an engine; labels and S, best as columns' names
        Both may have gaps. Without y what needs labels waits: give the same period again when
        they have come.
    target : Target
        What was promised.
    period : str
        2026-11; or a year, quarter, week or day.
    history : History
        The file of counts. Nobody's row is in it, but small counts are: keep it as you keep S.
    labels : {"all", "sample"}
        Whether labels come for everybody, or for a random sample among people decided alike.
    replace : bool
        Whether this corrects a period that is there.
    before : Counts, optional
        Earlier people, such as those who certified the patch.
    compare_with : rows of X, optional
        Fewer rows to compare with those of the fit, where X is very large.
    show_small_counts : bool
        Show figures behind which are fewer than ten people.
    """
    period_name(period)
    counts = model.count(X, y, sensitive_features=sensitive_features)
    rows = X if compare_with is None else compare_with
    found = model.compare(model.features(rows, y, sensitive_features))
    own = Period.of(
        counts,
        period=period,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        patch=patch_hash(model.patch),
        labels=labels,
        findings=tuple(
            Found(word=f.word, what=f.what, figure=f.figure, value=f.value, text=f.text)
            for f in found.findings
        ),
        replaces=replace,
        shown=shown(counts, target, show_small=show_small_counts),
    )
    history.append(own)
    return watch(history, target, patch=own.patch, before=before)


def shown(counts: Counts, target: Target, *, show_small: bool = False) -> dict[str, Any]:
    """A period's figures as they may be told: small counts are not, nor what tells them."""
    table = reviewed(counts, target.metrics, show_small=show_small)
    known = counts.n.sum((0, 2, 3))
    nobody = sum(
        int(n) for group, n in zip(counts.groups, counts.sizes, strict=True) if None in group
    )
    whole = max(counts.total, 1)
    return {
        "people": table.people().data,
        "changed": table.rate(changed_rate()).data,
        "promoted_outcome": table.rate(outcome("promoted")).data,
        "denied_outcome": table.rate(outcome("left denied")).data,
        "metrics": {
            feature: {
                r.name: table.metric(r.metric, feature).data
                for r in target.requirements
                if isinstance(r.metric, Metric)
            }
            for feature in counts.features
        },
        "label_unknown": round(float(known[UNKNOWN] / whole), 2),
        "group_unknown": round(nobody / whole, 2),
    }
