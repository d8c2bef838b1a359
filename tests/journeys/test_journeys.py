"""Three readers follow their page to the letter, in a fresh environment with only what it says.

The pages' own blocks are run: installs (our wheel in place of the index), shell and doctests.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairpatch.datasets import Population

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]
ROOT = Path(__file__).parents[2]
TWO = {"a": (0.7, 0.0), "b": (0.3, 1.0)}


def blocks(page, language):
    text = (ROOT / "docs" / "start" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


class Reader:
    """Somebody with a shell in a folder of his own."""

    def __init__(self, folder, wheel):
        self.folder, self.wheel = folder, wheel
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        path = f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "VIRTUAL_ENV": str(folder / "venv")}
        self.environment.pop("PYTHONPATH", None)
        self.shell(f"pip install -q -c {ROOT}/constraints.txt torch==2.13.0")

    def shell(self, script, cwd=None):
        script = re.sub(r"'fairpatch\[", f"'{self.wheel}[", script)
        script = script.replace("pip install ", f"pip install -q -c {ROOT}/constraints.txt ")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=cwd or self.folder,
            env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (script, done.stdout[-2_000:], done.stderr[-3_000:])
        return done.stdout

    def doctests(self, page):
        options = "-o NORMALIZE_WHITESPACE -o ELLIPSIS"
        self.shell(f"python -m doctest {options} {ROOT}/docs/start/{page}")


def table(path, rows, seed):
    people = Population(p_rule=0.6, accuracy=0.8, groups=TWO).sample(rows, seed=seed)
    people.to_pandas().to_parquet(path)


def test_the_engineer(tmp_path, wheel):
    reader = Reader(tmp_path, wheel)
    install, shell = blocks("engineer.md", "bash")
    reader.shell(install)
    reader.doctests("engineer.md")
    table(tmp_path / "applications.parquet", 20_000, 1)
    table(tmp_path / "new_month.parquet", 10_000, 2)
    said = reader.shell(shell)
    assert "10,000 rows" in said
    assert (tmp_path / "run" / "review.html").exists()
    assert (tmp_path / "patch.onnx").exists()
    # ... and with the model that he has
    reader.shell("pip install xgboost-cpu")
    script = """
import pandas as pd, xgboost
from fairpatch import FairPatch, Target
people = pd.read_parquet("applications.parquet")
X = people[[c for c in people.columns if c.startswith("num_")]]
f = xgboost.XGBClassifier(n_estimators=40).fit(X[:8_000], people["y"][:8_000])
g = FairPatch(f, Target(p_rule=0.7)).fit(
    X[8_000:], people["y"][8_000:], sensitive_features=people["group"][8_000:])
print(g.certificate_)
"""
    (tmp_path / "own.py").write_text(script)
    assert "Certificate at 95%" in reader.shell("python own.py")


def test_the_validator(tmp_path, wheel):
    table(tmp_path / "applications.parquet", 20_000, 1)
    table(tmp_path / "your_own_sample.parquet", 8_000, 3)
    fit = (
        f"{sys.executable} -c 'from fairpatch.cli.main import main; main()' fit --label y"
        " --score score --sensitive group --ignore id --data applications.parquet --out"
    )
    for out, rule in (("last_year/run", 0.75), ("run", 0.8)):
        command = f"{fit} {out} --p-rule {rule}"
        subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "applications.parquet").unlink()  # it stays with those who made the run
    reader = Reader(tmp_path, wheel)
    (shell,) = blocks("validator.md", "bash")
    said = reader.shell(shell)
    assert "8,000 people" in said
    assert "decisions differ" in said
    assert (tmp_path / "my_review.html").exists()


@pytest.mark.data
def test_the_researcher(tmp_path, wheel):
    reader = Reader(tmp_path, wheel)
    clone = tmp_path / "fairpatch"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    (shell,) = blocks("researcher.md", "bash")
    kept = [
        line for line in shell.splitlines() if not line.startswith(("git", "python3", "export"))
    ]
    kept = [line for line in kept if line != "make paper"]  # half an hour
    reader.shell("\n".join(kept), cwd=clone)
    reader.doctests("researcher.md")
    assert (clone / "build" / "quick" / "page" / "page.md").exists()


def test_readmes_commands_run_as_they_stand(tmp_path, wheel):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    install, commands = re.findall(r"```bash\n(.*?)```", readme, re.DOTALL)
    reader = Reader(tmp_path, wheel)
    reader.shell(install)
    said = reader.shell(commands)
    assert (tmp_path / "run" / "review.html").exists(), said
    assert (tmp_path / "pack" / "decided.sql").exists()


@pytest.mark.parametrize("project", ["hiring", "lender", "research"])
def test_projects_run_with_what_their_page_installs(project, tmp_path, wheel):
    mine = tmp_path / project
    shutil.copytree(ROOT / "projects" / project, mine)
    page = (mine / "README.md").read_text(encoding="utf-8")
    reader = Reader(tmp_path, wheel)
    for line in re.findall(r"^pip install .*$", page, re.MULTILINE):
        reader.shell(line)
    reader.shell("bash run.sh", cwd=mine)


def test_the_tutorial_runs_with_what_it_names(tmp_path, wheel):
    script = ROOT / "docs" / "tutorial" / "tutorial.sh"
    (line,) = re.findall(r"^# (pip install .*)$", script.read_text(encoding="utf-8"), re.MULTILINE)
    reader = Reader(tmp_path, wheel)
    reader.shell(line)
    reader.shell(f"ROWS=20000 bash {script}")
