"""Runs whose files contradict each other, clocks, full disks: one sentence each."""

import contextlib
import contextvars
import errno
import hashlib
import io
import json
import shutil
import socket
import sys
from unittest import mock

import duckdb
import pytest

import fairpatch as fairpatch_
from cli.test_cli import POPULATION, fairpatch
from fairpatch import Target
from fairpatch._tools.files import only_writer
from fairpatch.cli import config, main, run_folder
from fairpatch.life.ledger import Ledger

YAML = (
    "data: people.parquet\nlabel: y\nscore: score\nsensitive: [group]\nignore: [id]\n"
    "favourable: 1\ntarget: {p_rule: 0.75}\n"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest")
    POPULATION.sample(4_000, seed=5).to_pandas().to_parquet(path / "people.parquet")
    (path / "fairpatch.yaml").write_text(YAML)
    fairpatch("fit", "-c", "fairpatch.yaml", "--out", "run", cwd=path)
    return path


def test_a_manifest_cannot_say_another_verdict_than_the_certificate(run, tmp_path):
    shutil.copytree(run / "run", tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    held = json.loads(path.read_text())
    other = "not met" if held["certificate"] == "certified" else "certified"
    path.write_text(json.dumps({**held, "certificate": other}))
    done = fairpatch("show", "run", cwd=tmp_path, code=1)
    assert "one of them was changed after the run" in done.stderr
    fairpatch("ledger", "life", "--fitted", "run", cwd=tmp_path, code=1)


def test_what_was_hashed_is_what_is_read(run, tmp_path):
    """The file is exchanged between the check and the reading."""
    shutil.copytree(run / "run", tmp_path / "run")
    (kept,) = run_folder.checked(tmp_path / "run", "patch.json")
    (tmp_path / "run" / "patch.json").write_text("{}")
    assert kept.read_bytes() == (run / "run" / "patch.json").read_bytes()


def test_nothing_ends_before_it_began_and_no_clock_goes_back(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("fitted", "a" * 64)
    with pytest.raises(ValueError, match="never put in use"):
        ledger.append("retired", "a" * 64, since="2026-01-01")
    ledger.append("applied", "a" * 64, since="2026-03-01")
    with pytest.raises(ValueError, match="cannot be retired before, on 2026-02-01"):
        ledger.append("retired", "a" * 64, since="2026-02-01")
    ledger.append("retired", "a" * 64, since="2026-04-01")
    with mock.patch("fairpatch.life.ledger.datetime") as clock:
        clock.now.return_value.isoformat.return_value = "2001-01-01T00:00:00+00:00"
        with pytest.raises(ValueError, match="set the clock first"):
            ledger.append("applied", "a" * 64, since="2026-05-01")


def said(error):
    err = io.StringIO()
    with (
        contextlib.redirect_stderr(err), mock.patch.object(main, "results_only"),
        mock.patch.object(main, "app", side_effect=error), pytest.raises(SystemExit) as left,
    ):  # fmt: skip
        contextvars.copy_context().run(main.main)
    assert left.value.code == 1
    return err.getvalue()


@pytest.mark.parametrize(
    ("error", "words"),
    [(OSError(errno.ENOSPC, "No space left on device", "out.csv"), "out.csv could not be written"),
     (OSError(errno.EROFS, "Read-only", "out"), "the folder is read-only"),
     (PermissionError(errno.EACCES, "denied", "x"), "permission denied"),
     (MemoryError(), "not enough memory"),
     (RuntimeError("IO Error: No space left on device"), "the disk is full")],
)  # fmt: skip
def test_what_a_machine_lacks_is_said_in_a_sentence(error, words):
    text = said(error)
    assert words in text
    assert "Errno" not in text


def test_a_read_only_folder_is_said_so(run, tmp_path):
    (tmp_path / "file").write_text("")
    done = fairpatch("fit", "-c", run / "fairpatch.yaml", "--data", run / "people.parquet",
                     "--out", tmp_path / "file" / "run", cwd=tmp_path, code=1)  # fmt: skip
    assert "Errno" not in done.stderr


def test_two_fits_into_one_folder_at_once_and_a_folder_that_cannot_be(run, tmp_path):
    """The first goes on, the second says so at once; what cannot be written is found out first."""
    people = str(run / "people.parquet")
    fit = ("fit", "-c", str(run / "fairpatch.yaml"), "--data", people, "--out")
    with only_writer(tmp_path / "run"):
        said = fairpatch(*fit, "run", cwd=tmp_path, code=1).stderr
    assert "another process is writing run: wait for it, or use another folder" in said
    assert not (tmp_path / "run").exists()
    (tmp_path / "file").write_text("")
    said = fairpatch(*fit, "file/run", cwd=tmp_path, code=1).stderr
    assert "a part of that path is a file, no folder" in said
    assert "Learning" not in said


def test_no_command_looks_a_name_up(run, tmp_path):
    def asked(host, *_, **__):
        raise AssertionError(f"looked up {host}")

    shutil.copytree(run, tmp_path / "here")
    here = tmp_path / "here"
    with (
        mock.patch.object(socket, "getaddrinfo", asked),
        mock.patch.object(socket.socket, "connect", asked),
    ):
        fairpatch("audit", "-c", "fairpatch.yaml", cwd=here)
        fairpatch("show", "run", cwd=here)
        fairpatch("apply", "run", "people.parquet", "out.csv", cwd=here)
        fairpatch("sql", "run", cwd=here)
        fairpatch("export", "run", "patch.onnx", cwd=here)
        fairpatch("deploy", "run", "pack", cwd=here)
        fairpatch("monitor", "run", "people.parquet", "--period", "2026-10", cwd=here, code=(0, 4))
        fairpatch("certify", "run", "--data", "people.parquet", cwd=here, code=(0, 2, 3, 5))
        fairpatch("ledger", "life", "--fitted", "run", cwd=here)


def test_mlflow_is_told_to_keep_to_itself():
    with mock.patch.dict("os.environ", clear=False) as env, contextlib.suppress(SystemExit):
        env.pop("MLFLOW_DISABLE_TELEMETRY", None)
        with mock.patch.object(main, "results_only"), mock.patch.object(main, "app"):
            contextvars.copy_context().run(main.main)
        assert env["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert sys.argv  # nothing else was touched


def test_a_configuration_of_version_0_1_is_read(tmp_path):
    """Options that are gone said nothing in most files; what they did say is refused."""
    gone = "prefer: null, close_calls: 1.0, max_extra_changes: null, price_per_churn: 1.0"
    path = tmp_path / "fairpatch.yaml"
    path.write_text(YAML.replace("p_rule: 0.75", f"p_rule: 0.75, {gone}, max_displacement: null"))
    assert config.read(path).asked == Target(p_rule=0.75)
    path.write_text(YAML.replace("p_rule: 0.75", "p_rule: 0.75, prefer: [changes]"))
    with pytest.raises(SystemExit):
        config.read(path)


def test_names_of_version_0_1_answer(run):
    done = fairpatch("sql", "run", "--keep", "id", cwd=run)
    assert done.stdout == fairpatch("deploy", "run", "--to", "sql", "--keep", "id", cwd=run).stdout
    assert "this is now: fairpatch deploy run --keep id --to sql" in done.stderr
    done = fairpatch("diff", "run", "run", cwd=run)
    assert "the ratios are the same" in done.stdout
    with pytest.warns(FutureWarning, match=r"fairpatch\.Commod is now fairpatch\.commod\.Commod"):
        _ = fairpatch_.Commod


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("out", "--to", "sql", "--model", "f.skops"), "--model goes with --to onnx or mlflow"),
        (("--to", "onnx"), "say where to write it: fairpatch deploy PATCH OUT --to onnx"),
        (("--to", "spss"), "--to must be one of view, function, dbt, sql, check, test, onnx"),
        (("patch.onnx", "--pilot", "0.2"), "--pilot goes with --to view or function or dbt"),
        (("run", "--to", "view"), "run exists: name a new folder"),
    ],
)
def test_an_option_of_another_kind_of_deployment_is_refused(run, words, said):
    assert said in fairpatch("deploy", "run", *words, cwd=run, code=2).stderr


def test_a_complaint_is_answered_from_the_ledger_alone(run, tmp_path):
    """Which patch decided on that day, from which moment on, and why: when its run is gone."""
    shutil.copytree(run / "run", tmp_path / "run")
    people = str(run / "people.parquet")

    def ledger(*words, code=0):
        return fairpatch("ledger", "life", *words, cwd=tmp_path, code=code)

    fairpatch("apply", "run", people, "out.parquet", "--life", "life", cwd=tmp_path)
    marks = duckdb.sql(
        f"SELECT decode(value) FROM parquet_kv_metadata('{tmp_path / 'out.parquet'}') "
        "WHERE decode(key) = 'fairpatch_patch'"
    ).fetchall()
    (fitted, applied) = Ledger(tmp_path / "life" / "ledger.jsonl").entries()
    assert marks == [(fitted.patch,)]
    whole = hashlib.sha256((tmp_path / "out.parquet").read_bytes()).digest()
    assert applied.facts["out_sha256"] == hashlib.sha256(whole).hexdigest()
    assert "has no zone" in ledger("--applied", "run", "--since", "2026-01-05T22:30", code=1).stderr
    ledger("--applied", "run", "--since", "2026-01-05T22:30+01:00")
    gone = ledger("--retired", "run", "--since", "2026-01-20")
    assert "the base model decides alone. To go back to an earlier one" in gone.stderr
    shutil.rmtree(tmp_path / "run")
    said = ledger("--on", "2026-01-05").stdout
    assert "2026-01-05 (UTC), more than one:" in said
    assert "from 2026-01-05T00:00+00:00: no patch" in said
    assert f"from 2026-01-05T21:30+00:00: patch {fitted.patch}" in said
    assert "in use since: 2026-01-05T22:30+01:00 (written" in said
    assert "no patch was in use" in ledger("--on", "2026-01-05T21:29Z").stdout
    assert "no patch was in use" in ledger("--on", "2026-01-20").stdout
    kept = said.split("fairpatch apply ")[1].split()[0]
    why = ("apply", kept, people, "why.csv", "--score", "score", "--reasons")
    fairpatch(*why, cwd=tmp_path)
    assert "fairpatch_reason" in (tmp_path / "why.csv").read_text().splitlines()[0]
    forged = json.loads((tmp_path / kept).read_text()) | {"strength": 0.0}
    (tmp_path / kept).write_text(json.dumps(forged))
    assert (
        f"{kept} is not that patch: it was changed by hand" in ledger("--on", "2026-01-06").stdout
    )
