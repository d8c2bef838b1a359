"""The ledger of a model's life: what happened, whether it is whole, which patch decided when."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpatch.cli.options import Json, Signer, SigningKey
from fairpatch.cli.run_folder import patch_path
from fairpatch.cli.say import note, refuse, say, say_json

if TYPE_CHECKING:
    from fairpatch.life.history import History
    from fairpatch.life.ledger import Entry, Event, Ledger, OnDay


# The life of a model in production: one folder beside its runs, with ledger and history.
#
# A run's own folder is signed and never changes; what happens afterwards lies here.

FOLDER, LEDGER, HISTORY, PAGE = "life", "ledger.jsonl", "history.jsonl", "history.html"
BEGINS = ("fitted", "refitted")
"""What can be the first that happens to a patch."""


def life_of(run: Path, given: Path | None) -> Path:
    """The folder that was named, by --life or FAIRPATCH_LIFE; else the one beside the run."""
    named = os.environ.get("FAIRPATCH_LIFE")
    return given or (Path(named) if named else run.resolve().parent / FOLDER)


def ledger_in(life: Path) -> "Ledger":
    """Its ledger."""
    from fairpatch.life.ledger import Ledger

    return Ledger(life / LEDGER)


def history_in(life: Path) -> "History":
    """Its history."""
    from fairpatch.life.history import History

    return History(life / HISTORY)


def record(
    run: Path,
    given: Path | None,
    event: "Event",
    *,
    always: bool = False,
    since: str | None = None,
    key: Path | None = None,
    signer: str | None = None,
    **facts: Any,
) -> "Entry | None":
    """Note an event in the ledger, where there is one or one was asked for."""
    ledger = ledger_for(run, given, event, always=always)
    if ledger is None:
        return None
    patch = _hash(run)
    ledger.keep(patch, patch_path(run))
    if not ledger.entries() and event not in BEGINS:
        ledger.append("fitted", patch, run=str(run), facts=facts_of(run), key=key, signer=signer)
    last = next((e for e in reversed(ledger.entries()) if e.event in (event, "retired")), None)
    if since is not None and last is not None and _says(last) == (event, patch, since):
        note(f"entry {last.number} of {ledger.path} says so already: nothing is added")
        return last
    entry = ledger.append(
        event, patch, run=str(run), since=since, facts=facts, key=key, signer=signer
    )
    note(f"{in_words(entry)}: entry {entry.number} of {ledger.path}, {entry.hash[:16]}...")
    return entry


def _says(entry: "Entry") -> tuple[str, str, str | None]:
    return entry.event, entry.patch, entry.since


def in_words(entry: "Entry") -> str:
    """What happened: a certificate that was asked for may also say no."""
    if entry.facts.get("way") == "edit":
        return f"edited: {entry.facts.get('why') or 'no reason was given'}"
    if entry.event not in ("certified", "monitored"):
        return entry.event
    what = "judged" if entry.event == "certified" else entry.event
    return f"{what}: {entry.facts.get('verdict', 'not noted')}"


def ledger_for(
    run: Path, given: Path | None, event: "Event", *, always: bool = False
) -> "Ledger | None":
    """The ledger that an event of a run belongs to; another model's is refused."""
    life = life_of(run, given)
    asked = always or given or os.environ.get("FAIRPATCH_LIFE")
    if not run.is_dir() or not (asked or (life / LEDGER).exists()):
        return None
    ledger = ledger_in(life)
    if event == "fitted" and not asked and str(run) not in {e.run for e in ledger.entries()}:
        return None  # an experiment beside a model in production is no part of its life
    known = {entry.patch for entry in ledger.entries()}
    if known and event not in BEGINS and _hash(run) not in known:
        refuse(
            f"{life} belongs to another model: its ledger has no entry for the patch of {run}. "
            "Give the folder of this one, --life FOLDER; or, if the patch goes on from an earlier "
            "one, say so first: fairpatch ledger LIFE --fitted RUN"
        )
    return ledger


