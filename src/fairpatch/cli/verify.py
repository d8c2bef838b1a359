"""Verify a signed run: that every file is as it was signed, and by whom."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.options import Json
from fairpatch.cli.say import say, say_json
from fairpatch.cli.signature import verify


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    key: Annotated[Path, typer.Option(help="public key of who signed, PEM")],
    json: Json = False,
) -> None:
    """Refuse what was changed since; say who signed it."""
    signer = verify(folder, key)
    if json:
        say_json(signer)
        return
    say(
        f"{folder} is as it was signed by {signer['name']} at {signer['at']}; key "
        f"{signer['key_sha256'][:16]}..."
    )
