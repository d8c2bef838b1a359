"""Learn a run's patch again from its configuration, and check that it is the same."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import TrustModel
from fairpatch.cli.run_folder import REFIT, manifest, options_of, whole
from fairpatch.cli.say import refuse, say


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    trust_model: TrustModel = None,
) -> None:
    """The same data, settings and seed must give the same patch."""
    from fairpatch.cli.fit import fit
    from fairpatch.patch import load

    whole(folder)
    if (folder / REFIT).exists():
        refuse(f"{folder} is a refit: it follows from the run before it. Its review says how")
    options, known = options_of(folder, trust_model=trust_model), manifest(folder).data_sha256
    if known is not None and tables.fingerprint(options.data) != known:
        raise ValueError(f"{options.data} is not what the patch was learned from: it has changed")
    with tempfile.TemporaryDirectory() as again:
        fit(options, Path(again), quiet=True)
        same = load(Path(again) / "patch.json") == load(folder / "patch.json")
    if not same:
        raise ValueError("the patch that came out differs: the versions of packages have changed")
    say("the same patch came out, weight by weight")
