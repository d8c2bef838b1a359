"""Strike lines of a card or change their points; find the points needed and judge it again."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpatch.cli.fit import about_run, write_run
from fairpatch.cli.ledger import facts_of, record
from fairpatch.cli.options import Data, Join, Life, SensitiveTable, TrustModel
from fairpatch.cli.people import frame_of, patched_model
from fairpatch.cli.run_folder import REFIT, for_a_new_run, options_of, patch_path, used_of
from fairpatch.cli.say import complain, note, refuse, say
from fairpatch.cli.verdicts import leave

if TYPE_CHECKING:
    from fairpatch.choose.certificate import Certificate
    from fairpatch.cli.config import Config
    from fairpatch.data.rows import Rows
    from fairpatch.patched import PatchedModel


def run(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="a run's folder: its patch and configuration")],
    strike: Annotated[list[str] | None, typer.Option(help="a line to strike, as printed")] = None,
    points: Annotated[list[str] | None, typer.Option(help="LINE=POINTS, its new points")] = None,
    code: Annotated[list[str] | None, typer.Option(help="LINE=CODE, for reasons")] = None,
    patch: Annotated[Path | None, typer.Option(help="a card that was edited in its file")] = None,
    why: Annotated[str | None, typer.Option(help="the reason, for the ledger")] = None,
    data: Data = None,
    sensitive_table: SensitiveTable = None,
    join: Join = None,
    trust_model: TrustModel = None,
    out: Annotated[
        Path, typer.Option(help="the edited run's folder, or NAME.json for the card alone")
    ] = Path("edited"),
    force: Annotated[bool, typer.Option(help="replace an existing run")] = False,
    life: Life = None,
) -> None:
    """Edit a card; what comes out is a run, whose verdicts are made anew on the rows given."""
    from fairpatch._tools.verdict import Verdict
    from fairpatch.card.learner import retune
    from fairpatch.choose.objections import TargetNotReachedError
    from fairpatch.data.splits import CertificationSample
    from fairpatch.disclose.protected import reviewed
    from fairpatch.measure.rates import changed_rate
    from fairpatch.patch import edit, load, save
    from fairpatch.patched import PatchedModel

    if not (strike or points or code or patch):
        refuse("there is nothing to edit: give --strike, --points, --code or --patch")
    alone = out.suffix == ".json"
    if not alone:
        for_a_new_run(context, out, force=force)
    options = options_of(
        folder, data=data, sensitive_table=sensitive_table, join=join, trust_model=trust_model
    )
    old = load(patch_path(folder))
    edited = edit(
        old if patch is None else load(patch), strike=strike or [], points=_points(points or [])
    )
    edited = edited.with_reason_codes(_codes(code or []))
    if not (strike or points or patch):  # codes change no decision
        name = out if alone else out.with_suffix(".json")
        say(f"wrote {save(edited, name)}")
        return
    # of the run's own rows its fit knows which are fresh; whoever edits has seen all of them
    model = patched_model(options, edited, None if data is None else used_of(folder))
    target, frame = options.asked, frame_of(options, learns=False)
    said, frame, *_ = model.that_count(frame, options.label, options.sensitive)
    first, fresh = model.halves(frame, options.label, options.sensitive, options.seed)
    try:
        made, certificate = retune(edited, first, target, CertificationSample(fresh))
    except TargetNotReachedError as error:
        complain(str(error))
        leave(Verdict.NOT_MET)
    certificate = certificate.remarking(said)
    note(str(made))
    note(str(certificate))
    if certificate.counts is not None:
        changed = reviewed(certificate.counts, target.metrics).rate(changed_rate())
        note(f"Share of decisions that change, among those who judge it: {changed}")
    if data is None:
        note(
            "warning: these are rows of the run itself, which whoever edits its card has seen. "
            "Certify it on rows that nothing else has seen: --data NEW_ROWS"
        )
    if alone:
        _write_card(made, certificate, out)
        leave(certificate.verdict, certified=False)
    before, after = (p.decide(fresh.X, fresh.f) for p in (old, made))
    churn = round(float((before != after).mean()), 4)
    what = [*(f"struck: {line}" for line in strike or []), *(points or []), *(code or [])]
    changed_by = what or [f"as in {patch}"]
    _write(PatchedModel(model.base, made), certificate, (first, fresh), options, folder, out,
           {"changes": changed_by, "why": why, "churn": churn})  # fmt: skip
    record(
        out, life, "refitted", **facts_of(out), way="edit", after=str(folder),
        after_patch=_hash_of(folder), churn=churn, changes=changed_by, why=why,
    )  # fmt: skip
    say(
        f"wrote {out}, a run: read {out / 'review.html'}, "
        f"apply with: fairpatch apply {out} DATA OUT"
    )
    leave(certificate.verdict, certified=False)


def _write(
    model: "PatchedModel",
    certificate: "Certificate",
    halves: "tuple[Rows, Rows]",
    options: "Config",
    old: Path,
    out: Path,
    about_edit: dict[str, object],
) -> None:
    """The edited card as a run: reviewed on the rows that judged it."""
    from fairpatch._tools.files import dumps_safely, write_whole
    from fairpatch.data.used_rows import UsedRows
    from fairpatch.report.review import review_rows

    first, fresh = halves
    command = shlex.join(["fairpatch", "edit", str(old), "--data", options.data, "--out", str(out)])
    about = about_run(options, out).model_copy(update={"command": command})
    review = review_rows(
        model, fresh, target=options.asked, exclude=options.exclude, refits=0, about=about,
        judged=certificate,
    )  # fmt: skip
    write_run(
        out, options, model.patch, review, verdict=certificate.verdict,
        people=len(first) + len(fresh), used=UsedRows.of([first], fresh, model.score_columns),
    )  # fmt: skip
    write_whole(out / REFIT, dumps_safely({**about_edit, "taken": "edit", "after": str(old)}))


def _write_card(patch: object, certificate: "Certificate", out: Path) -> None:
    """The card alone, with its certificate beside it."""
    from fairpatch._tools.files import dumps_safely, write_whole
    from fairpatch.patch import save
    from fairpatch.report.verdict_section import certificate_section

    save(patch, out)  # type: ignore[arg-type]
    judged = out.with_suffix(".certificate.json")
    section = certificate_section(certificate)
    write_whole(judged, dumps_safely(None if section is None else section.model_dump(mode="json")))
    say(f"wrote {out} and {judged}: a card alone, which no other verb takes as a run")


def _hash_of(folder: Path) -> str:
    from fairpatch.patch import load
    from fairpatch.report.signed import patch_hash

    return patch_hash(load(patch_path(folder)))


def _points(given: list[str]) -> dict[str, float]:
    points = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            points[name] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            refuse(f"--points takes LINE=POINTS, as 'age 45 and above=-20'; got {text!r}")
    return points


def _codes(given: list[str]) -> dict[str, str]:
    codes = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals or not value:
            refuse(f"--code takes LINE=CODE, as 'age 45 and above=R07'; got {text!r}")
        codes[name] = value
    return codes
