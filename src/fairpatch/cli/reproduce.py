"""Learn a run's patch again from its configuration, and check that it is the same."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.run_folder import tampered
from fairpatch.cli.say import say


def run(folder: Annotated[Path, typer.Argument(help="a run's folder")]) -> None:
    """The same data, settings and seed must give the same patch."""
    from fairpatch.cli import config as configs
    from fairpatch.cli.fit import fit
    from fairpatch.patch import load

    changed = tampered(folder)
    if changed:
        raise ValueError(f"files are not as the manifest says: {', '.join(changed)}")
    with tempfile.TemporaryDirectory() as again:
        fit(configs.read(folder / "config.yaml"), Path(again), quiet=True)
        same = load(Path(again) / "patch.json") == load(folder / "patch.json")
    if not same:
        raise ValueError("the patch that came out differs: the data or the versions have changed")
    say("the same patch came out, weight by weight")
