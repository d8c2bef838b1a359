"""A run's folder, a resumed apply and what is printed, under attack: each defect that was found."""

import hashlib
import json
import os
import pickle
import shutil
import threading
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from typer.testing import CliRunner

from fairpatch._tools.files import whole_file, write_whole
from fairpatch.cli.main import app
from fairpatch.cli.run_folder import FILES, MANIFEST, checked
from fairpatch.engines.streams import apply_files
from fairpatch.patch import load

PEOPLE = 400
ABOUT = ("data", "data_sha256", "rows", "certificate")


def people(n=PEOPLE, seed=1):
    random = np.random.default_rng(seed)
    s = random.choice(["a", "b"], n)
    score = np.clip(random.random(n) * np.where(s == "a", 1.0, 0.8), 0.01, 0.99)
    return pd.DataFrame(
        {"id": np.arange(n), "s": s, "score": score, "other": random.random(n),
         "x": random.normal(size=n) + (s == "b"), "y": (random.random(n) < score).astype(int)}
    )  # fmt: skip


def said(*arguments, code=0):
    """Run a verb; gives everything that it says."""
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(done.exception, ValueError):  # main() says it in a line
        assert code == 1, done.exception
        return str(done.exception)
    codes = code if isinstance(code, tuple) else (code,)
    assert done.exit_code in codes, (done.output, done.exception)
    return done.output


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    people().to_parquet(folder / "people.parquet")
    said("fit", "--data", folder / "people.parquet", "--label", "y", "--favourable", "1",
    "--score", "score",
         "--sensitive", "s", "--ignore", "id", "--p-rule", "0.7", "--out", folder / "run",
         code=(0, 4))  # fmt: skip
    return folder


