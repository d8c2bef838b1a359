"""The ledger of a model's life: what happened to its patches, in order, and nothing taken back.

Each entry has the hash of the one before it, so that a changed or dropped entry is found; each may
be signed, so that who could make all hashes anew is found, too. How many there are, and the last
one's hash, lie in a file beside it: an end that was cut off is found by that, or by a head that was
noted elsewhere.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError

from fairpatch._tools.extras import need
from fairpatch._tools.files import append_line, lines_of, loads_strictly, write_whole
from fairpatch.patch.parts import Part

Event = Literal[
    "fitted", "reviewed", "signed", "applied", "certified", "monitored", "refitted", "retired"
]
EVENTS: tuple[Event, ...] = get_args(Event)
START = "0" * 64
"""What the first entry follows."""


class BrokenLedgerError(ValueError):
    """The ledger is not as it was written."""


class Entry(Part):
    """Something that happened to a patch."""

    format: Literal["fairpatch.entry"] = "fairpatch.entry"
    version: Literal[1] = 1
    number: int = Field(description="from 1 on")
    at: str = Field(description="when it was written")
    event: Event
    patch: str = Field(description="SHA-256 of the patch")
    run: str | None = Field(None, description="the run's folder")
    since: str | None = Field(
        None, description="from when on it holds: 2026-12-01 (UTC), or 2026-12-01T22:30+01:00"
    )
    facts: dict[str, Any] = Field(default_factory=dict, description="what was found; no person's")
    after: str = Field(description="the hash of the entry before")
    signer: str | None = None
    signature: str | None = Field(None, description="of the entry's hash, by ECDSA with SHA-256")

    @property
    def hash(self) -> str:
        """SHA-256 of its line, the signature with it."""
        return hashlib.sha256(_line(self)).hexdigest()

    @property
    def unsigned_hash(self) -> str:
        """The same without the signature: what is signed."""
        return hashlib.sha256(_line(self.model_copy(update={"signature": None}))).hexdigest()

    @property
    def day(self) -> str:
        """The day from which on it holds, as it was given."""
        return (self.since or self.at)[:10]

    @property
    def moment(self) -> datetime:
        """The moment from which on it holds."""
        return moment(self.since or self.at)

    @property
    def late(self) -> int:
        """How many days after it began to hold it was written: what is backdated is said so."""
        return max(0, (moment(self.at) - self.moment).days)


def moment(text: str) -> datetime:
    """A day as its first moment in UTC; or a moment, whose zone must be said.

    >>> moment("2026-12-01T22:30+01:00").isoformat(), moment("2026-12-01").isoformat()
    ('2026-12-01T21:30:00+00:00', '2026-12-01T00:00:00+00:00')
    """
    try:
        found = datetime.fromisoformat(text if "-" in text[:8] and "W" not in text else "")
    except ValueError:
        raise ValueError(
            f"{text!r} is not a date; expected one such as 2026-12-01, or 2026-12-01T22:30+01:00"
        ) from None
    if DAY.fullmatch(text):
        return found.replace(tzinfo=UTC)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} has no zone; expected one such as 2026-12-01T22:30+01:00")
    return found.astimezone(UTC)


DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class OnDay:
    """Which patch decided on a day, at its end, or at a moment; and what was known of it."""

    day: str
    patch: str | None
    entries: tuple[Entry, ...]
    """Of that patch, up to the end of the ledger."""
    used: Entry | None = None
    """The entry that put it in use."""
    during: tuple[tuple[datetime, str | None], ...] = ()
    """Of a day on which that changed: from when on which patch was in use, the first before it."""

    def last(self, event: Event) -> Entry | None:
        """The last entry of a kind."""
        return next((e for e in reversed(self.entries) if e.event == event), None)


class Ledger:
    """The entries of a file."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def _head(self) -> Path:
        return self.path.with_suffix(".head.json")

    def append(
        self,
        event: Event,
        patch: str,
        *,
        run: str | None = None,
        since: str | None = None,
        facts: dict[str, Any] | None = None,
        key: Path | None = None,
        signer: str | None = None,
    ) -> Entry:
        """Add an entry, signed where a private key is given; the ledger must be whole."""
        if since is not None:
            moment(since)
        made: list[Entry] = []

        def line_after(lines: list[bytes]) -> bytes:
            before = self._checked(lines, self._read_head())
            if before:  # the last writer may have been killed before its head
                self._note(before[-1])
            _check_order(before, event, patch, since)
            entry = Entry(
                number=len(before) + 1,
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                event=event,
                patch=patch,
                run=run,
                since=since,
                facts=facts or {},
                after=before[-1].hash if before else START,
                signer=signer,
                signature=None,
            )
            if key is not None:
                signed = {"signature": _sign(entry.unsigned_hash, key)}
                entry = entry.model_copy(update=signed)
            line = _line(entry)
            if Entry.model_validate(loads_strictly(line)) != entry:  # or it could never be read
                raise ValueError("a fact of the entry is not what JSON gives back: give plain data")
            made.append(entry)
            return line

        append_line(self.path, line_after, lambda: self._note(made[0]))
        return made[0]

    def keep(self, patch: str, source: Path) -> Path:
        """A patch beside the ledger, by its hash: what decided is known when its run is gone."""
        path = self.kept(patch)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, source.read_text(encoding="utf-8").rstrip("\n"))
        return path

    def kept(self, patch: str) -> Path:
        """Where a patch is kept."""
        return self.path.parent / "patches" / f"{patch[:16]}.json"

    def _note(self, entry: Entry) -> None:
        write_whole(self._head, json.dumps({"entries": entry.number, "sha256": entry.hash}))

    def entries(self) -> list[Entry]:
        """All of them; raises where one was changed, dropped or put in."""
        head = self._read_head()  # before the lines: somebody may be writing
        return self._checked(lines_of(self.path), head)

    def verify(self, *, head: str | None = None, key: Path | None = None) -> list[Entry]:
        """The same; and that a head noted elsewhere is there, and each entry signed by a key."""
        entries = self.entries()
        if head is not None and head not in {e.hash for e in entries}:
            raise BrokenLedgerError(
                f"{self.path} has no entry of hash {head[:16]}...: it was cut off or made anew"
            )
        for entry in entries:
            if key is not None and not _verified(entry, key):
                raise BrokenLedgerError(
                    f"entry {entry.number} of {self.path} is not signed with the key of {key}"
                )
        return entries

    def _checked(self, lines: Iterable[bytes], head: tuple[int, str] | None) -> list[Entry]:
        entries: list[Entry] = []
        for number, line in enumerate(lines, start=1):
            try:
                entry = Entry.model_validate(loads_strictly(line))
            except (ValidationError, ValueError):
                raise self._broken(number, "cannot be read") from None
            if _line(entry) != line or entry.number != number:
                raise self._broken(number, "is not as it was written")
            if entry.after != (entries[-1].hash if entries else START):
                raise self._broken(number, "does not follow the one before it")
            entries.append(entry)
        # a writer may have been killed between an entry and its head: then it is behind
        cut = len(entries) > 1 if head is None else not self._reaches(entries, *head)
        if cut:
            raise BrokenLedgerError(
                f"{self.path} has {len(entries)} entries, its head says "
                f"{'nothing' if head is None else head[0]}: some are missing, or one was changed. "
                "Take the ledger from a backup"
            )
        return entries

    def _reaches(self, known: list[Entry], entries: int, sha256: str) -> bool:
        return 1 <= entries <= len(known) and known[entries - 1].hash == sha256

    def _read_head(self) -> tuple[int, str] | None:
        return _head_of(self._head) if self._head.exists() else None

    def _broken(self, number: int, what: str) -> BrokenLedgerError:
        return BrokenLedgerError(
            f"entry {number} of {self.path} {what}: the ledger was changed by hand, or an entry "
            "was dropped or put in. Take it from a backup"
        )

    def in_force(self, day: str) -> OnDay:
        """Which patch decided at a moment, or on a day: the one put in use last and not retired."""
        begin, all_ = moment(day), self.entries()
        whole_day = DAY.fullmatch(day) is not None
        end = begin + timedelta(days=1) if whole_day else begin + timedelta(microseconds=1)
        used: Entry | None = None
        during: list[tuple[datetime, str | None]] = []
        for entry in sorted(all_, key=lambda e: (e.moment, e.number)):
            if entry.moment >= end:
                break
            now = used
            if entry.event == "applied" and entry.since:  # put in use; not one table that was read
                now = entry
            elif entry.event == "retired" and used is not None and entry.patch == used.patch:
                now = None
            before, after = (None if e is None else e.patch for e in (used, now))
            if before != after and whole_day and entry.moment > begin:
                during += [] if during else [(begin, before)]
                during.append((entry.moment, after))
            used = now
        patch = None if used is None else used.patch
        return OnDay(day, patch, tuple(e for e in all_ if e.patch == patch), used, tuple(during))

    def changes_since_first(self) -> float | None:
        """About how large a share of decisions differs from the first validated model's, at most.

        The changes of the patch that it began with, and the churn of every refit on the way to the
        one in use, applied or not: who differs from the first model differs at one of these steps
        at least. None where a step was not measured.
        """
        entries = self.entries()
        used = [e.patch for e in entries if e.event == "applied" and e.since]
        total, patch, seen = 0.0, used[-1] if used else None, set()
        while patch is not None and patch not in seen:
            seen.add(patch)
            of_patch = [e for e in entries if e.patch == patch]
            born = next((e for e in of_patch if e.event == "refitted"), None)
            name = "change_rate" if born is None else "churn"
            known = [e.facts.get(name) for e in reversed(of_patch)]
            step = next((x for x in known if isinstance(x, int | float)), None)
            if step is None:
                return None
            total += float(step)
            patch = None if born is None else born.facts.get("after_patch")
            if born is not None and patch is None:
                return None
        return min(total, 1.0) if seen else None


