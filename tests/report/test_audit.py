"""The audit as data, text and HTML; small groups stay hidden; engines count in place."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch import Decision, audit
from fairpatch._tools.smallest_count import UNPROTECTED
from fairpatch.datasets import Population
from fairpatch.disclose.suppress import PublishedCount

HOSTILE = '<script>alert("x")</script>\x1b[31m\u202e'


@pytest.fixture(scope="module")
def people():
    return Population(p_rule=0.6, accuracy=0.8).sample(20_000, seed=1)


def test_every_frame_and_engine_gives_the_same_audit(people):
    connection = duckdb.connect()
    connection.register("people", people)
    tables = [people, people.to_pandas(), pl.from_arrow(people), pl.from_arrow(people).lazy()]
    audits = [
        audit(table, "y", sensitive_features=["group"], estimator="score")
        for table in [*tables, connection.table("people")]
    ]
    first = audits[0].to_dict()
    assert all(found.to_dict() == first for found in audits)
    json.dumps(first)


def test_the_forms_of_sensitive_features_are_the_same(people):
    frame = people.to_pandas()
    forms = ["group", ["group"], frame[["group"]], frame["group"], {"group": list(frame["group"])}]
    texts = {str(audit(frame, "y", sensitive_features=form, estimator="score")) for form in forms}
    assert len(texts) == 1


def test_favourable_names_the_outcome_that_is_compared(people):
    one, zero = (
        audit(
            people,
            "y",
            sensitive_features="group",
            estimator="score",
            decision=Decision(favourable=v),
        )
        for v in (1, 0)
    )
    assert float(one.accuracy) == float(zero.accuracy)
    assert float(one.selection_rate) == pytest.approx(1 - float(zero.selection_rate))
    assert "favourable outcome: decision 0" in str(zero)
    with pytest.raises(ValueError, match="Input should be 0 or 1"):
        audit(
            people,
            "y",
            sensitive_features="group",
            estimator="score",
            decision=Decision(favourable="yes"),
        )


def small_groups(sizes):
    s = np.repeat(list(sizes), list(sizes.values()))
    return audit(
        pd.DataFrame({"p": np.tile([0.2, 0.8, 0.9], len(s))[: len(s)]}),
        sensitive_features={"s": s},
        estimator="p",
    )


def test_small_groups_are_neither_shown_nor_compared():
    found = small_groups({"big": 60, "other": 40, "tiny": 6, "few": 5})
    assert "tiny" not in str(found) + found._repr_html_() + json.dumps(found.to_dict())
    assert "2 groups of fewer than 10 people are suppressed" in str(found)
    assert found.comparisons["s"].compared.groups == (("big",), ("other",))
    assert [g["people"] for g in found.comparisons["s"].groups] == [
        PublishedCount(60, 60),
        PublishedCount(40, 40),
    ]


def test_what_is_hidden_cannot_be_had_by_subtraction():
    found = small_groups({"big": 60, "other": 40, "tiny": 5})
    assert [str(g["people"]) for g in found.comparisons["s"].groups] == ["60", "40"]
    assert str(found.people) == "100 to 109"
    assert found.to_dict()["people"] == {"at_least": 100, "at_most": 109}
    assert "whatever would reveal them" in str(found)


def test_who_is_entitled_sees_small_counts_and_that_they_are_shown():
    s = np.repeat(["big", "tiny"], [60, 5])
    frame = pd.DataFrame({"p": np.tile([0.2, 0.8, 0.9], 22)[:65]})
    found = audit(frame, sensitive_features={"s": s}, estimator="p", show_small_counts=True)
    assert found.to_dict()["people"] == 65
    assert not found.to_dict()["protected"]
    for text in (str(found), found._repr_html_()):
        assert UNPROTECTED in text
    hidden = audit(frame, sensitive_features={"s": s}, estimator="p")
    assert UNPROTECTED not in str(hidden)


def test_a_crossing_of_very_many_small_groups_is_not_shown():
    random = np.random.default_rng(0)
    s = {name: random.integers(0, 40, 20_000) for name in ("region", "trade")}
    frame = pd.DataFrame({"p": random.random(20_000), "y": random.integers(0, 2, 20_000)})
    found = audit(frame, "y", sensitive_features=s, estimator="p").comparisons
    assert found["region & trade"].groups == []
    assert len(found["region"].groups) == 40


def test_names_from_the_data_are_shown_as_text():
    frame = pd.DataFrame({"p": np.tile([0.2, 0.8], 20), "y": np.tile([0, 1, 1, 0], 10)})
    s = np.repeat([HOSTILE, "b" * 10_000], 20)
    found = audit(frame, "y", sensitive_features={f"s{HOSTILE}": s}, estimator="p")
    page = found._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    for text in (page, str(found)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "b" * 100 not in text


def test_without_labels_only_decisions_are_compared():
    frame = pd.DataFrame({"p": np.tile([0.2, 0.8, 0.9], 20)})
    found = audit(frame, sensitive_features=np.tile(["a", "b"], 30), estimator="p")
    assert not found.accuracy.defined
    assert found.comparisons["sensitive"].metrics["p_rule"].defined
    assert "undefined" in str(found)


def test_several_features_bring_their_intersection():
    frame = pd.DataFrame({"p": np.tile([0.2, 0.8, 0.9], 40)})
    s = {"sex": np.tile(["f", "m"], 60), "race": np.repeat(["a", "b"], 60)}
    found = audit(frame, sensitive_features=s, estimator="p")
    assert list(found.comparisons) == ["sex", "race", "sex & race"]
    assert len(found.comparisons["sex & race"].groups) == 4


def test_people_with_s_missing_are_said_to_be_left_out():
    frame = pd.DataFrame({"p": np.tile([0.2, 0.8, 0.9], 20)})
    s = np.array(["a", "b", None] * 20, dtype=object)
    found = audit(frame, sensitive_features={"s": s}, estimator="p")
    assert "People whose s is not known are not compared." in str(found)


def test_a_table_in_an_engine_needs_names(people):
    table = pl.from_arrow(people).lazy()
    with pytest.raises(ValueError, match="sensitive_features must be names"):
        audit(table, "y", sensitive_features=np.ones(3), estimator="score")
    with pytest.raises(ValueError, match="y must be the name"):
        audit(table, np.ones(3), sensitive_features="group", estimator="score")
    with pytest.raises(KeyError, match="column 'z', which the table does not have"):
        audit(people, "z", sensitive_features="group", estimator="score")


@pytest.mark.parametrize(("people", "shown"), [(9, False), (10, True), (11, True)])
def test_ten_people_are_shown_and_compared_nine_are_not(people, shown):
    s = ["large"] * 50 + ["other"] * 50 + ["small"] * people
    decided = np.tile([0.9, 0.1], 60)[: len(s)]
    found = audit(decided[:, None], sensitive_features=s, estimator=lambda X: X[:, 0])
    comparison = next(iter(found.comparisons.values()))
    assert ("small" in comparison.compared.group_names) == shown
    assert (comparison.n_hidden == 0) == shown
    assert ("small" in str(found)) == shown


def test_the_whole_audit_as_text():
    s = {"sex": ["f"] * 20 + ["m"] * 30 + ["x"] * 3}
    p = np.array([0.9] * 5 + [0.1] * 15 + [0.9] * 15 + [0.1] * 15 + [0.9] * 3)
    found = audit(p[:, None], (p > 0.5).astype(int), sensitive_features=s, estimator=lambda X: X)
    lines = str(found).splitlines()
    assert lines[0] == (
        "Audit of 50 to 59 people; 1 is decided above 0.5; favourable outcome: decision 1"
    )
    assert lines[6:12] == [
        "By sex",
        "  group  people         y = 1    decision 1           TPR    FPR  accuracy",
        "  f          20  0.05 to 0.45  0.05 to 0.45  0.11 to 1.00   0.00     1.000",
        "  m          30         0.500         0.500         1.000  0.000     1.000",
        "  TPR and FPR: share that gets decision 1 of those with y = 1, and of those with y = 0.",
        "  1 group of fewer than 10 people is suppressed and not compared.",
    ]
    assert lines[12] == "Between the groups of sex"
    assert lines[14] == "  P-Rule (lowest rate / highest)  0.10 to 0.90"
    harm = audit(
        p[:, None], sensitive_features=s, estimator=lambda X: X, decision=Decision(favourable=0)
    )
    assert "favourable outcome: decision 0" in str(harm)
    assert "Undefined: group 'f': there are no rows with y = 0." in str(harm)


def test_what_looks_like_a_slip_is_said_or_refused():
    random = np.random.default_rng(0)
    n = 3_000
    people = pd.DataFrame({"score": random.random(n), "s": random.choice(["a", "b"], n)})
    y = (random.random(n) < people["score"]).astype(float)

    def figure_text(score, labels=y, sensitive=people["s"]):
        frame = people.assign(score=score)
        return str(audit(frame, labels, sensitive_features=sensitive, estimator="score"))

    assert "threshold" not in figure_text(people["score"])
    assert "is 0.5 the threshold your model uses?" in figure_text(people["score"] / 2)
    assert "of the rows have no outcome" in figure_text(
        people["score"], y.where(people.index > 100)
    )
    with pytest.raises(ValueError, match="score_unit=.percent."):
        figure_text(100 * people["score"])
    with pytest.raises(ValueError, match="has 3000 values, all of them numbers: cut it into bands"):
        figure_text(people["score"], sensitive=people["score"].rename("income"))
