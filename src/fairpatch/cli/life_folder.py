"""The life of a model in production: one folder beside its runs, with ledger and history.

A run's own folder is signed and never changes; what happens afterwards lies here.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpatch.cli.run_folder import patch_path
from fairpatch.cli.say import note, refuse

if TYPE_CHECKING:
    from fairpatch.life.history import History
    from fairpatch.life.ledger import Entry, Event, Ledger

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
    if not ledger.entries() and event not in BEGINS:
        ledger.append("fitted", patch, run=str(run), facts=facts_of(run), key=key, signer=signer)
    entry = ledger.append(
        event, patch, run=str(run), since=since, facts=facts, key=key, signer=signer
    )
    note(f"{in_words(entry)}: entry {entry.number} of {ledger.path}, {entry.hash[:16]}...")
    return entry


def in_words(entry: "Entry") -> str:
    """What happened: a certificate that was asked for may also say no."""
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
    from fairpatch.report.identity import patch_hash

    return patch_hash(load(patch_path(run)))


def facts_of(run: Path) -> dict[str, Any]:
    """The target of a run and what it reached: nothing of a person."""
    from fairpatch.cli.run_folder import manifest, options_of, review_of, whole

    whole(run)
    change = review_of(run)["effect"]["change"]["change_rate"]
    facts = {
        "target": str(options_of(run).asked),
        "certificate": manifest(run).certificate,
        "data": options_of(run).data,
    }
    value = change.get("value") if isinstance(change, dict) else None
    return facts if value is None else {**facts, "change_rate": round(float(value), 4)}
