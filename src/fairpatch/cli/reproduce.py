"""Learn a run's patch again from its configuration, and check that it is the same."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.run_folder import MANIFEST, tampered
from fairpatch.cli.say import say


def run(folder: Annotated[Path, typer.Argument(help="a run's folder")]) -> None:
    """The same data, settings and seed must give the same patch."""
    from fairpatch.cli import config as configs
    from fairpatch.cli.fit import fit
    from fairpatch.patch import load

    changed = tampered(folder)
    if changed:
        raise ValueError(f"files are not as the manifest says: {', '.join(changed)}")
    options = configs.read(folder / "config.yaml")
    known = json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("data_sha256")
    if known is not None and tables.fingerprint(options.data) != known:
        raise ValueError(f"{options.data} is not what the patch was learned from: it has changed")
    with tempfile.TemporaryDirectory() as again:
        fit(options, Path(again), quiet=True)
        same = load(Path(again) / "patch.json") == load(folder / "patch.json")
    if not same:
        raise ValueError("the patch that came out differs: the versions of packages have changed")
    say("the same patch came out, weight by weight")
