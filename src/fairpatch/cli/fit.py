"""Learn, choose and certify a patch for the target; write it with its review into a folder."""

import shlex
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.ledger import facts_of, record
from fairpatch.cli.options import (
    Categories,
    ConfigFile,
    Data,
    Exclude,
    FailOn,
    Favourable,
    Ignore,
    Join,
    Json,
    Key,
    Label,
    Life,
    Model,
    Outcomes,
    Positive,
    Score,
    Sensitive,
    SensitiveTable,
    Threshold,
    TrustModel,
    Weight,
)
from fairpatch.cli.people import base_model, notice, table_of, tell_names, with_model_hash
from fairpatch.cli.run_folder import for_a_new_run
from fairpatch.cli.say import complain, note, refuse, say, say_json
from fairpatch.cli.verdicts import check_fail_on, leave, leave_if_found, tell_findings

if TYPE_CHECKING:
    from fairpatch._tools.verdict import Verdict
    from fairpatch.choose.certificate import Certificate
    from fairpatch.choose.objections import TargetNotReachedError
    from fairpatch.cli.config import Config
    from fairpatch.data.used_rows import UsedRows
    from fairpatch.front import FairPatch
    from fairpatch.patch import Patch
    from fairpatch.report.figures import Finding
    from fairpatch.report.review import Review
    from fairpatch.report.signed import About
    from fairpatch.target import Target


# Write a run's folder: every file whole, the manifest last.


def write_run(
    out: Path, options: "Config", patch: "Patch", review: "Review", *, verdict: str | None,
    people: int, used: "UsedRows | None" = None,
) -> None:  # fmt: skip
    """The folder is unfinished until its manifest is there."""
    from fairpatch._tools.files import dumps_safely, write_whole
    from fairpatch.cli import config as configs
    from fairpatch.cli import run_folder
    from fairpatch.cli.sign import SIGNATURE, SIGNER
    from fairpatch.patch import save
    from fairpatch.report.signed import patch_hash

    out.mkdir(parents=True, exist_ok=True)
    earlier = ("refused.html", "refused.json", run_folder.REFIT)  # of an earlier try
    for sealed in (run_folder.MANIFEST, SIGNATURE, SIGNER, *earlier):
        (out / sealed).unlink(missing_ok=True)
    save(patch, out / "patch.json")
    (out / run_folder.USED).unlink(missing_ok=True)
    if used is not None:
        used.save(out / run_folder.USED)
    menu = review.to_dict()["menu"]
    write_whole(out / "menu.json", dumps_safely(menu))
    write_whole(out / "config.yaml", configs.write(options).rstrip("\n"))
    review.to_html(out / "review.html")
    review.to_json(out / "review.json")
    review.to_model_card(out / "model_card.md")
    certificate = review.to_dict()["certificate"]
    if certificate is not None:  # of this patch and no other
        certificate["patch_sha256"] = patch_hash(patch)
    write_whole(out / "certificate.json", dumps_safely(certificate))
    about = {"data": options.data, "data_sha256": tables.fingerprint(options.data)}
    run_folder.seal(out, {**about, "rows": people, "certificate": verdict})


# Learn, choose and certify a patch for the target; write it with its review into a folder.

KEY_NEEDED = (
    " To monitor them, name the column that tells people apart, key: in the configuration; they "
    "are drawn by it."
)
MOST = 50_000
"""Rows of a large table that a review is made of; the certificate is of all of them."""


