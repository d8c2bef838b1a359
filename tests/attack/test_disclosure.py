"""Nobody hidden can be worked out of an audit or a review, by an integer program over all of it.

`make attack` tries 200 audits and 100 reviews; `make check` a few.
"""

import json
import os

import numpy as np
import pandas as pd
import pytest

from attack.solver import Reader
from fairpatch import PatchedModel, Target, audit, review
from fairpatch.inputs.base import BaseModel
from fairpatch.measure import intervals
from fairpatch.measure.metric import METRICS, P_RULE
from fairpatch.patch import CardScale, Column, Concept, NumberWeight, Patch, Range, RangesWeight
from fairpatch.report.audit_groups import shown_rates

MANY = bool(os.environ.get("FAIRPATCH_ATTACK"))


def wilson(k, n):
    return intervals.rate(k, n, 0.95, "wilson")


def population(seed):
    """Groups of one to thirty people beside larger ones, of one or two features."""
    random = np.random.default_rng(seed)
    sizes = random.integers(40, 400, random.integers(1, 4)).tolist()
    sizes += random.integers(1, 31, random.integers(1, 4)).tolist()
    s = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    features = {"s": s}
    if random.random() < 0.4:
        features["t"] = np.where(random.random(len(s)) < random.uniform(0.05, 0.5), "a", "b")
    p = random.random(len(s))
    y = random.random(len(s)) < p
    return pd.DataFrame({"score": p, "y": y.astype(int)}), features


CELLS = {(y, f): f"y{y}f{f}" for y in (0, 1) for f in (0, 1)}
OF = {  # counts that hide behind an audit's figures: cells (y, decision)
    "people": list(CELLS),
    "approved": [(0, 1), (1, 1)],
    "denied": [(0, 0), (1, 0)],
    "good": [(1, 0), (1, 1)],
    "bad": [(0, 0), (0, 1)],
    "right": [(0, 0), (1, 1)],
    "wrong": [(0, 1), (1, 0)],
    **{name: [cell] for cell, name in CELLS.items()},
}
RATES = {
    "base_rate": ("good", "people"),
    "selection_rate": ("approved", "people"),
    "true_positive_rate": ("y1f1", "good"),
    "false_positive_rate": ("y0f1", "bad"),
    "accuracy": ("right", "people"),
}


def attack_audit(frame, features):
    """The secrets of an audit that its JSON tells, and how many figures it shows."""
    found = audit(frame, "y", sensitive_features=features, estimator="score")
    text = found.to_dict()
    text = json.loads(json.dumps(text))
    reader, most = Reader(), len(frame)
    names = list(features)
    joint = pd.Series(list(zip(*features.values(), strict=True)))
    f = (frame["score"] > 0.5).astype(int)
    truth = pd.DataFrame({"g": joint, "y": frame["y"], "f": f}).value_counts().to_dict()
    present = sorted(set(joint))

    def form(groups, what):
        cells = [reader.unknown((g, cell)) for g in groups for cell in OF[what]]
        return reader.sum(cells)

    def true(groups, what):
        return sum(truth.get((g, *cell), 0) for g in groups for cell in OF[what])

    secrets, shown, all_figures = [], 0, 0

    def publish(groups, told):
        nonlocal shown, all_figures
        if "people" in told:
            reader.count(form(groups, "people"), told["people"])
        for rate, (k, n) in RATES.items():
            if rate in told:
                reader.rate(form(groups, k), form(groups, n), told[rate], most, wilson)
                all_figures += 1
                shown += told[rate]["value"] is not None

    publish(present, {k: text[k] for k in ("people", "accuracy", "selection_rate")})
    for margin in [(n,) for n in names] + ([tuple(names)] if len(names) > 1 else []):
        table = text["sensitive_features"][" & ".join(margin)]
        pick = [names.index(n) for n in margin]
        groups = {}
        for g in present:
            groups.setdefault(" & ".join(g[i] for i in pick), []).append(g)
        told = {g["group"]: g for g in table["groups"]}
        hidden = 0
        for name, members in groups.items():
            if name in told:
                publish(members, told[name])
                secrets += [
                    ((name, what), form(members, what), 1, 9)
                    for what in OF
                    if 0 < true(members, what) < 10
                ]
            else:
                hidden += 1
                reader.state(form(members, "people"), 1, 9)  # so it says
                secrets += [
                    ((name, what), form(members, what), int(what == "people"), 9) for what in OF
                ]
        assert hidden == table["hidden_groups"]
        for metric in METRICS:
            follows(metric, table)
    return reader.told(secrets), len(secrets), shown, all_figures


