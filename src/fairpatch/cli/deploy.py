"""Put a patch to work elsewhere: SQL, a pack for a warehouse or dbt, ONNX, or MLflow.

A pack (view, function, dbt) is a folder with statements, tests, monitoring and the way back. SQL is
one SELECT for a batch job; check is the query to run before it, and test the one after it: rows
where the target is violated. ONNX and MLflow models hold the patch alone, on a score, or behind its
base model.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.options import (
    Data,
    IfUnlike,
    Join,
    Model,
    PatchFile,
    Pilot,
    Reasons,
    Score,
    SensitiveTable,
    TrustModel,
)
from fairpatch.cli.people import enforce_if_unlike
from fairpatch.cli.run_folder import asked_of, model_of, options_of, patch_path, piloted, score_of
from fairpatch.cli.say import refuse, say, say_code

if TYPE_CHECKING:
    from fairpatch.engines.deploy import Destination, Kind
    from fairpatch.engines.sql import Dialect
    from fairpatch.patch import Patch

PACKS, QUERIES, MODELS = ("view", "function", "dbt"), ("sql", "check", "test"), ("onnx", "mlflow")
KINDS = (*PACKS, *QUERIES, *MODELS)
GOES_WITH = {
    "pilot": PACKS,
    "key": PACKS,
    "keep": (*PACKS, "sql"),
    "sensitive_table": PACKS,
    "join": PACKS,
    "score": (*PACKS, "sql", "check"),
    "with_score": ("sql",),
    "reasons": ("sql", *MODELS),
    "model": MODELS,
    "data": MODELS,
    "trust_model": MODELS,
}
"""Options that only some kinds have."""


def run(
    patch: PatchFile,
    out: Annotated[
        Path | None, typer.Argument(help="a new folder, file.onnx, or for SQL a file; else printed")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(KINDS)}; a view, or ONNX where OUT ends in .onnx"),
    ] = None,
    dialect: Annotated[str, typer.Option(help="duckdb, spark, postgres, bigquery, ...")] = "duckdb",
    table: Annotated[str, typer.Option(help="the table of people; for dbt its model")] = "people",
    name: Annotated[str, typer.Option(help="what to call the view, function or model")] = "decided",
    key: Annotated[str | None, typer.Option(help="column that tells people apart")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="column to keep; may be repeated")] = None,
    sensitive_table: SensitiveTable = None,
    join: Join = None,
    pilot: Pilot = None,
    score: Score = None,
    reasons: Reasons = False,
    with_score: Annotated[
        bool, typer.Option("--with-score", help="the patched score and the ratio as well")
    ] = False,
    model: Model = None,
    data: Data = None,
    trust_model: TrustModel = None,
    if_unlike: IfUnlike = "refuse",
) -> None:
    """Write what another system runs: SQL, a pack, an ONNX graph, or an MLflow model."""
    from fairpatch.patch import load

    to = to or ("onnx" if out is not None and out.suffix == ".onnx" else "view")
    given = {
        "pilot": pilot, "key": key, "keep": keep, "score": score, "with_score": with_score,
        "reasons": reasons, "sensitive_table": sensitive_table, "join": join, "model": model,
        "data": data, "trust_model": trust_model,
    }  # fmt: skip
    _check(to, out, given)
    loaded = load(patch_path(patch))
    if to in QUERIES:
        column = "" if to == "test" else score_of(patch, score)
        text = _query(
            patch, loaded, to, column, table=table, dialect=cast("Dialect", dialect),
            keep=tuple(keep or ()), with_score=with_score, reasons=reasons,
        )  # fmt: skip
        _print(text, out)
        return
    out = cast(Path, out)
    if to in MODELS:
        _export(patch, loaded, to, out, model, data, reasons, bool(trust_model), if_unlike)
        return
    from fairpatch.engines.deploy import Destination

    loaded = piloted(loaded, pilot, key)
    key = key or loaded.roles.key
    groups = _groups_apart(patch, sensitive_table, join or key)
    place = Destination(table, name, key, tuple(keep or ()), cast("Dialect", dialect), groups)
    column = score_of(patch, score)
    _pack(patch, loaded, cast("Kind", to), out, place, column, whole=pilot is None)


def _groups_apart(source: Path, given: str | None, join: str | None) -> tuple[str, str] | None:
    """The warehouse's table of the sensitive columns, where the run had one of their own."""
    own = options_of(source) if source.is_dir() else None
    table = given or (own and own.sensitive_table)
    if not table:
        return None
    column = (own and own.join) or join
    if column is None:
        return refuse("--sensitive-table needs the column that both tables share: --join COLUMN")
    if given is None:
        table = Path(table).stem
        say(f"audit.sql joins the table {table!r} for the groups; or name it: --sensitive-table")
    return table, column


