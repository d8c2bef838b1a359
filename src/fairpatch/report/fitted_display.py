"""A fit as a notebook and a terminal show it: verdict, groups before and after, and the card."""

from html import escape

from fairpatch._bars import Bar, Bars
from fairpatch.choose.fit import Fitted
from fairpatch.disclose.protected import Protected
from fairpatch.disclose.reviewed import reviewed
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.rates import Model, selection_rate


def fitted_text(fitted: Fitted) -> str:
    """As text."""
    parts = [str(fitted.patch)]
    parts += [bars.text() for bars in _bars(fitted)]
    parts += [] if fitted.certificate is None else [str(fitted.certificate)]
    return "\n".join(parts)


def fitted_html(fitted: Fitted) -> str:
    """As HTML without scripts; the card last, as it is the longest."""
    certificate = fitted.certificate
    verdict = "not certified" if certificate is None else str(certificate.verdict)
    about = (
        "" if fitted.choice is None else f"; {fitted.choice.change_rate:.1%} of decisions change"
    )
    head = f"<p><strong>{escape(verdict.capitalize())}</strong>{escape(about)}</p>"
    bars = "".join(b.html() for b in _bars(fitted))
    rest = "" if certificate is None else certificate._repr_html_()
    return f"<div>{head}{bars}{rest}{fitted.patch._repr_html_()}</div>"


def _bars(fitted: Fitted) -> list[Bars]:
    """Of the certification rows, what may be shown."""
    if fitted.certificate is None or fitted.certificate.counts is None or fitted.target is None:
        return []
    table = reviewed(fitted.certificate.counts, fitted.target.metrics)
    approved, _ = fitted.patch.decision.sides
    limit = fitted.target.p_rule
    return [
        _of_feature(table, feature, f"{approved.capitalize()}, by {feature}", limit)
        for feature in table.counts.features
    ]


def _of_feature(table: Protected, feature: str, title: str, limit: float | None) -> Bars:
    names, hidden = table.by(feature).group_names, table.hidden(feature)
    bars = [
        Bar(name, _rate(table, feature, g, "f"), _rate(table, feature, g, "g"))
        for g, name in enumerate(names)
        if not hidden[g]
    ]
    after = [bars[i].after for i in range(len(bars))]
    known = [v for v in after if v is not None]
    mark = None if limit is None or len(known) < len(after) or not known else limit * max(known)
    return Bars(f"{title} ({P_RULE.words} target {limit:g})" if limit else title, bars, mark)


def _rate(table: Protected, feature: str, group: int, model: Model) -> float | None:
    return table.rate(selection_rate(model), feature, group=group).value
