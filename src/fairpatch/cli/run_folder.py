"""A run's folder: patch, frontier, certificate, review, configuration, and a manifest of hashes.

Files are written whole or not at all, the manifest last: a folder without one is unfinished.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def seal(folder: Path, about: dict[str, Any]) -> None:
    """Write the manifest: a hash of every file, and what the run was."""
    from fairpatch.patch.file import write_whole

    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != MANIFEST and not path.name.startswith(".")
    }
    text = json.dumps({"format": "fairpatch.run", "version": 1, **about, "sha256": files}, indent=1)
    write_whole(folder / MANIFEST, text)


def tampered(folder: Path) -> list[str]:
    """Files that are not as the manifest says; raises where there is no manifest."""
    path = folder / MANIFEST
    if not path.exists():
        raise ValueError(
            f"{folder} has no {MANIFEST}: the run was stopped. Run the same fairpatch fit again"
        )
    hashes = json.loads(path.read_text(encoding="utf-8"))["sha256"]
    return [
        name
        for name, expected in hashes.items()
        if not (folder / name).exists()
        or hashlib.sha256((folder / name).read_bytes()).hexdigest() != expected
    ]


def patch_path(source: Path) -> Path:
    """The patch of a run folder, or the file itself; a changed one is refused."""
    if not source.is_dir():
        return source
    changed = tampered(source)
    if "patch.json" in changed:
        raise ValueError(f"{source / 'patch.json'} is not what the manifest says: it was changed")
    return source / "patch.json"
