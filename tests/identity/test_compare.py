"""The fingerprint: quiet for the same population, whatever the sample; without anybody's values."""

import json

import numpy as np
import pandas as pd
import pytest

from fairpatch import Card, Decision, FairPatch, Target
from fairpatch.datasets import Population
from fairpatch.identity.compare import LIMITS, Numbers, _of_column, compare, compare_rows
from fairpatch.identity.fingerprint import fingerprint_of, probe_values
from fairpatch.patch import Column
from fairpatch.patch.learned import ColumnPrint

POPULATION = Population(p_rule=0.55, accuracy=0.8, groups={"a": (0.65, 0.0), "b": (0.35, 1.0)})


@pytest.fixture(scope="module")
def patch():
    people = POPULATION.sample(5_000, seed=0).to_pandas().drop(columns="id")
    g = FairPatch("score", Target(p_rule=0.7)).fit(people, "y", sensitive_features=["group"])
    return g.patch_


@pytest.mark.parametrize("n", [30, 300, 3_000])
def test_samples_of_the_same_population_are_alike(patch, n):
    """Of 60 samples hardly one is noticed, and none refused: people differ by chance alone."""
    found = [
        compare(patch, POPULATION.sample(n, seed=100 + k).to_pandas(), "score") for k in range(60)
    ]
    assert not any(one.refused for one in found)
    assert sum(bool(one.findings) for one in found) <= 1


def test_a_fingerprint_has_nobodys_values(patch):
    people = POPULATION.sample(5_000, seed=0).to_pandas()
    text = json.dumps(patch.fingerprint.model_dump(mode="json"))
    read = next(c.name for c in patch.columns if c.kind == "number")
    values = {repr(v) for v in people[read].dropna()} | {repr(v) for v in people["score"]}
    assert not any(v in text for v in values if len(v) > 8)
    assert len(text) < 8_000


def test_categories_of_few_people_are_left_out():
    categories = np.array(["common"] * 91 + ["rare"] * 9)
    X = pd.DataFrame({"job": categories})
    found = fingerprint_of(X, np.linspace(0.01, 0.99, 100), [Column(name="job", kind="category")])
    assert found.columns[0].categories == ("common",)
    assert found.columns[0].shares == (0.9,)  # to ten people: nine of 100 do not follow from it
    assert found.columns[0].others == 0.1


def test_the_figures_are_those_of_the_definition(patch):
    """Kolmogorov's distance at the edges, by hand; weights of 0 are nobody."""
    people = POPULATION.sample(2_000, seed=7).to_pandas()
    score = people["score"] ** 2
    known = patch.fingerprint
    apart = [abs((score <= e).mean() - s) for e, s in zip(known.edges, known.shares, strict=True)]
    found = compare(patch, people.assign(score=score), "score").findings
    own = next(f for f in found if f.figure == "score_distance")
    assert own.value == pytest.approx(max(apart))
    assert own.value > LIMITS["score_distance"][0]
    weight = np.where(np.arange(2_000) < 1_000, 1.0, 0.0)
    columns = list(patch.columns)
    half = fingerprint_of(people[:1_000], people["score"].to_numpy()[:1_000], columns)
    whole = fingerprint_of(people, people["score"].to_numpy(), columns, weight)
    assert whole.shares == half.shares
    assert whole.columns == half.columns


def test_arrays_are_compared_by_position():
    people = POPULATION.sample(4_000, seed=0).to_pandas()
    X = people[["num_0", "num_1", "num_3"]].fillna(20.0).to_numpy()
    f = dict(zip(map(tuple, X), people["score"], strict=True))
    g = FairPatch(lambda X: np.array([f.get(tuple(row), 0.5) for row in X]), Target(p_rule=0.6),
                  learner=Card(keep_order=None))  # fmt: skip
    g.fit(X, people["y"].to_numpy(), sensitive_features=people["group"].to_numpy())
    scores = people["score"].to_numpy()
    assert not compare_rows(g.patch_, X, scores).findings
    assert compare_rows(g.patch_, X * 100, scores).refused


def test_a_patch_without_a_fingerprint_is_never_refused(patch):
    old = patch.model_copy(update={"fingerprint": None, "decision": Decision()})
    assert not compare(old, POPULATION.sample(100).to_pandas(), "score").findings


def test_columns_that_few_have_are_neither_described_nor_made_up():
    random = np.random.default_rng(0)
    debt = np.where(np.arange(1_000) < 12, random.integers(100, 900, 1_000), np.nan)
    X = pd.DataFrame({"debt": debt, "age": random.integers(18, 80, 1_000)})
    columns = [Column(name="debt", kind="number"), Column(name="age", kind="number")]
    found = fingerprint_of(X, random.random(1_000), columns)
    assert found.columns[0].edges == ()
    assert found.columns[1].edges
    assert found.columns[0].missing == 0.99  # and not 0.988: twelve people
    assert probe_values(X, ["debt", "age"])["debt"] == (None,)


@pytest.mark.parametrize(("people", "refused"), [(60, False), (3_000, True)])
def test_few_people_are_noticed_and_only_many_refused(patch, people, refused):
    """Of 30 to 99 people a figure far beyond its limit is said, and stops nobody."""
    table = POPULATION.sample(people, seed=9).to_pandas().assign(score=0.999)
    found = compare(patch, table, "score")
    assert found.findings
    assert found.refused is refused


def test_a_small_fit_knows_its_own_means_less_well():
    """100 people then: their mean may be off as much as that of the 100 now."""
    few = ColumnPrint(column="x", edges=(1.0,), shares=(1.0,), means=(0.5,))
    sums = Numbers({"m0": 10_000.0, "c0_0": 10_000.0, "p0_0": 5_600.0})
    shift = [_of_column(0, few, 10_000.0, then, sums)["shift of x"] for then in (100, 10_000)]
    assert shift[0] == 0.0
    assert 0.0 < shift[1] < 0.1
