"""The command line, as a person or a script would use it."""

import contextlib
import contextvars
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch._tools.verdict import Verdict
from fairpatch.cli import main
from fairpatch.cli.config import read, schema
from fairpatch.datasets import Population
from fairpatch.patch import load

ROOT = Path(__file__).parents[2]
POPULATION = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
FAIRPATCH = [sys.executable, "-c", "from fairpatch.cli.main import main; main()"]


def fairpatch(*arguments, cwd, code=0):
    """A command as main() runs it, in this process: a start of Python for each takes minutes."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["fairpatch", *map(str, arguments)]
    with (
        contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", argv), mock.patch.object(main, "results_only"),
        pytest.raises(SystemExit) as left,
    ):  # fmt: skip
        contextvars.copy_context().run(main.main)
    done = subprocess.CompletedProcess(argv, left.value.code or 0, out.getvalue(), err.getvalue())
    assert done.returncode in (code if isinstance(code, tuple) else (code,)), done
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of scores and a configuration for a quick run."""
    path = tmp_path_factory.mktemp("cli")
    POPULATION.sample(6_000, seed=0).to_pandas().to_csv(path / "people.csv", index=False)
    fairpatch("init", "people.csv", "--favourable", "1", cwd=path)
    return path


@pytest.fixture(scope="module")
def run(folder):
    fairpatch("fit", "--config", "fairpatch.yaml", "--p-rule", "0.75", "--out", "run", cwd=folder)
    return folder


def test_init_guesses_the_columns_and_never_replaces(folder):
    text = (folder / "fairpatch.yaml").read_text()
    assert 'label: "y"' in text
    assert 'score: "score"' in text
    assert 'sensitive: ["group"]' in text
    assert 'ignore:\n  - "id"  # different for everybody' in text
    done = fairpatch("init", "people.csv", "--favourable", "1", cwd=folder, code=2)
    assert "use --force" in done.stderr


def test_audit_prints_tables_or_json(folder):
    done = fairpatch("audit", "-c", "fairpatch.yaml", cwd=folder)
    assert "P-Rule" in done.stdout
    found = json.loads(fairpatch("audit", "-c", "fairpatch.yaml", "--json", cwd=folder).stdout)
    assert found
    assert "\033[" not in done.stdout


def test_a_run_folder_is_whole_sealed_and_reproducible(run):
    names = {p.name for p in (run / "run").iterdir()}
    assert names == {
        "patch.json", "menu.json", "certificate.json", "review.html", "review.json",
        "model_card.md", "config.yaml", "manifest.json", "used_rows.npz",
    }  # fmt: skip
    assert "S-leak check: none" in fairpatch("show", "run", cwd=run).stderr
    menu = json.loads((run / "run" / "menu.json").read_text())
    assert [e["name"] for e in menu["rows"]][:3] == ["scorecard", "in order", "fewest changes"]
    assert "the same patch came out" in fairpatch("verify", "run", "--again", cwd=run).stdout


def test_a_changed_patch_is_noticed(run, tmp_path):
    copy = tmp_path / "run"
    copy.mkdir()
    for file in (run / "run").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    assert "all 8 files are as the manifest says" in fairpatch("show", copy, cwd=run).stderr
    page = (copy / "review.html").read_text()
    (copy / "review.html").write_text(page.replace("0.", "1.", 1))
    assert "review.html is not what" in fairpatch("show", copy, cwd=run, code=1).stderr
    done = fairpatch("ledger", tmp_path / "life", "--fitted", copy, cwd=run, code=1)
    assert "review.html is not what" in done.stderr
    done = fairpatch("certify", copy / "patch.json", "--data", "people.csv", cwd=run, code=1)
    assert "fairpatch edit RUN --patch" in done.stderr
    text = (copy / "patch.json").read_text()
    (copy / "patch.json").write_text(text.replace('"strength": ', '"strength": 1'))
    assert "it was changed" in fairpatch("show", copy, cwd=run, code=1).stderr
    (copy / "manifest.json").unlink()
    assert "or was interrupted" in fairpatch("show", copy, cwd=run, code=1).stderr


