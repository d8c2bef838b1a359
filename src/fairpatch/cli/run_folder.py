"""A run's folder: patch, frontier, certificate, review, configuration, and a manifest of hashes.

Files are written whole or not at all, the manifest last: a folder without one is unfinished.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from fairpatch.cli.say import refuse

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


def score_of(source: Path, given: str | None) -> str:
    """The score column: as given, or as the run's configuration has it."""
    if given is not None:
        return given
    if (source / "config.yaml").exists():
        from fairpatch.cli import config as configs

        found = configs.read(source / "config.yaml").score
        if found is not None:
            return found
    return refuse("name the column of the base model's probability: --score COLUMN")


def model_of(source: Path, score: str | None, model: str | None) -> str | None:
    """The base model that scores a table: as given, or the run's own; None where it is a column."""
    if score is not None and model is not None:
        refuse("the base model is either --score COLUMN or --model FILE")
    if model is not None or score is not None or not (source / "config.yaml").exists():
        return model
    from fairpatch.cli import config as configs

    return configs.read(source / "config.yaml").model


def no_features(source: Path, data: str) -> list[str]:
    """Columns that a run's base model was not given: label, S, keys, weights, what is ignored."""
    from fairpatch.cli import config as configs
    from fairpatch.cli.data import index_columns

    if not (source / "config.yaml").exists():
        return index_columns(data)
    options = configs.read(source / "config.yaml")
    some = (options.f_trained_on, options.decision.weight, options.decision.key)
    named = [options.label, *options.sensitive, *options.ignore, *(n for n in some if n)]
    return [*named, *index_columns(data)]


def patch_path(source: Path) -> Path:
    """The patch of a run folder, or the file itself; a changed one is refused."""
    if not source.exists():
        refuse(f"there is no {str(source)!r}; expected a patch file or a run's folder")
    if not source.is_dir():
        return source
    changed = tampered(source)
    if "patch.json" in changed:
        raise ValueError(f"{source / 'patch.json'} is not what the manifest says: it was changed")
    return source / "patch.json"