def _line(entry: Entry) -> bytes:
    """As it is written: ASCII, so that no version of Unicode reads it otherwise."""
    return json.dumps(entry.model_dump(mode="json"), ensure_ascii=True).encode()


def _head_of(path: Path) -> tuple[int, str] | None:
    try:
        data = loads_strictly(path.read_bytes())
        return int(data["entries"]), str(data["sha256"])
    except (ValueError, KeyError, TypeError):
        raise BrokenLedgerError(f"{path} cannot be read: take the ledger from a backup") from None


def _sign(text: str, path: Path) -> str:
    """A signature of a hash with a private key of an elliptic curve."""
    keys = need("cryptography.hazmat.primitives.serialization", extra="sign")
    try:
        key = keys.load_pem_private_key(path.read_bytes(), password=None)
        return base64.b64encode(key.sign(text.encode(), _ecdsa())).decode()
    except (TypeError, ValueError, OSError, AttributeError) as error:
        raise ValueError(f"{path} is no private key of an elliptic curve ({error})") from None


def _verified(entry: Entry, path: Path) -> bool:
    keys = need("cryptography.hazmat.primitives.serialization", extra="sign")
    problem = need("cryptography.exceptions", extra="sign").InvalidSignature
    try:
        key = keys.load_pem_public_key(path.read_bytes())
        key.verify(base64.b64decode(entry.signature or ""), entry.unsigned_hash.encode(), _ecdsa())
    except (problem, ValueError):
        return False
    except (TypeError, OSError, AttributeError) as error:
        raise ValueError(f"{path} is no public key of an elliptic curve ({error})") from None
    return True


def _ecdsa() -> Any:
    curves = need("cryptography.hazmat.primitives.asymmetric.ec", extra="sign")
    return curves.ECDSA(need("cryptography.hazmat.primitives.hashes", extra="sign").SHA256())


def _check_order(before: list[Entry], event: Event, patch: str, since: str | None) -> None:
    """Refuse what could not have happened: a clock that went back, an end before its beginning."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if before and before[-1].at > now:
        raise ValueError(
            f"the ledger's last entry was written at {before[-1].at}, and this machine's clock "
            f"says {now}: set the clock first"
        )
    started = [e for e in before if e.event == "applied" and e.since and e.patch == patch]
    if event == "retired" and not started:
        raise ValueError("by the ledger this patch was never put in use, so its use cannot end")
    first = min(started, key=lambda e: e.moment, default=None)
    if event == "retired" and first is not None and moment(since or now) < first.moment:
        raise ValueError(
            f"this patch was put in use on {first.since}, and cannot be retired before, on "
            f"{since or now[:10]}"
        )