def test_apply_sql_and_onnx_decide_alike(run):
    done = fairpatch("apply", "run", "people.csv", "applied.parquet", cwd=run)
    assert "6,000 rows" in done.stdout
    text = fairpatch("deploy", "run", "--to", "sql", "--keep", "id", cwd=run).stdout
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{run}/people.csv')")
    by_sql = connection.sql(text.rstrip(";\n")).df().sort_values("id")
    applied = pd.read_parquet(run / "applied.parquet").sort_values("id")
    assert (by_sql["fairpatch_decision"].to_numpy() == applied["fairpatch_decision"]).all()
    fairpatch("deploy", "run", "patch.onnx", cwd=run)
    from fairpatch.engines.onnx import run_graph

    people = pd.read_csv(run / "people.csv").sort_values("id")
    by_onnx = run_graph(run / "patch.onnx", people, score="score")
    assert (by_onnx["fairpatch_decision"] == applied["fairpatch_decision"].to_numpy()).all()
    assert abs(by_onnx["fairpatch_ratio"] - applied["fairpatch_ratio"].to_numpy()).max() < 1e-9


def test_a_day_without_people_is_no_mistake(run):
    pd.read_csv(run / "people.csv").astype({"cat_0": str}).iloc[:0].to_parquet(run / "none.parquet")
    done = fairpatch("apply", "run", "none.parquet", "none.csv", "--if-unlike", "warn", cwd=run)
    assert "0 rows, 0 decisions change" in done.stdout
    assert (run / "none.csv").read_text().count("\n") == 1


def test_another_patch_of_the_menu_is_picked_and_compared(run):
    fairpatch("fit", "--config", "fairpatch.yaml", "--p-rule", "0.75", "--pick", "fewest changes",
              "--out", "picked", cwd=run, code=(0, 3, 4))  # fmt: skip
    done = fairpatch("show", "run", "picked", "--data", "people.csv", cwd=run)
    assert "decisions differ" in done.stdout
    same = fairpatch("show", "run", "run", "--data", "people.csv", "--json", cwd=run)
    found = json.loads(same.stdout)
    assert found["weights"] == []
    assert found["decisions"][0]["only_first_decides_1"] == 0


def test_a_code_for_reasons_changes_no_decision(run):
    line = load(run / "run" / "patch.json").lines[0].name
    fairpatch("edit", "run", "--code", f"{line}=R07", "--out", "coded.json", cwd=run)
    coded, plain = load(run / "coded.json"), load(run / "run" / "patch.json")
    assert coded.reason_codes == {line: "R07"}
    assert coded.model_copy(update={"reason_codes": {}}) == plain
    assert "nothing to edit" in fairpatch("edit", "run", cwd=run, code=2).stderr


def test_a_card_is_edited_dialled_and_judged_again(run):
    POPULATION.sample(12_000, seed=6).to_pandas().to_parquet(run / "fresh.parquet")
    lines = [line.name for line in load(run / "run" / "patch.json").lines]
    options = ["--data", "fresh.parquet", "--out", "edited.json"]
    done = fairpatch("edit", "run", "--strike", lines[-1], *options, cwd=run, code=(0, 4))
    assert "Share of decisions that change" in done.stderr
    assert "Certificate at 95%" in done.stderr
    assert "rows of the run itself" not in done.stderr
    edited = load(run / "edited.json")
    assert [line.name for line in edited.lines] == [n for n in lines if n != lines[-1]]
    assert len(edited.provenance.edits) == 1
    assert (run / "edited.certificate.json").exists()
    wrong = fairpatch("edit", "run", "--strike", "no such line", *options, cwd=run, code=1)
    assert "the card has no line 'no such line'" in wrong.stderr
    wrong = fairpatch("edit", "run", "--points", "more", *options, cwd=run, code=2)
    assert "--points takes LINE=POINTS" in wrong.stderr
    gone = [part for name in lines for part in ("--strike", name)]
    # a card without lines still has a threshold: fewer points needed, for everybody
    assert "certified" in fairpatch("edit", "run", *gone, *options, cwd=run).stderr