def _hash(run: Path) -> str:
    from fairpatch.patch import load
    from fairpatch.report.signed import patch_hash

    return patch_hash(load(patch_path(run)))


def facts_of(run: Path) -> dict[str, Any]:
    """The target of a run and what it reached: nothing of a person."""
    from fairpatch.cli.run_folder import manifest, options_of, review_of, whole

    whole(run)
    change = review_of(run)["effect"]["change"]["change_rate"]
    facts: dict[str, Any] = {
        "target": str(options_of(run).asked),
        "certificate": manifest(run).certificate,
        "data": options_of(run).data,
    }
    value = change.get("value") if isinstance(change, dict) else None
    if value is not None:
        facts["change_rate"] = round(float(value), 4)
    rows = (review_of(run)["certificate"] or {}).get("rows_sha256")
    return facts if rows is None else {**facts, "rows": rows}


def looked_at(run: Path, given: Path | None, rows: str | None) -> str | None:
    """How often these rows have certified before, by the ledger; None where they have not."""
    path = life_of(run, given) / LEDGER
    if rows is None or not path.exists():
        return None
    before = [e for e in ledger_in(path.parent).entries() if e.facts.get("rows") == rows]
    if not before:
        return None
    patches = len({e.patch for e in before})
    of = "one patch" if patches == 1 else f"{patches} patches"
    return (
        f"Certificate number {len(before) + 1} on these rows; those before were of {of}. Each "
        "holds at its own level: the best of several does not, and nothing is corrected for that."
    )


# The ledger of a model's life: what happened, whether it is whole, which patch decided when.

TOLD = ("way", "period", "target", "certificate")
"""Facts of an entry that its line shows."""


def run(
    life: Annotated[
        Path, typer.Argument(help="the folder of ledger and history", envvar="FAIRPATCH_LIFE")
    ],
    on: Annotated[
        str | None, typer.Option(help="which patch decided on this day, or moment")
    ] = None,
    fitted: Annotated[Path | None, typer.Option(help="note that this run was fitted")] = None,
    applied: Annotated[Path | None, typer.Option(help="note that this run is in use")] = None,
    retired: Annotated[Path | None, typer.Option(help="note that this run is not any more")] = None,
    since: Annotated[
        str | None,
        typer.Option(help="from this day (UTC) or moment on, 2026-12-01 or 2026-12-01T22:30+01:00"),
    ] = None,
    key: SigningKey = None,
    name: Signer = None,
    verify: Annotated[
        Path | None, typer.Option(help="public key with which every entry must be signed")
    ] = None,
    head: Annotated[str | None, typer.Option(help="a head that was noted elsewhere")] = None,
    json: Json = False,
) -> None:
    """Show the ledger, or note something in it. A ledger that was changed is refused."""
    ledger = ledger_in(life)
    if fitted is not None:
        record(fitted, life, "fitted", key=key, signer=name, since=since, **facts_of(fitted))
    if applied is not None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        in_use = ledger.in_force(now).used if ledger.path.exists() else None
        if since is None and in_use is not None and in_use.patch == _hash(applied):
            since = in_use.since  # it is already
        whom = _where(applied)
        record(applied, life, "applied", key=key, signer=name, since=since or now, **whom)
    if retired is not None:
        record(retired, life, "retired", key=key, signer=name, since=since)
        note(
            "from then on no patch is in use, and the base model decides alone. To go back to an "
            f"earlier one: fairpatch ledger {life} --applied RUN --since WHEN"
        )
    if not (life / LEDGER).exists():
        refuse(f"{life} has no ledger; one begins with: fairpatch ledger {life} --fitted RUN")
    entries = ledger.verify(head=head, key=verify)
    if on is not None:
        in_force = ledger.in_force(on)
        say_json(_in_force_data(in_force)) if json else say(_in_force(in_force, ledger))
        return
    changes = ledger.changes_since_first()
    if json:
        whole = [{**e.model_dump(mode="json"), "sha256": e.hash} for e in entries]
        say_json({"entries": whole, "changes_since_first_at_most": changes})
        return
    say(_table(entries))
    if changes is not None:
        say(f"About {changes:.1%} at most differ from those of the first validated model.")
    many = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    say(f"The ledger is whole: {many}. Head: {entries[-1].hash if entries else 'none'}")


