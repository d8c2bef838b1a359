"""Copies are not people: a certificate counts each of them once."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, PatchedModel, Roles, Target
from fairpatch.data.copies import copied
from fairpatch.datasets import Population
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CardScale, Patch

NOBODY = Patch(columns=[], concepts=[], card=CardScale(approve_at=10))
MODEL = PatchedModel(BaseModel("score"), NOBODY)
TARGET = Target(p_rule=0.8)


def people(n, seed, p_rule=0.8):
    return Population(p_rule=p_rule, accuracy=0.8).sample(n, seed=seed).to_pandas()


def certificate(table, model=MODEL):
    X = table.drop(columns=["id", "y", "group"])
    return model.certify(
        X, table["y"], sensitive_features=table["group"], target=TARGET, if_unlike="ignore"
    )


@pytest.mark.parametrize("times", [2, 5, 20])
def test_a_table_that_was_pasted_several_times_is_judged_as_if_once(times):
    """150 rows: inconclusive; the same twenty times over were certified, of 3,000 people."""
    once = people(300, 3, p_rule=0.95)
    again = certificate(pd.concat([once] * times, ignore_index=True))
    alone = certificate(once)
    assert again.results == alone.results
    assert again.verdict == "inconclusive"
    assert f"Of {300 * times:,} rows, {300 * (times - 1):,} are copies" in str(again)
    assert "copies" not in str(alone)


def test_a_month_that_overlaps_with_the_one_before_counts_once():
    table = people(3_000, 2)
    both = pd.concat([table, table.iloc[:600]], ignore_index=True)
    assert "Of 3,600 rows, 600 are copies" in str(certificate(both))


def test_people_who_are_alike_are_people():
    """Values as coarse as those of a table of arrests: half of the rows have a double."""
    random = np.random.default_rng(0)
    for seed in range(40):
        cells = int(random.integers(2, 5_000))
        chances = random.gamma(random.choice([0.1, 0.5, 2.0]), size=cells)
        drawn = np.random.default_rng(seed).choice(cells, 2_000, p=chances / chances.sum())
        times = np.unique(drawn, return_counts=True)[1]
        assert not copied(times)


@pytest.mark.parametrize(
    "times", [5, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 20))]
)
def test_the_level_holds_whatever_was_copied(times):
    """The truth is the limit: five certificates in a hundred, at most."""
    population = Population(p_rule=0.8, accuracy=0.8)
    big = population.sample(200_000, seed=99).to_pandas()
    rates = [(big["score"][big["group"] == g] > 0.5).mean() for g in sorted(set(big["group"]))]
    limit = Target(p_rule=min(rates) / max(rates))
    found = 0
    for seed in range(60):
        table = pd.concat([people(250, seed)] * times, ignore_index=True)
        X = table.drop(columns=["id", "y", "group"])
        judged = MODEL.certify(
            X, table["y"], sensitive_features=table["group"], target=limit, if_unlike="ignore"
        )
        found += judged.verdict == "certified"
    assert found <= 8  # 95 in 100 of all such 60 have fewer


def test_a_fit_splits_people_and_not_their_copies():
    table = people(2_000, 3, p_rule=0.6)
    twice = pd.concat([table] * 3, ignore_index=True)
    X = twice.drop(columns=["id", "y", "group"])
    g = FairPatch("score", Target(p_rule=0.7)).fit(X, twice["y"], sensitive_features=twice["group"])
    assert g.fitted_.people == 2_000
    assert "Of 6,000 rows, 4,000 are copies" in str(g.certificate_)


def test_a_key_that_several_rows_share_is_refused():
    table = people(400, 4)
    table.loc[:19, "id"] = table.loc[20:39, "id"].to_numpy()
    keyed = Patch.model_validate({**dict(NOBODY), "roles": Roles(key="id")})
    with pytest.raises(ValueError, match="40 rows share their 'id', the key"):
        PatchedModel(BaseModel("score"), keyed).certify(
            table, "y", sensitive_features="group", target=TARGET, if_unlike="ignore"
        )
    with pytest.raises(ValueError, match="name 'id' as the person"):
        FairPatch("score", TARGET, roles=Roles(key="id")).fit(
            table, "y", sensitive_features="group"
        )
