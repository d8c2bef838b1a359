"""A patch as people read it, its names, and what differs between two of them."""

import pytest

from fairpatch.patch import CategoricalWeight, CategoryWeight, Column, Concept, NumberWeight, Patch
from fairpatch.patch.edit import difference


def patch_on(slope=-0.5, **options):
    return Patch(
        columns=[Column(name="age", kind="number"), Column(name="job", kind="category")],
        concepts=[
            Concept(
                name="concept 1", weight=2.0, intercept=0.25,
                numbers=[NumberWeight(column="age", coefficient=slope, missing=0.75)],
                categories=[CategoricalWeight(column="job", missing=-0.1, categories=[
                    CategoryWeight(category="cook", weight=1.5),
                    CategoryWeight(category="nurse", weight=-3.0),
                ])],
            )
        ],
        offset=0.1, strength=0.8, **options,
    )  # fmt: skip


def test_the_whole_patch_in_words():
    assert str(patch_on(direction="promote_only")).splitlines() == [
        "r = 1 + 0.8 x (0.1 +2 x (concept 1)); direction promote_only",
        "  A decision changes where r is below 0.",
        "concept 1 adds",
        "  column         value   adds  if missing",
        "  everybody             +0.25",
        "  age        each unit   -0.5       +0.75",
        "  job            nurse     -3        -0.1",
        "  job             cook   +1.5",
    ]


def test_a_notebook_shows_the_same_cells():
    html = patch_on()._repr_html_()
    for cell in ("concept 1 adds", "each unit", "nurse", "+0.75", "direction both"):
        assert cell in html


def test_concepts_are_renamed_and_nothing_else():
    named = patch_on().with_names({"concept 1": "where one works"})
    assert [c.name for c in named.concepts] == ["where one works"]
    assert difference(patch_on(), named) == []
    assert named.with_names({"where one works": "concept 1"}) == patch_on()
    with pytest.raises(ValueError, match=r"no concept \['x'\]; the patch has \['concept 1'\]"):
        patch_on().with_names({"x": "y"})


def test_what_differs_is_named_with_both_weights():
    found = difference(patch_on(), patch_on(slope=-0.25))
    assert found == [("age, each unit", -0.8, -0.4)]
    everything = {name for name, _, _ in difference(patch_on(), Patch(columns=(), concepts=()))}
    assert everything == {
        "everybody", "age, each unit", "age, missing", "job is 'cook'", "job is 'nurse'",
        "job, missing",
    }  # fmt: skip
    (threshold,) = difference(patch_on(), patch_on(threshold=0.4))
    assert threshold == ("threshold", 0.5, 0.4)
    values = {name: one for name, one, _ in difference(patch_on(), Patch(columns=(), concepts=()))}
    assert values["everybody"] == pytest.approx(1 + 0.8 * (0.1 + 2 * 0.25))
    assert values["job is 'nurse'"] == pytest.approx(0.8 * 2 * -3.0)
    assert values["job, missing"] == pytest.approx(0.8 * 2 * -0.1)
    assert values["age, missing"] == pytest.approx(0.8 * 2 * 0.75)