def follows(metric, table):
    """A comparison says no more than the groups' own figures do."""
    told = table["metrics"][metric.key]
    keys = {"p_rule": ["selection_rate"], "demographic_parity_difference": ["selection_rate"],
            "tpr_gap": ["true_positive_rate"], "fpr_gap": ["false_positive_rate"],
            "disparate_mistreatment": ["true_positive_rate", "false_positive_rate"]}  # fmt: skip
    rates = [[g[key] for g in table["groups"]] for key in keys[metric.key]]
    if told["value"] is not None and told["low"] is not None:
        assert all(r["low"] is not None for each in rates for r in each)
    elif told["value"] is None and "at_least" not in told:
        return
    else:
        ends = [metric.between([between(r) for r in each]) for each in rates]
        low, high = sum(e[0] for e in ends), sum(e[1] for e in ends)
        if told["value"] is None:
            # no wider than the rates say; counts that are told may say a little more
            assert told["at_least"] >= low - 0.011
            assert told["at_most"] <= high + 0.011
        else:
            assert told["value"] == pytest.approx((low + high) / 2, abs=0.011)


def between(rate):
    if rate["value"] is None:
        return rate.get("at_least", 0.0), rate.get("at_most", 1.0)
    half = 0.0 if rate.get("low") is not None else 0.005
    return rate["value"] - half, rate["value"] + half


@pytest.mark.parametrize("seed", range(200 if MANY else 5))
def test_no_audit_tells_a_hidden_count(seed):
    told, secrets, *_ = attack_audit(*population(seed))
    assert secrets
    assert told == []


def test_few_people_without_a_label_are_not_told():
    """Approved less approved with each label: three people, once."""
    cells = {(1, 1): 200, (1, 0): 40, (0, 1): 50, (0, 0): 150, (None, 1): 3, (None, 0): 40}
    rows = [(y, d) for (y, d), n in cells.items() for _ in range(n)] + [(1, 1), (0, 0)] * 85
    frame = pd.DataFrame({"y": [y for y, _ in rows], "score": [0.9 if d else 0.1 for _, d in rows]})
    s = np.repeat(["a", "b"], [483, 170])
    found = audit(frame, "y", sensitive_features={"s": s}, estimator="score")
    told = [found.comparisons["s"].groups[0][rate] for rate in shown_rates(found.counts)]
    assert any(rate.low is None for rate in told)


def test_what_a_review_says_beside_its_tables_tells_nobody():
    """Whether a limit is met, and how well the change tells the group, were counts in disguise."""
    random = np.random.default_rng(0)
    s = np.repeat(["a", "b"], [1000, 40])
    frame = pd.DataFrame(
        {"a": random.uniform(0.1, 1, 1040), "score": random.uniform(0, 0.49, 1040)}
    )
    frame.loc[:99, "score"] = 0.9
    frame.loc[1000:1002, "score"] = 0.8
    frame.loc[1010:1011, "a"] = -2.0
    model = PatchedModel(BaseModel("score"), PATCH)
    y = (random.random(1040) < frame["score"]).astype(int)
    found = review(
        model, frame, y, sensitive_features={"s": s}, target=Target(p_rule=0.8), refits=0
    ).to_dict()
    assert not found["proxies"]  # of 40 people, each AUC would be told by few of them
    assert found["effect"]["requirements"][0]["met"] is None


