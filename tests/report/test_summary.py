"""The review's data: typed, documented, and everything that the page says."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Target
from fairpatch.patch import edit
from fairpatch.report.figures import least
from fairpatch.report.page import TEMPLATES
from fairpatch.report.signed import About, annex
from fairpatch.report.summary import Summary, schema

SCHEMA = Path(__file__).parents[2] / "docs" / "review.schema.json"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def table(seed, n=3_000):
    random = np.random.default_rng(seed)
    s = random.choice(["0", "1"], n)
    score = np.clip(random.random(n) * np.where(s == "0", 0.7, 1), 0.01, 0.99)
    X = pd.DataFrame(
        {"score": score, "town": np.where(random.random(n) < 0.75, s, "2"),
         "pay": random.normal(30, 5, n) - 4 * (s == "0"), "age": random.integers(18, 80, n)}
    )  # fmt: skip
    return X, (random.random(n) < score).astype(int), s


@pytest.fixture(scope="module")
def made():
    X, y, s = table(0)
    g = FairPatch("score", Target(p_rule=0.8)).fit(X, y, sensitive_features={"sex": s})
    X, y, s = table(1)
    about = About(
        model="Limits 2026", owner="Risk", purpose="card limits", date="2026-11-16",
        group_names={"sex": {"0": "women", "1": "men"}},
    )  # fmt: skip
    return g, g.review(X, y, sensitive_features={"sex": s}, refits=2, about=about), (X, y, s)


def test_every_name_is_documented_and_the_schema_is_current():
    assert SCHEMA.read_text(encoding="utf-8") == schema(), "write docs/review.schema.json anew"
    data = json.loads(schema())
    for kind in (data, *data["$defs"].values()):
        assert kind.get("description"), kind.get("title")
        for name, field in kind.get("properties", {}).items():
            own = data["$defs"].get(field.get("$ref", "").rpartition("/")[2], {})
            assert field.get("description") or own.get("description"), (kind["title"], name)


def test_the_data_come_back_as_they_were(made):
    _, found, _ = made
    assert Summary.model_validate_json(json.dumps(found.to_dict())) == found.summary


def numbers_in(value):
    """Every number of the data, and those inside its texts."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers_in(key)
            yield from numbers_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield value
    else:
        yield from NUMBER.findall(value)


def shown(value):
    """The ways in which the page may print a number."""
    if isinstance(value, str):
        return {value}
    forms = {f"{value:,}", f"{value:g}", str(value), *(f"{value:.{d}f}" for d in (0, 1, 2, 3))}
    return {f.lstrip("-") for f in forms | {f"{100 * value:.{d}f}" for d in (0, 1)}}


def test_every_figure_on_the_page_is_in_the_data(made):
    """Numbers of the page that are neither in the data nor words of the template: none."""
    _, found, _ = made
    data = found.to_dict()
    known = set().union(*(shown(v) for v in numbers_in(data)))
    for part in walk(data):  # a range is told by its middle where its ends are close together
        if isinstance(part, dict) and isinstance(part.get("at_most"), int):
            known.add(f"{(part['at_least'] + part['at_most'] + 1) // 2:,}")
    own = sum(len(f["text"]) > 0 and f["level"] != "fine" for f in data["findings"])
    known |= {str(own), str(len(data["patch"]["columns"]))}
    for path in TEMPLATES.rglob("*.html"):
        known |= set(NUMBER.findall(path.read_text(encoding="utf-8")))
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", found.html(), flags=re.DOTALL)
    text = re.sub(r"<(?!/?(?:sub)\b)[^>]*>", " ", text).replace("&middot;", " ")
    text = re.sub(r"&#?\w+;|\b(?=\w*[a-f])[0-9a-f]{8,}\b", " ", text)  # nor those of a hash
    known |= {n for pair in annex(found.summary.identity) for t in pair for n in NUMBER.findall(t)}
    strange = {n for n in NUMBER.findall(text) if n.rstrip(",") not in known}
    assert not strange


def walk(value):
    yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from walk(item)


def test_groups_have_the_names_that_people_have_for_them(made):
    g, found, (X, y, s) = made
    rows = found.to_dict()["groups"]["sex"]["rows"]
    assert [r["group"] for r in rows] == ["men", "women"]
    assert rows[1]["people"] == (s == "0").sum()
    assert "women" in found.summary.headline.changes
    estimate = found.to_dict()["certificate"]["results"][0]["estimate"]
    assert estimate["groups"] in (" (women against men)", " (men against women)")
    twice = About(group_names={"sex": {"0": "all", "1": "all"}})
    with pytest.raises(ValueError, match="two groups of 'sex' the same name"):
        g.review(X, y, sensitive_features={"sex": s}, refits=0, about=twice)
    other = About(group_names={"race": {"0": "all"}})
    with pytest.raises(ValueError, match="group_names is for 'sex'; got 'race'"):
        g.review(X, y, sensitive_features={"sex": s}, refits=0, about=other)


def test_who_signs_what_is_on_the_page(made):
    _, found, _ = made
    page = found.html()
    for text in ("Limits 2026", "owner: Risk", "card limits", "2026-11-16", "What is signed"):
        assert text in page
    assert found.summary.identity.patch_sha256 in page
    assert "validated" not in page


def test_a_line_approves_and_holds_back_those_who_would_be_decided_otherwise(made):
    g, found, (X, _, s) = made
    f_logit = g.base_.logits(X)
    after = g.patch_.decide(X, f_logit)
    did = []
    for line in found.summary.patch.card.lines:
        without = edit(g.patch_, strike=[line.who]).decide(X, f_logit)
        for what, who in (("approves", after & ~without), ("holds_back", ~after & without)):
            assert least(getattr(line, what)) <= who.sum() <= least(getattr(line, what)) + 9
            told = {own.group: getattr(own, what) for own in line.by_group}
            for group, name in (("0", "women"), ("1", "men")):
                assert least(told[name]) <= (who & (s == group)).sum() <= least(told[name]) + 9
        did.append(np.sum(after != without))
    assert did == sorted(did, reverse=True)


def test_the_menu_is_by_tens_and_the_choice_comes_first(made):
    g, found, _ = made
    menu = found.summary.menu
    assert menu.rows[0].name == "scorecard"
    people = next(iter(g.frontier_.dials[0].values())).people
    for row, entry in zip(menu.rows, g.menu_, strict=True):
        if row.reached:
            assert 0 <= entry.change_rate - row.changes < 10.5 / people
            assert row.verdict == entry.verdict
    assert all(row.name in found.html() for row in menu.rows)
