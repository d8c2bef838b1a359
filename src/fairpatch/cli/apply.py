"""Apply a patch to a table of scores: a new file with ratio, score, decision and change."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.dialect import PLAIN, encode, write
from fairpatch.cli.ledger import ledger_for, record
from fairpatch.cli.options import (
    SOURCES,
    IfUnlike,
    Life,
    Model,
    PatchFile,
    Pilot,
    Reasons,
    Score,
    TrustModel,
)
from fairpatch.cli.people import enforce_if_unlike
from fairpatch.cli.run_folder import (
    model_of,
    no_features,
    options_of,
    patch_path,
    piloted,
    score_of,
)
from fairpatch.cli.say import note, progress, refuse, say

if TYPE_CHECKING:
    from fairpatch.cli.dialect import Dialect
    from fairpatch.patch import Patch

ROW = "__fairpatch_row"
"""A column that keeps rows in their order."""


def run(
    patch: PatchFile,
    data: Annotated[str, typer.Argument(help=SOURCES)],
    out: Annotated[Path, typer.Argument(help="file.parquet, file.csv, or a folder")],
    score: Score = None,
    model: Model = None,
    trust_model: TrustModel = None,
    reasons: Reasons = False,
    no_score: Annotated[
        bool, typer.Option("--no-score", help="leave out the patched score: faster on large tables")
    ] = False,
    if_unlike: IfUnlike = "refuse",
    approvals: Annotated[
        str | None,
        typer.Option(
            help="approve exactly so many, by the patch's own order; with --by: so many "
            "in each batch, a column of numbers, or keep"
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="column of batches that have their own places")
    ] = None,
    referrals: Annotated[
        int | None, typer.Option(help="refer at most so many, where the patch refers people")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            help="column that tells people apart, for --approvals, --referrals and --pilot"
        ),
    ] = None,
    pilot: Pilot = None,
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
    keep_formulas: Annotated[
        bool, typer.Option(help="leave cells of a CSV that a spreadsheet would run as they are")
    ] = False,
    life: Life = None,
) -> None:
    """Stream through DuckDB; a file appears when it is complete, never before."""
    from fairpatch.identity.compare import compare
    from fairpatch.patch import load

    if out.suffix and out.suffix not in (".parquet", ".csv"):
        refuse(f"{out.name}: expected a name that ends in .parquet or .csv, or a folder's")
    if out.suffix and out.exists() and not force:
        refuse(f"{out} exists; use --force to replace it, or another name")
    csv = options_of(patch).csv if patch.is_dir() else PLAIN
    loaded, source = piloted(load(patch_path(patch)), pilot, key), model_of(patch, score, model)
    ledger_for(patch, life, "applied")  # before anything is written: it may be another model's
    origin, what = data, {"with_score": not no_score, "with_reason": reasons}
    asked = _asked(approvals, by) or _as_in_the_target(patch, referrals)
    places = _places({"approvals": asked, "referrals": referrals}, key, loaded, out)
    with tempfile.TemporaryDirectory() as scratch:
        if source is None:
            column = score_of(patch, score)
        else:
            scored = Path(scratch) / "scored.parquet"
            known = (loaded, data, source, scored, if_unlike, no_features(patch, data), csv)
            column = _score(*known, trust=bool(trust_model))
            data, origin = str(scored), data
        table = tables.relation(data, csv)
        tables.need_columns(table, [column, *(c.name for c in loaded.columns)], data)
        tables.need_probabilities(table, column, data, loaded.decision, if_any=True)
        enforce_if_unlike(compare(loaded, table, column), if_unlike)
        _say_unjudged(loaded, table)
        if not out.suffix:
            _by_parts(loaded, data, out, column, what, csv, origin=origin, model=source)
        else:
            dialect = tables.dialect_read(origin, csv) if out.suffix == ".csv" else None
            _write(loaded, table, column, out, what | places, dialect, keep_formulas=keep_formulas)
    acts: dict[str, Any] = {} if loaded.pilot is None else {"pilot": str(loaded.pilot)}
    acts |= {"data_sha256": tables.fingerprint(origin), "out_sha256": tables.fingerprint(str(out))}
    record(patch, life, "applied", data=origin, out=str(out), **acts)


def _marks(patch: "Patch") -> dict[str, str]:
    """By which a file is known to be decided by a patch, and by what program."""
    from fairpatch import __version__
    from fairpatch.report.signed import patch_hash

    return {"fairpatch_patch": patch_hash(patch), "fairpatch_version": __version__}


def _say_unjudged(patch: "Patch", table: Any) -> None:
    """A gap locks nobody: said, as it may be a file that has lost a column's values."""
    import narwhals as nw

    from fairpatch._tools.extras import row_of
    from fairpatch.patch.column_types import typed, with_gaps
    from fairpatch.patch.expressions import unjudged_expr

    frame = with_gaps(patch, nw.from_native(table))
    unjudged = unjudged_expr(typed(patch, frame.collect_schema()))
    if unjudged is None or patch.card is None:
        return
    rows = row_of(frame.filter(unjudged).select(n=nw.len()))["n"]
    if rows:
        columns = " or ".join(dict.fromkeys(repr(lock.column) for lock in patch.card.locked))
        note(f"{rows:,} rows have nothing in {columns}: a gap locks nobody")