def proxies_of(frame, s):
    model = PatchedModel(BaseModel("score"), PATCH)
    y = (np.random.default_rng(1).random(len(frame)) < frame["score"]).astype(int)
    found = review(
        model, frame, y, sensitive_features={"s": s}, target=Target(p_rule=0.5), refits=0
    ).to_dict()
    return {p["what"]: p["auc"] for p in found["proxies"]}


def test_a_group_of_one_is_told_by_no_auc():
    """The largest AUC of all groups was that person's rank: their age, from 1,000 others."""
    random = np.random.default_rng(0)
    s = np.repeat(["a", "b", "c"], [600, 399, 1])
    frame = pd.DataFrame(
        {"a": random.uniform(0.1, 1, 1000), "score": random.uniform(0.1, 0.9, 1000)}
    )
    told = []
    for age, score in ((0.11, 0.2), (0.99, 0.8)):
        frame.loc[999, ["a", "score"]] = age, score
        told.append(proxies_of(frame, s))
    assert told[0] == told[1]
    assert told[0]["a"]["at_most"] - told[0]["a"]["at_least"] == pytest.approx(0.05)


def test_one_value_of_a_shown_group_is_told_by_hardly_any_auc():
    """A step of an AUC is what ten people could move: one of them moves it over one in ten."""
    random = np.random.default_rng(2)
    s, moved = np.repeat(["a", "b"], [400, 200]), 0
    for seed in range(20):
        a = np.random.default_rng(seed).uniform(0.1, 1, 600)
        told = []
        for mine in (0.0, 2.0):
            a[500] = mine
            told.append(
                proxies_of(pd.DataFrame({"a": a, "score": random.uniform(0.1, 0.9)}), s)["a"]
            )
        moved += told[0] != told[1]
    assert moved <= 6


def test_that_none_of_few_has_a_label_is_not_told():
    """Three of a group are promoted, and none of them turned out well: their labels are theirs."""
    random = np.random.default_rng(0)
    s = np.repeat(["a", "b"], [900, 300])
    frame = pd.DataFrame(
        {"a": random.uniform(0.1, 1, 1200), "score": random.uniform(0, 0.49, 1200)}
    )
    frame.loc[:200, "score"] = frame.loc[900:960, "score"] = 0.9
    frame.loc[300:360, "a"] = frame.loc[1000:1002, "a"] = -2.0
    y = (random.random(1200) < 0.4).astype(int)
    y[1000:1003] = 0
    model = PatchedModel(BaseModel("score"), PATCH)
    found = review(model, frame, y, sensitive_features={"s": s}, target=Target(p_rule=0.5),
                   refits=0).to_dict()  # fmt: skip
    rows = {row["group"]: row for row in found["groups"]["s"]["rows"]}
    told = rows["b"]["outcomes"]["promoted"]
    assert told["value"] is None
    assert told["at_most"] is None or told["at_most"] > 0


def test_without_small_groups_everything_is_shown():
    for seed in range(40 if MANY else 3):
        random = np.random.default_rng(seed)
        s = np.repeat(["a", "b", "c"], random.integers(400, 900, 3))
        p = random.random(len(s))
        y = random.random(len(s)) < 0.3 + 0.4 * p
        frame = pd.DataFrame({"score": p, "y": y.astype(int)})
        told, secrets, shown, figures = attack_audit(frame, {"s": s})
        assert (told, secrets) == ([], 0)
        assert shown == figures == 17


