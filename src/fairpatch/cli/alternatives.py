"""Search for less discriminatory alternatives by a plan that is fixed before, and record them."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.fit import estimator_of
from fairpatch.cli.options import ConfigFile, Data, PublicKey, TrustModel
from fairpatch.cli.people import base_model, frame_of, with_model_hash
from fairpatch.cli.run_folder import (
    MANIFEST,
    RECORD,
    RECORD_FILES,
    manifest,
    options_of,
    seal,
    whole,
)
from fairpatch.cli.say import note, refuse, say
from fairpatch.cli.sign import who_signed

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.front import FairPatch
    from fairpatch.life.plan import Plan

app = typer.Typer(help=__doc__, no_args_is_help=True, rich_markup_mode=None)


@app.command()
def run(
    config: ConfigFile = None,
    data: Data = None,
    out: Annotated[Path, typer.Option(help="the record's folder")] = Path("alternatives"),
    trust_model: TrustModel = None,
    force: Annotated[bool, typer.Option(help="replace an existing record")] = False,
) -> None:
    """Write the plan, try everything that it names, and write the record."""
    from fairpatch.cli import config as configs

    options = configs.read(config, data=data, trust_model=trust_model)
    configs.need_direction(options)
    if (out / MANIFEST).exists() and not force:
        refuse(f"{out} holds a record; use --force to replace it, or --out for another folder")
    chosen, why = search(options, out)
    say(f"{f'Chosen: {chosen}. ' if chosen else ''}{why}\nwrote {out / 'record.html'}")


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="the record's folder")],
    data: Data = None,
    key: PublicKey = None,
    trust_model: TrustModel = None,
) -> None:
    """Search again by the same plan on the same rows: every file must come out the same."""
    if manifest(folder).format != RECORD:
        refuse(
            f"{folder} is a run, not a record of alternatives: fairpatch verify {folder} --again"
        )
    whole(folder)
    signed = who_signed(folder, key)
    options = options_of(folder, data=data, trust_model=trust_model)
    known = manifest(folder).data_sha256
    if known is not None and tables.fingerprint(options.data) != known:
        raise ValueError(f"{options.data} is not what the record was made of: other rows")
    with tempfile.TemporaryDirectory() as again:
        search(options, Path(again), quiet=True)
        for name in manifest(folder).sha256:
            if name != "config.yaml" and _text(Path(again) / name) != _text(folder / name):
                raise ValueError(
                    f"{folder / name} is not what the search gives: {_differs(again, folder, name)}"
                )
    by = f"; signed by {signed['name']}" if signed and signed.get("verified") else ""
    say(f"the same plan, tries, figures and choice came out{by}")


def search(options: "Config", out: Path, *, quiet: bool = False) -> tuple[str | None, str]:
    """The plan is written before anything is tried."""
    from fairpatch._tools.files import dumps_safely, write_whole
    from fairpatch.cli import config as configs
    from fairpatch.life.alternatives import search as try_all
    from fairpatch.patch import save
    from fairpatch.report.page import render

    frame = frame_of(options)
    plan = plan_of(options)
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    write_whole(out / "plan.json", plan.model_dump_json(indent=1))
    if not quiet:
        note(f"wrote {out / 'plan.json'} (SHA-256 {plan.sha256[:16]}...): {len(plan.tries)} tries")
    model = base_model(options)

    def make(target: Any, keep_order: bool) -> "FairPatch":
        learner = options.learner if keep_order else {**options.learner, "keep_order": None}
        return estimator_of(options, model, target, learner)

    record, patch = try_all(plan, make, frame, (lambda _: None) if quiet else note)
    write_whole(out / "record.json", dumps_safely(record.model_dump(mode="json")))
    write_whole(out / "record.html", render("record.html", record=record))
    write_whole(out / "config.yaml", configs.write(options).rstrip("\n"))
    files = list(RECORD_FILES)
    if patch is not None:
        save(with_model_hash(patch, options.model), out / "patch.json")
        files.append("patch.json")
    else:
        (out / "patch.json").unlink(missing_ok=True)
    about = {"format": RECORD, "data": options.data, "data_sha256": plan.data_sha256}
    seal(out, {**about, "rows": len(frame), "certificate": None}, tuple(files))
    return record.chosen, record.why


def plan_of(options: "Config") -> "Plan":
    """What the configuration fixes before the search."""
    from fairpatch.cli.people import file_hash
    from fairpatch.life.plan import Plan, tries_for

    target = options.asked
    given = {k: v for k, v in options.target.model_dump(mode="json").items() if v is not None}
    return Plan(
        need=options.alternatives,
        target=given,
        label=options.label,
        sensitive=tuple(options.sensitive),
        exclude=tuple(options.exclude),
        only_between=target.only_between,
        seed=options.seed,
        data_sha256=tables.fingerprint(options.data),
        model_sha256=file_hash(options.model),
        tries=tries_for(target, options.decision),
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _differs(again: str, folder: Path, name: str) -> str:
    """The first line that is not the same."""
    one, two = (_text(Path(place) / name).splitlines() for place in (folder, again))
    for k, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return f"line {k + 1} is {a.strip()[:80]!r}, expected {b.strip()[:80]!r}"
    return f"it has {len(one)} lines, expected {len(two)}"