def _asked(approvals: str | None, by: str | None) -> Any:
    """How many are to be approved: a number, or places by a column."""
    if approvals is None and by is None:
        return None
    number: Any = int(approvals) if approvals is not None and approvals.isdigit() else approvals
    if by is not None:
        return {"by": by, "number": "keep" if number is None else number}
    if not isinstance(number, int):
        refuse(f"--approvals must be a whole number; got {approvals!r}. By batches, name --by too")
    return number


def _as_in_the_target(patch: Path, referrals: int | None) -> dict[str, Any] | None:
    """Places of every batch, where the run was certified for those."""
    from fairpatch.cli.run_folder import options_of

    if referrals is not None or not (patch / "config.yaml").is_file():
        return None
    places = options_of(patch).asked.places
    if places is None or places.by is None:
        return None
    note(f"the places of every {places.by} are filled, as the target asks")
    return {"by": places.by, "number": "keep" if places.number is None else places.number}


def _places(asked: dict[str, Any], key: str | None, patch: "Patch", out: Path) -> dict[str, Any]:
    """Options of a batch with so many places, or of so many people who can be looked at."""
    given = {name: number for name, number in asked.items() if number is not None}
    if not given:
        return {}
    name = next(iter(given))
    if len(given) > 1:
        refuse("--approvals is for a patch that decides, --referrals for one that refers: give one")
    key = patch.roles.key if key is None else key
    if key is None:
        refuse(f"--{name} shares places out person by person: name their column, --key id")
    if not out.suffix:
        refuse(f"--{name} needs the whole batch in one file: name {out}.parquet or {out}.csv")
    return {**given, "key": key}


def _score(
    patch: "Patch",
    data: str,
    source: str,
    out: Path,
    if_unlike: str,
    no_features: list[str],
    csv: "Dialect",
    *,
    trust: bool,
) -> str:
    """The table with the base model's scores as one more column, in a file that is not kept."""
    from fairpatch.cli.people import read_model
    from fairpatch.engines.streams import score
    from fairpatch.identity.compare import SCORE, compare_model
    from fairpatch.inputs.base import BaseModel

    base = BaseModel(read_model(source, trust=trust), decision=patch.decision)
    table = tables.relation(data, csv)
    tables.need_columns(table, [c.name for c in patch.columns], data)
    renamed = base.renamed(table.columns)
    columns = base.columns or [n for n in table.columns if n not in no_features]
    columns = [renamed.get(name, name) for name in columns]
    tables.need_columns(table, columns, data)
    enforce_if_unlike(compare_model(patch, base, tables.in_memory(table.limit(100))), if_unlike)
    score(table, base, columns, out=out, name=SCORE)
    return SCORE


