"""A signature over a run's folder: OpenSSF model signing with a key of one's own, offline.

Hashes in a manifest notice accidents; who can change a file can change its hash as well. A
signature binds every file to a key. Who signed, with which key and when, is a file of the folder
and signed with the others.
"""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairpatch._extras import need
from fairpatch.cli.run_folder import FILES, checked

SIGNATURE, SIGNER = "signature.json", "signed_by.json"


def sign(folder: Path, private_key: Path, name: str) -> dict[str, str]:
    """Sign a whole run; gives who, when, and the key's fingerprint."""
    checked(folder, *FILES)
    from fairpatch.patch.strict import dumps_safely
    from fairpatch.patch.whole import write_whole

    keys = need("cryptography.hazmat.primitives.serialization", extra="sign")
    try:
        key = keys.load_pem_private_key(private_key.read_bytes(), password=None)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{private_key} is no private key that can be used ({error}); make one with: "
            "openssl ecparam -name prime256v1 -genkey -noout -out private.pem"
        ) from None
    public = key.public_key().public_bytes(
        keys.Encoding.DER, keys.PublicFormat.SubjectPublicKeyInfo
    )
    signer = {
        "name": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "key_sha256": hashlib.sha256(public).hexdigest(),
    }
    (folder / SIGNATURE).unlink(missing_ok=True)
    write_whole(folder / SIGNER, dumps_safely(signer))
    signing = need("model_signing.signing", extra="sign")
    own = signing.Config().use_elliptic_key_signer(private_key=private_key)
    own.set_hashing_config(_hashing(folder)).sign(folder, folder / SIGNATURE)
    return signer


def verify(folder: Path, public_key: Path) -> dict[str, str]:
    """Check the signature and every file; gives who signed."""
    if not (folder / SIGNATURE).exists():
        raise ValueError(f"{folder} is not signed; sign it with: fairpatch sign {folder} --key KEY")
    verifying = need("model_signing.verifying", extra="sign")
    own = verifying.Config().use_elliptic_key_verifier(public_key=public_key)
    try:
        own.set_hashing_config(_hashing(folder)).verify(folder, folder / SIGNATURE)
    except Exception as error:
        raise ValueError(
            f"{folder} is not as it was signed with the key of {public_key}: {_what(folder, error)}"
        ) from None
    checked(folder, *FILES)
    signer: dict[str, str] = json.loads((folder / SIGNER).read_text(encoding="utf-8"))
    return signer


def who_signed(folder: Path, public_key: Path | None) -> dict[str, Any] | None:
    """What a page says of the signature: who signed, and whether that was verified."""
    if public_key is not None:
        return {**verify(folder, public_key), "verified": True}
    return {"verified": False} if (folder / SIGNATURE).exists() else None


def _what(folder: Path, error: Exception) -> str:
    """What is wrong, in a sentence: a file of ours first, else what the library says."""
    try:
        checked(folder, *FILES)
    except ValueError as own:
        return str(own)
    if str(error).startswith("Signature mismatch"):
        return "a file was changed, added or taken away after signing"
    return f"the signature is another key's, or no signature ({type(error).__name__})"


def _hashing(folder: Path) -> Any:
    hashing = need("model_signing.hashing", extra="sign")
    return hashing.Config().set_ignored_paths(paths=[folder / SIGNATURE], ignore_git_paths=False)
