"""What the base model decides for whom, and how fair that is. One query; only counts are read."""

from fairpatch.cli import data as tables
from fairpatch.cli.base_model import base_model
from fairpatch.cli.options import (
    ConfigFile,
    Cutoff,
    Data,
    Ignore,
    Json,
    Label,
    Model,
    Positive,
    Score,
    Sensitive,
    TrustModel,
)
from fairpatch.cli.say import say, say_json


def run(
    config: ConfigFile = None,
    data: Data = None,
    label: Label = None,
    positive: Positive = None,
    score: Score = None,
    model: Model = None,
    sensitive: Sensitive = None,
    ignore: Ignore = None,
    cutoff: Cutoff = None,
    trust_model: TrustModel = None,
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
        score=score,
        model=model,
        sensitive=sensitive,
        cutoff=cutoff,
        ignore=ignore,
        trust_model=trust_model,
    )
    table = tables.relation(options.data)
    wanted = [options.label, *options.sensitive, *([options.score] if options.score else [])]
    tables.need_columns(table, wanted, options.data)
    table = tables.with_label(table, options.label, options.positive)
    if options.score:
        tables.need_probabilities(table, options.score, options.data)
    f = base_model(options)
    if options.score is None:
        table = tables.in_memory(table)
        sensitive_features, y = table[options.sensitive], table[options.label]
        table = table.drop(columns=options.not_features)
    else:
        sensitive_features, y = options.sensitive, options.label
    found = audit(
        table, y, sensitive_features=sensitive_features, estimator=f, cutoff=options.cutoff
    )
    say_json(found.to_dict()) if json else say(str(found))
