"""Strike lines of a card or change their points; find the points needed and judge it again."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.options import Data, TrustModel
from fairpatch.cli.people import frame_of, patched_model
from fairpatch.cli.run_folder import options_of, patch_path
from fairpatch.cli.say import complain, note, refuse, say
from fairpatch.cli.verdicts import leave


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder: its patch and configuration")],
    strike: Annotated[list[str] | None, typer.Option(help="a line to strike, as printed")] = None,
    points: Annotated[list[str] | None, typer.Option(help="LINE=POINTS, its new points")] = None,
    code: Annotated[list[str] | None, typer.Option(help="LINE=CODE, for reasons")] = None,
    patch: Annotated[Path | None, typer.Option(help="a card that was edited in its file")] = None,
    data: Data = None,
    trust_model: TrustModel = None,
    out: Annotated[Path, typer.Option(help="the edited patch to write")] = Path("edited.json"),
) -> None:
    """Edit a card; the verdicts are made anew on the rows that are given."""
    from fairpatch._tools.files import dumps_safely, write_whole
    from fairpatch._tools.verdict import Verdict
    from fairpatch.choose.objections import TargetNotReachedError
    from fairpatch.disclose.protected import reviewed
    from fairpatch.measure.rates import changed_rate
    from fairpatch.patch import edit, load, save
    from fairpatch.report.verdict_section import certificate_section

    if not (strike or points or code or patch):
        refuse("there is nothing to edit: give --strike, --points, --code or --patch")
    options = options_of(folder, data=data, trust_model=trust_model)
    edited = edit(
        load(patch or patch_path(folder)), strike=strike or [], points=_points(points or [])
    )
    edited = edited.with_reason_codes(_codes(code or []))
    if not (strike or points or patch):  # codes change no decision
        say(f"wrote {save(edited, out)}")
        return
    model, target = patched_model(options, edited), options.asked
    try:
        retuned, certificate = model.retune(
            frame_of(options), options.label, sensitive_features=options.sensitive, target=target,
            seed=options.seed,
        )  # fmt: skip
    except TargetNotReachedError as error:
        complain(str(error))
        leave(Verdict.NOT_MET)
    save(retuned.patch, out)
    judged = out.with_suffix(".certificate.json")
    section = certificate_section(certificate)
    write_whole(judged, dumps_safely(None if section is None else section.model_dump(mode="json")))
    note(str(retuned.patch))
    note(str(certificate))
    if certificate.counts is not None:
        changed = reviewed(certificate.counts, target.metrics).rate(changed_rate())
        note(f"Share of decisions that change, among those who judge it: {changed}")
    if data is None:
        note(
            "warning: these are rows of the run itself, which whoever edits its card has seen. "
            "Certify it on rows that nothing else has seen: --data NEW_ROWS"
        )
    say(f"wrote {out} and {judged}")
    leave(certificate.verdict, certified=False)


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
