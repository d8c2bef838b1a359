"""What a notebook shows: every display has a picture and a text form, and hides what is hidden."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Target, audit
from fairpatch._tools.tables import Bar, Bars
from fairpatch.datasets import Population


@pytest.fixture(scope="module")
def fitted():
    groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    people = Population(p_rule=0.6, groups=groups).sample(6_000).to_pandas()
    X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
    return FairPatch("score", Target(p_rule=0.8)).fit(X, y, sensitive_features=s)


def test_a_fit_shows_its_card_its_verdict_and_the_groups(fitted):
    shown = fitted._repr_mimebundle_()
    for text in shown.values():
        assert str(fitted.certificate_.verdict) in text.lower()
        assert "by group" in text
        assert "→" in text
        assert fitted.patch_.columns[0].name in text
    assert "<script" not in shown["text/html"]
    before = FairPatch("score", Target(p_rule=0.8))._repr_mimebundle_()
    assert "FairPatch" in before["text/plain"]


def test_the_bars_are_the_rates_on_the_certification_rows(fitted):
    counts = fitted.certificate_.counts.by("group")
    after = counts.along("group", "after").astype(float)
    rates = after[:, 1] / after.sum(1)
    text = fitted._repr_mimebundle_()["text/plain"]
    assert all(f"→ {rate:.0%}" in text for rate in rates)


def test_a_menu_is_a_table(fitted):
    page = fitted.menu_._repr_html_()
    assert "<table" in page
    assert all(entry.name in page for entry in fitted.menu_)


def test_an_audit_has_bars_and_small_groups_none():
    random = np.random.default_rng(0)
    s = np.array(["a"] * 300 + ["b"] * 200 + ["rare-one"] * 4)
    rows = pd.DataFrame({"score": random.random(504), "y": random.integers(0, 2, 504)})
    found = audit(rows, "y", sensitive_features={"s": s}, estimator="score")
    (bars,) = found.bars()
    assert [bar.name for bar in bars.bars] == ["a", "b"]
    assert "rare-one" not in bars.text() + found._repr_html_()
    assert 'role="img"' in found._repr_html_()


def test_names_are_escaped_and_what_is_withheld_has_no_bar():
    bars = Bars("<b>", [Bar("<script>", None), Bar("falls", 0.5, 0.25)])
    assert "<script>" not in bars.html()
    assert "withheld" in bars.text()
    assert "█" * 10 + "░" * 10 in bars.text()
