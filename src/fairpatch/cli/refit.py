"""A retrained base model: keep the patch, turn its price, or learn again near the old one."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.base_model import base_model, with_model_hash
from fairpatch.cli.fit import about_run
from fairpatch.cli.life_folder import facts_of, record
from fairpatch.cli.options import (
    Data,
    Json,
    Life,
    Model,
    PRule,
    Score,
    Signer,
    SigningKey,
    Targets,
    TrustModel,
)
from fairpatch.cli.people import frame_of, patched_model
from fairpatch.cli.run_folder import REFIT, manifest, options_of, patch_path
from fairpatch.cli.say import NOT_MET, note, refuse, say, say_json
from fairpatch.cli.verdicts import leave
from fairpatch.cli.write_run import write_run

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.life.refit import Option, Refit
    from fairpatch.measure.estimate import Estimate


def run(
    folder: Annotated[Path, typer.Argument(help="the run in force until now")],
    score: Score = None,
    model: Model = None,
    data: Data = None,
    out: Annotated[Path, typer.Option(help="the new run's folder")] = Path("refit"),
    take: Annotated[
        str | None, typer.Option(help="keep, turn or learn; by default the least that is certified")
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
    from fairpatch.choose.target import Target
    from fairpatch.cli import config as configs
    from fairpatch.life.checks import checks_of
    from fairpatch.life.refit import WAYS, refit
    from fairpatch.patch import load
    from fairpatch.report.identity import patch_hash

    if (score is None) == (model is None):
        refuse("name the new base model: --score COLUMN or --model FILE")
    if take is not None and take not in WAYS:
        refuse(f"--take must be keep, turn or learn; got {take!r}")
    if (out / "manifest.json").exists() and not force:
        refuse(f"{out} holds a run; use --force to replace it, or --out for another folder")
    before = options_of(folder, data=data, trust_model=trust_model)
    asked = configs.limits(target or [], {"p_rule": p_rule, "max_churn": max_churn})
    now = options_of(folder, data=data, trust_model=trust_model, score=score, model=model)
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
            "take care: the old patch was learned from these rows; what is said of keeping or "
            "turning it is not of people whom it has not seen. Give others: --data"
        )
    found = refit(
        old, base_model(now), frame, now.label, sensitive_features=now.sensitive,
        target=Target(**now.target.model_dump()), exclude=now.exclude, seed=now.seed,
        **_learning(now),
    )  # fmt: skip
    say_json(_data(found)) if json else say(str(found))
    if take is not None and take not in found.options:
        refuse(f"there is no way to {take}: {found.not_possible[take]}")
    chosen = found.options[take] if take else found.recommended
    if chosen is None:
        note(f"nothing was written; to go on all the same: --take {' or '.join(found.options)}")
        sys.exit(NOT_MET)
    _write(found, chosen, now, folder, out)
    record(
        out, life, "refitted", key=key, signer=name, **facts_of(out), way=chosen.way,
        after=str(folder), after_patch=patch_hash(old.patch), churn=_at_most(chosen.churn),
        f_churn=_at_most(found.f_churn),
    )  # fmt: skip
    say(f"wrote {out} ({chosen.way}): read {out / 'review.html'}")
    leave(checks_of(chosen.certificate))


def _at_most(share: "Estimate") -> float | None:
    """A share, or as much of it as may be told, upwards."""
    found = share.value if share.within is None else share.within[1]
    return None if found is None else round(found, 4)


def _learning(options: "Config") -> dict[str, Any]:
    """How the run learns, as ``Commod`` takes it."""
    from fairpatch.learn.push.rules import CardRules

    if options.learner != "push":
        refuse("a refit learns cards; this run was learned by the paper's learner: fit it anew")
    return {
        "card": CardRules(**options.card.model_dump()),
        "categories": options.categories,
        "max_rows": options.max_rows,
    }


def _write(found: "Refit", chosen: "Option", options: "Config", old: Path, out: Path) -> None:
    from fairpatch.patch.strict import dumps_safely
    from fairpatch.patch.whole import write_whole
    from fairpatch.patched import PatchedModel
    from fairpatch.report.review import review_rows

    patch = with_model_hash(chosen.model.patch, options.model)
    named = ("--score", options.score) if options.score else ("--model", options.model or "")
    words = ("fairpatch", "refit", str(old), *named, "--data", options.data, "--take", chosen.way)
    command = shlex.join([*words, "--out", str(out)])
    about = about_run(options, out).model_copy(update={"command": command})
    model = PatchedModel(chosen.model.base, patch, chosen.model.classes)
    learned = found.fitted if chosen.way == "learn" else None
    review = review_rows(
        model, found.fresh, target=found.target, fitted=learned, exclude=options.exclude,
        about=about, judged=None if learned else chosen.certificate,
    )  # fmt: skip
    if found.frontier is None:
        refuse("no candidate could be learned on these rows: there is nothing to write")
    write_run(
        out, options, patch, found.frontier, review, word=chosen.certificate.word,
        people=found.people,
    )  # fmt: skip
    write_whole(out / REFIT, dumps_safely({**_data(found), "taken": chosen.way, "after": str(old)}))


def _data(found: "Refit") -> dict[str, Any]:
    return {
        "f_churn": found.f_churn.data,
        "recommended": found.recommended.way if found.recommended else None,
        "options": {
            way: {
                "certificate": o.certificate.word, "changes": o.changes.data,
                "churn": o.churn.data, "within_budget": o.within,
            }
            for way, o in found.options.items()
        },
        "not_possible": found.not_possible,
    }  # fmt: skip
