"""The site: public names are documented, links resolve, loaders explain themselves."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOMS = [
    "fairpatch",
    "fairpatch.measure",
    "fairpatch.patch",
    "fairpatch.explain",
    "fairpatch.baselines",
    "fairpatch.life",
]


def public(room):
    module = importlib.import_module(room)
    named = [n for n in module.__all__ if not n.startswith("_")]
    return [(n, getattr(module, n)) for n in named if not isinstance(getattr(module, n), type(re))]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_says_what_it_is(room):
    silent = [name for name, thing in public(room) if not (thing.__doc__ or "").strip()]
    assert not silent


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_an_example_that_runs(room):
    """In its own docstring, or in the reference: both are doctests."""
    reference = (DOCS / "api.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^(?:>>>|\.\.\.) (.*)$", reference, re.MULTILINE))
    lacking = [
        name
        for name, thing in public(room)
        if ">>>" not in (thing.__doc__ or "") and not re.search(rf"\b{name}\b", code)
    ]
    assert not lacking


def test_every_public_room_is_in_the_reference():
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    for name, _ in public("fairpatch"):
        assert f"fairpatch.{name}" in text, name
    for room in ROOMS[1:]:
        assert f"automodule:: {room}\n" in text, room


def test_links_between_files_resolve():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    broken = []
    for page in pages:
        if "gallery" in page.parts:
            continue
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" in link or link.startswith("mailto:"):
                continue
            if "gallery/" in link or link == "commands.md":
                continue  # made when the site is built, which checks these
            named = re.match(r"(?:repo|colab):(.*)", link)  # of the repository, by conf.py
            if not (ROOT / named[1] if named else page.parent / link).exists():
                broken.append((str(page.relative_to(ROOT)), link))
    assert not broken


def test_files_that_the_paper_page_names_exist():
    text = (DOCS / "paper.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z_/]+\.(?:py|md))`", text):
        assert (ROOT / "src" / "fairpatch" / name).exists() or (ROOT / name).exists(), name


def test_every_data_set_explains_itself_offline(monkeypatch, tmp_path):
    """Without the data, a loader says what to get and where to put it."""
    from fairpatch.datasets import NAMES, load

    monkeypatch.setenv("FAIRPATCH_DATA", str(tmp_path))
    for name in NAMES:
        with pytest.raises(FileNotFoundError, match="Get it.* and put it at .*sha256"):
            load(name)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_documents_its_parameters_and_what_it_returns(room):
    """numpydoc: each parameter by itself; dataclasses and models document their fields instead."""
    lacking = []
    for name, thing in public(room):
        if not inspect.isfunction(thing):
            continue
        text, signature = inspect.getdoc(thing) or "", inspect.signature(thing)
        lacking += [
            f"{name}: {parameter}"
            for parameter in signature.parameters
            if not re.search(
                rf"(?m)^[*]*(\w+, )*[*]*{parameter}(, \w+)* : |^[*]+{parameter}$", text
            )
        ]
        lacking += [] if "Returns\n-------" in text else [f"{name}: Returns"]
    assert not lacking


def test_the_front_doors_document_every_parameter():
    import fairpatch
    from fairpatch.commod import Commod

    for kind in (fairpatch.FairPatch, Commod, fairpatch.Target, fairpatch.Card):
        text = inspect.getdoc(kind)
        for parameter in inspect.signature(kind).parameters:
            assert re.search(rf"(?m)^{parameter} : ", text), (kind, parameter)
    for kind in (fairpatch.FairPatch, Commod):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith("_") or "fairpatch" not in method.__module__:
                continue
            text = inspect.getdoc(method)
            assert "Returns\n-------" in text, (kind, name)
            for parameter in list(inspect.signature(method).parameters)[1:]:
                found = rf"(?m)^[*]*(\w+, )*[*]*{parameter}(, \w+)* : |^[*]+{parameter}$"
                assert re.search(found, text), (kind, name, parameter)
