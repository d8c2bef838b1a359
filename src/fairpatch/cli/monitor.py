"""Count a period, add it to the history, and say how every guarantee stands after all of them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fairpatch.cli import data as tables
from fairpatch.cli.ledger import PAGE, history_in, ledger_in, life_of, record
from fairpatch.cli.options import (
    SOURCES,
    GitHub,
    IfUnlike,
    Join,
    Json,
    JsonLines,
    Junit,
    Life,
    Metrics,
    Model,
    Pilot,
    Score,
    SensitiveTable,
    ShowSmallCounts,
    Signer,
    SigningKey,
    TrustModel,
)
from fairpatch.cli.people import patched_model, relation_of, table_of
from fairpatch.cli.run_folder import options_of, patch_path, piloted, review_of, used_of
from fairpatch.cli.say import note, refuse, say, say_json
from fairpatch.cli.verdicts import leave, tell

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.patched import PatchedModel

IN_A_NAME = re.compile(r"(?<!\d)(20\d{2})[-_]?(0[1-9]|1[0-2]|Q[1-4]|W\d{2})(?!\d)")


def run(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    data: Annotated[str | None, typer.Argument(help=f"the period's people: {SOURCES}")] = None,
    period: Annotated[
        str | None, typer.Option(help="2026-11, 2026-Q4, 2026-W46; read from the file's name")
    ] = None,
    labels: Annotated[str | None, typer.Option(help="a table of labels that have come")] = None,
    join: Join = None,
    sensitive_table: SensitiveTable = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="labels come for a random sample only")
    ] = False,
    before: Annotated[
        str | None,
        typer.Option(help="with the first period: earlier people, so that it counts already"),
    ] = None,
    decided: Annotated[
        str | None,
        typer.Option(help="column of the decisions that were made; those of apply are found"),
    ] = None,
    pilot: Pilot = None,
    replace: Annotated[bool, typer.Option(help="correct a period that is there")] = False,
    fail_on_watch: Annotated[
        bool, typer.Option("--watch", help="exit 9 where the last periods alone miss a guarantee")
    ] = False,
    score: Score = None,
    model: Model = None,
    trust_model: TrustModel = None,
    show_small_counts: ShowSmallCounts = False,
    if_unlike: IfUnlike = "refuse",
    junit: Junit = None,
    metrics: Metrics = None,
    jsonl: JsonLines = None,
    github: GitHub = False,
    life: Life = None,
    key: SigningKey = None,
    name: Signer = None,
    json: Json = False,
) -> None:
    """Monitor: 0 no guarantee failed, 4 one is shown not to hold, 6 another model, 8 a group gone.

    Without a table: how it stands.
    """
    from fairpatch._tools.files import write_whole
    from fairpatch.life.guarantees import watch
    from fairpatch.life.history_page import history_page
    from fairpatch.life.monitor import monitor
    from fairpatch.life.outputs import worst_of
    from fairpatch.patch import load
    from fairpatch.report.signed import patch_hash

    patch, place = piloted(load(patch_path(folder)), pilot, None), life_of(folder, life)
    options = options_of(
        folder, data=data or "", sensitive_table=sensitive_table, join=join,
        trust_model=trust_model, score=score, model=model,
    )  # fmt: skip
    target, history = options.asked, history_in(place)
    g = patched_model(options, patch, used_of(folder))
    earlier = None if before is None else _counted(g, options, before)
    if data is None:
        watched = watch(history, target, patch=patch_hash(patch))
    else:
        when = period or _period_of(data)
        table, has_labels = _people(options, data, labels)
        tables.need_columns(table, [c.name for c in patch.columns], data)
        if options.score:
            tables.need_probabilities(table, options.score, data, options.decision, if_any=True)
        in_engine = options.score is not None
        watched = monitor(
            g,
            table if in_engine else tables.in_memory(table),
            options.label if has_labels else None,
            sensitive_features=options.sensitive,
            target=target,
            period=when,
            history=history,
            decided=_decided(table, decided, g.decided_in(table), refers=patch.action == "refer"),
            labels="sample" if sample else "all",
            replace=replace,
            before=earlier,
            compare_with=_some(data, table, g, options) if in_engine else None,
            expected=_expected(folder, options),
            show_small_counts=show_small_counts,
            if_unlike=cast("Any", if_unlike),
        )
        if watched.added:
            record(
                folder, life, "monitored", always=True, key=key, signer=name, period=when,
                verdict=watched.verdict, **{g.name: g.verdict for g in watched.guarantees},
            )  # fmt: skip
    page = write_whole(
        place / PAGE,
        history_page(
            history, target, ledger_in(place).entries(), watched=watched, about=options.about
        ),
    )
    checks = watched.checks
    say_json({"verdict": watched.verdict, "checks": [c.data for c in checks]}) if json else say(
        str(watched)
    )
    note(f"wrote {page}")
    tell(
        checks, period=watched.last.period, junit=junit, metrics=metrics, jsonl=jsonl, github=github
    )
    leave(worst_of(checks), certified=False, watching=fail_on_watch)


def _people(options: "Config", data: str, labels: str | None) -> tuple[Any, bool]:
    """The period's table with its labels, and whether there are any."""
    given = relation_of(options)
    if labels is None and options.label in given.columns:
        return table_of(options, learns=False, table=given), True
    if labels is None or options.label is None:
        named = [n for n in options.needed if n != options.label]
        tables.need_columns(given, named, data)
        return tables.without(given, [n for n in options.ignore if n in given.columns]), False
    column = options.join or options.columns.key
    if column is None:
        return refuse("--labels needs the key that both tables share: --join COLUMN")
    return tables.joined(given, data, labels, column, [options.label], options.csv), True


