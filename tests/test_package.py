"""The package itself: what is public, how it is imported."""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fairpatch


def test_public_names_are_all_there():
    for name in fairpatch.__all__:
        assert getattr(fairpatch, name) is not None
    assert set(dir(fairpatch)) == set(fairpatch.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fairpatch.nothing


def test_import_and_audit_never_import_torch():
    code = "import sys, fairpatch; fairpatch.audit; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_it_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "narwhals", "pydantic", "pandas", "torch")
    code = f"import sys, fairpatch; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


SOURCE = Path(fairpatch.__file__).parent


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, known):
    """Every module of ours that a file imports: at its head, inside functions, for types only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports out, so that they can be followed"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    # `from fairpatch.a import b`: the module b where it is one, else the name b of the module a
    deep = {name for name in found if name in known}
    shallow = {n for n in deep if any(d.startswith(f"{n}.") for d in deep) and is_package(n)}
    return deep - shallow


def is_package(name):
    return (SOURCE.parent / Path(*name.split(".")) / "__init__.py").exists()


def import_graph():
    paths = {module_name(path): path for path in SOURCE.rglob("*.py")}
    return {name: imports_of(path, paths) - {name} for name, path in paths.items()}


def test_no_import_runs_in_a_circle():
    """Counting those inside functions; graphlib raises with the circle, if there is one."""
    order = list(graphlib.TopologicalSorter(import_graph()).static_order())
    assert len(order) > 150
    assert order.index("fairpatch.measure.metric") < order.index("fairpatch.target")


def test_nothing_is_imported_where_the_linter_does_not_look():
    """By name at run time: only optional packages, and our public names, which are listed."""
    asked = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"import_module\(|__import__\(|importlib\.import", text)
        if names and path.name != "extras.py":
            asked[path.relative_to(SOURCE).as_posix()] = len(names)
        assert not re.search(r"need\(\s*[\"']fairpatch", text), path
    assert asked == {"__init__.py": 2}
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    listed = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    lazy = {f"{home}.{name}" for name, home in fairpatch._HOME.items()}
    lazy |= {f"fairpatch.{room}" for room in fairpatch._ROOMS}
    assert lazy <= listed


def test_a_file_is_a_whole_idea_and_no_more():
    """A reader opens one file for one question, and reads it in one sitting."""
    lines = sorted(len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCE.rglob("*.py"))
    assert lines[-1] <= 500
    assert len(lines) < 190


def test_a_missing_extra_says_what_to_install():
    from fairpatch._tools.extras import need

    with pytest.raises(ImportError, match=r"pip install 'fairpatch\[datasets\]'"):
        need("no_such_package.module", extra="datasets")


def test_a_card_is_learned_without_torch_and_the_paper_says_what_it_needs():
    code = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)

sys.meta_path.insert(0, NoTorch())
from fairpatch import FairPatch, Target
from fairpatch.commod import Adversarial, Commod
from fairpatch.datasets import Population
two = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
people = Population(p_rule=0.6, groups=two).sample(4000).to_pandas()
X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
print(len(FairPatch("score", Target(p_rule=0.7)).fit(X, y, sensitive_features=s).patch_.columns))
for g in (Commod("score"), FairPatch("score", Target(p_rule=0.7), learner=Adversarial())):
    try:
        g.fit(X, y, sensitive_features=s)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    columns, *said = done.stdout.splitlines()
    assert 0 < int(columns) <= 6
    assert len(said) == 2
    assert all("pip install 'fairpatch[adversarial]'" in line for line in said)
