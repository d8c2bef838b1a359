"""Rows that learned or chose are found again, whatever became of their file; fresh ones are not."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Target
from fairpatch.data.rows import Rows
from fairpatch.data.used_rows import UsedRows
from fairpatch.datasets import Population
from fairpatch.inputs.base import BaseModel
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor

PEOPLE = Population(p_rule=0.6, accuracy=0.8)
TARGET = Target(p_rule=0.75)


def people(n, seed):
    table = PEOPLE.sample(n, seed=seed).to_pandas()
    table["region"] = np.random.default_rng(seed).choice(list("abcdefgh"), n)
    return table


def parts(table):
    return table.drop(columns=["id", "y", "group"]), table["y"], table["group"]


@pytest.fixture(scope="module")
def fitted():
    X, y, s = parts(people(4_000, 0))
    return FairPatch("score", TARGET).fit(X, y, sensitive_features=s)


@pytest.fixture(scope="module")
def own(fitted):
    """The rows that it learned from and was chosen on."""
    table = people(4_000, 0)
    X, y, s = parts(table)
    found = fitted.patched_.used_rows(X, y, s)
    assert 0.45 < found.rows.mean() < 0.55
    return table[found.rows]


def as_csv(table, tmp_path):
    table.to_csv(tmp_path / "rows.csv", index=False)
    return pd.read_csv(tmp_path / "rows.csv")


CHANGES = {
    "as they were": lambda t, _: t,
    "shuffled": lambda t, _: t.sample(frac=1, random_state=1),
    "as CSV": as_csv,
    "single precision": lambda t, _: t.astype({"num_0": "float32", "score": "float32"}),
    "scores moved": lambda t, _: t.assign(score=(t["score"] + 0.001).clip(0, 1)),
    "a number moved": lambda t, _: t.assign(num_0=t["num_0"] + 0.001),
    "a category renamed": lambda t, _: t.assign(region="elsewhere"),
    "labels turned": lambda t, _: t.assign(y=1 - t["y"]),
    "a column lost": lambda t, _: t.drop(columns="region"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_used_rows_are_found(fitted, own, tmp_path, change, share):
    used = int(1_000 * share)
    table = pd.concat([own.iloc[:used], people(1_000 - used or 1, 9)])
    if share == 1.0:
        table = own.iloc[:1_000]
    X, y, s = parts(CHANGES[change](table, tmp_path))
    found = fitted.patched_.used_rows(X, y, s)
    assert found.rows.sum() == pytest.approx(used, abs=0.02 * used)


def fresh(n, seed, digits):
    table = PEOPLE.sample(n, seed=seed).to_pandas()
    numbers = [name for name in table if name.startswith("num")]
    table = table.round({**dict.fromkeys(numbers, digits), "score": 2}) if digits else table
    X, y, _ = parts(table)
    return Rows(X, y.to_numpy().astype(int), f_logit=BaseModel("score").logits(X))


@pytest.mark.parametrize("digits", [None, 1])
def test_fresh_rows_are_not(digits):
    """Of the same population, also where its values are coarse: chance is measured."""
    for seed in range(15):
        learned, chosen, certified, new = (fresh(500, 10 * seed + k, digits) for k in range(4))
        used = UsedRows.of([learned, chosen], certified, ["score"])
        assert not used.among(new.X, new.y, new.f).rows.any()


@pytest.mark.parametrize("certified", [None, 0, 200, 499])
def test_few_fresh_rows_are_enough_to_measure_chance(certified):
    """Compared with themselves, the rows that learned would all be found, and nothing be told."""
    learned, chosen, spare = (fresh(500, 90 + k, None) for k in range(3))
    others = None if certified is None else spare.take(np.arange(certified))
    used = UsedRows.of([learned, chosen], others, ["score"])
    assert used.among(learned.X, learned.y, learned.f).rows.all()
    if certified:  # of a learner that makes no difference between the two
        used = UsedRows.of([learned], others, ["score"])
        assert used.among(learned.X, learned.y, learned.f).rows.all()


def test_of_too_few_fresh_rows_it_is_said_that_nothing_is_told():
    learned, spare = fresh(500, 95, None), fresh(30, 96, None)
    found = UsedRows.of([learned], spare, ["score"]).among(learned.X, learned.y, learned.f)
    assert "cannot be told" in found.text
    assert not found.rows.any()


def test_rows_that_are_all_alike_are_not_told():
    X = pd.DataFrame({"a": [0.0, 1.0] * 100, "score": [0.2, 0.8] * 100})
    rows = Rows(X, np.arange(200) % 2, f_logit=BaseModel("score").logits(X))
    found = UsedRows.of([rows, rows], rows).among(rows.X, rows.y, rows.f)
    assert not found.told
    assert "cannot be told" in found.text


def test_a_certificate_leaves_them_out_and_says_so(fitted, own):
    new = people(2_000, 5)
    mixed = pd.concat([own.iloc[:500], new])
    X, y, s = parts(mixed)
    certificate = fitted.certify(X, y, sensitive_features=s)
    assert "Of 2,500 rows, 500 are left out" in str(certificate)
    X, y, s = parts(new)
    alone = fitted.certify(X, y, sensitive_features=s)
    assert [r.estimate for r in certificate.results] == [r.estimate for r in alone.results]
    named = fitted.patched_.certify(
        mixed.drop(columns="id"), "y", sensitive_features="group", target=TARGET
    )
    assert named.counts == certificate.counts
    X, y, s = parts(own)
    with pytest.raises(ValueError, match="learned from all of these rows"):
        fitted.certify(X, y, sensitive_features=s)


def test_a_month_leaves_them_out_too(fitted, own, tmp_path):
    X, y, s = parts(pd.concat([own.iloc[:700], people(1_000, 6)]))
    watched = monitor(
        fitted.patched_, X, y, sensitive_features=s, target=TARGET, period="2026-11",
        history=History(tmp_path / "h.jsonl"),
    )  # fmt: skip
    assert "Of 1,700 rows, 700 are left out" in str(watched)
    assert ".." not in str(watched)
    assert watched.last.counts.total == 1_000


def test_its_file_is_for_its_owner_and_gives_back_what_it_was(fitted, tmp_path):
    used = fitted.patched_.used
    path = used.save(tmp_path / "used.npz")
    assert path.stat().st_mode & 0o777 == 0o600
    again = UsedRows.load(path)
    assert (again.columns, again.chance, again.salt) == (used.columns, used.chance, used.salt)
    assert all(np.array_equal(a, b) for a, b in zip(again.hashes, used.hashes, strict=True))
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ValueError, match="does not hold used rows"):
        UsedRows.load(path)
