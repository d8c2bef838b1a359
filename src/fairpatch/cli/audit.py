"""What the base model decides for whom, and how fair that is. One query; only counts are read."""

from fairpatch.cli import data as tables
from fairpatch.cli.base_model import base_model
from fairpatch.cli.options import (
    ConfigFile,
    Cutoff,
    Data,
    Favourable,
    Ignore,
    Json,
    Label,
    Model,
    Positive,
    Score,
    Sensitive,
    ShowSmallCounts,
    TrustModel,
    Weight,
)
from fairpatch.cli.people import table_of
from fairpatch.cli.say import say, say_json


def run(
    config: ConfigFile = None,
    data: Data = None,
    label: Label = None,
    positive: Positive = None,
    favourable: Favourable = None,
    score: Score = None,
    model: Model = None,
    sensitive: Sensitive = None,
    ignore: Ignore = None,
    weight: Weight = None,
    cutoff: Cutoff = None,
    trust_model: TrustModel = None,
    show_small_counts: ShowSmallCounts = False,
    json: Json = False,
) -> None:
    """Audit a table of scores."""
    from fairpatch.cli import config as configs
    from fairpatch.measure.audit import audit

    options = configs.read(
        config,
        data=data,
        label=label,
        positive=positive,
        favourable=favourable,
        weight=weight,
        score=score,
        model=model,
        sensitive=sensitive,
        cutoff=cutoff,
        ignore=ignore,
        trust_model=trust_model,
    )
    f = base_model(options)
    table = table_of(options)
    if options.score:
        tables.need_probabilities(table, options.score, options.data)
    found = audit(
        table if options.score else tables.in_memory(table),
        options.label,
        sensitive_features=options.sensitive,
        estimator=f,
        decision=options.decision,
        show_small_counts=show_small_counts,
    )
    say_json(found.to_dict()) if json else say(str(found))