def test_an_edited_card_is_a_run(run):
    """With certificate, review, manifest and ledger: every later verb takes it."""
    POPULATION.sample(8_000, seed=16).to_pandas().to_parquet(run / "new.parquet")
    POPULATION.sample(3_000, seed=17).to_pandas().to_parquet(run / "month-2026-11.parquet")
    line = load(run / "run" / "patch.json").lines[-1].name
    fairpatch("ledger", "edits", "--fitted", "run", cwd=run)
    done = fairpatch("edit", "run", "--strike", line, "--why", "not for us", "--data",
                     "new.parquet", "--out", "struck", "--life", "edits", cwd=run)  # fmt: skip
    assert "wrote struck, a run" in done.stdout
    assert line not in {found.name for found in load(run / "struck" / "patch.json").lines}
    fairpatch("verify", "struck", cwd=run)
    assert "CASE" in fairpatch("deploy", "struck", "--to", "sql", cwd=run).stdout
    fairpatch("apply", "struck", "month-2026-11.parquet", "struck.parquet", cwd=run)
    fairpatch("monitor", "struck", "month-2026-11.parquet", "--life", "edits", cwd=run)
    mixed = pd.read_parquet(run / "new.parquet").sample(frac=1, random_state=0)
    mixed.to_csv(run / "mixed.csv", index=False)
    told = fairpatch("certify", "struck", "--data", "mixed.csv", "--life", "edits", cwd=run,
                     code=(0, 3, 4, 5))  # fmt: skip
    assert "Of 8,000 rows, 4,000 are left out" in told.stdout
    entries = json.loads(fairpatch("ledger", "edits", "--json", cwd=run).stdout)["entries"]
    facts = next(e["facts"] for e in entries if e["event"] == "refitted")
    assert (facts["way"], facts["why"]) == ("edit", "not for us")
    assert facts["changes"] == [f"struck: {line}"]
    again = fairpatch("edit", "run", "--strike", line, "--out", "struck", cwd=run, code=2)
    assert "struck holds a run" in again.stderr


def test_an_edit_that_few_people_judge_is_written_all_the_same(run):
    """Inconclusive is no failure of an edit: whoever made it certifies it on more people."""
    POPULATION.sample(700, seed=9).to_pandas().to_parquet(run / "few.parquet")
    line = load(run / "run" / "patch.json").lines[-1].name
    options = ("--data", "few.parquet", "--out", "few.json")
    done = fairpatch("edit", "run", "--strike", line, *options, cwd=run)
    assert "inconclusive" in done.stderr
    assert (run / "few.json").exists()


