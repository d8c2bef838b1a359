"""The review pack: one file that a validator can read, print and sign.

summarize (plain data) -> draw (pictures) -> page. The same data is the JSON and the model card.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairpatch import _checks as check
from fairpatch._arrays import Floats
from fairpatch._extras import need
from fairpatch.choose.fit import Fitted
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.measure.disclose import Told
from fairpatch.measure.estimate import FEW_BEHIND
from fairpatch.measure.floor import COARSE, UNPROTECTED
from fairpatch.patch.compare import IfUnlike
from fairpatch.patch.strict import dumps_safely
from fairpatch.patch.whole import write_whole
from fairpatch.patched import PatchedModel
from fairpatch.report.displays import (
    ChangesDisplay,
    ConceptsDisplay,
    DialDisplay,
    RatesDisplay,
    ScoresDisplay,
    SegmentsDisplay,
)
from fairpatch.report.frontier_display import FrontierDisplay
from fairpatch.report.pictures import figure, svg
from fairpatch.report.summary import summarize

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, eq=False)
class Review:
    """Everything about one patch on some rows, as data, page, and model card."""

    summary: dict[str, Any]
    frontier: FrontierDisplay | None = None

    def to_dict(self) -> dict[str, Any]:
        """The whole content as plain data."""
        return self.summary

    def to_json(self, path: str | Path) -> Path:
        """Write the content as JSON."""
        return write_whole(path, dumps_safely(self.summary) + "\n")

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained page: no network, complete without scripts."""
        return write_whole(path, self.html())

    def to_model_card(self, path: str | Path) -> Path:
        """Write a model card in Markdown."""
        card = _render("model_card.md", review=self.summary, md=_markdown, **_WORDS)
        return write_whole(path, card)

    def html(self) -> str:
        """The page."""
        dial = self.summary["dial"]
        return _render(
            "review.html",
            review=self.summary,
            pictures=self._pictures(),
            dial_json=_for_script(dial),
            **_WORDS,
        )

    def _repr_html_(self) -> str:
        """In a notebook: the first screen."""
        return _render(
            "verdict.html",
            review=self.summary,
            **_WORDS,
        )

    def __str__(self) -> str:
        verdict = self.summary["verdict"]
        change = verdict["change"]
        text = f"Review of a patch on {_told(self.summary['people'])} people: "
        text += f"{_told(change['changed'])} decisions change"
        if change["change_rate"]["value"] is not None:
            text += f" ({change['change_rate']['value']:.1%})"
        if verdict["bound_known"]:
            text += f"; no method could do it with fewer than {verdict['bound_known']:.1%}"
        return text

    __repr__ = __str__

    def _pictures(self) -> dict[str, str]:
        s = self.summary
        concepts = [
            (c["plain_name"],
             [(i["column"], i["effect"], i["towards_change"]) for i in c["ingredients"]])
            for c in s["patch"]["concepts"]
        ]  # fmt: skip
        shown = [x for x in s["segments"] if _has_interval(x["inside"], x["outside"])]
        dial = s["dial"]
        drawn: dict[str, Any] = {
            "concepts": ConceptsDisplay(concepts),
            "segments": SegmentsDisplay(
                [x["where"] for x in shown],
                *([(x[k]["value"], x[k]["low"], x[k]["high"]) for x in shown]
                  for k in ("inside", "outside")),
            ),
            "scores": ScoresDisplay(
                np.array(s["scores"]["bins"], np.float64),
                s["cutoff"],
            ),
            "dial": DialDisplay(
                np.array(dial["strength"]),
                {f"{line['words']}, {line['feature']}": _band(line) for line in dial["metrics"]},
                _band(dial["accuracy"]),
                _band(dial["change_rate"]),
                dial["chosen"],
            ),
        }  # fmt: skip
        for i, feature in enumerate(s["features"]):
            rows = [r for r in s["groups"][feature]["rows"] if not r["hidden"]]
            names = [str(r["group"]) for r in rows]
            moved = [
                [
                    round(r[k] / r["people"], 3)
                    if isinstance(r[k], int) and isinstance(r["people"], int)
                    else None
                    for r in rows
                ]
                for k in ("promoted", "demoted")
            ]
            if any(all(v is not None for v in pair) for pair in zip(*moved, strict=True)):
                drawn[f"changes_{i}"] = ChangesDisplay(names, *moved)
            drawn[f"rates_{i}"] = RatesDisplay(
                names,
                [_ends(r["rate_before"]) for r in rows],
                [_ends(r["rate_after"]) for r in rows],
                s["decision"]["favoured"],
            )
        pictures = {name: svg(display.plot().ax_.figure, name) for name, display in drawn.items()}
        if self.frontier is not None:
            fig, ax = figure(6.4, 4.0)
            self.frontier.plot(ax)
            pictures["frontier"] = svg(fig, "frontier")
        return pictures


