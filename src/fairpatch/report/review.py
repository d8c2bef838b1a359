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
from fairpatch._extras import need
from fairpatch.choose.fit import Fitted
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.patch.compare import IfUnlike
from fairpatch.patch.file import write_whole
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
        return write_whole(path, json.dumps(self.summary, indent=1, ensure_ascii=False) + "\n")

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained page: no network, complete without scripts."""
        return write_whole(path, self.html())

    def to_model_card(self, path: str | Path) -> Path:
        """Write a model card in Markdown."""
        return write_whole(path, _render("model_card.md", review=self.summary, md=_markdown))

    def html(self) -> str:
        """The page."""
        dial = self.summary["dial"]
        return _render(
            "review.html",
            review=self.summary,
            pictures=self._pictures(),
            dial_json=_for_script(dial),
            percent=_percent,
            number=_number,
            interval=_interval,
        )

    def _repr_html_(self) -> str:
        """In a notebook: the first screen."""
        return _render(
            "verdict.html",
            review=self.summary,
            percent=_percent,
            number=_number,
            interval=_interval,
        )

    def __str__(self) -> str:
        verdict = self.summary["verdict"]
        text = f"Review of a patch on {self.summary['people']:,} people: "
        rate = verdict["change"]["change_rate"]
        text += "fewer than 10" if rate is None else f"{rate:.1%} of"
        text += " decisions change"
        if verdict["bound_known"] is not None:
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
        shown = [x for x in s["segments"] if x["inside"] and x["outside"]]
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
                {
                    f"{line['words']}, {line['feature']}": np.array(line["values"], np.float64)
                    for line in dial["metrics"]
                },
                np.array(dial["accuracy"]),
                np.array(dial["change_rate"], np.float64),
                dial["chosen"],
            ),
        }  # fmt: skip
        for i, feature in enumerate(s["features"]):
            rows = [r for r in s["groups"][feature]["rows"] if not r["hidden"]]
            names = [str(r["group"]) for r in rows]
            moved = [
                [None if r[k] is None else round(r[k] / r["people"], 3) for r in rows]
                for k in ("promoted", "demoted")
            ]
            if any(all(v is not None for v in pair) for pair in zip(*moved, strict=True)):
                drawn[f"changes_{i}"] = ChangesDisplay(names, *moved)
            drawn[f"rates_{i}"] = RatesDisplay(
                names,
                [r["rate_before"]["value"] or 0.0 for r in rows],
                [r["rate_after"]["value"] or 0.0 for r in rows],
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
    if_unlike : as of ``PatchedModel.apply``, where the scores look like another model's.
    """
    check.a("model", model, PatchedModel, "Commod(...).fit(...).patched_")
    rows = model.rows(X, y, sensitive_features)
    model.check(rows, if_unlike)
    return review_rows(
        model, rows, target=target, fitted=fitted, exclude=exclude, refits=refits,
        reasons_for=reasons_for,
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
    )
    frontier = None
    if fitted is not None and fitted.frontier is not None:
        frontier = FrontierDisplay.from_frontier(fitted.frontier, choice=fitted.choice)
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
    return str(environment.get_template(template).render(**values))


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


def _interval(estimate: dict[str, Any] | None, digits: int = 3) -> str:
    if estimate is None:
        return "too few to show"
    if estimate["value"] is None:
        return f"undefined: {estimate['reason']}"
    if estimate["low"] is None:
        return f"{estimate['value']:.{digits}f}"
    value, low, high = (f"{estimate[k]:.{digits}f}" for k in ("value", "low", "high"))
    return f"{value} ({low} to {high})"
