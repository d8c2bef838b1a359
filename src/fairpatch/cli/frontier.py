"""The candidates of a run that none other beats: what else could have been chosen."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli.options import Json
from fairpatch.cli.say import say, say_json


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    json: Json = False,
    take: Annotated[int | None, typer.Option(help="write this candidate's patch ...")] = None,
    out: Annotated[Path | None, typer.Option(help="... to this file")] = None,
) -> None:
    """Show them, or take another one."""
    from fairpatch.choose.frontier_file import load_frontier
    from fairpatch.measure.show import Table
    from fairpatch.patch import save

    saved = load_frontier(folder / "frontier.json")
    if take is not None:
        if not 0 <= take < len(saved.patches):
            raise ValueError(
                f"there is no candidate {take}; there are 0 to {len(saved.patches) - 1}"
            )
        say(f"wrote {save(saved.patches[take], out or Path(f'patch-{take}.json'))}")
        return
    kept = [r for r, is_kept in zip(saved.records, saved.pareto, strict=True) if is_kept]
    if json:
        say_json(kept)
        return
    features = list(kept[0]["metrics"]) if kept else []
    rows = [
        [str(r["model"]), f"{r['change_rate']:.1%}", f"{r['accuracy']:.3f}",
         *(f"{r['metrics'][f]['p_rule']:.3f}" for f in features)]
        for r in sorted(kept, key=lambda r: r["change_rate"])
    ]  # fmt: skip
    header = ["candidate", "changes", "accuracy", *(f"P-Rule, {f}" for f in features)]
    say(Table("Candidates that none other beats, as trained", header, rows).text())
