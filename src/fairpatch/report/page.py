"""A review's data as a page, a notebook's first screen, and a model card: Jinja, all escaped."""

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from fairpatch._tools.extras import need
from fairpatch._tools.smallest_count import COARSE, UNPROTECTED
from fairpatch._tools.tables import Bar, Bars
from fairpatch.choose.fit import Fitted
from fairpatch.disclose.protected import Protected, reviewed
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.places import share_moved
from fairpatch.measure.rates import Model, selection_rate
from fairpatch.report.figures import Count, Figure, between_text, estimated, in_words
from fairpatch.report.proxy_section import auc_text

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """Jinja with everything escaped; the Markdown card escapes through its own filter."""
    environment = _environment(html=template.endswith(".html"))
    words = {**_WORDS, "style": _text("style.css")}
    page = str(environment.get_template(template).render(**words, **values))
    # no escape characters, no marks that turn the direction of text
    if page.translate(_PLAIN).isprintable():
        return page
    return "".join(
        c if c.isprintable() or c in "\n\t\N{NO-BREAK SPACE}" else "\N{REPLACEMENT CHARACTER}"
        for c in page
    )


@cache
def _environment(*, html: bool) -> Any:
    """Compiled templates: to compile them takes longer than to fill them in."""
    jinja2 = need("jinja2", extra="report")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


@cache
def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8").strip()


def markdown(value: Any, most: int = 200) -> str:
    """Text of the data in Markdown: one line, nothing that formats or opens an element."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
    text = text if len(text) <= most else text[: most - 1] + "…"
    for sign in "\\`*_{}[]()#+!|~":
        text = text.replace(sign, "\\" + sign)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _percent(value: float | None, digits: int = 1) -> str:
    return "withheld" if value is None else f"{value:.{digits}%}"


def _number(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def count_text(people: Count | None) -> str:
    """A count, or what is told of it."""
    return "" if people is None else in_words(people)


def _figure(figure: Figure | None, digits: int = 3) -> str:
    """A figure without its interval: its value, or what it lies between."""
    if figure is None:
        return ""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else min(digits, 2)}f}"
    if figure.at_least is not None and figure.informative:
        return between_text(_plain(figure.at_least), _plain(figure.at_most))
    return "withheld" if figure.withheld else "undefined"


def _plain(value: float | None) -> str:
    """Two digits, and no minus before a zero."""
    return f"{round(value or 0.0, 2) + 0.0:.2f}"


def _interval(figure: Figure | None, digits: int = 3) -> str:
    """A figure with its interval, or why there is none."""
    text = _figure(figure, digits)
    if figure is None or text in ("", "withheld"):
        return text
    if text == "undefined":
        return f"undefined: {figure.reason}"
    if figure.low is None:
        return text
    return f"{text} ({figure.low:.{digits}f} to {figure.high:.{digits}f})"


def _of_hundred(figure: Figure | None) -> str:
    """A share as so many of a hundred people."""
    if figure is None:
        return ""
    if figure.value is not None:
        return f"{100 * figure.value:.0f}"
    if figure.at_least is None or figure.at_most is None:
        return "a withheld number"
    return between_text(f"{100 * figure.at_least:.0f}", f"{100 * figure.at_most:.0f}")


def _needed(better: float, metric: str) -> str:
    """A business metric beside the base model's: what rises and falls, as people say it."""
    if metric == "expected_loss":
        return f"loss {-better:+.0%}"
    return f"{better:+.0%}" if metric in ("profit", "approvals") else f"{better:+.3f}"


_PLAIN = str.maketrans("", "", "\n\t\N{NO-BREAK SPACE}")
_WORDS = {
    "auc_text": auc_text,
    "needed": _needed,
    "percent": _percent,
    "number": _number,
    "count_text": count_text,
    "estimated": estimated,
    "figure": _figure,
    "interval": _interval,
    "of_hundred": _of_hundred,
    "coarse": COARSE,
    "unprotected": UNPROTECTED,
}
"""How templates say numbers."""


# A fit as a notebook and a terminal show it: verdict, groups before and after, and the card.


def fitted_text(fitted: Fitted) -> str:
    """As text."""
    parts = [str(fitted.patch)]
    parts += [bars.text() for bars in _bars(fitted)]
    parts += [] if fitted.certificate is None else [str(fitted.certificate)]
    return "\n".join(parts)


def fitted_line(fitted: Fitted) -> str:
    """In a line: the verdict, and what changes."""
    certificate, choice = fitted.certificate, fitted.choice
    if certificate is not None:
        return certificate.headline
    if choice is None:
        return "Not certified"
    moved = share_moved(*choice.approvals)
    return f"Not certified; {choice.change_rate:.1%} of decisions change, the approval rate {moved}"


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
