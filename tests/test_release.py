"""What strangers meet: one version, links that lead somewhere, pages that are current."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml

import fairpatch
from fairpatch.card.learner import Card
from fairpatch.cli.config import Config, TargetOptions, read
from fairpatch.decision import Decision
from fairpatch.report.signed import About

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def script(path):
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_version_and_one_date():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    changelog = (ROOT / "CHANGELOG.md").read_text()
    version, date = re.search(r"^## (\S+) \((\S+)\)$", changelog, re.MULTILINE).groups()
    assert cited["version"] == version == fairpatch.__version__
    assert str(cited["date-released"]) == date


def test_a_release_is_told_in_25_lines_and_this_one_is_told():
    told = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert fairpatch.__version__ in {section.split()[0] for section in told}
    assert max(len(section.strip().splitlines()) for section in told) <= 25


def test_the_readme_leads_somewhere_on_a_package_index():
    """As it was built: hatch_build.py makes its links absolute."""
    told = metadata("fairpatch")
    home = dict(line.split(", ") for line in told.get_all("Project-URL"))["Source"]
    links = re.findall(r"\]\(([^)]+)\)", told["Description"])
    assert len(links) > 10
    assert not [link for link in links if "://" not in link]
    assert f"{home}/raw/main/docs/picture.png" in links
    assert f"{home}/blob/main/docs/limits.md" in links


def test_every_extra_that_a_page_names_exists():
    extras = set(metadata("fairpatch").get_all("Provides-Extra"))
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        for named in re.findall(r"fairpatch\[([\w,-]+)\]", page.read_text(encoding="utf-8")):
            assert set(named.split(",")) <= extras, (page, named)


def test_torch_is_asked_for_by_those_alone_who_need_it():
    needed = metadata("fairpatch").get_all("Requires-Dist")
    asking = {
        re.search(r"extra == '([\w-]+)'", line)[1] for line in needed if line.startswith("torch>")
    }
    assert {"adversarial", "bench"} <= asking
    assert not asking & {"all", "cli", "datasets", "mlflow", "onnx", "report", "spark", "sql"}


def test_configurations_of_the_industries_are_read():
    text = (DOCS / "guide" / "industries.md").read_text(encoding="utf-8")
    found = [
        Config.model_validate(yaml.safe_load(t))
        for t in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    ]
    assert [own.decision.favourable for own in found] == [0, 1, 0, 1]


def test_the_page_of_options_has_every_one_and_is_read(tmp_path):
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "fairpatch.yaml").write_text(text, encoding="utf-8")
    read(tmp_path / "fairpatch.yaml")
    known = {f for part in (TargetOptions, Decision, About) for f in part.model_fields}
    known |= {f.name for f in fields(Card)}
    for option in known | set(Config.model_fields) - {"trust_model"}:
        assert re.search(rf"\b{option}\b", text), option


def test_the_house_is_drawn_as_it_stands():
    pytest.importorskip("grimp")

    def rooms(picture: str) -> list[str]:
        """Each room and the first word it says of itself: how much fits beside them is no news."""
        return re.findall(r'class="h"[^>]*>(\w+) [^<]*</text><text[^>]*>(\w+)', picture)

    drawn = rooms(script(DOCS / "house.py").picture())
    kept = rooms((DOCS / "house.svg").read_text(encoding="utf-8"))
    assert len(drawn) > 20
    assert drawn == kept, "a room has come, gone or says something else: make house"


def test_charts_and_files_are_of_what_was_printed(tmp_path):
    draw = script(DOCS / "figures" / "draw.py")
    printed = (DOCS / "figures" / "output.md").read_text(encoding="utf-8")
    (tmp_path / "output.md").write_text(printed, encoding="utf-8")
    draw.HERE = tmp_path
    draw.main()
    for name in ("comparison.csv", "by_problem.csv", "comparison.md"):
        kept = (DOCS / "figures" / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_text(encoding="utf-8") == kept, f"make house: {name}"
        assert "nan" not in kept


def test_the_conda_recipe_asks_for_what_the_project_does():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == fairpatch.__version__
    library, tool = (set(output["requirements"]["run"]) for output in recipe["outputs"])
    bare, cli = set(), set()
    for line in metadata("fairpatch").get_all("Requires-Dist"):
        asked, _, extra = line.partition("; extra == ")
        name = re.sub(r"(?<=[\w])(?=[><=])", " ", asked.strip())
        if not extra:
            bare.add(name)
        elif (
            extra.strip("'\"") in ("cli", "report", "sql", "progress") and "fairpatch[" not in line
        ):
            cli.add(name)
    elsewhere = {"duckdb": "python-duckdb", "ibis-framework": "ibis-framework-core"}
    cli = {" ".join([elsewhere.get(n.split()[0], n.split()[0]), *n.split()[1:]]) for n in cli}
    assert library - {"python >=3.11"} == bare
    assert tool - {"fairpatch ==${{ version }}"} == cli


def test_bounds_are_those_of_the_project():
    told = subprocess.run(
        [sys.executable, ROOT / ".ci" / "bounds"], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"^narwhals>=2\.\d+$", told, re.MULTILINE)
    assert re.search(r"^pytest==", told, re.MULTILINE)
    assert "torch" not in told
    assert "fairpatch" not in told


def tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if not name.startswith("tests/")]


def test_nothing_waits_to_be_filled_in():
    waiting = re.compile(r"ORGANI[SZ]ATION|YOUR[-_ ]ORG|example\.org/fairpatch|TODO:|FIXME")
    for path in tracked():
        if path.suffix in {".png", ".gz"} or not path.is_file():
            continue
        found = waiting.search(path.read_text(encoding="utf-8", errors="ignore"))
        assert found is None, (path, found)


def test_the_home_is_written_alike_wherever_it_must_be():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    home = told["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    other = re.compile(r"https://github\.com/([\w.-]+/fairpatch)\b")
    for path in tracked():
        if path.suffix in {".md", ".cff", ".yaml", ".yml", ".toml"}:
            for found in other.findall(path.read_text(encoding="utf-8")):
                assert home.endswith(found), path


def test_every_action_is_pinned_to_a_commit():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
            assert re.search(r"@[0-9a-f]{40} # v\d", line) or line.startswith("./"), (path, line)
