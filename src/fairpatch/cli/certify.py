"""Judge a patch, or the plain model, on rows that nothing else has seen: verdict and exit code."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.ledger import looked_at, record
from fairpatch.cli.options import (
    Data,
    GitHub,
    IfUnlike,
    Json,
    JsonLines,
    Junit,
    Label,
    Life,
    Metrics,
    Model,
    PRule,
    Score,
    Sensitive,
    SensitiveTable,
    Signer,
    SigningKey,
    Targets,
    TrustModel,
)
from fairpatch.cli.people import enforce_if_unlike, patched_model, table_of
from fairpatch.cli.run_folder import manifest, options_of, patch_path, used_of
from fairpatch.cli.say import refuse, say, say_json
from fairpatch.cli.verdicts import leave, tell


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    data: Data = None,
    label: Label = None,
    sensitive: Sensitive = None,
    sensitive_table: SensitiveTable = None,
    score: Score = None,
    model: Model = None,
    trust_model: TrustModel = None,
    plain: Annotated[bool, typer.Option("--plain", help="the base model without a patch")] = False,
    p_rule: PRule = None,
    target: Targets = None,
    if_unlike: IfUnlike = "warn",
    junit: Junit = None,
    metrics: Metrics = None,
    jsonl: JsonLines = None,
    github: GitHub = False,
    life: Life = None,
    key: SigningKey = None,
    name: Signer = None,
    json: Json = False,
) -> None:
    """Certify a run on new rows; the exit code is the verdict.

    --score or --model name another base model: the old patch on the new one. A table in an engine
    is counted there.
    """
    from fairpatch.cli import config as configs
    from fairpatch.life.outputs import checks_of
    from fairpatch.patch import load
    from fairpatch.report.verdict_section import certificate_section

    options = options_of(
        folder, data=data, label=label, sensitive=sensitive, sensitive_table=sensitive_table,
        trust_model=trust_model, score=score, model=model,
    )  # fmt: skip
    asked = configs.limits(target or [], {"p_rule": p_rule})
    asked_target = options.asked.replace(**asked)  # what it does not name stays as it was
    patch = load(patch_path(folder))
    judged = patch.with_strength(0.0) if plain else patch
    g = patched_model(options, judged, used_of(folder))
    if tables.fingerprint(options.data) == manifest(folder).data_sha256:
        refuse("give new rows with --data: the run's own rows have been used already")
    table = table_of(options, learns=False)
    tables.need_columns(table, [c.name for c in patch.columns], options.data)
    if options.score:
        tables.need_probabilities(table, options.score, options.data, options.decision, if_any=True)
    rows = table if options.score else tables.in_memory(table)
    enforce_if_unlike(g.compare(g.features(rows, options.label, options.sensitive)), if_unlike)
    certificate = g.certify(
        rows,
        options.label,
        sensitive_features=options.sensitive,
        target=asked_target,
        if_unlike="ignore",
    )
    looks = looked_at(folder, life, certificate.rows_sha256)
    certificate = certificate.remarking(looks)
    checks = checks_of(certificate)
    if json:
        section = certificate_section(certificate)
        say_json(None if section is None else section.model_dump(mode="json"))
    else:
        say(str(certificate))
    tell(checks, period=options.data, junit=junit, metrics=metrics, jsonl=jsonl, github=github)
    if not plain:
        record(
            folder, life, "certified", key=key, signer=name, target=str(asked_target),
            verdict=certificate.verdict, data=options.data, rows=certificate.rows_sha256,
        )  # fmt: skip
    leave(certificate.verdict)