def _write(
    patch: "Patch",
    table: Any,
    score: str,
    out: Path,
    what: dict[str, Any],
    csv: "Dialect | None",
    *,
    keep_formulas: bool,
) -> None:
    from fairpatch._tools.files import whole_file
    from fairpatch.patch.apply import CHANGED, REFERRED, apply
    from fairpatch.patch.batch import apply_to_capacity, apply_to_places

    ways: dict[str, Any] = {"approvals": apply_to_places, "referrals": apply_to_capacity}
    way = next((way for name, way in ways.items() if name in what), apply)
    in_order = way is not apply and hasattr(table, "order")
    if in_order:  # windows lose it
        table = table.project(f"*, row_number() OVER () AS {ROW}")
    applied = way(patch, table, score, **what)
    if in_order:
        applied = applied.order(ROW).project(f"* EXCLUDE ({ROW})")
    if csv is not None and not keep_formulas:
        applied = tables.without_formulas(applied)
    with whole_file(out) as unfinished:
        written = write(applied, unfinished, csv, _marks(patch))
        moved = REFERRED if REFERRED in written.columns else CHANGED
        yes = f'CAST("{moved}" AS BOOLEAN)'
        sums = f"count(*), count(*) FILTER ({yes}), count(*) FILTER ({yes} IS NULL)"
        rows, changed, none = written.aggregate(sums).fetchall()[0]
        by_target = isinstance(what.get("approvals"), dict)
        approvals = "" if moved == REFERRED else _approvals(patch, written, by_target=by_target)
        if csv is not None:  # last: all that can fail has been done
            encode(unfinished, csv.encoding)
    open_ones = f"; {none:,} have no score, and so no decision" if none else ""
    share = changed / max(rows, 1)
    if moved == REFERRED:
        say(f"wrote {out}: {rows:,} rows, {changed:,} people are referred ({share:.1%}){open_ones}")
        return
    say(f"wrote {out}: {rows:,} rows, {changed:,} decisions change ({share:.1%}){open_ones}")
    say(approvals)


def _approvals(patch: "Patch", written: Any, *, by_target: bool) -> str:
    """How many are approved before and after, and where the places decided."""
    from fairpatch.patch.apply import CHANGED, DECISION
    from fairpatch.patch.batch import BY_PLACES

    decided, changed, placed = (
        f'CAST("{name}" AS BOOLEAN)' for name in (DECISION, CHANGED, BY_PLACES)
    )
    after = decided if patch.decision.favourable else f"NOT {decided}"
    counted = [f"({after}) != {changed}", after]  # a change is the other decision than before
    counted += [placed] if BY_PLACES in written.columns else []
    sums = ", ".join(f"count(*) FILTER ({which})" for which in counted)
    now, then, *places = written.aggregate(sums).fetchall()[0]
    good, bad = patch.decision.sides
    text = f"{good} before {now:,}, after {then:,}"
    for n in places:
        text += f"; the number of places decided for {n:,} people"
        if n and not by_target:
            text += (
                ". The certificate is of the patch's own decisions: it does not say whether the "
                "target holds for these"
            )
    if not patch.decision.favourable:  # easily taken for its opposite
        text += f"\n{DECISION} is true for {bad}, as the base model's own decision is"
    return text


def _by_parts(
    patch: "Patch",
    data: str,
    out: Path,
    score: str,
    what: dict[str, bool],
    csv: "Dialect",
    *,
    origin: str,
    model: str | None,
) -> None:
    """A folder: one part for every file of the data; a stopped run goes on where it was."""
    from fairpatch.engines.streams import apply_files

    done = apply_files(
        patch, tables.files(data), out, score,
        read=lambda name: tables.relation(name, csv), **what, made_from=tables.files(origin),
        made_with=None if model is None else (tables.fingerprint(model) or model),
        progress=progress("part"),
    )  # fmt: skip
    before = f"; {done.kept} parts were there already" if done.kept else ""
    say(f"wrote {out}: {done.rows:,} rows in {done.parts} parts, {done.changed:,} decisions "
        f"change ({done.changed / max(done.rows, 1):.1%}){before}")  # fmt: skip
