"""What the base model decides for whom, and how fair that is. One query; only counts are read."""

from fairpatch.cli import data as tables
from fairpatch.cli.options import (
    AdverseImpact,
    ConfigFile,
    Data,
    Favourable,
    GitHub,
    Ignore,
    Join,
    Json,
    JsonLines,
    Junit,
    Label,
    Metrics,
    Model,
    Outcomes,
    Positive,
    PRule,
    Reference,
    Score,
    Sensitive,
    SensitiveTable,
    ShowSmallCounts,
    Targets,
    Threshold,
    TrustModel,
    Weight,
)
from fairpatch.cli.people import base_model, table_of, tell_names
from fairpatch.cli.say import note, refuse, say, say_json
from fairpatch.cli.verdicts import leave, tell


def run(
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
    ignore: Ignore = None,
    outcomes: Outcomes = None,
    weight: Weight = None,
    threshold: Threshold = None,
    trust_model: TrustModel = None,
    show_small_counts: ShowSmallCounts = False,
    adverse_impact: AdverseImpact = False,
    reference: Reference = None,
    p_rule: PRule = None,
    target: Targets = None,
    junit: Junit = None,
    metrics: Metrics = None,
    jsonl: JsonLines = None,
    github: GitHub = False,
    json: Json = False,
) -> None:
    """Audit a table of scores; with a target, the exit code is its verdict."""
    from fairpatch.cli import config as configs
    from fairpatch.patch.expressions import in_scope_table
    from fairpatch.patch.terms import locks_of
    from fairpatch.report.audit import audit

    options = configs.read(
        config,
        adding=True,
        data=data,
        label=label,
        positive=positive,
        favourable=favourable,
        outcomes=outcomes,
        weight=weight,
        score=score,
        model=model,
        sensitive=sensitive,
        sensitive_table=sensitive_table,
        join=join,
        threshold=threshold,
        ignore=ignore,
        trust_model=trust_model,
    )
    f = base_model(options)
    table = table_of(options)
    tell_names(f, table)
    if options.score:
        tables.need_probabilities(table, options.score, options.data, options.decision)
    scope = locks_of(options.target.model_dump().get("where") or {}, unless=True)
    if scope:
        words = " and ".join(str(lock).removeprefix("unless ") for lock in scope)
        note(f"only where {words}, as the target says: nobody else is counted")
        table = in_scope_table(scope, table)
    audited = audit(
        table if options.score else tables.in_memory(table),
        options.label,
        sensitive_features=options.sensitive,
        estimator=f,
        decision=options.decision,
        show_small_counts=show_small_counts,
        mean_scores=adverse_impact,
        roles=options.columns,
    )
    asked = configs.limits(target or [], {"p_rule": p_rule})
    if reference is not None and not adverse_impact:
        refuse("--reference is for --adverse-impact: give both")
    if adverse_impact:
        if asked:
            refuse("--adverse-impact prints its tables alone: leave out the target")
        found = audited.adverse_impact(reference)
        if json:
            say_json([table.data for table in found])
        else:
            favoured = audited.decision.favoured
            say("\n".join(table.table(favoured).text() for table in found))
        return
    if not asked:
        say_json(audited.to_dict()) if json else say(str(audited))
        return
    from fairpatch.choose.certificate import certify
    from fairpatch.life.outputs import checks_of
    from fairpatch.target import Target

    certificate = certify(audited.favourable_counts, Target(**asked))
    checks = checks_of(certificate)
    if json:
        say_json({**audited.to_dict(), "checks": [c.data for c in checks]})
    else:
        say(f"{audited}\n{certificate}")
    tell(checks, period=options.data, junit=junit, metrics=metrics, jsonl=jsonl, github=github)
    leave(certificate.verdict)
