"""The ledger: chained, signed, whole when killed, and what is spoilt is found."""

import multiprocessing
import os
import random
import subprocess
import time

import pytest

from fairpatch.life.ledger import BrokenLedgerError, Ledger

KILLS = 100 if os.environ.get("FAIRPATCH_ATTACK") else 12
ONE, TWO = "a" * 64, "b" * 64


def lived(path):
    """A ledger with a life in it."""
    ledger = Ledger(path)
    ledger.append("fitted", ONE, facts={"promise": "P-Rule 0.8", "change_rate": 0.05})
    ledger.append("applied", ONE, since="2026-01-01")
    ledger.append("monitored", ONE, facts={"period": "2026-01", "verdict": "certified"})
    ledger.append("refitted", TWO, facts={"churn": 0.02, "after_patch": ONE})
    ledger.append("applied", TWO, since="2026-07-01")
    ledger.append("retired", TWO, since="2026-12-01")
    return ledger


@pytest.mark.quick
def test_which_patch_decided_when(tmp_path):
    ledger = lived(tmp_path / "ledger.jsonl")
    days = {"2025-12-31": None, "2026-01-01": ONE, "2026-06-30": ONE, "2026-07-01": TWO,
            "2026-11-30": TWO, "2026-12-01": None}  # fmt: skip
    for day, patch in days.items():
        assert ledger.in_force(day).patch == patch, day
    assert ledger.in_force("2026-03-01").last("monitored").facts["verdict"] == "certified"
    assert ledger.changes_since_first() == pytest.approx(0.07)
    for day in ("March", "20260301", "2026-W10-1"):
        with pytest.raises(ValueError, match="is not a date"):
            ledger.in_force(day)


def test_a_refit_that_was_never_used_counts_on_the_way_and_a_scored_table_is_no_use(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("fitted", ONE, facts={"change_rate": 0.05})
    ledger.append("applied", ONE, since="2026-01-01")
    ledger.append("refitted", TWO, facts={"churn": 0.4, "after_patch": ONE})
    ledger.append("refitted", "c" * 64, facts={"churn": 0.01, "after_patch": TWO})
    ledger.append("applied", "c" * 64, since="2026-07-01")
    ledger.append("applied", ONE, facts={"out": "backtest.parquet"})
    assert ledger.changes_since_first() == pytest.approx(0.46)
    assert ledger.in_force("2030-01-01").patch == "c" * 64


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for facts in ({"run": "run\udcff"}, {"n": 10**400}, {"x": float("nan")}):
        with pytest.raises(ValueError, match="UTF-8|number|plain data|JSON"):
            ledger.append("fitted", ONE, facts=facts)
    ledger.append("fitted", ONE, facts={"name": "\u202eé"})
    assert ledger.entries()[0].facts == {"name": "\u202eé"}


def spoilt(lines):
    """Everything that somebody could do to a ledger, by name."""
    yield "changed", [lines[0].replace(b"0.05", b"0.01"), *lines[1:]]
    yield "dropped first", lines[1:]
    yield "dropped in the middle", [*lines[:2], *lines[3:]]
    yield "dropped last", lines[:-1]
    yield "dropped last two", lines[:-2]
    yield "swapped", [lines[1], lines[0], *lines[2:]]
    yield "twice", [*lines[:2], lines[1], *lines[2:]]
    yield "another signer", [lines[0].replace(b'"signer": null', b'"signer": "Ada"'), *lines[1:]]
    yield "spaces", [lines[0].replace(b'": ', b'":  ', 1), *lines[1:]]
    yield "signed by nobody", [lines[0].replace(b'"signature": null', b'"signature": "AAAA"'),
                               *lines[1:]]  # fmt: skip
    yield "no JSON", [*lines[:3], b"{}\n", *lines[3:]]


def test_what_is_changed_or_dropped_is_found(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger = lived(path)
    lines = path.read_bytes().splitlines(keepends=True)
    for name, bad in spoilt(lines):
        path.write_bytes(b"".join(bad))
        with pytest.raises(BrokenLedgerError, match="backup"):
            ledger.entries()
        with pytest.raises(BrokenLedgerError):  # and nothing is added to it
            ledger.append("monitored", ONE)
        assert path.read_bytes() == b"".join(bad), name
    path.write_bytes(b"".join(lines))
    assert len(ledger.entries()) == 6


def test_a_head_noted_elsewhere_finds_a_ledger_made_anew(tmp_path):
    ledger = lived(tmp_path / "ledger.jsonl")
    head = ledger.entries()[-1].hash
    ledger.append("monitored", TWO)
    ledger.verify(head=head)
    for name in ("ledger.jsonl", "ledger.head.json"):
        (tmp_path / name).unlink()
    ledger.append("fitted", ONE, facts={"promise": "P-Rule 0.5"})
    with pytest.raises(BrokenLedgerError, match="made anew"):
        ledger.verify(head=head)


def test_entries_are_signed_and_another_key_is_found(tmp_path):
    keys = {}
    for name in ("own", "other"):
        keys[name] = tmp_path / f"{name}.pem", tmp_path / f"{name}.pub"
        make = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out"]
        subprocess.run([*make, keys[name][0]], check=True, capture_output=True)
        public = ["openssl", "ec", "-in", keys[name][0], "-pubout", "-out", keys[name][1]]
        subprocess.run(public, check=True, capture_output=True)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("fitted", ONE, key=keys["own"][0], signer="Ada")
    ledger.append("applied", ONE, key=keys["own"][0], signer="Ada")
    assert [e.signer for e in ledger.verify(key=keys["own"][1])] == ["Ada", "Ada"]
    with pytest.raises(BrokenLedgerError, match="entry 1 .* not signed with the key"):
        ledger.verify(key=keys["other"][1])
    ledger.append("signed", ONE)
    with pytest.raises(BrokenLedgerError, match="entry 3 .* not signed"):
        ledger.verify(key=keys["own"][1])


def write(path, number):
    """What a child does until it is killed."""
    ledger = Ledger(path)
    for i in range(10_000):
        ledger.append("monitored", ONE, facts={"writer": number, "entry": i})


def test_killed_at_random_moments_it_is_whole(tmp_path):
    """Two writers at once, both killed: every entry is there, in order, and nothing is torn."""
    path, own = tmp_path / "ledger.jsonl", multiprocessing.get_context("forkserver")
    own.set_forkserver_preload(["fairpatch.life.ledger"])
    chance, last = random.Random(0), 0
    for _ in range(KILLS // 2):
        writers = [own.Process(target=write, args=(path, i)) for i in range(2)]
        for writer in writers:
            writer.start()
        begun, size = time.monotonic(), path.stat().st_size if path.exists() else 0
        while time.monotonic() - begun < 20 and (not path.exists() or path.stat().st_size == size):
            time.sleep(0.01)
        time.sleep(0.2 * chance.random())
        for writer in writers:
            writer.kill()
            writer.join()
        entries = Ledger(path).entries()
        assert len(entries) >= last
        last = len(entries)
        Ledger(path).append("certified", ONE)
    assert last >= KILLS // 2


def test_a_ledger_is_its_owners(tmp_path):
    lived(tmp_path / "ledger.jsonl")
    assert (tmp_path / "ledger.jsonl").stat().st_mode & 0o077 == 0
