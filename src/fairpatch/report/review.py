"""The review pack: one file that a validator can read, print and sign.

summarize (typed data) -> page. The same data is the JSON and the model card.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Floats
from fairpatch._tools.files import dumps_safely, write_whole
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.fit import Fitted
from fairpatch.data.rows import Rows
from fairpatch.identity.compare import IfUnlike
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column
from fairpatch.patched import PatchedModel
from fairpatch.report.figures import in_order
from fairpatch.report.headline import open_findings
from fairpatch.report.page import count_text, markdown, render
from fairpatch.report.signed import About, Earlier, annex, earlier_findings
from fairpatch.report.subject import Subject
from fairpatch.report.summary import Summary, summarize
from fairpatch.report.verdict_section import CertificateSection, renamed_rows
from fairpatch.target import Target

REFITS = 5


@dataclass(frozen=True, eq=False)
class Review:
    """Everything about one patch on some rows, as data, page, and model card."""

    summary: Summary

    def replace(self, **changes: Any) -> "Review":
        """The same with some parts replaced."""
        return replace(self, summary=self.summary.model_copy(update=changes))

    def with_earlier(self, earlier: Sequence[Earlier]) -> "Review":
        """The same with earlier reviews of the patch, and a finding where the last one differs."""
        s = self.summary
        verdict = None if s.certificate is None else str(s.certificate.verdict)
        found = in_order([*s.findings, *earlier_findings(earlier, verdict, s.findings)])
        return self.replace(
            identity=s.identity.model_copy(update={"earlier": list(earlier)}),
            findings=found,
            headline=s.headline.model_copy(update=open_findings(found)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole content as plain data."""
        return self.summary.model_dump(mode="json")

    def to_json(self, path: str | Path) -> Path:
        """Write the content as JSON."""
        return write_whole(path, dumps_safely(self.to_dict()) + "\n")

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained page: no network, complete without scripts."""
        return write_whole(path, self.html())

    def to_model_card(self, path: str | Path) -> Path:
        """Write a model card in Markdown."""
        return write_whole(path, self._render("model_card.md", md=markdown))

    def html(self) -> str:
        """The page."""
        return self._render("review.html")

    def _repr_html_(self) -> str:
        """In a notebook: the first screen."""
        return self._render("notebook.html")

    def _render(self, template: str, **values: Any) -> str:
        details = annex(self.summary.identity)
        return render(template, review=self.summary, annex=details, **values)

    def __str__(self) -> str:
        effect = self.summary.effect
        change = effect.change
        persons = self.summary.persons
        rows = "" if persons is None else f"rows of {persons:,} "
        text = f"Review of a patch on {count_text(self.summary.people)} {rows}people: "
        text += f"{count_text(change.changed)} decisions change"
        if change.change_rate.value is not None:
            text += f" ({change.change_rate.value:.1%})"
        if effect.bound_known:
            text += f"; no method could do it with fewer than {effect.bound_known:.1%}"
        grave = [finding for finding in self.summary.findings if finding.open]
        return text + "".join(f"\n  {'!' * (1 + (f.level == 'stop'))} {f.text}" for f in grave)

    __repr__ = __str__


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
    about: About | None = None,
    amount: Any = None,
) -> Review:
    """Review a patched model on rows that it has not seen.

    Parameters
    ----------
    model : PatchedModel
        f with its patch, ``patched_`` of an estimator.
    X : frame or array
        Rows that neither f nor the patch was learned from.
    y : array or str
        Labels, or the name of their column.
    sensitive_features : frame, series, dict, array, or names of columns
        To compare groups.
    target : Target, optional
        What was asked for, where that is not known from ``fitted``.
    fitted : Fitted, optional
        The fit, for its certificate and frontier, and for refits.
    exclude : collection of str
        Columns that the patch was not to use.
    refits : int, optional
        Bootstrap refits, to see whether the same people change: 5 where ``fitted`` is given.
    reasons_for : sequence of int
        Numbers of rows whose reasons to include; none by default, as a review holds no data of a
        person unless it is asked for.
    show_small_counts : bool
        Suppress nothing; for authorised readers only. Every page says so.
    if_unlike : {"refuse", "warn", "ignore"}
        Where the scores look like another model's.
    about : About, optional
        What the model is called, who owns it, what its groups are called.
    amount : array or str, optional
        What is at risk with each person, as the amount of a loan, or the name of its column: for
        the credit impact.

    Returns
    -------
    Review
    """
    check.a("model", model, PatchedModel, "FairPatch(...).fit(...).patched_")
    rows = model.rows(X, y, sensitive_features)
    model.compare(rows.X, rows.f).act(if_unlike)
    return review_rows(
        model, rows, target=target, fitted=fitted, exclude=exclude, refits=refits,
        reasons_for=reasons_for, show_small_counts=show_small_counts, about=about,
        amount=amounts_of(X, amount, len(rows)),
    )  # fmt: skip


def amounts_of(X: Any, amount: Any, people: int) -> Floats | None:
    """A number for each person, given or as a column."""
    if amount is None:
        return None
    if isinstance(amount, str):
        amount = Columns.of(X).values(Column(name=amount, kind="number"))
    values = np.asarray(amount, np.float64)
    if values.shape != (people,):
        raise ValueError(
            f"amount must have one number for each of the {people} rows; got {values.shape}"
        )
    return values


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
    about: About | None = None,
    judged: CertificateSection | Certificate | None = None,
    amount: Floats | None = None,
) -> Review:
    """The same of rows that f has been asked about."""
    if refits is None:
        refits = 0 if fitted is None else REFITS
    about = about or About()
    subject = Subject(
        model,
        renamed_rows(rows, about.group_names),
        about,
        fitted.target if fitted and target is None else target,
        fitted,
        exclude,
        show_small_counts,
        amount,
    )
    return Review(summarize(subject, refits=refits, reasons_for=reasons_for, judged=judged))
