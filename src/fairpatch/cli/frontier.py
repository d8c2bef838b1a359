"""The candidates of a run that none other beats: what else could have been chosen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpatch.cli.options import Json
from fairpatch.cli.run_folder import checked
from fairpatch.cli.say import say, say_json

if TYPE_CHECKING:
    from fairpatch.patch import Patch


def like_its_run(patch: "Patch", chosen: "Patch") -> "Patch":
    """A candidate with the fingerprint of the run's patch, of the columns that both read."""
    known = chosen.fingerprint
    if known is None:
        return patch
    read = {column.name for column in patch.columns}
    columns = tuple(c for c in known.columns if c.column in read)
    return patch.model_copy(update={"fingerprint": known.model_copy(update={"columns": columns})})


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    json: Json = False,
    take: Annotated[int | None, typer.Option(help="write this candidate's patch ...")] = None,
    out: Annotated[Path | None, typer.Option(help="... to this file")] = None,
) -> None:
    """Show them, or take another one."""
    from fairpatch.choose.frontier_file import load_frontier, saved_table
    from fairpatch.patch import load, save

    frontier, chosen_patch = checked(folder, "frontier.json", "patch.json")
    saved = load_frontier(frontier)
    if take is not None:
        if not 0 <= take < len(saved.patches):
            raise ValueError(
                f"there is no candidate {take}; there are 0 to {len(saved.patches) - 1}"
            )
        taken = like_its_run(saved.patches[take], load(chosen_patch))
        say(f"wrote {save(taken, out or Path(f'patch-{take}.json'))}")
        return
    kept = [r for r, is_kept in zip(saved.records, saved.pareto, strict=True) if is_kept]
    if json:
        say_json([record.model_dump(mode="json") for record in kept])
        return
    say(saved_table(saved).text())
    patch = load(chosen_patch)
    settings = patch.provenance.settings
    chosen = [
        r.number for r in saved.records if all(settings.get(k) == v for k, v in r.settings.items())
    ]
    if chosen and patch.card is None:
        say(f"Chosen: candidate {chosen[0]}, turned to strength {patch.strength:.3g}.")
    elif chosen and patch.card is not None:
        say(
            f"Chosen: the scorecard of candidate {chosen[0]}, which needs "
            f"{patch.changes_at} points."
        )