def run(
    context: typer.Context,
    config: ConfigFile = None,
    data: Data = None,
    label: Label = None,
    positive: Positive = None,
    favourable: Favourable = None,
    score: Score = None,
    model: Model = None,
    sensitive: Sensitive = None,
    sensitive_table: SensitiveTable = None,
    join: Join = None,
    exclude: Exclude = None,
    ignore: Ignore = None,
    category: Categories = None,
    outcomes: Outcomes = None,
    weight: Weight = None,
    key: Key = None,
    threshold: Threshold = None,
    trust_model: TrustModel = None,
    p_rule: Annotated[float | None, typer.Option(help="P-Rule to reach")] = None,
    max_changes: Annotated[float | None, typer.Option(help="share that may change")] = None,
    max_columns: Annotated[int | None, typer.Option(help="columns the patch may read")] = None,
    direction: Annotated[str | None, typer.Option(help="both, promote_only, demote_only")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="what else must hold, NAME=VALUE; may be repeated")
    ] = None,
    pick: Annotated[str | None, typer.Option(help="another patch of the menu, by its name")] = None,
    seed: Annotated[int | None, typer.Option(help="same seed, same patch")] = None,
    out: Annotated[Path, typer.Option(help="the run's folder")] = Path("run"),
    force: Annotated[bool, typer.Option(help="replace an existing run")] = False,
    require_certificate: Annotated[
        bool, typer.Option(help="fail unless the patch is certified, also where it is inconclusive")
    ] = False,
    fail_on: FailOn = None,
    life: Life = None,
    json: Json = False,
) -> None:
    """Fit to a target."""
    from fairpatch.cli import config as configs

    options = configs.read(
        config, adding=True, data=data, label=label, positive=positive,
        favourable=favourable, score=score, model=model, sensitive=sensitive, exclude=exclude,
        sensitive_table=sensitive_table, join=join,
        ignore=ignore, categories=category, outcomes=outcomes, weight=weight, key=key,
        threshold=threshold, seed=seed, trust_model=trust_model,
        target=configs.limits(target or [], {
            "p_rule": p_rule, "max_changes": max_changes, "max_columns": max_columns,
            "direction": direction,
        }),
    )  # fmt: skip
    configs.need_direction(options)
    check_fail_on(fail_on)
    for_a_new_run(context, out, force=force)
    verdict, summary, findings = fit(options, out, quiet=json, pick=pick)
    if summary["met"]:
        record(out, life, "fitted", **facts_of(out))
    if json:
        say_json(summary)
    leave_if_found(findings, fail_on)
    leave(verdict, certified=require_certificate)


def fit(
    options: "Config", out: Path, *, quiet: bool = False, pick: str | None = None
) -> "tuple[Verdict | None, dict[str, Any], list[Finding]]":
    """Do it, write the folder, and say what came of it; and what the review found."""
    from fairpatch._tools.progress import showing
    from fairpatch._tools.verdict import Verdict
    from fairpatch.choose.objections import TargetNotReachedError
    from fairpatch.report.verdict_section import certificate_text

    f = base_model(options)
    g = estimator_of(options, f, options.asked, options.learner)
    table = table_of(options)  # before anything is shown: a column may be missing
    tell_names(f, table)
    inside = options.columns.key is not None and options.score is not None
    people = table if inside else tables.in_memory(table)
    notice(options, people)
    with showing(sys.stderr.isatty() and not quiet):
        try:
            _fit(g, people, options, inside=inside)
        except TargetNotReachedError as error:
            complain(str(error))
            _refuse(error, options, out)
            return Verdict.NOT_MET, {"met": False, "why": str(error)}, []
    menu = g.menu_
    g = g if pick is None else g.pick(pick)
    if not quiet:
        _tell_patch(g, options)  # at once: the review takes as long again
    with showing(sys.stderr.isatty() and not quiet):
        patch = with_model_hash(g.patch_, options.model)
        review = _review(g, patch, options, out)
    verdict = None if g.certificate_ is None else g.certificate_.verdict
    write_run(out, options, patch, review, verdict=verdict, people=g.fitted_.people,
              used=g.patched_.used)  # fmt: skip
    if not quiet:
        note(str(menu))
        note(certificate_text(review.summary.certificate))
        tell_findings(review.summary.findings)
        say(f"wrote {out}: read {out / 'review.html'}, apply with: fairpatch apply {out} DATA OUT")
    summary = {
        "met": True, "certificate": verdict, "change_rate": g.choice_.change_rate,
        "menu": review.to_dict()["menu"],
        "findings": [f.model_dump() for f in review.summary.findings if f.open],
    }  # fmt: skip
    return verdict, summary, review.summary.findings