def _where(run: Path) -> dict[str, Any]:
    """For whom a patch is in use, where not for everybody."""
    from fairpatch.patch import load

    patch = load(patch_path(run))
    facts = {"where": " and ".join(map(str, patch.scope)), "pilot": str(patch.pilot or "")}
    return {name: text for name, text in facts.items() if text}


def _table(entries: "list[Entry]") -> str:
    from fairpatch._tools.tables import Table

    rows = [
        [
            str(e.number), e.at[:10], f"{e.since or e.day}{_late(e)}", in_words(e),
            e.patch[:8], e.run or "", (e.signer or "yes") if e.signature else "no",
            "; ".join(f"{k}: {v}" for k, v in e.facts.items() if k in TOLD),
        ]
        for e in entries
    ]  # fmt: skip
    header = ["entry", "written", "from", "what", "patch", "run", "signed", "facts"]
    return Table("The life of a model", header, rows).text()


def _late(entry: "Entry") -> str:
    """Whether it was written after it began to hold."""
    return f" (written {entry.late} days later)" if entry.since and entry.late else ""


def _in_force_data(on_day: "OnDay") -> dict[str, Any]:
    return {
        "day": on_day.day,
        "patch": on_day.patch,
        "during": [{"from": at.isoformat(), "patch": p} for at, p in on_day.during],
        "entries": [e.model_dump(mode="json") for e in on_day.entries],
    }


def _in_force(on_day: "OnDay", ledger: "Ledger") -> str:
    """Which patch, its target, who signed, whether it held, and where it is kept."""
    during = [
        f"  from {at.isoformat(timespec='minutes')}: {f'patch {p}' if p else 'no patch'}"
        for at, p in on_day.during
    ]
    head = f"{on_day.day} (UTC), more than one:\n" + "\n".join([*during, ""]) if during else ""
    if on_day.patch is None:
        return f"{head}{on_day.day}: no patch was in use, by the ledger"
    used = on_day.used
    born = on_day.last("refitted") or on_day.last("fitted")
    signed, kept = on_day.last("signed"), on_day.last("monitored")
    certified = on_day.last("certified")
    run = used.run if used else "run not known"
    lines = [f"{head}{on_day.day}: patch {on_day.patch} ({run})"]
    if used is not None:
        lines.append(f"  in use since: {used.since}{_late(used)}")
        lines += [f"  {name}: {used.facts[name]}" for name in ("where", "pilot")
                  if name in used.facts]  # fmt: skip
    if born is not None:
        lines.append(f"  target: {born.facts.get('target', 'not noted')}")
        lines.append(f"  certificate of the fit: {born.facts.get('certificate')}")
    who = signed.facts.get("by") if signed else None
    lines.append(f"  signed: {f'{who}, {signed.day}' if signed else 'no'}")
    if certified is not None:
        lines.append(f"  judged again, {certified.day}: {certified.facts.get('verdict')}")
    held = "not monitored"
    if kept is not None:
        looks = [str(e.facts.get("period")) for e in on_day.entries if e.event == "monitored"]
        held = f"{kept.facts.get('verdict')}, by {len(set(looks))} periods up to {max(looks)}"
    lines.append(f"  did it hold: {held}")
    file = ledger.kept(on_day.patch)
    if file.exists():
        lines.append(
            f"  why somebody was decided so: fairpatch apply {file} PEOPLE OUT --score COLUMN "
            "--reasons"
            if _hash(file) == on_day.patch
            else f"  {file} is not that patch: it was changed by hand. Take it from a backup"
        )
    return "\n".join(lines)
