"""Check a run: its files, who signed it, and that learning again gives the same patch."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import Data, Json, TrustModel
from fairpatch.cli.run_folder import REFIT, manifest, options_of, whole
from fairpatch.cli.say import refuse, say, say_json
from fairpatch.cli.sign import SIGNATURE, verify


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    key: Annotated[
        Path | None, typer.Option("--public-key", help="of who signed the run, PEM")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="learn it again: the same data must give the same patch")
    ] = False,
    data: Data = None,
    trust_model: TrustModel = None,
    json: Json = False,
) -> None:
    """Refuse what was changed since it was written, or signed; say who signed it."""
    whole(folder)
    found: dict[str, Any] = {"whole": True}
    say_or_not = (lambda _: None) if json else say
    if key is not None:
        signer = verify(folder, key)
        found |= signer
        say_or_not(
            f"{folder} is as it was signed by {signer['name']} at {signer['at']}; key "
            f"{signer['key_sha256'][:16]}..."
        )
    else:
        signed = (folder / SIGNATURE).exists()
        hint = "; it is signed: --public-key verifies by whom" if signed else "; it is not signed"
        say_or_not(f"every file of {folder} is as its manifest says{hint}")
    if again:
        _learn_again(folder, data, trust_model)
        found |= {"same_patch": True, "same_certificate": True}
        say_or_not("the same patch came out, weight by weight, and the same certificate")
    if json:
        say_json(found)


def _learn_again(folder: Path, data: str | None, trust_model: bool | None) -> None:
    """The same data, settings and seed must give the same patch."""
    from fairpatch.cli.fit import fit
    from fairpatch.patch import load

    if (folder / REFIT).exists():
        refuse(f"{folder} is a refit: it follows from the run before it. Its review says how")
    options = options_of(folder, data=data, trust_model=trust_model)
    known = manifest(folder).data_sha256
    if data is None and known is not None and tables.fingerprint(options.data) != known:
        raise ValueError(f"{options.data} is not what the patch was learned from: it has changed")
    with tempfile.TemporaryDirectory() as scratch:
        fit(options, Path(scratch), quiet=True)
        same = load(Path(scratch) / "patch.json") == load(folder / "patch.json")
        judged = [_judged(place) for place in (Path(scratch), folder)]
    why = "the versions of packages have changed" if data is None else f"{data} has other rows"
    if not same:
        raise ValueError(f"the patch that came out differs: {why}")
    if any(one != two for one, two in zip(*judged, strict=True) if None not in (one, two)):
        raise ValueError(f"the patch is the same and its certificate is not: {why}")


def _judged(folder: Path) -> list[Any]:
    """What a run's certificate says, of which rows; None of what an older one does not say."""
    from fairpatch._tools.files import read_strictly

    held = read_strictly(folder / "certificate.json", "a certificate")
    named = ("verdict", "confidence", "results", "rows_sha256")
    return [None if held is None else held.get(name) for name in named]