def test_the_solver_finds_a_person_whom_subtraction_tells():
    """The attack itself works: unprotected, everybody is told."""
    reader = Reader()
    a, b = reader.unknown("a"), reader.unknown("b")
    reader.count(reader.sum([a, b]), 103)
    reader.count(a, 100)
    assert reader.told([("b", b, 1, 9)]) == ["b"]
    wide = Reader()
    a, b = wide.unknown("a"), wide.unknown("b")
    wide.count(wide.sum([a, b]), {"at_least": 100, "at_most": 109})
    wide.count(a, 100)
    wide.state(b, 1, 9)
    assert wide.told([("b", b, 1, 9)]) == []


PATCH = Patch(
    columns=[Column(name="a", kind="number")],
    concepts=[
        Concept(
            name="c",
            weight=1.0,
            intercept=0.0,
            numbers=[NumberWeight(column="a", coefficient=1.0, missing=0.0)],
        )
    ],
    direction="promote_only",
)


def promoted_few(seed):
    """Two groups or three, of which one has one to nine promotions."""
    random = np.random.default_rng(seed)
    sizes = {"A": int(random.integers(150, 400)), "B": int(random.integers(80, 300))}
    moved = {"A": int(random.integers(12, 40)), "B": int(random.integers(1, 10))}
    if random.random() < 0.5:
        sizes["C"], moved["C"] = int(random.integers(1, 31)), 0
    s = np.repeat(list(sizes), list(sizes.values()))
    n = len(s)
    frame = pd.DataFrame(
        {"a": random.uniform(0.1, 1, n), "b": random.normal(size=n), "score": random.random(n)}
    )
    for group, many in moved.items():
        denied = np.flatnonzero((frame["score"] < 0.5) & (s == group))
        frame.loc[denied[:many], "a"] = -random.uniform(1.1, 3, len(denied[:many]))
    y = (random.random(n) < frame["score"]).astype(int)
    return frame, y.to_numpy(), s


SPOTS = [(y, *move) for y in (0, 1) for move in ((1, 1), (0, 0), (0, 1))]
"""Label, f's decision, g's: the patch promotes only, which it says."""
PARTS = {
    "people": SPOTS,
    "promoted": [s for s in SPOTS if s[1] < s[2]],
    "before": [s for s in SPOTS if s[1]],
    "after": [s for s in SPOTS if s[2]],
    "denied": [s for s in SPOTS if not s[1]],
    "denied after": [s for s in SPOTS if not s[2]],
}
MOVES = {"promoted": (0, 1), "left approved": (1, 1), "left denied": (0, 0)}


def clopper_pearson(k, n):
    return intervals.rate(k, n, 0.95, "clopper_pearson")


CARD = Patch(
    columns=[Column(name="a", kind="number")],
    concepts=[
        Concept(
            name="c",
            weight=1.0,
            intercept=0.0,
            ranges=[RangesWeight(column="a", ranges=[Range(below=-1.0, weight=100.0)])],
        )
    ],
    card=CardScale(approve_at=50),
    direction="promote_only",
)
REVIEWED = {
    "rate": lambda d: (lambda spot: spot[d], lambda _: True),
    "accuracy": lambda d: (lambda spot: spot[0] == spot[d], lambda _: True),
    "good_approved": lambda d: (lambda spot: spot[d], lambda spot: spot[0] == 1),
    "bad_approved": lambda d: (lambda spot: spot[d], lambda spot: spot[0] == 0),
}
"""Who is counted, and among whom, by the decision of f (1) or of g (2)."""


class Population:
    """Some people by group, label and decisions, and what was read about them."""

    def __init__(self, features, truth):
        self.reader, self.features, self.truth = Reader(), features, truth
        self.groups = sorted({key[: len(features)] for key in truth})
        self.secrets = []

    def form(self, inside, cells):
        """People of the groups for which ``inside`` is true, in some cells."""
        here = [g for g in self.groups if inside(g)]
        return self.reader.sum([self.reader.unknown((*g, *spot)) for g in here for spot in cells])

    def few(self, inside, cells):
        here = [g for g in self.groups if inside(g)]
        return 0 < sum(self.truth.get((*g, *spot), 0) for g in here for spot in cells) < 10

    def keep(self, name, inside, sets):
        """Counts of one to nine people must not be known better than that."""
        for cells in sets:
            if self.few(inside, cells):
                self.secrets.append(((name, tuple(cells)), self.form(inside, cells), 1, 9))


