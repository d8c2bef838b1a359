"""Cards that nobody should sign, each planted and noticed; and cards that somebody may sign.

f marks part-time work down, which repayment does not bear out; everything else it has right.
"""

import numpy as np
import pandas as pd
import pytest

from fairpatch import PatchedModel, Target, review
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight, ScoreBand
from fairpatch.patch.parts import CategoricalWeight, CategoryWeight

EVERYBODY = 8_000


class Bank:
    """A model that can be asked: a sum of what it likes, and of what it does not."""

    classes_ = np.array([0, 1])

    def logits(self, X):
        return 1.6 * (
            0.04 * (X["income"].fillna(40.0) - 40)
            - 0.03 * (X["debt"] - 30)
            - 0.5 * X["priors"]
            - 0.5 * (X["charge"] == "felony")
            + 0.03 * (X["age"] - 45)
            - 1.2 * (X["work"] == "part-time")
            + 0.4
        )

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-self.logits(X).to_numpy()))
        return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(5)
    n = EVERYBODY
    sex = np.where(random.random(n) < 0.45, "F", "M")
    woman = sex == "F"
    married = random.random(n) < 0.5
    X = pd.DataFrame({
        "income": random.normal(40, 12, n).clip(5).round(1),
        "debt": random.uniform(0, 60, n).round(),
        "priors": random.poisson(0.8, n),
        "charge": np.where(random.random(n) < 0.6, "felony", "misdemeanour"),
        "age": random.integers(18, 80, n),
        "work": np.where(random.random(n) < np.where(woman, 0.45, 0.12), "part-time", "full-time"),
        "tenure": random.integers(0, 20, n),
        "savings": random.gamma(2.0, 5.0, n).round(),
        "sex": sex,
        "male": (~woman).astype(int),
        "title_code": np.where(woman, 7, 3),
        "relationship": np.where(married, np.where(woman, "Wife", "Husband"), "single"),
        "shift": np.where(woman, random.normal(1.2, 1, n), random.normal(0, 1, n)).round(2),
        "postcode_area": random.choice(["north", "south"], n),
        "hobby": "none",
        "gaps": np.where(random.random(n) < 0.1, np.nan, random.uniform(0, 9, n).round()),
        "balance": random.normal(300, 60, n).round(),
    })  # fmt: skip
    X.loc[:11, "hobby"] = "falconry"
    X.loc[20:24, "balance"] = -5.0
    truth = Bank().logits(X) + 1.9 * (X["work"] == "part-time")
    y = (random.random(n) < 1 / (1 + np.exp(-truth))).astype(int).to_numpy()
    return X, y, pd.DataFrame({"sex": sex})


def numbers(column, *ranges, missing=0.0):
    part = RangesWeight(column=column, missing=missing, ranges=[Range(**r) for r in ranges])
    return Column(name=column, kind="number"), {"ranges": [part]}


def categories(column, **points):
    part = CategoricalWeight(
        column=column, missing=0.0,
        categories=[CategoryWeight(category=c.replace("_", "-"), weight=w)
                    for c, w in points.items()],
    )  # fmt: skip
    return Column(name=column, kind="category"), {"categories": [part]}


def card(*parts, need=40, denied=None, near=0.3, direction="promote_only"):
    """Close calls change at ``need`` points; ``denied`` is where approvals are withdrawn."""
    bands = [ScoreBand(at_least=None, below=near, points=None),
             ScoreBand(at_least=near, below=0.5, points=0)]  # fmt: skip
    if direction != "promote_only":
        bands += [ScoreBand(at_least=0.5, below=1 - near, points=0),
                  ScoreBand(at_least=1 - near, below=None, points=None)]  # fmt: skip
    if direction == "demote_only":
        bands = bands[2:]
    return Patch(
        columns=[column for column, _ in parts],
        concepts=[Concept(name=c.name, weight=1.0, intercept=0.0, **held) for c, held in parts],
        card=CardScale(approve_at=need, deny_at=-need if denied is None else denied,
                       confidence=bands),
        direction=direction,
    )  # fmt: skip