@pytest.mark.slow
def test_review_on_other_rows(run):
    POPULATION.sample(3_000, seed=5).to_pandas().to_parquet(run / "month.parquet")
    done = fairpatch("review", "run", "--data", "month.parquet", "--out", "month.html", cwd=run)
    assert "3,000 people" in done.stdout
    assert {"month.html", "month.json", "month.md"} <= {p.name for p in run.iterdir()}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["fit", "--data", "nowhere.csv", "--label", "y", "--favourable", "1", "--sensitive",
        "group", "--score",
          "score", "--out", "new"], 2, "there is no file 'nowhere.csv'"),
        (["fit", "-c", "nowhere.yaml"], 2, "write one with: fairpatch init"),
        (["audit", "--data", "people.csv", "--label", "Y", "--sensitive", "group", "--score",
          "score"], 2, "has no column 'Y'; its columns are"),
        (["audit", "--data", "people.csv", "--label", "y", "--sensitive", "group"], 2,
         "either --score COLUMN or --model FILE"),
        (["audit", "--data", "people.csv"], 2, "sensitive is missing"),
        (["fit", "-c", "fairpatch.yaml", "--model", "f.pkl", "--out", "new"], 2, "either --score"),
        (["fit", "-c", "fairpatch.yaml", "--p-rule", "0.99", "--max-changes", "0.001", "--out",
          "new"], 3,
         "no patch meets the target"),
        (["apply", "fairpatch.yaml", "people.csv", "out.xlsx"], 2, "ends in .parquet or .csv"),
        (["show", "people.csv"], 1, "is not a patch"),
        (["show", "nowhere"], 2, "there is no 'nowhere'"),
        (["audit", "-c", "guess.yaml"], 2, "label: only you can answer"),
        (["audit", "-c", "percent.yaml"], 2, "runs from 0.0 to 100.0"),
        (["audit", "-c", "broken.yaml"], 2, "is not valid YAML"),
        (["fly"], 2, "No such command"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do_and_scripts_can_tell_them_apart(folder, arguments, code, said):
    text = (folder / "fairpatch.yaml").read_text()
    (folder / "guess.yaml").write_text(text.replace('label: "y"', 'label: "?"'))
    (folder / "percent.yaml").write_text(text.replace("people.csv", "percent.csv"))
    (folder / "broken.yaml").write_text("data: [")
    people = pd.read_csv(folder / "people.csv")
    people.assign(score=(100 * people["score"]).round()).to_csv(folder / "percent.csv", index=False)
    done = fairpatch(*arguments, cwd=folder, code=code)
    assert said in done.stderr


def test_yaml_is_read_as_people_write_it(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "data: a.csv\nlabel: y\nfavourable: 1\nscore: s\nsensitive: sex\npositive: yes\n"
        "about: {date: 2026-11-16, group_names: {sex: {0: women, yes: men}}}\n"
    )
    found = read(tmp_path / "own.yaml")
    assert found.sensitive == ["sex"]
    assert found.decision.positive == "yes"
    assert found.about.date == "2026-11-16"
    assert found.about.group_names == {"sex": {"0": "women", "yes": "men"}}


def test_help_imports_nothing_heavy(tmp_path):
    fairpatch("--help", cwd=tmp_path)
    heavy = ("torch", "pandas", "sklearn", "scipy", "numpy", "pydantic", "duckdb")
    code = f"import sys, fairpatch.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_libraries_print_does_not_get_into_the_results():
    code = (
        "import os; from fairpatch.cli.say import results_only, say_json; results_only(); "
        "os.write(1, b'a stray line of a solver'); say_json({'word': 'würde'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(done.stdout.decode()) == {"word": "würde"}
    assert b"a stray line" in done.stderr


def test_the_published_schema_is_current():
    assert (ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8") == schema()


@pytest.mark.parametrize(
    ("verb", "kills"),
    [("apply", 5), pytest.param("apply", 50, marks=pytest.mark.slow),
     pytest.param("fit", 50, marks=pytest.mark.slow)],
)  # fmt: skip
def test_killed_at_random_moments_it_leaves_nothing_half_written(run, tmp_path, verb, kills):
    moments = random.Random(0)
    out = tmp_path / ("out.parquet" if verb == "apply" else "run")
    arguments = (
        ["apply", "run", "people.csv", out, "--force"]
        if verb == "apply"
        else ["fit", "-c", "fairpatch.yaml", "--p-rule", "0.75", "--out", out, "--force"]
    )
    start = time.perf_counter()
    fairpatch(*arguments, cwd=run)
    whole = time.perf_counter() - start
    for _ in range(kills):
        process = subprocess.Popen(
            [*FAIRPATCH, *map(str, arguments)], cwd=run, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(moments.uniform(0.2, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if verb == "apply":
            assert len(pd.read_parquet(out)) == 6_000
        elif (out / "manifest.json").exists():
            fairpatch("show", out, cwd=run)
        else:  # stopped while writing: every file is whole, and the folder says how to go on
            for file in out.glob("*.json"):
                json.loads(file.read_text(encoding="utf-8"))
            assert "again" in fairpatch("show", out, cwd=run, code=1).stderr
    fairpatch(*arguments, cwd=run)
    if verb == "apply":
        assert not list(tmp_path.glob(".*unfinished"))
    else:
        sealed = json.loads((out / "manifest.json").read_text())["sha256"]
        assert {"patch.json", "review.html"} <= set(sealed)
        fairpatch("show", out, cwd=run)


@pytest.mark.slow
def test_the_way_of_an_awkward_table_runs_as_it_stands(tmp_path):
    """From init to a SQL view and a served model, which the script itself compares."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PORT": str(port), "PATH": path, "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        ["bash", str(ROOT / "docs" / "tutorial" / "own_table.sh")],
        cwd=tmp_path, env={**os.environ, **own}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "file, view and service agree" in done.stdout
    assert "?" not in (tmp_path / "fairpatch.yaml").read_text()  # nothing is left open
    assert "the scores are alike" in done.stdout


@pytest.mark.slow  # on the wheel it is run by `make release`
@pytest.mark.parametrize("rows", [20_000, 1_000_000])
def test_the_tutorial_runs_as_it_stands(tmp_path, rows):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(ROOT / "docs" / "tutorial" / "tutorial.sh")],
        cwd=tmp_path, env={**os.environ, "ROWS": str(rows), "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    assert f"{rows:,} decisions are the same in all three" in done.stdout


@pytest.mark.slow
def test_yes_and_no_in_a_csv_are_text_everywhere(tmp_path):
    """The same patch from CSV and Parquet, and SQL that runs on either."""
    frame = POPULATION.sample(3_000, seed=1).to_pandas()
    frame["owner"] = np.where(frame["num_0"] > 50, "yes", "no")
    frame["flag"] = frame["num_1"] > frame["num_1"].median()
    frame = frame.astype({c: str for c in frame.columns if c.startswith("cat_")})
    frame.to_parquet(tmp_path / "p.parquet")
    frame.to_csv(tmp_path / "p.csv", index=False)
    options = ["--label", "y", "--favourable", "1", "--score", "score", "--sensitive", "group",
               "--ignore", "id", "--p-rule", "0.7", "--exclude", "flag"]  # fmt: skip
    for kind in ("csv", "parquet"):
        fairpatch("fit", "--data", f"p.{kind}", *options, "--out", kind, cwd=tmp_path)
    done = fairpatch("show", "csv", "parquet", "--data", "p.parquet", cwd=tmp_path)
    assert "0 of 3,000 decisions differ" in done.stdout
    done = fairpatch("fit", "--data", "p.csv", *options, "--out", "csv", cwd=tmp_path, code=2)
    assert "use --force" in done.stderr
    fairpatch("fit", "--data", "p.parquet", *options[:-2], "--out", "flags", cwd=tmp_path)
    text = fairpatch("deploy", "flags", "--to", "sql", "--keep", "id", cwd=tmp_path).stdout
    text = text.rstrip(";\n")
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW people AS SELECT * FROM '{tmp_path}/p.parquet'")
    assert len(connection.sql(text).df()) == 3_000  # booleans too


@pytest.mark.slow
def test_a_review_of_new_rows_judges_them_and_one_of_the_runs_own_does_not(run):
    fairpatch("review", "run", "--data", "people.csv", "--out", "again.html", cwd=run)
    again = json.loads((run / "again.json").read_text())
    own = json.loads((run / "run" / "certificate.json").read_text())
    assert again["certificate"] == own
    POPULATION.sample(2_000, seed=77).to_pandas().to_csv(run / "later.csv", index=False)
    fairpatch("review", "run", "--data", "later.csv", "--out", "later.html", cwd=run)
    later = json.loads((run / "later.json").read_text())["certificate"]
    assert later["results"][0]["people"] == 2_000 != own["results"][0]["people"]
    assert fairpatch("--version", cwd=run).stdout.strip()


def test_labels_that_are_text_and_data_that_changed(tmp_path):
    frame = POPULATION.sample(3_000, seed=1).to_pandas()
    frame["paid"] = np.where(frame.pop("y") == 1, "back", "never")
    frame.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "fast.yaml").write_text("seed: 1\n")
    options = ["-c", "fast.yaml", "--data", "p.csv", "--label", "paid", "--positive", "back",
               "--favourable", "1", "--score", "score", "--sensitive", "group"]  # fmt: skip
    found = json.loads(fairpatch("audit", *options, "--json", cwd=tmp_path).stdout)
    assert found["accuracy"]["value"] > 0.7
    fit = ["fit", *options, "--ignore", "id", "--p-rule", "0.7", "--out", "run"]
    fairpatch(*fit, cwd=tmp_path)
    assert "the same patch" in fairpatch("verify", "run", "--again", cwd=tmp_path).stdout
    frame.head(2_000).to_csv(tmp_path / "p.csv", index=False)
    done = fairpatch("verify", "run", "--again", cwd=tmp_path, code=1)
    assert "is not what the patch was learned from" in done.stderr


def test_a_certificate_may_be_required(folder, tmp_path):
    """Inconclusive is fine unless a certificate is asked for; then it has its own exit code."""
    frame = pd.read_csv(folder / "people.csv").head(700)
    frame.to_csv(tmp_path / "few.csv", index=False)
    fit = ("fit", "-c", folder / "fairpatch.yaml", "--data", tmp_path / "few.csv",
           "--p-rule", "0.62", "--max-changes", "0.02", "--out", tmp_path / "run", "--force",
           "--json")  # fmt: skip
    done = fairpatch(*fit, cwd=tmp_path, code=0)
    assert json.loads(done.stdout)["certificate"] == "inconclusive"
    fairpatch(*fit, "--require-certificate", cwd=tmp_path, code=5)


def test_what_is_not_met_exits_alike_from_every_command(folder, tmp_path):
    """The same verdict has the same code from fit, certify, edit and audit."""
    frame = pd.read_csv(folder / "people.csv")
    run = tmp_path / "run"
    fairpatch("fit", "-c", folder / "fairpatch.yaml", "--p-rule", "0.75", "--out", run, cwd=folder)
    frame.sample(2_500, random_state=1).to_csv(tmp_path / "new.csv", index=False)
    again = fairpatch("certify", run, "--data", tmp_path / "new.csv", "--p-rule", "0.99",
                      "--json", cwd=folder, code=(3, 4))  # fmt: skip
    verdict = Verdict(json.loads(again.stdout)["verdict"])
    assert again.returncode == verdict.exit_code


def test_the_runs_own_rows_certify_nothing(run):
    refused = fairpatch("certify", "run", cwd=run, code=2)
    assert "give new rows with --data" in refused.stderr
