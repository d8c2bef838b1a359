"""Print a patch as a person would read it; of two, what differs: their lines, and decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import SOURCES, Json, PatchFile, Score, Sensitive, TrustModel
from fairpatch.cli.people import patched_model
from fairpatch.cli.run_folder import manifest, options_of, patch_path, score_of, whole
from fairpatch.cli.say import note, refuse, say, say_json

if TYPE_CHECKING:
    from fairpatch.disclose.protected import Protected
    from fairpatch.patch import Patch
    from fairpatch.patched import PatchedModel


def run(
    patch: PatchFile,
    other: Annotated[
        Path | None, typer.Argument(help="another patch or run: what differs from the first")
    ] = None,
    data: Annotated[str | None, typer.Option(help=f"rows on which both decide: {SOURCES}")] = None,
    score: Score = None,
    score_two: Annotated[
        str | None, typer.Option(help="the other's score column, where it is another model")
    ] = None,
    sensitive: Sensitive = None,
    trust_model: TrustModel = None,
    json: Json = False,
) -> None:
    """Show a patch, and check that it reads no sensitive column; or compare it with another."""
    if other is not None:
        _compare(patch, other, data, score, score_two, sensitive, trust_model, json)
        return
    if data is not None:
        refuse("--data compares two patches: name the other one, too")
    from fairpatch._tools.files import without_marks
    from fairpatch.patch import load

    loaded = load(patch_path(patch))
    if patch.is_dir():
        whole(patch)
        note(f"all {len(manifest(patch).sha256)} files are as the manifest says")
    say(without_marks(loaded.model_dump_json(indent=1)) if json else str(loaded))
    leaks = sorted({c.name for c in loaded.columns} & set(loaded.provenance.sensitive_features))
    if leaks:
        raise ValueError(f"this patch reads the sensitive column {', '.join(map(repr, leaks))}")
    sensitive_features = ", ".join(loaded.provenance.sensitive_features) or "none"
    note(f"S-leak check: none of its columns is a sensitive feature ({sensitive_features})")


def _compare(
    one: Path, two: Path, data: str | None, score: str | None, score_two: str | None,
    sensitive: list[str] | None, trust_model: bool | None, json: bool,
) -> None:  # fmt: skip
    """Compare the decisions of the first, its model and patch, with those of the second."""
    from fairpatch._tools.tables import Table
    from fairpatch.patch import load
    from fairpatch.patch.edit import difference

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
    from fairpatch.inputs.base import BaseModel
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
    from fairpatch.disclose.protected import reviewed
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
    from fairpatch._tools.smallest_count import COARSE
    from fairpatch._tools.tables import Table
    from fairpatch.measure.rates import changed_rate

    rows = [[f"{f} {g}".strip(), *map(str, rest)] for f, g, *rest in _rows(table)]
    changed, people = table.number(changed_rate().hits), table.people()
    text = Table(
        "Decisions", ["group", "people", "decision 1 with the first only", "with the second only"],
        rows,
        [] if table.whole else [COARSE],
    ).text()  # fmt: skip
    return [text, f"{changed} of {people} decisions differ"]
