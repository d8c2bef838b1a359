"""A run's folder: patch, menu, certificate, review, configuration, and a manifest of hashes.

Files are written whole or not at all, the manifest last: a folder without one is unfinished. Every
verb reads a file of a run through ``checked``: what is not as the manifest says is refused. Whoever
can write the manifest too is kept out by a signature (``fairpatch sign``).
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairpatch._tools.files import private_file
from fairpatch.cli.say import note, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairpatch.cli.config import Config
    from fairpatch.cli.manifest import Manifest
    from fairpatch.data.used_rows import UsedRows
    from fairpatch.engines.deploy import Audited
    from fairpatch.patch import Patch


MANIFEST, REFIT = "manifest.json", "refit.json"
FILES = (
    "patch.json",
    "menu.json",
    "config.yaml",
    "certificate.json",
    "review.html",
    "review.json",
    "model_card.md",
)
"""What every run has."""
USED = "used_rows.npz"
"""Hashes of the rows that learned and chose: a run of today has them, for its owner alone."""
RECORD = "fairpatch.alternatives"
RECORD_FILES = ("plan.json", "record.json", "record.html", "config.yaml")
"""What a record of alternatives has."""
MOST_OF_A_REVIEW = 20_000_000
"""Bytes of a review's data."""


def for_a_new_run(context: typer.Context, out: Path, *, force: bool) -> None:
    """Refuse what cannot be written before anything is learned; keep others from writing it."""
    from fairpatch._tools.files import only_writer

    if (out / MANIFEST).exists() and not force:
        refuse(f"{out} holds a run; use --force to replace it, or --out for another folder")
    context.with_resource(only_writer(out))  # until the verb ends


def seal(folder: Path, about: dict[str, Any], files: tuple[str, ...] = FILES) -> None:
    """Write the manifest: a hash of every file, and what the run was."""
    from fairpatch._tools.files import write_whole
    from fairpatch.cli.manifest import Manifest

    more = [USED] if files is FILES and (folder / USED).is_file() else []
    hashes = {name: _hash(folder / name) for name in (*files, *more)}
    manifest = Manifest(**about, sha256=hashes)
    write_whole(folder / MANIFEST, manifest.model_dump_json(indent=1))


def manifest(folder: Path) -> "Manifest":
    """The manifest of a run; raises where there is none, or none that can be read."""
    from pydantic import ValidationError

    from fairpatch._tools.files import read_strictly
    from fairpatch.cli.manifest import Manifest

    path = folder / MANIFEST
    if folder.is_file():
        raise ValueError(
            f"{folder} is one file, and a run's folder is needed. A card that was edited is judged "
            f"as part of its run: fairpatch edit RUN --patch {folder} --data NEW_ROWS"
        )
    if not path.exists():
        raise ValueError(
            f"{folder} has no {MANIFEST}: it is not a run, or was interrupted. Run the same "
            "fairpatch fit again"
        )
    try:
        sealed = Manifest.model_validate(read_strictly(path, "a manifest"))
        files = RECORD_FILES if sealed.format == RECORD else FILES
        missing = [name for name in files if name not in sealed.sha256]
        problem = f"it does not name {', '.join(missing)}" if missing else ""
    except ValidationError as error:
        first = error.errors()[0]
        problem = f"{'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}"
    if problem:
        raise ValueError(
            f"{path} is no manifest of a run ({problem}). Take the run from where it was written, "
            "or run the same fairpatch fit again"
        )
    if sealed.format != RECORD:
        _check_verdict(folder, sealed)
    return sealed


def _check_verdict(folder: Path, sealed: "Manifest") -> None:
    """Refuse a manifest that says another verdict than the run's certificate."""
    from fairpatch._tools.files import read_strictly

    path = folder / "certificate.json"
    if not path.is_file():
        return  # said where it is read
    held = read_strictly(path, "a certificate")
    verdict = held.get("verdict") if isinstance(held, dict) else None
    own = held.get("patch_sha256") if isinstance(held, dict) else None
    if own is not None and own != sealed.sha256["patch.json"]:
        raise ValueError(
            f"{path} is of another patch than {folder / 'patch.json'}: one of the two was changed "
            "after the run. Take the run from where it was written, or run the same fairpatch fit "
            "again"
        )
    if verdict != sealed.certificate:
        raise ValueError(
            f"{folder / MANIFEST} says {sealed.certificate or 'no certificate'!r} and "
            f"{path.name} says {verdict or 'none'!r}: one of them was changed after the run. Take "
            "the run from where it was written, or run the same fairpatch fit again"
        )


def checked(folder: Path, *names: str) -> list[Path]:
    """Files of a run, each of them as the manifest says.

    What was hashed is what is read: the bytes are kept aside, and a file that is exchanged in the
    meantime changes nothing.
    """
    known, found = manifest(folder).sha256, []
    for name in names:
        kept = private_file(name)
        kept.write_bytes(_bytes_of(folder, name, known))
        found.append(kept)
    return found


