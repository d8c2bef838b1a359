"""What differs between two runs or patches: line by line, and on data whose decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import Data, Json, Score, Sensitive, TrustModel
from fairpatch.cli.people import patched_model
from fairpatch.cli.run_folder import options_of, patch_path, score_of
from fairpatch.cli.say import say, say_json

if TYPE_CHECKING:
    from fairpatch.disclose.protected import Protected
    from fairpatch.patch import Patch
    from fairpatch.patched import PatchedModel


def run(
    one: Annotated[Path, typer.Argument(help="a patch or a run's folder")],
    two: Annotated[Path, typer.Argument(help="another one")],
    data: Data = None,
    score: Score = None,
    score_two: Annotated[
        str | None, typer.Option(help="the second one's score column, where it is another model")
    ] = None,
    sensitive: Sensitive = None,
    trust_model: TrustModel = None,
    json: Json = False,
) -> None:
    """Compare the decisions of the first, its model and patch, with those of the second."""
    from fairpatch._table import Table
    from fairpatch.patch import load
    from fairpatch.patch.difference import difference

    a, b = load(patch_path(one)), load(patch_path(two))
    rows = difference(a, b)
    table = None
    if data is not None:
        frame = tables.frame(data)
        # a patch file has no model of its own: the other's serves both
        first = _model(one if one.is_dir() else two, a, score, trust=trust_model)
        from_file = score_two is None and not two.is_dir()
        second = _model(one if from_file else two, b, score if from_file else score_two,
                        trust=trust_model)  # fmt: skip
        table = _decisions(first, second, frame, sensitive or _sensitive(one, frame))
    if json:
        say_json({"weights": rows, "decisions": None if table is None else _data(table)})
        return
    cells = [[w, f"{x:.4g}", f"{y:.4g}"] for w, x, y in rows]
    say(Table("What differs", ["in the ratio", one.name, two.name], cells).text() if cells
        else "the ratios are the same")  # fmt: skip
    if table is not None:
        for text in _text(table):
            say(text)


def _model(source: Path, patch: "Patch", score: str | None, *, trust: Any) -> "PatchedModel":
    """A patch with its own base model: the run's, unless a column is named."""
    from fairpatch.base import BaseModel
    from fairpatch.patched import PatchedModel

    if source.is_dir() and score is None:
        return patched_model(options_of(source, trust_model=trust), patch)
    return PatchedModel(BaseModel(score_of(source, score), decision=patch.decision), patch)


def _sensitive(source: Path, frame: Any) -> list[str]:
    """The run's sensitive columns, where the data have them."""
    if not source.is_dir():
        return []
    return [name for name in options_of(source).sensitive if name in frame.columns]


def _decisions(
    one: "PatchedModel", two: "PatchedModel", frame: Any, sensitive: list[str]
) -> "Protected":
    """Decisions of the first and of the second, by group; small counts are not told."""
    from fairpatch.disclose.reviewed import reviewed
    from fairpatch.measure.counts import Counts

    tables.need_columns(frame, sensitive, "the data")
    first, second = (m.decide(frame) for m in (one, two))
    groups = frame[sensitive] if sensitive else {"everybody": [0] * len(frame)}
    counts = Counts.from_arrays(decision=first, new_decision=second, sensitive_features=groups)
    return reviewed(counts, [])


def _rows(table: "Protected") -> list[tuple[str, str, Any, Any, Any]]:
    """Feature, group, people, decided 1 only by the first, and only by the second."""
    from fairpatch.measure.rates import demoted_rate, promoted_rate

    rows = [("", "everybody", *(
        table.people(), table.number(demoted_rate().hits), table.number(promoted_rate().hits)
    ))]  # fmt: skip
    for feature in table.counts.features:
        if feature == "everybody":
            continue
        hidden = table.hidden(feature)
        for i, name in enumerate(table.by(feature).group_names):
            if not hidden[i]:
                rows.append((feature, name, *(
                    table.people(feature, group=i),
                    table.number(demoted_rate().hits, feature, group=i),
                    table.number(promoted_rate().hits, feature, group=i),
                )))  # fmt: skip
    return rows


def _data(table: "Protected") -> list[dict[str, Any]]:
    names = ("feature", "group", "people", "only_first_decides_1", "only_second_decides_1")
    return [
        dict(zip(names, (f, g, *(count.data for count in rest)), strict=True))
        for f, g, *rest in _rows(table)
    ]


def _text(table: "Protected") -> list[str]:
    from fairpatch._table import Table
    from fairpatch.floor import COARSE
    from fairpatch.measure.rates import changed_rate

    rows = [[f"{f} {g}".strip(), *map(str, rest)] for f, g, *rest in _rows(table)]
    changed, people = table.number(changed_rate().hits), table.people()
    text = Table(
        "Decisions", ["group", "people", "decision 1 with the first only", "with the second only"],
        rows,
        [] if table.whole else [COARSE],
    ).text()  # fmt: skip
    return [text, f"{changed} of {people} decisions differ"]
