"""What differs between two patches: columns and weights, and on data whose decisions."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import Data, Json, Score
from fairpatch.cli.run_folder import patch_path, score_of
from fairpatch.cli.say import say, say_json


def run(
    one: Annotated[Path, typer.Argument(help="a patch or a run's folder")],
    two: Annotated[Path, typer.Argument(help="another one")],
    data: Data = None,
    score: Score = None,
    json: Json = False,
) -> None:
    """Compare them."""
    from fairpatch.base import BaseModel
    from fairpatch.measure.show import Table
    from fairpatch.patch import load
    from fairpatch.patch.difference import difference
    from fairpatch.patched import PatchedModel

    a, b = load(patch_path(one)), load(patch_path(two))
    rows = difference(a, b)
    people = None
    if data is not None:
        table = tables.frame(data)
        column = score_of(one, score)
        first, second = (
            PatchedModel(BaseModel(column, decision=p.decision), p).decide(table) for p in (a, b)
        )
        people = {
            "people": len(table),
            "only_first_decides_1": int((first & ~second).sum()),
            "only_second_decides_1": int((~first & second).sum()),
        }
    if json:
        say_json({"weights": rows, "decisions": people})
        return
    cells = [[w, f"{x:.4g}", f"{y:.4g}"] for w, x, y in rows]
    say(Table("What differs", ["in the ratio", one.name, two.name], cells).text() if cells
        else "the ratios are the same")  # fmt: skip
    if people is not None:
        apart = people["only_first_decides_1"] + people["only_second_decides_1"]
        say(f"{apart:,} of {people['people']:,} decisions differ: "
            f"{people['only_first_decides_1']:,} are 1 only with the first, "
            f"{people['only_second_decides_1']:,} only with the second")  # fmt: skip