def _check(to: str, out: Path | None, given: dict[str, Any]) -> None:
    """Refuse a kind that there is not, options of another kind, and a place that is taken."""
    if to not in KINDS:
        refuse(f"--to must be one of {', '.join(KINDS)}; got {to!r}")
    for name, kinds in GOES_WITH.items():
        if given[name] and to not in kinds:
            refuse(f"--{name.replace('_', '-')} goes with --to {' or '.join(kinds)}, not {to}")
    if to in QUERIES:
        return
    if out is None:
        refuse(f"say where to write it: fairpatch deploy PATCH OUT --to {to}")
    if to == "onnx" and out.suffix != ".onnx":
        refuse(f"{out}: expected a name that ends in .onnx")
    if to == "mlflow" and out.suffix:
        refuse(f"{out}: expected a new folder for an MLflow model, or a name that ends in .onnx")
    if to != "onnx" and out.exists():
        refuse(f"{out} exists: name a new folder")


def _print(text: str, out: Path | None) -> None:
    from fairpatch._tools.files import write_whole

    if out is None:
        say_code(text)
    else:
        write_whole(out, text + "\n")
        say(f"wrote {out}")


def _query(
    source: Path, patch: "Patch", to: str, score: str, *, table: str, dialect: "Dialect",
    keep: tuple[str, ...], with_score: bool, reasons: bool,
) -> str:  # fmt: skip
    """A SELECT to put into a batch job, the one before it, or the one after it."""
    from fairpatch.engines.sql import check_sql, sql

    if to == "test":
        return _target_query(source, patch, table, dialect)
    if to == "check":
        return check_sql(patch, score, table=table, dialect=dialect) + ";"
    text = sql(
        patch, score, table=table, dialect=dialect, keep=keep, with_score=with_score,
        with_reason=reasons,
    )  # fmt: skip
    return text + ";"


def _target_query(folder: Path, patch: "Patch", table: str, dialect: "Dialect") -> str:
    """The run's target, asked of a table that the patch was applied to."""
    from fairpatch.engines.deploy import replaced, stand_in
    from fairpatch.engines.target_query import target_sql

    if not folder.is_dir():
        refuse("--to test needs a run's folder: a patch file does not know the target")
    of = asked_of(folder)
    refs = {stand_in(): table} if "{{" in table else {}  # dbt's own references stay as they are
    text = target_sql(
        of.target, patch.decision, patch.roles, sensitive=list(of.sensitive), label=of.label,
        table=next(iter(refs), table), dialect=dialect, groups=of.groups,
    )  # fmt: skip
    return replaced(text, refs, dialect)


def _export(
    source: Path, patch: "Patch", to: str, out: Path, model: str | None, data: str | None,
    reasons: bool, trust: bool, if_unlike: str,
) -> None:  # fmt: skip
    """A graph or an MLflow model. Types of columns come from the run's data, or from --data."""
    from fairpatch.cli.people import read_model
    from fairpatch.identity.compare import compare_model
    from fairpatch.inputs.base import BaseModel
    from fairpatch.patched import PatchedModel

    g, X = None, None
    model = model_of(source, None, model)
    if model is not None:
        f = read_model(model, trust=trust)
        g = PatchedModel(BaseModel(f, decision=patch.decision), patch)
    if g is not None or to == "mlflow":
        if data is None and not source.is_dir():
            refuse("give some rows with --data: their columns' types are needed")
        X = tables.some_rows(data or options_of(source).data)
    if g is not None:
        enforce_if_unlike(compare_model(patch, g.base, X), if_unlike)
    if to == "onnx":
        from fairpatch.engines.onnx import merged_graph, patch_graph, save_graph

        graph = (
            patch_graph(patch, with_reason=reasons)
            if g is None
            else merged_graph(g, X, with_reason=reasons)
        )
        say(f"wrote {save_graph(graph, out)}")
        return
    from fairpatch.engines.mlflow import save_model

    save_model(g or patch, X, out, with_reason=reasons)
    say(f"wrote {out}: serve it with: mlflow models serve -m {out} --env-manager local")


def _pack(
    source: Path, patch: "Patch", to: "Kind", out: Path, place: "Destination", score: str, *,
    whole: bool,
) -> None:  # fmt: skip
    """Statements, tests, a monitoring query, the way back, and a page that explains them."""
    from fairpatch._tools.files import whole_folder
    from fairpatch.engines.deploy import pack, untested
    from fairpatch.patch.file import text_of

    audited = asked_of(source) if source.is_dir() else None
    if audited is not None and patch.roles.probable:
        say("groups are drawn by probabilities: audit and monitoring are fairpatch's own, no query")
        audited = None
    files = pack(patch, score, to, place, audited)
    with whole_folder(out) as unfinished:
        own = patch_path(source).read_text("utf-8") if whole else text_of(patch)
        for file, text in {**files, "patch.json": own}.items():
            path = unfinished / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    say(f"wrote {out}: {len(files) + 1} files. Read {out / 'README.md'} first")
    if to != "function" and (audited is None or place.key is None):
        lacks = "a run's folder" if audited is None else "--key, the column that tells people apart"
        say(f"without {lacks} there is no audit: no test of the target, no monitoring")
    elif audited is not None and untested(audited.target, audited.label):
        left = ", ".join(untested(audited.target, audited.label))
        say(f"not tested by a query: {left}. fairpatch monitor judges it")
