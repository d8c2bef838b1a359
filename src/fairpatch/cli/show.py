"""Print a patch as a person would want to read it, and check that it reads no sensitive column."""

from fairpatch.cli.options import Json, PatchFile
from fairpatch.cli.run_folder import FILES, patch_path, whole
from fairpatch.cli.say import note, say


def run(patch: PatchFile, json: Json = False) -> None:
    """Show a patch."""
    from fairpatch.files.strict_json import without_marks
    from fairpatch.patch import load

    loaded = load(patch_path(patch))
    if patch.is_dir():
        whole(patch)
        note(f"all {len(FILES)} files are as the manifest says")
    say(without_marks(loaded.model_dump_json(indent=1)) if json else str(loaded))
    leaks = sorted({c.name for c in loaded.columns} & set(loaded.provenance.sensitive_features))
    if leaks:
        raise ValueError(f"this patch reads the sensitive column {', '.join(map(repr, leaks))}")
    sensitive = ", ".join(loaded.provenance.sensitive_features) or "none"
    note(f"S-leak check: none of its columns is a sensitive feature ({sensitive})")