def _tell_patch(g: "FairPatch", options: "Config") -> None:
    """The scorecard, and what it does to the people it was chosen on."""
    note(str(g.patch_))
    note(f"On the selection set: {g.choice_}")
    if not g.choice_.change_rate:
        note(
            f"Nothing changes: the base model meets the target already, where decision 1 is a "
            f"score {options.decision.rule}. Is that your threshold?"
        )
    if options.columns.weight is not None:
        note(
            "Rows weigh differently: the fewest changes and the review's menu, which count "
            "people, are not worked out." + (KEY_NEEDED if options.columns.key is None else "")
        )
    if g.choice_.strength != g.preferred_.strength:
        note(
            f"(The same scorecard with {g.preferred_.change_rate:.1%} of decisions changed was "
            "preferred on the selection set, but only this one, with a larger margin, could be "
            f"certified.{_by_itself(g.fitted_.preferred_certificate)})"
        )


def _by_itself(alone: "Certificate | None") -> str:
    """What kept the preferred one from its certificate: the first requirement that it misses."""
    missed = [r for r in alone.results if r.verdict != "certified"] if alone is not None else []
    if not missed or missed[0].estimate.low is None:
        return ""
    ends = missed[0].estimate
    return f" By itself it shows, for {missed[0].requirement}, {ends.low:.2f} to {ends.high:.2f}."


def estimator_of(
    options: "Config", model: Any, target: "Target", learner: dict[str, Any]
) -> "FairPatch":
    """What a configuration asks for, with a target and a learner."""
    from fairpatch.choose.learner import learner_of
    from fairpatch.front import FairPatch

    reasons = {**options.about.business_reasons, **options.columns.reasons}
    roles = options.columns.replace(reasons=reasons) if reasons else options.columns
    return FairPatch(
        model, target, learner=learner_of(learner), decision=options.decision,
        roles=roles, exclude=options.exclude, categories=options.categories,
        max_rows=options.max_rows, random_state=options.seed,
        may_use_sensitive=options.may_use_sensitive,
    )  # fmt: skip


def _review(g: "FairPatch", patch: "Patch", options: "Config", out: Path) -> "Review":
    """Reviewed on rows that certified it: neither learned from nor chosen on."""
    from fairpatch._tools.progress import tell
    from fairpatch.patched import PatchedModel
    from fairpatch.report.review import review_rows

    tell("reviewing", 0.0)
    fresh = g.fitted_.fresh_rows(MOST if options.columns.key else None)
    model = PatchedModel(g.base_, patch, g.patched_.classes)
    about = about_run(options, out)
    return review_rows(model, fresh, fitted=g.fitted_, exclude=g.exclude, about=about)


def about_run(options: "Config", out: Path) -> "About":
    """What the user said of the model, with the day, the run and how to repeat it."""
    filled = {
        "date": options.about.date or date.today().isoformat(),
        "run": options.about.run or str(out),
        "command": options.about.command or f"fairpatch verify {shlex.quote(str(out))} --again",
        "data": options.about.data or options.data,
    }
    return options.about.model_copy(update=filled)


def _refuse(error: "TargetNotReachedError", options: "Config", out: Path) -> None:
    """A refused target leaves a record, too."""
    from fairpatch.cli import run_folder
    from fairpatch.report.refusal import Refusal

    if error.frontier is None:
        return
    if (out / run_folder.MANIFEST).exists():  # a run that still stands
        out = out.with_name(f"{out.name}-refused")
    out.mkdir(parents=True, exist_ok=True)
    record = Refusal.of(error, about_run(options, out).model_copy(update={"command": None}))
    page = record.to_html(out / "refused.html")
    record.to_json(out / "refused.json")
    note(f"wrote {page} and {out / 'refused.json'}: what was asked, tried, and nearest")


def _fit(g: "FairPatch", people: Any, options: "Config", *, inside: bool) -> None:
    """In memory, or inside the engine where there is a key and f is a column."""
    S, known = options.sensitive, options.seen_by_base
    if inside:
        if known is not None:
            refuse("seen_by_base is not read by a fit inside the engine: leave the key out")
        g.fit(people, options.label, sensitive_features=S)
        return
    lost = 0 if options.label is None else int(people[options.label].isna().sum())
    if lost:
        note(
            f"{lost:,} rows have no {options.label!r}: they count in approval rates, and elsewhere "
            "by what is expected of them"
        )
    trained = None if known is None else tables.true_or_false(people[known])
    X = people.drop(columns=[known] if known else [])
    g.fit(X, options.label, sensitive_features=S, seen_by_base=trained)
