"""Sensitive features at the door, in every form that callers have."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Groups
from fairpatch.target import judgeable

VALUES = ["b", "a", None, "b"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (pd.DataFrame({"sex": VALUES}), "sex"),
        (pd.Series(VALUES, name="sex"), "sex"),
        (pl.DataFrame({"sex": VALUES}), "sex"),
        (pl.Series("sex", VALUES), "sex"),
        ({"sex": VALUES}, "sex"),
        (np.array(VALUES, object), "sensitive"),
        (np.array(VALUES, object)[:, None], "sensitive"),
        (VALUES, "sensitive"),
        (pd.Series(VALUES), "sensitive"),
    ],
)
def test_every_form_gives_the_same_groups(given, name):
    found = Groups.of(given)
    assert found.features == (name,)
    assert found.values == (("a", "b"),)
    assert found.codes.ravel().tolist() == [1, 0, -1, 1]
    assert Groups.of(found) is found
    assert found.joint[0] == (("a",), ("b",), (None,))
    assert found.joint[1].tolist() == [1, 0, 2, 1]


def test_two_features_and_their_crossings():
    found = Groups.of(np.array([["x", "1"], ["y", "1"], ["x", "2"]]))
    assert found.features == ("sensitive_0", "sensitive_1")
    assert found.of_feature("sensitive_1").tolist() == [0, 0, 1]
    assert found.joint[0] == (("x", "1"), ("x", "2"), ("y", "1"))
    assert len(np.unique(found.strata)) == 3
    some = found.take(np.array([1, 2]))
    assert some.values == (("x", "y"), ("1", "2"))
    assert some.codes.tolist() == [[1, 0], [0, 1]]


def test_numbers_are_ordered_as_text_and_whole_ones_are_whole():
    assert Groups.of([10.0, 9.0, np.nan]).values == ((10, 9),)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "at least one column"),
        ("sex", "at least one column and one value a row"),
        (np.zeros((2, 2, 2)), "one value a row"),
        ({"a": [1, 2], "b": [1]}, r"differ in their rows: \[1, 2\]"),
    ],
)
def test_what_is_no_feature_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Groups.of(given)


def test_one_value_or_a_hundred_and_one_cannot_be_compared():
    assert Groups.of([f"t{i}" for i in range(100)]).comparable()
    assert Groups.of(np.arange(50)).comparable()
    assert Groups.of([1, 2]).comparable()
    with pytest.raises(ValueError, match="has 101 values; merge some"):
        Groups.of([f"t{i}" for i in range(101)]).comparable()
    with pytest.raises(ValueError, match="has 51 values, all of them numbers: cut it into bands"):
        Groups.of(np.arange(51)).comparable()
    with pytest.raises(ValueError, match="has 1 known value, at least 2"):
        Groups.of(["a", None]).comparable()


def test_a_group_of_few_people_with_many_rows_is_small_all_the_same():
    """Five people of c have eight rows each: they are five."""
    groups = np.repeat(["a", "b", "c"], [200, 200, 40])
    person = np.concatenate([np.arange(400), 400 + np.arange(40) // 8])
    counts = Counts.from_arrays(
        decision=np.arange(440) % 2, sensitive_features={"s": groups}, person=person
    )
    assert counts.sizes.tolist() == [200, 200, 40]
    assert judgeable(counts, 10).group_names == ("a", "b")