def _expected(folder: Path, options: "Config") -> dict[str, dict[str, float]]:
    """By feature, which share of people each group was in the run's review, where that is told."""
    found = {}
    for feature, table in review_of(folder)["groups"].items():
        if feature in options.about.group_names:  # the review calls them otherwise
            continue
        rows = [row for row in table["rows"] if not row.get("unknown")]
        people = {row["group"]: row.get("people") for row in rows}
        told = {name: n for name, n in people.items() if isinstance(n, int)}
        total = sum(told.values())
        found[feature] = {name: n / total for name, n in told.items()}
    return found


def _counted(g: Any, options: "Config", data: str) -> Any:
    table = table_of(options.model_copy(update={"data": data}), learns=False)
    table = table if options.score else tables.in_memory(table)
    return g.count(
        table, options.label, sensitive_features=options.sensitive,
        comparisons=options.asked.comparisons,
    )  # fmt: skip


def _some(data: str, table: Any, g: "PatchedModel", options: "Config") -> Any:
    """Some rows of a large table with all that is compared with the fit's."""
    from fairpatch.life.monitor import COMPARED
    from fairpatch.patch.apply import DECISION

    roles = options.columns
    strata = options.asked.comparisons.columns if options.asked.comparisons else ()
    wanted = (*(c.name for c in g.patch.columns), options.score, *options.sensitive, DECISION,
              roles.weight, roles.key, *strata)  # fmt: skip
    columns = [name for name in dict.fromkeys(wanted) if name is not None and name in table.columns]
    if options.sensitive_table is not None:  # its columns are in no file of the data
        return tables.sampled(table, COMPARED)
    return tables.sample_of(data, table, columns, COMPARED)


def _decided(table: Any, given: str | None, named: str | None, *, refers: bool) -> str | None:
    """The column of decisions that were made, where the table has it."""
    from fairpatch.patch.apply import DECISION

    if given is not None:
        if given not in table.columns:
            refuse(f"--decided {given}: the table has no such column")
        return given
    if refers and named is None:
        refuse(
            "this patch refers people, and what became of them is not known: name the column of "
            "the decisions that were made, --decided COLUMN"
        )
    found = named or (DECISION if DECISION in table.columns else None)
    if found is None:
        note(
            "no column holds the decisions that were made, so they are worked out again, as the "
            "score and the patch say: if others were made, name their column, --decided COLUMN"
        )
        return None
    note(f"the decisions are those of column {found!r}: they are counted as they were made")
    return found


def _period_of(data: str) -> str:
    match = IN_A_NAME.search(Path(data.partition("::")[0]).name) or IN_A_NAME.search(data)
    if match is None:
        return refuse(f"which period is {data}? Name it: --period 2026-11")
    when = f"{match[1]}-{match[2]}"
    note(f"period {when}, by the file's name")
    return when