def attack_review(seed):
    """The secrets of a review that its JSON reveals."""
    frame, y, s = promoted_few(seed)
    model = PatchedModel(BaseModel("score"), CARD if seed % 2 else PATCH)
    own = {"s": s}
    if seed % 5 == 0:  # a second feature, and its crossing
        own["t"] = np.random.default_rng(seed).choice(["x", "z"], len(s), p=[0.8, 0.2])
    found = review(model, frame, y, sensitive_features=own, target=Target(p_rule=0.8), refits=0)
    text = json.loads(json.dumps(found.to_dict()))
    f = (frame["score"] > 0.5).to_numpy().astype(int)
    g = model.decide(frame).astype(int)
    truth = pd.DataFrame({**own, "y": y, "f": f, "g": g}).value_counts().to_dict()
    people, most = Population(list(own), truth), len(frame)
    reader = people.reader

    def all_of(cells):
        return people.form(lambda _: True, cells)

    everybody = {name: all_of(cells) for name, cells in PARTS.items()}
    change = text["effect"]["change"]
    reader.count(everybody["people"], text["people"])
    reader.count(everybody["promoted"], change["changed"])
    reader.count(everybody["promoted"], change["promoted"])
    reader.rate(
        everybody["promoted"], everybody["people"], change["change_rate"], most, clopper_pearson
    )
    for when, decided in (("before", 1), ("after", 2)):
        right = all_of([spot for spot in SPOTS if spot[0] == spot[decided]])
        reader.rate(right, everybody["people"], text["effect"]["accuracy"][when], most, wilson)
    for what, move in MOVES.items():
        (told,) = [row for row in text["swap"] if row["what"] == what]
        bad, good = [(0, *move)], [(1, *move)]
        reader.count(all_of(bad + good), told["people"])
        reader.rate(all_of(good), all_of(bad + good), told["outcome_rate"], most, wilson)
        people.keep(what, lambda _: True, (bad, good, bad + good))
    for k, feature in enumerate(own):
        read_groups(people, text["groups"][feature], lambda g, k=k: (g[k],), most)
    if text["crossing"] and not text["crossing"]["withheld"]:
        read_groups(people, text["crossing"], lambda g: g, most, crossing=True)
    rows = {row["group"]: row for row in text["groups"]["s"]["rows"]}
    read_lines(people, text, most)
    read_tens(people, text, most)
    follows_review(text, rows)
    return reader.told(people.secrets), len(people.secrets)


def read_groups(people, section, key, most, *, crossing=False):
    """Rates, errors, changes and outcomes of every group of a feature, or of the crossing."""
    reader, rows = people.reader, {row["group"]: row for row in section["rows"]}
    for name in sorted({" & ".join(key(g)) for g in people.groups}):
        told = rows[name]

        def inside(g, name=name):
            return " & ".join(key(g)) == name

        own = {part: people.form(inside, cells) for part, cells in PARTS.items()}
        if told["hidden"]:
            reader.state(own["people"], 1, 9)
            people.secrets += [
                ((name, part), own[part], int(part == "people"), 9) for part in PARTS
            ]
            continue
        reader.count(own["people"], told["people"])
        reader.count(own["promoted"], told["promoted"])
        for rate, cells_of in REVIEWED.items():
            for when, decided in (("before", 1), ("after", 2)):
                hits, among = cells_of(decided)
                n = [spot for spot in SPOTS if among(spot)]
                k = people.form(inside, [spot for spot in n if hits(spot)])
                reader.rate(k, people.form(inside, n), told[rate][when], most, wilson)
        for what, move in MOVES.items():
            bad, good = [(0, *move)], [(1, *move)]
            both = people.form(inside, bad + good)
            reader.rate(people.form(inside, good), both, told["outcomes"][what], most, wilson)
            if not crossing:
                people.keep((name, what), inside, (bad, good, bad + good))
        people.keep(name, inside, list(PARTS.values()))


