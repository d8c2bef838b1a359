"""Sign a run's folder, so that whoever reads it later knows who stands for it."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.life_folder import record
from fairpatch.cli.options import Life
from fairpatch.cli.say import say
from fairpatch.cli.signature import sign


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    key: Annotated[Path, typer.Option(help="private key of an elliptic curve, PEM")],
    name: Annotated[str, typer.Option(help="who signs, and as what")],
    life: Life = None,
) -> None:
    """Sign every file of it, offline; the signature lies in the folder."""
    signer = sign(folder, key, name)
    record(folder, life, "signed", key=key, signer=name, by=name, key_sha256=signer["key_sha256"])
    say(f"signed {folder} as {signer['name']}; key {signer['key_sha256'][:16]}...")