def review(
    model: PatchedModel,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    target: Target | None = None,
    fitted: Fitted | None = None,
    exclude: Collection[str] = (),
    refits: int | None = None,
    reasons_for: Sequence[int] = (),
    show_small_counts: bool = False,
    if_unlike: IfUnlike = "refuse",
) -> Review:
    """Review a patched model on rows that it has not seen.

    Parameters
    ----------
    target : what was asked for, where that is not known from ``fitted``.
    fitted : the fit, for its certificate and frontier, and for learning again.
    exclude : columns that the patch was not to read.
    refits : how often to learn again on bootstraps, to see whether the same people change: 5 times
        where ``fitted`` is given, without it never.
    reasons_for : numbers of rows whose reasons to include; none by default, as a review holds no
        data of a person unless it is asked for.
    show_small_counts : nothing is hidden; only for people who are entitled to see it. Every page
        says so.
    if_unlike : as of ``PatchedModel.apply``, where the scores look like another model's.
    """
    check.a("model", model, PatchedModel, "Commod(...).fit(...).patched_")
    rows = model.rows(X, y, sensitive_features)
    model.check(rows, if_unlike)
    return review_rows(
        model, rows, target=target, fitted=fitted, exclude=exclude, refits=refits,
        reasons_for=reasons_for, show_small_counts=show_small_counts,
    )  # fmt: skip


def review_rows(
    model: PatchedModel,
    rows: Rows,
    *,
    target: Target | None = None,
    fitted: Fitted | None = None,
    exclude: Collection[str] = (),
    refits: int | None = None,
    reasons_for: Sequence[int] = (),
    show_small_counts: bool = False,
) -> Review:
    """The same of rows that f has been asked about."""
    if refits is None:
        refits = 0 if fitted is None else 5
    summary = summarize(
        model,
        rows,
        target=fitted.target if fitted and target is None else target,
        fitted=fitted,
        exclude=exclude,
        refits=refits,
        reasons_for=reasons_for,
        show_small_counts=show_small_counts,
    )
    frontier = None
    if fitted is not None and fitted.frontier is not None:
        frontier = FrontierDisplay.from_frontier(fitted.frontier, choice=fitted.choice).rounded()
    return Review(summary, frontier)


def _render(template: str, **values: Any) -> str:
    """Jinja with everything escaped; the Markdown card escapes through its own filter."""
    jinja2 = need("jinja2", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=template.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page = str(environment.get_template(template).render(**values))
    # no escape characters, no marks that turn the direction of text
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in page
    )


def _for_script(data: Any) -> str:
    """JSON that cannot leave its script element."""
    text = json.dumps(data, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _markdown(value: Any) -> str:
    """Text of the data in Markdown: one line, nothing that formats or opens an element."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
    text = text if len(text) <= 200 else text[:199] + "…"
    for sign in "\\`*_{}[]()#+!|~":
        text = text.replace(sign, "\\" + sign)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _percent(value: float | None, digits: int = 1) -> str:
    return "not shown" if value is None else f"{value:.{digits}%}"


def _number(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def _told(count: int | dict[str, Any]) -> str:
    """A count, or what is told of it."""
    if isinstance(count, int):
        return f"{count:,}"
    return str(Told(count["at_least"], count["at_most"]))


def _figure(figure: dict[str, Any] | None, digits: int = 3) -> str:
    """A figure without its interval: its value, or what it lies between."""
    if figure is None:
        return ""
    if figure["value"] is not None:
        return f"{figure['value']:.{digits if figure['low'] is not None else 2}f}"
    if figure["at_least"] is not None:
        return f"{figure['at_least']:.2f} to {figure['at_most']:.2f}"
    return "not shown" if figure["reason"] == FEW_BEHIND else "undefined"


def _interval(figure: dict[str, Any] | None, digits: int = 3) -> str:
    """A figure with its interval, or why there is none."""
    text = _figure(figure, digits)
    if figure is None or text in ("", "not shown"):
        return text
    if text == "undefined":
        return f"undefined: {figure['reason']}"
    if figure["low"] is None:
        return text
    return f"{text} ({figure['low']:.{digits}f} to {figure['high']:.{digits}f})"


def _between(line: dict[str, Any], step: int) -> str:
    """What a line of the dial lies between at a step."""
    low, high = line["at_least"][step], line["at_most"][step]
    if low is None:
        return "undefined"
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


_WORDS = {
    "percent": _percent,
    "number": _number,
    "told": _told,
    "figure": _figure,
    "interval": _interval,
    "between": _between,
    "coarse": COARSE,
    "unprotected": UNPROTECTED,
}
"""How templates say numbers."""


def _has_interval(*figures: dict[str, Any] | None) -> bool:
    return all(f is not None and f["low"] is not None for f in figures)


def _band(line: dict[str, Any]) -> Floats:
    """The ends of a line of the dial: (steps, 2)."""
    return np.array([line["at_least"], line["at_most"]], np.float64).T


def _ends(rate: dict[str, Any]) -> tuple[float, float]:
    """A rate as a picture draws it: a point, or what it lies between."""
    if rate["value"] is not None:
        return rate["value"], rate["value"]
    return (0.0, 1.0) if rate["at_least"] is None else (rate["at_least"], rate["at_most"])