GOOD = numbers("income", {"at_least": 50, "weight": 50})
NONSENSE = {
    "decides by sex": (card(categories("sex", F=60)), "a line for one group", "stop"),
    "decides by male": (
        card(numbers("male", {"below": 1, "weight": 65})), "a line for one group", "stop"),
    "decides by a code": (
        card(numbers("title_code", {"at_least": 7, "weight": 60})), "a line for one group", "stop"),
    "decides by wife": (
        card(categories("relationship", Wife=140, single=20)), "a line for one group", "stop"),
    "holds husbands back": (
        card(GOOD, categories("relationship", Husband=-60)), "a line for one group", "stop"),
    "rewards priors": (
        card(numbers("priors", {"at_least": 2, "weight": 60})), "order turned round", "stop"),
    "rewards debt": (
        card(numbers("debt", {"at_least": 40, "weight": 60})), "order turned round", "stop"),
    "rewards low income": (
        card(numbers("income", {"below": 30, "weight": 60})), "order turned round", "stop"),
    "rewards felony": (
        card(categories("charge", felony=60)), "points for what turns out worse", "look"),
    "gains by felony": (
        card(categories("charge", felony=60)), "gains by what turns out worse", "stop"),
    "some gains by felony": (
        card(categories("work", part_time=60), categories("charge", felony=45)),
        "points for what turns out worse", "look"),
    "a blank buys approval": (
        card(numbers("income", {"at_least": 50, "weight": 10}, missing=90)),
        "points for an empty field", "stop"),
    "a blank is worth most": (
        card(GOOD, numbers("gaps", {"at_least": 5, "weight": 10}, missing=25)),
        "points for an empty field", "look"),
    "a blank is enough": (
        card(numbers("gaps", {"at_least": 5, "weight": 95}, missing=90)),
        "points for an empty field", "stop"),
    "twelve falconers": (
        card(GOOD, categories("hobby", falconry=100)), "a line for very few", "look"),
    "everybody but a few": (
        card(categories("work", part_time=60, full_time=60), near=0.01), "many changes", "stop"),
    "calls that are not close": (
        card(categories("work", part_time=60), near=0.0001), "far from the threshold", "look"),
    "a proxy": (
        card(numbers("shift", {"at_least": 1, "weight": 60})), "protected or proxy", "look"),
    "age": (card(numbers("age", {"at_least": 60, "weight": 60})), "protected or proxy", "look"),
    "postcode": (card(categories("postcode_area", north=60)), "protected or proxy", "look"),
    "never enough": (
        card(numbers("tenure", {"below": 5, "weight": 60}, {"at_least": 15, "weight": 5})),
        "points that are never enough", "note"),
    "changes nothing": (
        card(GOOD, numbers("savings", {"at_least": 1_000, "weight": 60})),
        "a line that changes nothing", "note"),
    "impossible values": (
        card(numbers("balance", {"at_least": 400, "weight": 60})), "impossible values", "look"),
    "the target is missed": (card(GOOD), "target", "stop"),
    "nothing certified": (card(categories("work", part_time=60)), "certificate", "look"),
    "withdraws from the better": (
        card(numbers("income", {"at_least": 55, "weight": -60}), direction="demote_only",
             near=0.01),
        "outcome of the demoted", "stop"),
    "the old fall behind": (
        card(numbers("age", {"below": 40, "weight": -60}), direction="demote_only", near=0.05),
        "another group falls behind", "look"),
}  # fmt: skip
PART_TIME = categories("work", part_time=60)
SENSIBLE = {
    "part-time": card(PART_TIME),
    "part-time, closer calls": card(PART_TIME, near=0.35),
    "part-time, very close calls": card(PART_TIME, near=0.4),
    "part-time with little debt": card(
        categories("work", part_time=30), numbers("debt", {"below": 30, "weight": 15})),
    "part-time with some income": card(
        categories("work", part_time=30), numbers("income", {"at_least": 35, "weight": 15})),
    "part-time without priors": card(
        categories("work", part_time=30), numbers("priors", {"below": 1, "weight": 15})),
    "part-time, less with debt": card(PART_TIME, numbers("debt", {"at_least": 45, "weight": -25})),
    "part-time and long here": card(
        categories("work", part_time=30), numbers("tenure", {"at_least": 8, "weight": 15})),
    "part-time and a misdemeanour": card(
        categories("work", part_time=30), categories("charge", misdemeanour=15)),
    "part-time with savings": card(
        categories("work", part_time=30), numbers("savings", {"at_least": 6, "weight": 15})),
}  # fmt: skip


def reviewed(patch, people, target=None):
    X, y, s = people
    model = PatchedModel(BaseModel(Bank()), patch)
    return review(model, X, y, sensitive_features=s, target=target, refits=0)


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_found(name, people):
    patch, finding, level = NONSENSE[name]
    found = reviewed(patch, people, Target(p_rule=0.9))
    levels = [f.level for f in found.summary.findings if f.name == finding]
    assert level in levels, [(f.level, f.name) for f in found.summary.findings]
    if level in ("stop", "look"):  # on the page, on the terminal and in the data alike
        texts = {f.text for f in found.summary.findings if (f.name, f.level) == (finding, level)}
        assert all(text in str(found) for text in texts)
        assert texts <= {f["text"] for f in found.to_dict()["findings"]}
        assert found.summary.headline.level in ("stop", "look")


@pytest.mark.parametrize("name", SENSIBLE)
def test_sense_is_no_finding(name, people):
    found = reviewed(SENSIBLE[name], people)
    assert [f.text for f in found.summary.findings if f.level == "stop"] == []
    looks = {f.name for f in found.summary.findings if f.level == "look"}
    assert looks <= {"protected or proxy", "far from the threshold"}