def read_lines(people, text, most):
    """Those whom a line approves are some of the approved, those it holds back of the denied."""
    reader, card = people.reader, text["patch"]["card"]
    kinds = {"approves": ((0, 1), (1, 1)), "holds_back": ((0, 0), (1, 0))}
    for i, line in enumerate(card["lines"] if card else []):
        for what, moves in kinds.items():
            own = {(g, y, move): reader.unknown(("line", i, what, g, y, move))
                   for g in people.groups for y in (0, 1) for move in moves}  # fmt: skip
            for (g, y, move), form in own.items():
                less = {at: -w for at, w in form.items()}
                reader.read(reader.sum([reader.unknown((*g, y, *move)), less]), 0, np.inf)
            reader.count(reader.sum(own.values()), line[what])
            for told in line["by_group"]:
                k = people.features.index(told["feature"])
                here = [f for (g, *_), f in own.items() if g[k] == told["group"]]
                reader.count(reader.sum(here), told[what])
            if what == "approves":  # how those of them turned out whom f denies
                up = {y: [f for (_, at, move), f in own.items() if (at, move) == (y, (0, 1))]
                      for y in (0, 1)}  # fmt: skip
                good, both = reader.sum(up[1]), reader.sum(up[0] + up[1])
                reader.rate(good, both, line["outcome_rate"], most, wilson)


def read_tens(people, text, most):
    """Histograms and calibration: full tens of people, band by band."""
    reader = people.reader
    for h in text["scores"]["histograms"]:
        k = people.features.index(h["feature"])
        for told, part in ((h["people"], "people"), (h["movers"], "promoted")):
            own = people.form(lambda g, k=k, h=h: g[k] == h["group"], PARTS[part])
            reader.read(own, sum(told), np.inf)
    bands = {}
    for c in text["scores"]["calibration"]:
        bands.setdefault((c["feature"], c["group"]), []).append(c)
    for (feature, group), own in bands.items():
        k = people.features.index(feature)
        for when in ("before", "after"):
            parts = []
            for i, band in enumerate(own):
                bad, good = (reader.unknown((feature, group, i, when, y)) for y in (0, 1))
                reader.count(reader.sum([bad, good]), band[f"people_{when}"])
                reader.rate(good, reader.sum([bad, good]), band[f"good_{when}"], most, wilson)
                parts.append((bad, good))
            for y in (0, 1):
                cells = [spot for spot in SPOTS if spot[0] == y]
                all_of = people.form(lambda g, k=k, group=group: g[k] == group, cells)
                less = {at: -w for at, w in all_of.items()}
                reader.read(reader.sum([*(part[y] for part in parts), less]), 0, 0)


def follows_review(text, rows):
    """P-Rule and impact ratios say no more than the groups' rates do."""
    for when in ("before", "after"):
        told = text["effect"]["requirements"][0][when]
        rates = [between(r["rate"][when]) for r in rows.values() if not r["hidden"]]
        low, high = P_RULE.between(rates)
        if told["value"] is None and told["at_least"] is not None:
            # no wider than the rates say; counts that are told may say a little more
            assert told["at_least"] >= low - 0.011
            assert told["at_most"] <= high + 0.011
        elif told["low"] is not None:
            shown = [r["rate"][when] for r in rows.values() if not r["hidden"]]
            assert all(r["low"] is not None for r in shown)


@pytest.mark.parametrize("seed", range(100 if MANY else 3))
def test_no_review_tells_a_hidden_count(seed):
    told, secrets = attack_review(seed)
    assert secrets
    assert told == []
