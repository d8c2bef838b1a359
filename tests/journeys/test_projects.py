"""The projects to copy run as they stand, each in a folder of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECTS = Path(__file__).parents[2] / "projects"


def run(project, tmp_path, *scripts):
    """What the last script printed."""
    home = tmp_path / project
    shutil.copytree(PROJECTS / project, home)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for script in scripts:
        done = subprocess.run(
            ["bash", *script.split()], cwd=home, env={**os.environ, "PATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    return home, done.stdout + done.stderr


def test_every_project_is_tested():
    folders = {path.name for path in PROJECTS.iterdir() if path.is_dir()}
    assert folders == {"hiring", "lender", "research"}


def test_a_lender_learns_signs_deploys_and_watches_a_month(tmp_path):
    pytest.importorskip("model_signing")
    home, said = run("lender", tmp_path, "run.sh", "month.sh 2026-12")
    assert (home / "run" / "signature.json").exists()
    assert (home / "pack" / "models").is_dir()
    assert "2026-12" in said


@pytest.mark.slow
def test_a_platform_invites_exactly_as_many_as_it_has_places(tmp_path):
    home, said = run("hiring", tmp_path, "run.sh")
    invited = (home / "invited.csv").read_text().splitlines()
    column = invited[0].split(",").index("fairpatch_decision")
    assert sum(line.split(",")[column] == "true" for line in invited[1:]) == 300
    assert "certified" in said


@pytest.mark.slow
def test_a_researcher_sees_methods_side_by_side(tmp_path):
    _, said = run("research", tmp_path, "run.sh")
    rows = {line[:12].strip(): line[12:].split() for line in said.splitlines()[1:]}
    changes = {name: float(row[1].rstrip("%")) for name, row in rows.items()}
    assert {"base model", "fairpatch", "LPP", "yours"} == set(rows)
    assert changes["fairpatch"] < changes["LPP"]