def whole(folder: Path) -> None:
    """Refuse a run or a record of which a file is not as its manifest says."""
    known = manifest(folder).sha256
    for name in known:
        _bytes_of(folder, name, known)


def _bytes_of(folder: Path, name: str, known: "Mapping[str, str]") -> bytes:
    """A file of a run, which must be as the manifest says."""
    path = folder / name
    if name not in known:
        raise ValueError(f"{folder} is a record of alternatives and no run: it has no {name}")
    if not path.is_file():
        raise ValueError(f"{path} is missing: the run is not whole")
    held = path.read_bytes()
    if hashlib.sha256(held).hexdigest() != known[name]:
        raise ValueError(
            f"{path} is not what the manifest says: it was changed after the run. Take the "
            "run from where it was written, or run the same fairpatch fit again"
        )
    return held


def review_of(folder: Path) -> Any:
    """The data of a run's review, checked."""
    from fairpatch._tools.files import read_strictly

    (path,) = checked(folder, "review.json")
    return read_strictly(path, "a review", MOST_OF_A_REVIEW)


def used_of(folder: Path) -> "UsedRows | None":
    """The rows that a run learned from and chose on; None where an older one did not keep them."""
    from fairpatch.data.used_rows import UsedRows

    if USED not in manifest(folder).sha256:
        return None
    return UsedRows.load(checked(folder, USED)[0])


def options_of(
    folder: Path, *, score: str | None = None, model: str | None = None, **given: Any
) -> "Config":
    """The configuration of a run, checked; flags go before it.

    ``score`` or ``model`` is another base model than the run's.
    """
    from fairpatch.cli import config as configs

    if score is not None and model is not None:
        refuse("the base model is either --score COLUMN or --model FILE")
    (path,) = checked(folder, "config.yaml")
    config = configs.read(path, **given)
    if score is None and model is None:
        return config
    ignore = [name for name in config.ignore if name != score]
    return config.model_copy(update={"score": score, "model": model, "ignore": ignore})


def asked_of(folder: Path) -> "Audited":
    """The target of a run, of whom, and by which columns that is seen."""
    from fairpatch.engines.deploy import Audited

    options, review = options_of(folder), review_of(folder)
    rate = review["effect"]["change"]["change_rate"]["value"]
    groups = max((len(table["rows"]) for table in review["groups"].values()), default=2)
    return Audited(
        target=options.asked,
        sensitive=tuple(options.sensitive),
        label=options.label,
        groups=max(groups, 2),
        change_rate=rate if isinstance(rate, int | float) else None,
    )


def score_of(source: Path, given: str | None) -> str:
    """The score column: as given, or as the run's configuration has it."""
    column = given if given is not None or not source.is_dir() else options_of(source).score
    if column is not None:
        return column
    return refuse("name the column of the base model's probability: --score COLUMN")


def model_of(source: Path, score: str | None, model: str | None) -> str | None:
    """The base model that scores a table: as given, or the run's own; None where it is a column."""
    if score is not None and model is not None:
        refuse("the base model is either --score COLUMN or --model FILE")
    if model is not None or score is not None or not source.is_dir():
        return model
    return options_of(source).model


def no_features(source: Path, data: str) -> list[str]:
    """Columns that a run's base model was not given: label, S, keys, weights, what is ignored."""
    from fairpatch.cli.data import index_columns

    if not source.is_dir():
        return index_columns(data)
    options = options_of(source)
    roles = options.columns
    some = (options.label, options.seen_by_base, roles.weight, roles.key)
    named = [*(n for n in some if n), *options.sensitive, *options.ignore]
    return [*named, *index_columns(data)]


def piloted(patch: "Patch", share: float | None, key: str | None) -> "Patch":
    """The patch for a share of people, where that is asked for."""
    if share is None:
        return patch
    key = key or patch.roles.key
    if key is None:
        refuse(
            "--pilot draws people by their key, a column of whole numbers: --key id, or columns: "
            "{key: id} in the configuration of the fit"
        )
    if not 0 < share <= 1:
        refuse(f"--pilot must be a share above 0 and at most 1; got {share:g}")
    note(f"a pilot: the card acts for {share:.3g} of people; its certificate is for everybody")
    return patch.with_pilot(share, str(key))


def patch_path(source: Path) -> Path:
    """The patch of a run folder, or the file itself; a changed one is refused.

    Its review has the patch's hash, too: who exchanges a card has to forge all of them.
    """
    if not source.exists():
        refuse(f"there is no {str(source)!r}; expected a patch file or a run's folder")
    if not source.is_dir():
        return source
    (path,) = checked(source, "patch.json")
    identity = review_of(source).get("identity")
    own = identity.get("patch_sha256") if isinstance(identity, dict) else None
    if own is not None and own != hashlib.sha256(path.read_bytes()).hexdigest():
        raise ValueError(
            f"{source / 'review.json'} is of another patch than {source / 'patch.json'}: one of "
            "the two was changed after the run. Take the run from where it was written"
        )
    return path


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
