"""After retraining the base model: keep the patch, adjust its strength, or refit near it."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.fit import about_run, write_run
from fairpatch.cli.ledger import facts_of, record
from fairpatch.cli.options import (
    Data,
    Join,
    Json,
    Life,
    Model,
    PRule,
    Score,
    SensitiveTable,
    Signer,
    SigningKey,
    Targets,
    TrustModel,
)
from fairpatch.cli.people import base_model, frame_of, patched_model, with_model_hash
from fairpatch.cli.run_folder import REFIT, for_a_new_run, manifest, options_of, patch_path, used_of
from fairpatch.cli.say import note, refuse, say, say_json
from fairpatch.cli.verdicts import leave

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.life.refit import Refit, RefitOption
    from fairpatch.measure.intervals import Estimate
    from fairpatch.report.signed import RefitSection


def run(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="the run in force until now")],
    score: Score = None,
    model: Model = None,
    data: Data = None,
    sensitive_table: SensitiveTable = None,
    join: Join = None,
    out: Annotated[Path, typer.Option(help="the new run's folder")] = Path("refit"),
    take: Annotated[
        str | None,
        typer.Option(help="keep, rescale or learn; by default the least that is certified"),
    ] = None,
    max_churn: Annotated[
        float | None, typer.Option(help="share of decisions that may differ from until now")
    ] = None,
    p_rule: PRule = None,
    target: Targets = None,
    force: Annotated[bool, typer.Option(help="replace an existing run")] = False,
    trust_model: TrustModel = None,
    life: Life = None,
    key: SigningKey = None,
    name: Signer = None,
    json: Json = False,
) -> None:
    """Refit. The data hold the old score beside the new one, or the old model is asked again."""
    from fairpatch._tools.verdict import Verdict
    from fairpatch.choose.learner import learner_of
    from fairpatch.cli import config as configs
    from fairpatch.life.refit import WAYS, refit
    from fairpatch.patch import load
    from fairpatch.report.signed import patch_hash

    if (score is None) == (model is None):
        refuse("name the new base model: --score COLUMN or --model FILE")
    if take is not None and take not in WAYS:
        refuse(f"--take must be keep, rescale or learn; got {take!r}")
    for_a_new_run(context, out, force=force)
    given = {"data": data, "sensitive_table": sensitive_table, "join": join}
    before = options_of(folder, **given, trust_model=trust_model)
    asked = configs.limits(target or [], {"p_rule": p_rule, "max_churn": max_churn})
    now = options_of(folder, **given, trust_model=trust_model, score=score, model=model)
    now = now.model_copy(
        update={
            "target": before.target.model_copy(update=asked),
            "exclude": [*before.exclude, *([before.score] if before.score else [])],
        }
    )
    old = patched_model(before, load(patch_path(folder)))
    frame = frame_of(now)
    if tables.fingerprint(now.data) == manifest(folder).data_sha256:
        note(
            "warning: the old patch was learned from these rows, so the verdicts on keeping or "
            "turning it are not on unseen people. Give other rows: --data"
        )
    ways = refit(
        old, base_model(now), frame, now.label, sensitive_features=now.sensitive,
        target=now.asked, exclude=now.exclude, seed=now.seed, learner=learner_of(now.learner),
        categories=now.categories, max_rows=now.max_rows,
    )  # fmt: skip
    say_json(_data(ways)) if json else say(str(ways))
    if take is not None and take not in ways.options:
        refuse(f"there is no way to {take}: {ways.not_possible[take]}")
    chosen = ways.options[take] if take else ways.recommended
    if chosen is None:
        note(f"nothing was written; to go on all the same: --take {' or '.join(ways.options)}")
        leave(Verdict.NOT_MET)
    _write(ways, chosen, now, folder, out)
    record(
        out, life, "refitted", key=key, signer=name, **facts_of(out), way=chosen.way,
        after=str(folder), after_patch=patch_hash(old.patch), churn=_at_most(chosen.churn),
        f_churn=_at_most(ways.f_churn),
    )  # fmt: skip
    say(f"wrote {out} ({chosen.way}): read {out / 'review.html'}")
    leave(chosen.certificate.verdict)


def _at_most(share: "Estimate") -> float | None:
    """A share, or as much of it as may be told, upwards."""
    most = share.value if share.within is None else share.within[1]
    return None if most is None else round(most, 4)


def _write(ways: "Refit", chosen: "RefitOption", options: "Config", old: Path, out: Path) -> None:
    from fairpatch._tools.files import dumps_safely, write_whole
    from fairpatch.patched import PatchedModel
    from fairpatch.report.review import review_rows

    patch = with_model_hash(chosen.model.patch, options.model)
    named = ("--score", options.score) if options.score else ("--model", options.model or "")
    words = ("fairpatch", "refit", str(old), *named, "--data", options.data, "--take", chosen.way)
    command = shlex.join([*words, "--out", str(out)])
    about = about_run(options, out).model_copy(update={"command": command})
    model = PatchedModel(chosen.model.base, patch, chosen.model.classes)
    learned = ways.fitted if chosen.way == "learn" else None
    review = review_rows(
        model, ways.fresh, target=ways.target, fitted=learned, exclude=options.exclude,
        about=about, judged=None if learned else chosen.certificate,
    )  # fmt: skip
    review = review.replace(refit=_section(ways, chosen))
    write_run(
        out, options, patch, review, verdict=chosen.certificate.verdict, people=ways.people,
        used=used_of(old) if learned is None else learned.used(model.score_columns),
    )  # fmt: skip
    write_whole(out / REFIT, dumps_safely({**_data(ways), "taken": chosen.way, "after": str(old)}))


def _section(ways: "Refit", chosen: "RefitOption") -> "RefitSection":
    """What the review says of it."""
    from fairpatch.life.refit import WORDS
    from fairpatch.report.figures import figure
    from fairpatch.report.signed import RefitSection, RefitWay

    return RefitSection(
        ways=[
            RefitWay(
                name=way, words=WORDS[way], verdict=str(o.certificate.verdict),
                changes=figure(o.changes), churn=figure(o.churn), within=o.within,
                taken=way == chosen.way,
            )
            for way, o in ways.options.items()
        ],
        not_possible={str(way): why for way, why in ways.not_possible.items()},
        base_churn=figure(ways.f_churn),
        confidence=round(chosen.certificate.target.confidence, 4),
    )  # fmt: skip


def _data(ways: "Refit") -> dict[str, Any]:
    return {
        "f_churn": ways.f_churn.data,
        "recommended": ways.recommended.way if ways.recommended else None,
        "options": {
            way: {
                "certificate": o.certificate.verdict, "changes": o.changes.data,
                "churn": o.churn.data, "within_budget": o.within,
            }
            for way, o in ways.options.items()
        },
        "not_possible": ways.not_possible,
    }  # fmt: skip
