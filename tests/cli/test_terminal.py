"""What a person sees in a terminal: a real pty, one display for a whole fit, hints that help."""

import os
import sys
from pathlib import Path

import pytest

from fairpatch.datasets import Population

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "start"))
from terminal import STAGES, as_text, in_a_terminal  # noqa: E402

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
GROUPS = {"a": (0.7, 0.0), "b": (0.3, 1.0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal")
    people = Population(p_rule=0.6, accuracy=0.8, groups=GROUPS).sample(5_000, seed=1)
    people.to_pandas().to_csv(path / "people.csv", index=False)
    in_a_terminal("fairpatch init people.csv --favourable 1", path, PATH)
    return path


def test_a_fit_shows_its_stages_on_one_line_that_goes(folder):
    seen = in_a_terminal("fairpatch fit --config fairpatch.yaml", folder, PATH)
    at = [seen.index(stage) for stage in STAGES]
    assert at == sorted(at)
    drawn, _, rest = seen.partition("A scorecard of")
    assert "\n" not in drawn  # all of it on one line
    assert drawn.endswith("\r")  # and gone when the fit is done
    assert "left" in drawn
    assert "Certificate at 95%" in rest
    assert as_text(seen).count("learning") == 1


def test_names_that_are_nearly_right_are_offered(folder):
    seen = in_a_terminal("fairpatch fit --config fairpatch.yaml --score scor --out o", folder, PATH)
    text = as_text(seen)
    first, error = text.splitlines()[:2]  # nothing was begun
    assert first == "--score scor overrides 'score' of fairpatch.yaml"
    assert error.startswith("error:")
    assert "Did you mean 'score'?" in text
    (folder / "odd.yaml").write_text("data: people.csv\nlabell: y\n")
    seen = in_a_terminal("fairpatch audit --config odd.yaml", folder, PATH)
    assert "there is no option 'labell'. Did you mean 'label'?" in as_text(seen)
    seen = in_a_terminal("fairpatch fit --config fairpatch.yaml --positive 2 --out o", folder, PATH)
    assert "no row has the label '2'" in as_text(seen)
    assert "Decision(" not in as_text(seen)  # the shell's own words


def test_the_session_in_the_docs_is_a_session():
    """Its commands run as they stand, and the words around the figures are today's."""
    text = (ROOT / "docs" / "start" / "terminal.txt").read_text(encoding="utf-8")
    for stage in STAGES:
        assert f"\n{stage}" in text
    assert "Certificate at 95%: certified" in text


def test_python_dash_m_and_what_to_install(folder):
    seen = in_a_terminal(f"{sys.executable} -m fairpatch --version", folder, PATH)
    assert seen.strip()
    code = (
        "import sys, importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'typer' else find(name, *a); "
        "from fairpatch.__main__ import main; main()"
    )
    seen = in_a_terminal(f'{sys.executable} -c "{code}"', folder, PATH)
    assert "pip install 'fairpatch[cli]'" in seen
    assert "Traceback" not in seen


@pytest.mark.slow
def test_a_fit_needs_no_tqdm(folder):
    code = (
        "import importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'tqdm' else find(name, *a); "
        "from fairpatch.__main__ import main; main()"
    )
    command = f'{sys.executable} -c "{code}" fit --config fairpatch.yaml --out plain'
    seen = in_a_terminal(command, folder, PATH)
    assert "learning" in seen
    assert "Certificate at 95%" in seen
