"""Adverse impact: hand-worked examples of public guidance, scipy, and what is not shown."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from scipy.stats.contingency import odds_ratio

from fairpatch import Decision, Roles, audit


def audited(groups, feature="group", **options):
    """Groups as {name: (people, selected)}; scores of 0.9 and 0.1."""
    rows = [
        (name, 0.9 if i < selected else 0.1)
        for name, (people, selected) in groups.items()
        for i in range(people)
    ]
    frame = pd.DataFrame(rows, columns=[feature, "p"])
    return audit(frame, sensitive_features=[feature], estimator="p", mean_scores=True, **options)


def rows_of(found):
    return {row.group: row for row in found.rows}


def test_the_example_of_the_uniform_guidelines():
    """48 of 80 and 12 of 40: 30 % is half of 60 %."""
    (table,) = audited({"White": (80, 48), "Black": (40, 12)}).adverse_impact("White")
    black = rows_of(table)["Black"]
    assert (black.rate, black.impact_ratio) == (pytest.approx(0.3), pytest.approx(0.5))
    assert black.shortfall == pytest.approx(12)
    assert black.standard_deviations == pytest.approx(-3.098, abs=0.001)
    assert black.adverse
    white = rows_of(table)["White"]
    assert (white.impact_ratio, white.standard_deviations, white.fisher_p) == (1.0, None, None)
    text = table.table("decision 1").text()
    assert "Below four fifths of White's rate" in text
    assert "White (reference)" in text


def test_the_table_of_local_law_144():
    """Impact ratios are to the category that is selected most."""
    (table,) = audited({"Male": (1390, 667), "Female": (1181, 555)}, feature="sex").adverse_impact()
    assert table.reference == "Male"
    assert rows_of(table)["Female"].impact_ratio == pytest.approx(0.979, abs=0.0005)
    assert not rows_of(table)["Female"].adverse


def test_tests_are_scipys():
    random = np.random.default_rng(0)
    for _ in range(20):
        n, m = random.integers(60, 400, 2)
        k, j = int(random.integers(20, n - 20)), int(random.integers(20, m - 20))
        (table,) = audited({"a": (n, k), "b": (m, j)}).adverse_impact("b")
        a = rows_of(table)["a"]
        counts = [[k, n - k], [j, m - j]]
        assert a.fisher_p == pytest.approx(fisher_exact(counts).pvalue)
        assert a.odds_ratio == pytest.approx(odds_ratio(counts, kind="sample").statistic)


def test_the_scores_are_compared_in_standard_deviations():
    found = audited({"a": (400, 100), "b": (400, 300)})
    (table,) = found.adverse_impact("b")
    p = np.repeat([0.9, 0.1, 0.9, 0.1], [100, 300, 300, 100])
    expected = (p[:400].mean() - p[400:].mean()) / p.std()
    assert rows_of(table)["a"].score_difference == pytest.approx(expected)


def test_where_the_score_is_of_harm_a_higher_one_is_worse():
    (table,) = audited(
        {"a": (400, 300), "b": (400, 100)}, decision=Decision(favourable=0)
    ).adverse_impact()
    assert table.reference == "b"
    a = rows_of(table)["a"]
    assert a.rate == pytest.approx(0.25)
    assert a.score_difference < 0


def test_an_engine_gives_the_same_table():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"n": random.choice(["u", "v"], 3_000), "race": random.choice(["x", "y", "z"], 3_000),
         "sex": random.choice(["f", "m"], 3_000),
         "p": random.random(3_000).round(3)}
    )  # fmt: skip
    (by_n,) = audit(duckdb.from_df(frame), sensitive_features="n", estimator="p").adverse_impact()
    assert {row.group for row in by_n.rows} == {"u", "v"}
    options = {"sensitive_features": ["race", "sex"], "estimator": "p", "mean_scores": True}
    one = audit(frame, **options).adverse_impact()
    two = audit(duckdb.from_df(frame), **options).adverse_impact()
    assert [t.feature for t in one] == ["race", "sex", "race & sex"]
    for a, b in zip(one, two, strict=True):
        assert a.reference == b.reference
        for row, other in zip(a.rows, b.rows, strict=True):
            assert row.impact_ratio == other.impact_ratio
            assert row.score_difference == pytest.approx(other.score_difference)


def test_nothing_is_told_that_the_audit_withholds():
    """A group of seven is not in it; of one with three selected, no test tells the three."""
    found = audited({"a": (500, 200), "b": (300, 3), "c": (7, 2)})
    (table,) = found.adverse_impact()
    assert set(rows_of(table)) == {str(g["group"]) for g in found.comparisons["group"].groups}
    b = rows_of(table).get("b")
    assert b is None or (b.selected, b.fisher_p, b.standard_deviations) == (None, None, None)
    shown = audited(
        {"a": (500, 200), "b": (300, 3), "c": (7, 2)}, show_small_counts=True, min_count=1
    )
    assert rows_of(shown.adverse_impact()[0])["b"].selected == 3


def test_weights_leave_the_tests_out():
    frame = pd.DataFrame(
        {"g": ["a"] * 200 + ["b"] * 200, "p": [0.9, 0.1] * 200, "w": [1.0, 2.0, 1.0, 3.0] * 100}
    )
    found = audit(frame, sensitive_features=["g"], estimator="p", roles=Roles(weight="w"))
    (table,) = found.adverse_impact()
    assert all(row.fisher_p is None and row.standard_deviations is None for row in table.rows)
    assert "no test is told" in table.table("decision 1").text()


def test_a_reference_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="there is no group 'white'.*'White'"):
        audited({"White": (80, 48), "Black": (40, 12)}).adverse_impact("white")


def test_people_of_unknown_group_are_no_group_and_no_reference():
    rows = [("m", 0.4, 1_000), ("f", 0.3, 1_000), (None, 0.9, 300), ("x", 0.95, 20)]
    frame = pd.DataFrame(
        [(g, 0.9 if i < share * n else 0.1) for g, share, n in rows for i in range(n)],
        columns=["sex", "p"],
    )
    (table,) = audit(frame, sensitive_features=["sex"], estimator="p").adverse_impact()
    assert table.reference == "m"  # nor is a group of fewer than 2 %
    found = rows_of(table)
    assert found["(missing)"].impact_ratio is None
    assert found["(missing)"].selected == 270
    assert found["f"].impact_ratio == pytest.approx(0.75)
    assert "compared with nobody" in table.table("yes").text()


def test_rows_of_the_same_people_are_not_tested_as_people():
    r = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.arange(2_000) // 4, "p": r.random(2_000)})
    frame["sex"] = np.where(frame["who"] % 2, "f", "m")
    found = audit(frame, sensitive_features=["sex"], estimator="p", roles=Roles(person="who"))
    (table,) = found.adverse_impact()
    assert all(row.standard_deviations is None and row.fisher_p is None for row in table.rows)
    assert "which take them for people" in table.table("yes").text()