@pytest.fixture
def run(original, tmp_path):
    """A copy to be spoiled."""
    shutil.copytree(original / "run", tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("name", FILES)
def test_every_file_of_a_run_is_checked(run, name):
    text = (run / name).read_text()
    (run / name).write_text(text + " ")
    with pytest.raises(ValueError, match="it was changed after the run"):
        checked(run, *FILES)


def test_another_score_column_in_the_configuration_is_refused(run, original, tmp_path):
    path = run / "config.yaml"
    path.write_text(path.read_text().replace("score: score", "score: other"))
    for verb in (
        ["apply", run, original / "people.parquet", tmp_path / "out.parquet"],
        ["deploy", run, "--to", "sql"],
        ["review", run, "--out", tmp_path / "page.html"],
        ["verify", run, "--again"],
        ["deploy", run, tmp_path / "served.onnx", "--to", "onnx"],
    ):
        assert "it was changed after the run" in said(*verb, code=1)


def test_a_forged_certificate_is_not_shown(run, tmp_path):
    path = run / "certificate.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "word": "certified"}) + "\n\n")
    assert "it was changed" in said("review", run, "--out", tmp_path / "page.html", code=1)


def test_another_card_beside_a_true_certificate_is_refused(run, tmp_path):
    """Also with the manifest made anew: certificate and review name the patch that they are of."""
    from fairpatch.cli.run_folder import seal

    about = {k: v for k, v in json.loads((run / MANIFEST).read_text()).items() if k in ABOUT}
    card = json.loads((run / "patch.json").read_text())
    card["card"]["approve_at"] = -1_000_000
    (run / "patch.json").write_text(json.dumps(card))
    seal(run, about)
    out = tmp_path / "out.parquet"
    verbs = (["show", run], ["deploy", run, "--to", "sql"], ["apply", run, "people.parquet", out])
    for verb in verbs:
        assert "certificate.json is of another patch than" in said(*verb, code=1)
    own = hashlib.sha256((run / "patch.json").read_bytes()).hexdigest()
    certificate = json.loads((run / "certificate.json").read_text())
    (run / "certificate.json").write_text(json.dumps({**certificate, "patch_sha256": own}))
    seal(run, about)
    for verb in verbs[1:]:
        assert "review.json is of another patch than" in said(*verb, code=1)


@pytest.mark.parametrize("name", ["../../etc/hostname", "/etc/hostname", "..", "a/b"])
def test_a_manifest_names_files_of_its_folder_alone(run, name):
    known = json.loads((run / MANIFEST).read_text())
    known["sha256"][name] = "0" * 64
    (run / MANIFEST).write_text(json.dumps(known))
    assert "is no plain name of a file" in said("verify", run, code=1)


def test_a_certificate_says_how_often_its_rows_were_asked(original, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(original / "run", run)
    people(seed=7).to_parquet(tmp_path / "new.parquet")
    told = [
        said("certify", run, "--data", tmp_path / "new.parquet", "--life", tmp_path / "life",
             code=(0, 3, 4, 5))
        for _ in range(3)
    ]  # fmt: skip
    assert "on these rows" not in told[0]
    assert "Certificate number 2 on these rows" in told[1]
    assert "Certificate number 3 on these rows; those before were of one patch" in told[2]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"sha256": 3}', '{"sha256": {}}'])
def test_a_manifest_that_is_none_is_refused_in_a_sentence(run, text):
    (run / MANIFEST).write_text(text)
    assert "manifest" in said("show", run, code=1)


class Code:
    """What a pickle can do when it is read."""

    def __reduce__(self):
        return os.mkdir, ("it-ran",)


def test_trust_comes_from_the_flag_of_this_very_call(original, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("f.pkl").write_bytes(pickle.dumps(Code()))
    Path("c.yaml").write_text(
        f"data: {original / 'people.parquet'}\nlabel: y\nmodel: f.pkl\nsensitive: [s]\n"
        "ignore: [id]\ntrust_model: true\n"
    )
    told = said("audit", "--config", "c.yaml", code=2)
    assert "trust_model in c.yaml is ignored" in told
    assert "give --trust-model" in told
    said("fit", "--config", "c.yaml", code=2)
    shutil.copytree(original / "run", "run")  # a run whose configuration says so
    run = Path("run")
    shutil.copy("c.yaml", run / "config.yaml")
    known = json.loads((run / MANIFEST).read_text())
    from fairpatch.cli.run_folder import seal

    seal(run, {k: known[k] for k in ("data", "data_sha256", "rows", "certificate")})
    for verb in (["review", run], ["verify", run, "--again"], ["edit", run, "--strike", "x"]):
        CliRunner().invoke(app, [str(a) for a in verb])
        assert not Path("it-ran").exists(), verb


def test_a_name_given_twice_in_a_configuration_is_refused(original, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(f"data: {original}/people.parquet\nscore: score\nscore: other\n")
    assert "'score' is given twice" in said("audit", "--config", path, code=2)


def keys(folder):
    for name in ("one", "two"):
        key = ec.generate_private_key(ec.SECP256R1())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        (folder / f"{name}.pem").write_bytes(private)
        (folder / f"{name}.pub").write_bytes(public)


def test_a_signed_run_says_who_signed_and_notices_every_change(run, tmp_path):
    keys(tmp_path)
    assert "is not signed" in said("verify", run, "--public-key", tmp_path / "one.pub", code=1)
    name = "Jo Public, model risk"
    assert name in said("sign", run, "--private-key", tmp_path / "one.pem", "--signer", name)
    assert name in said("verify", run, "--public-key", tmp_path / "one.pub")
    found = json.loads(said("verify", run, "--public-key", tmp_path / "one.pub", "--json"))
    assert found["name"] == name
    page = tmp_path / "page.html"
    said("review", run, "--public-key", tmp_path / "one.pub", "--out", page)
    assert f"signed by {name}" in page.read_text()
    said("review", run, "--out", page)
    assert "not verified" in page.read_text()
    assert name not in page.read_text()
    assert "another key's" in said("verify", run, "--public-key", tmp_path / "two.pub", code=1)
    signer = run / "signed_by.json"
    signer.write_text(signer.read_text().replace("Jo Public", "Max Forger"))
    assert "not as it was signed" in said(
        "verify", run, "--public-key", tmp_path / "one.pub", code=1
    )


def test_signing_works_where_one_stands_and_spoils_nothing(run, tmp_path, monkeypatch):
    keys(tmp_path)
    monkeypatch.chdir(tmp_path)
    said("sign", "run", "--private-key", "one.pem", "--signer", "Jo")
    assert "Jo" in said("verify", "run", "--public-key", "one.pub")
    other = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    Path("other.pem").write_bytes(other)
    for bad in ("other.pem", "one.pub", "nowhere.pem"):
        assert "key" in said("sign", "run", "--private-key", bad, "--signer", "Max", code=1)
    assert "Jo" in said("verify", "run", "--public-key", "one.pub")
    assert "no public key" in said("verify", "run", "--public-key", "one.pem", code=1)
    (run / "link").symlink_to(tmp_path / "one.pub")
    assert "a link" in said("verify", "run", "--public-key", "one.pub", code=1)


def test_a_forged_run_with_a_new_manifest_is_found_by_the_signature(run, tmp_path):
    keys(tmp_path)
    said("sign", run, "--private-key", tmp_path / "one.pem", "--signer", "Jo")
    path = run / "config.yaml"
    path.write_text(path.read_text().replace("score: score", "score: other"))
    known = json.loads((run / MANIFEST).read_text())
    from fairpatch.cli.run_folder import seal

    seal(run, {k: known[k] for k in ("data", "data_sha256", "rows", "certificate")})
    checked(run, *FILES)  # hashes alone say nothing
    assert "changed, added or taken away" in said(
        "verify", run, "--public-key", tmp_path / "one.pub", code=1
    )


@pytest.fixture
def parts(tmp_path):
    """Three files of a hundred people each."""
    folder = tmp_path / "months"
    folder.mkdir()
    for i, start in enumerate((100, 200, 300)):
        people().iloc[start : start + 100].to_parquet(folder / f"{i + 2}.parquet")
    return folder


def test_a_file_that_was_added_before_a_restart_mixes_nobody_up(original, parts, tmp_path):
    out = tmp_path / "out"
    said("apply", original / "run", parts, out)
    (out / "part-00002.parquet").unlink()  # as if it had been stopped
    (out / "_SUCCESS").unlink()
    people().iloc[:100].to_parquet(parts / "1.parquet")  # sorts before the others
    told = said("apply", original / "run", parts, out, code=1)
    assert "was begun without 1.parquet" in told
    assert not (out / "_SUCCESS").exists()
    (parts / "1.parquet").unlink()
    assert "2 parts were there already" in said("apply", original / "run", parts, out)
    ids = pd.concat(pd.read_parquet(p) for p in out.glob("part-*.parquet"))["id"]
    assert sorted(ids) == list(range(100, 400))


def test_other_content_options_or_patches_are_refused(original, parts, tmp_path):
    out = tmp_path / "out"
    said("apply", original / "run", parts, out)
    assert "other options" in said("apply", original / "run", parts, out, "--reasons", code=1)
    people(seed=2).iloc[:100].to_parquet(parts / "2.parquet")
    assert "another content of 2.parquet" in said("apply", original / "run", parts, out, code=1)


def test_a_stray_part_is_refused_and_a_database_is_not_trusted_to_be_the_same(
    original, parts, tmp_path
):
    out = tmp_path / "out"
    said("apply", original / "run", parts, out)
    shutil.copy(out / "part-00000.parquet", out / "part-00077.parquet")
    assert "which is no part of it" in said("apply", original / "run", parts, out, code=1)
    base = str(tmp_path / "base.duckdb")
    with duckdb.connect(base) as own:
        own.execute(f"create table t as select * from '{parts}/2.parquet'")
    said("apply", original / "run", f"{base}::t", tmp_path / "from-base")
    with duckdb.connect(base) as own:
        own.execute(f"insert into t select * from '{parts}/3.parquet'")
    told = said("apply", original / "run", f"{base}::t", tmp_path / "from-base", code=1)
    assert "another content" in told


def test_two_runs_at_once_do_not_write_to_one_folder(original, parts, tmp_path):
    patch, begun, go_on = (
        load(original / "run" / "patch.json"),
        threading.Event(),
        threading.Event(),
    )
    files, out, problems = sorted(parts.glob("*.parquet")), tmp_path / "out", []

    def slow(file):
        begun.set()
        go_on.wait(30)
        return duckdb.connect().read_parquet(file)

    def first():
        try:
            apply_files(patch, files, out, "score", read=slow)
        except ValueError as error:
            problems.append(error)

    one = threading.Thread(target=first)
    one.start()
    assert begun.wait(30)
    with pytest.raises(ValueError, match="another run is writing"):
        apply_files(patch, files, out, "score", read=duckdb.read_parquet)
    go_on.set()
    one.join()
    assert not problems
    assert (out / "_SUCCESS").exists()


def test_a_link_in_the_way_is_not_written_through(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    (tmp_path / f".out.json.{os.getpid()}.unfinished").symlink_to(precious)
    write_whole(tmp_path / "out.json", "new")
    assert precious.read_text() == "keep me"
    (tmp_path / "link.json").symlink_to(precious)
    write_whole(tmp_path / "link.json", "new")  # takes the link's place
    assert precious.read_text() == "keep me"


def test_a_stopped_writer_leaves_nothing(tmp_path):
    def stopped():
        with whole_file(tmp_path / "out.json") as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(tmp_path.iterdir()) == []


FORMULAS = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "plain", "a=b"]


def test_cells_that_a_spreadsheet_would_run_are_neutralised(original, tmp_path):
    table = people(len(FORMULAS)).assign(note=FORMULAS)
    table.to_parquet(tmp_path / "in.parquet")
    common = ["apply", original / "run", tmp_path / "in.parquet"]
    said(*common, tmp_path / "safe.csv")
    safe = pd.read_csv(tmp_path / "safe.csv", keep_default_na=False)["note"].tolist()
    assert [v[0] == "'" for v in safe] == [True] * 6 + [False] * 2
    said(*common, tmp_path / "raw.csv", "--keep-formulas")
    raw = pd.read_csv(tmp_path / "raw.csv", keep_default_na=False)["note"].tolist()
    assert [v.strip() for v in raw] == [v.strip() for v in FORMULAS]
    said(*common, tmp_path / "same.parquet")
    assert pd.read_parquet(tmp_path / "same.parquet")["note"].tolist() == FORMULAS


EVIL = "a\x1b[31m\u202eb\x9b"


def test_nothing_that_is_printed_or_stored_commands_a_terminal(tmp_path):
    table = people().rename(columns={"x": f"x{EVIL}"})
    table["s"] = np.where(table["s"] == "a", f"a{EVIL}", "b")
    table.to_parquet(tmp_path / "in.parquet")
    options = ["--data", tmp_path / "in.parquet", "--label", "y", "--favourable", "1",
               "--score", "score", "--sensitive", "s", "--ignore", "id"]  # fmt: skip
    texts = [said("audit", *options), said("audit", *options, "--json")]
    run = tmp_path / "run"
    texts.append(said("fit", *options, "--p-rule", "0.7", "--out", run, code=(0, 3, 4)))
    texts.append(said("audit", *options, "--score", f"no{EVIL}", code=2))
    if run.exists():
        texts += [said("show", run), said("show", run, "--json")]
        texts += [p.read_text() for p in run.iterdir() if p.suffix != ".npz"]
    for text in texts:
        assert not set(text) & set("\x1b\u202e\x9b"), text[:200]


def test_odd_tables_get_a_sentence(tmp_path):
    one = people(1)
    one.to_parquet(tmp_path / "one.parquet")
    options = ["--label", "y", "--favourable", "1", "--score", "score", "--sensitive", "s",
               "--ignore", "id"]  # fmt: skip
    assert "Audit of below 10 people" in said("audit", "--data", tmp_path / "one.parquet", *options)
    heavy = people().assign(w=1e300)
    heavy.to_parquet(tmp_path / "heavy.parquet")
    said("audit", "--data", tmp_path / "heavy.parquet", *options, "--weight", "w", code=(0, 1, 2))
    nested = people().assign(n=[[1, 2]] * PEOPLE)
    nested.to_parquet(tmp_path / "nested.parquet")
    said("audit", "--data", tmp_path / "nested.parquet", *options)
