"""Sign a run's folder, so that whoever reads it later knows who stands for it.

OpenSSF model signing with a key of one's own, offline. Hashes in a manifest notice accidents; who
can change a file can change its hash as well. A signature binds every file to a key. Who signed,
with which key and when, is a file of the folder and signed with the others.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from fairpatch._tools.extras import need
from fairpatch.cli.ledger import record
from fairpatch.cli.options import Life
from fairpatch.cli.run_folder import whole
from fairpatch.cli.say import say

SIGNATURE, SIGNER = "signature.json", "signed_by.json"
CURVES = ("secp256r1", "secp384r1", "secp521r1")
NEW_KEY = "Make one with: openssl ecparam -name prime256v1 -genkey -noout -out private.pem"


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    key: Annotated[
        Path, typer.Option("--private-key", help="key of an elliptic curve, PEM, to sign with")
    ],
    name: Annotated[str, typer.Option("--signer", help="who signs, and as what")],
    life: Life = None,
) -> None:
    """Sign every file of it, offline; the signature lies in the folder."""
    signer = sign(folder, key, name)
    record(folder, life, "signed", key=key, signer=name, by=name, key_sha256=signer["key_sha256"])
    say(f"signed {folder} as {signer['name']}; key {signer['key_sha256'][:16]}...")


def sign(folder: Path, private_key: Path, name: str) -> dict[str, str]:
    """Sign a whole run; gives who, when, and the key's fingerprint."""
    folder = folder.resolve()
    whole(folder)
    from fairpatch._tools.files import dumps_safely, write_whole

    keys = need("cryptography.hazmat.primitives.serialization", extra="sign")
    key = _key(private_key, "private", lambda text: keys.load_pem_private_key(text, password=None))
    signer = {
        "name": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "key_sha256": _fingerprint(key.public_key()),
    }
    (folder / SIGNATURE).unlink(missing_ok=True)
    write_whole(folder / SIGNER, dumps_safely(signer))
    signing = need("model_signing.signing", extra="sign")
    signing_config = signing.Config().use_elliptic_key_signer(private_key=private_key)
    signing_config.set_hashing_config(_hashing(folder)).sign(folder, folder / SIGNATURE)
    return signer


def verify(folder: Path, public_key: Path) -> dict[str, str]:
    """Check the signature and every file; gives who signed."""
    if not (folder / SIGNATURE).exists() or not (folder / SIGNER).exists():
        raise ValueError(
            f"{folder} is not signed by fairpatch; sign it with: fairpatch sign {folder} "
            "--private-key KEY --signer NAME"
        )
    folder = folder.resolve()
    keys = need("cryptography.hazmat.primitives.serialization", extra="sign")
    key = _key(public_key, "public", keys.load_pem_public_key)
    verifying = need("model_signing.verifying", extra="sign")
    verifier = verifying.Config().use_elliptic_key_verifier(public_key=public_key)
    try:
        verifier.set_hashing_config(_hashing(folder)).verify(folder, folder / SIGNATURE)
    except Exception as error:
        raise ValueError(
            f"{folder} is not as it was signed with the key of {public_key}: {_what(folder, error)}"
        ) from None
    whole(folder)
    signer: dict[str, str] = json.loads((folder / SIGNER).read_text(encoding="utf-8"))
    if signer.get("key_sha256") != _fingerprint(key):
        raise ValueError(f"{folder} says that another key than {public_key} signed it")
    return signer


def who_signed(folder: Path, public_key: Path | None) -> dict[str, Any] | None:
    """What a page says of the signature: who signed, and whether that was verified."""
    if public_key is not None:
        return {**verify(folder, public_key), "verified": True}
    return {"verified": False} if (folder / SIGNATURE).exists() else None


def _key(path: Path, kind: str, load: Callable[[bytes], Any]) -> Any:
    """A key of a curve that signatures are made with."""
    if not path.is_file():
        raise ValueError(f"there is no {kind} key {path}")
    try:
        key = load(path.read_bytes())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is no {kind} key that can be used ({error}). {NEW_KEY}") from None
    if getattr(getattr(key, "curve", None), "name", None) not in CURVES:
        raise ValueError(f"{path} is no {kind} key of the curves {', '.join(CURVES)}. {NEW_KEY}")
    return key


def _fingerprint(public_key: Any) -> str:
    keys = need("cryptography.hazmat.primitives.serialization", extra="sign")
    text = public_key.public_bytes(keys.Encoding.DER, keys.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(text).hexdigest()


def _what(folder: Path, error: Exception) -> str:
    """What is wrong, in a sentence: a file of ours first, else what the library says."""
    try:
        whole(folder)
    except ValueError as changed:
        return str(changed)
    if str(error).startswith("Signature mismatch"):
        return "a file was changed, added or taken away after signing"
    if any(path.is_symlink() for path in folder.rglob("*")):
        return "there is a link among its files"
    return f"the signature is another key's, or no signature ({type(error).__name__})"


def _hashing(folder: Path) -> Any:
    hashing = need("model_signing.hashing", extra="sign")
    return hashing.Config().set_ignored_paths(paths=[folder / SIGNATURE], ignore_git_paths=False)
