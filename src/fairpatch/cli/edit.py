"""Strike lines of a card or change their points; dial its price and judge it again."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.options import Data, TrustModel
from fairpatch.cli.people import frame_of, patched_model
from fairpatch.cli.run_folder import options_of, patch_path
from fairpatch.cli.say import complain, note, refuse, say

MET, NOT_MET, REFUTED = 0, 3, 4


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
    from fairpatch.choose.not_reached import TargetNotReachedError
    from fairpatch.choose.target import Target
    from fairpatch.patch import edit, load, save
    from fairpatch.patch.strict import dumps_safely
    from fairpatch.patch.whole import write_whole
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
    model, target = patched_model(options, edited), Target(**options.target.model_dump())
    try:
        found, certificate = model.redial(
            frame_of(options), options.label, sensitive_features=options.sensitive, target=target,
            seed=options.seed,
        )  # fmt: skip
    except TargetNotReachedError as error:
        complain(str(error))
        sys.exit(NOT_MET)
    save(found.patch, out)
    judged = out.with_suffix(".certificate.json")
    told = certificate_section(certificate)
    write_whole(judged, dumps_safely(None if told is None else told.model_dump(mode="json")))
    note(str(found.patch))
    note(str(certificate))
    if data is None:
        note(
            "take care: these are rows of the run itself, which whoever edits its card has seen. "
            "Judge it on rows that nothing else has seen: --data NEW_ROWS"
        )
    say(f"wrote {out} and {judged}")
    sys.exit(REFUTED if certificate.word == "refuted" else MET)


def _points(given: list[str]) -> dict[str, float]:
    found = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            refuse(f"--points takes LINE=POINTS, as 'age 45 and above=-20'; got {text!r}")
    return found


def _codes(given: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals or not value:
            refuse(f"--code takes LINE=CODE, as 'age 45 and above=R07'; got {text!r}")
        found[name] = value
    return found
