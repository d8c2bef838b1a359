"""Review a run's patch on other rows, best those that nothing else has seen."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.base_model import base_model
from fairpatch.cli.options import Data
from fairpatch.cli.run_folder import patch_path
from fairpatch.cli.say import say


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    data: Data = None,
    out: Annotated[Path, typer.Option(help="the page to write")] = Path("review.html"),
) -> None:
    """Write a review pack: the page, and beside it its data and model card."""
    from fairpatch.base import BaseModel
    from fairpatch.choose.target import Target
    from fairpatch.cli import config as configs
    from fairpatch.patch import load
    from fairpatch.patched import PatchedModel
    from fairpatch.report.review import review

    options = configs.read(folder / "config.yaml", data=data)
    table = tables.relation(options.data)
    tables.need_columns(table, options.not_features, options.data)
    table = tables.in_memory(tables.with_label(table, options.label, options.positive))
    X, y = table.drop(columns=options.not_features), table[options.label]
    patch = load(patch_path(folder))
    found = review(
        PatchedModel(BaseModel(base_model(options), options.cutoff), patch),
        X,
        y,
        sensitive_features=table[options.sensitive],
        target=Target(**options.target.model_dump()),
        exclude=options.exclude,
        refits=0,
    )
    # the certificate is the run's: these rows may have been looked at before
    certificate = folder / "certificate.json"
    if certificate.exists():
        found.summary["certificate"] = json.loads(certificate.read_text(encoding="utf-8"))
    found.to_html(out)
    found.to_json(out.with_suffix(".json"))
    found.to_model_card(out.with_suffix(".md"))
    say(f"{found}\nwrote {out}, {out.with_suffix('.json')} and {out.with_suffix('.md')}")
