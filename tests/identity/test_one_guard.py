"""One guard at every door: predict warns, apply refuses in memory and in engines, SQL says it."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch import BaseModel, FairPatch, PatchedModel, Target
from fairpatch.datasets import Population
from fairpatch.engines.sql import check_sql
from fairpatch.identity.compare import OtherModelError, OtherModelWarning

TWO = {"a": (0.6, 0.0), "b": (0.4, 1.0)}


def people(n, seed):
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=TWO).sample(n, seed=seed)
    table = found.to_pandas()
    random = np.random.default_rng(seed)
    more = 2 * (table["group"] == "b") + random.normal(0, 1.5, n)
    job = pd.cut(more, [-np.inf, -1, 0.5, 2, 3.5, np.inf], labels=list("vwxyz"))
    return table.assign(cat_0=job.astype(object).map(lambda v: f"Büro {v}"))


@pytest.fixture(scope="module")
def g():
    table = people(8_000, 0)
    X, y, s = table[["cat_0", "num_0", "score"]], table["y"], table["group"]
    target = Target(p_rule=0.75, reads=["cat_0"])
    return FairPatch("score", target).fit(X, y, sensitive_features=s)


MONTH = people(20_000, 1)[["cat_0", "num_0", "score"]]
COMMON = MONTH["cat_0"].value_counts().index
LOG_ODDS = np.log(MONTH["score"] / (1 - MONTH["score"]))
REFUSED = {
    "renamed": MONTH.assign(cat_0=MONTH["cat_0"].replace(COMMON[2], "Buero")),
    "upper case": MONTH.assign(cat_0=MONTH["cat_0"].str.upper()),
    "other accents": MONTH.assign(cat_0=MONTH["cat_0"].str.normalize("NFD")),
    "padded": MONTH.assign(cat_0=MONTH["cat_0"].str.ljust(12)),
    "turned": MONTH.assign(score=1 - MONTH["score"]),
    "retrained": MONTH.assign(score=1 / (1 + np.exp(-(1.5 * LOG_ODDS + 1.5)))),
}
FINE = {
    "as it was": MONTH,
    "another order": MONTH[["score", "num_0", "cat_0"]].sample(frac=1, random_state=0),
    "one in fifty is new": MONTH.assign(
        cat_0=MONTH["cat_0"].where(np.arange(len(MONTH)) % 50 > 0, "new")
    ),
}


def doors(table):
    yield table
    yield pl.from_pandas(table).lazy()
    yield duckdb.from_df(table)


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_so_at_every_door(g, what):
    table = REFUSED[what]
    from_file = PatchedModel(BaseModel("score"), g.patch_)
    for rows in doors(table):
        with pytest.raises(OtherModelError):
            from_file.apply(rows)
        assert g.patched_.apply(rows, if_unlike="ignore") is not None
    with pytest.warns(OtherModelWarning, match="apply refuses such a table"):
        g.predict(table)
    given = duckdb.from_df(table)
    query = check_sql(g.patch_, "score", table="given", dialect="duckdb")
    assert given.query("given", query).fetchall()[0][0] == "refuse"


@pytest.mark.parametrize("what", FINE)
@pytest.mark.filterwarnings("ignore::fairpatch.identity.compare.OtherModelWarning")
def test_what_is_fine_is_decided(g, what):
    table = FINE[what]
    for rows in doors(table):
        g.patched_.apply(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = table["cat_0"] != "new"
        before = g.predict(MONTH.loc[table.index])
        assert (g.predict(table) == before)[same].all()


def test_few_people_are_not_compared(g):
    """A service asks for one person at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g.predict(REFUSED["upper case"].head(20))


@pytest.mark.slow  # Spark's start
@pytest.mark.filterwarnings("ignore")
def test_spark_is_a_door_too(g, spark):
    from_file = PatchedModel(BaseModel("score"), g.patch_)
    for what, table in REFUSED.items():
        with pytest.raises(OtherModelError):
            from_file.apply(spark.createDataFrame(table))
        assert what
    for table in FINE.values():
        decided = from_file.apply(spark.createDataFrame(table)).toPandas()
        assert len(decided) == len(table)
