"""Strata: groups compared in each, or standardised over all of them."""

import duckdb
import numpy as np
import pytest

from fairpatch import Decision, FairPatch, Roles, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.datasets import Population
from fairpatch.engines.target_query import target_sql
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor
from fairpatch.measure.comparisons import Comparisons, Layers
from fairpatch.measure.counts import Counts
from fairpatch.measure.fewest_together import fewest_together
from fairpatch.measure.groups import Groups
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE
from fairpatch.measure.strength_curve import in_layers, trace

EACH, MIXED = Comparisons.of("z", "each"), Comparisons.of("z", "standardised")
GROUPS = {"a": (0.7, 0.0), "b": (0.3, 1.0)}


def table(n=3_000, strata=4, seed=0):
    random = np.random.default_rng(seed)
    z = random.integers(0, strata, n).astype(object)
    s = np.where(random.random(n) < 0.2 + 0.15 * z.astype(float), "b", "a").astype(object)
    p = 0.2 + 0.15 * z.astype(float) - 0.08 * (s == "b")
    f = random.random(n) < p
    g = np.where(random.random(n) < 0.1, ~f, f)
    return f, g, random.integers(0, 2, n), s, z


def counts_of(f, g, y, s, z, **more):
    return Counts.from_arrays(
        decision=f, new_decision=g, y=y, sensitive_features={"s": s}, strata={"z": z}, **more
    )


def test_in_each_stratum_they_are_compared_by_themselves():
    f, g, y, s, z = table()
    s[0], z[1] = None, None  # in no group, in no stratum
    compared = EACH.compare(counts_of(f, g, y, s, z))
    assert list(compared) == [f"s in {k}" for k in range(4)]
    for k in range(4):
        rates = [g[(z == k) & (s == v)].mean() for v in "ab"]
        found = P_RULE.of(compared[f"s in {k}"]).value
        assert found == pytest.approx(min(rates) / max(rates))


def test_standardised_every_group_has_everybodys_mix():
    f, g, y, s, z = table()
    (own,) = MIXED.compare(counts_of(f, g, y, s, z)).values()
    share = [np.mean(z == k) for k in range(4)]
    rates = [
        sum(share[k] * g[(z == k) & (s == v)].mean() for k in range(4)) for v in "ab"
    ]  # fmt: skip
    assert P_RULE.of(own).value == pytest.approx(min(rates) / max(rates))
    plain = P_RULE.of(counts_of(f, g, y, s, z).pooled()).value
    assert abs(plain - P_RULE.of(own).value) > 0.1  # strata are why the groups differ


def test_its_variance_is_that_of_samples():
    """The spread of the standardised rates over many samples is what one sample says it is."""
    rates, said = [], []
    for seed in range(400):
        (own,) = MIXED.compare(counts_of(*table(1_500, seed=seed))).values()
        k, n = P_RULE.rates[0]("g").per_group(own)
        rates.append(k / n)
        said.append(k / n * (1 - k / n) / n)
    assert np.var(rates, axis=0) == pytest.approx(np.mean(said, axis=0), rel=0.2)


def test_small_and_empty_strata_are_left_out():
    f, g, y, s, z = table(600, strata=3)
    z[:20] = 9  # a stratum of few
    s[z == 2] = "a"  # and one with nobody of b
    counts = counts_of(f, g, y, s, z)
    assert list(EACH.compare(counts)) == ["s in 0", "s in 1"]
    (own,) = MIXED.compare(counts).values()
    assert own.total == ((z == 0) | (z == 1)).sum()
    z[:] = np.arange(len(z))
    with pytest.raises(ValueError, match=r"nobody can be compared within every z|at most 500"):
        EACH.compare(counts_of(f, g, y, s, z))


@pytest.mark.parametrize("within", [EACH, MIXED])
def test_a_dial_is_the_counts_along_it(within):
    f, _, y, s, z = table(2_000)
    random = np.random.default_rng(1)
    logit, ratio = np.where(f, 1.0, -1.0) * random.random(len(f)), random.normal(0.5, 1, len(f))
    groups, strata = Groups.of({"s": s}), Groups.of({"z": z})
    layers = Layers.of(within, strata, "s", groups.codes[:, 0], groups.values[0])

    def traced(codes, weight=None):
        return trace(ratio, logit, y, codes, weight=weight)

    dials = in_layers(layers, groups.codes[:, 0], None, traced)
    for strength in (0.0, 0.7, 1.0, 1.9):
        after = np.where(1 + strength * (ratio - 1) < 0, ~f, f)
        compared = within.compare(counts_of(f, after, y, s, z))
        assert list(compared) == list(dials)
        for name, counts in compared.items():
            k = int(dials[name].at(strength))
            for metric in (P_RULE, RATE_DIFFERENCE):
                assert metric.along(dials[name])[k] == pytest.approx(metric.of(counts).value)
        if within is EACH:
            last = next(iter(compared))
            k = int(dials[last].at(strength))
            assert MISTREATMENT.along(dials[last])[k] == pytest.approx(
                MISTREATMENT.of(compared[last]).value
            )


def test_the_bound_of_strata_is_the_sum_of_theirs():
    """Strata share nobody: the fewest in all is the fewest in each, added up."""
    for seed in range(20):
        counts = counts_of(*table(800, strata=3, seed=seed))
        found = fewest_together(counts, [(P_RULE, 0.9)], comparisons=EACH)
        each = [P_RULE.fewest(own, 0.9).changes for own in EACH.compare(counts).values()]
        assert found.changes == sum(each)


def test_the_bound_of_the_mix_by_brute_force():
    """Two strata and two groups: every number of promotions and demotions tried."""
    random = np.random.default_rng(3)
    for _ in range(5):
        size = random.integers(30, 36, (2, 2))
        held = np.array([[int(n * random.uniform(0.2, 0.8)) for n in row] for row in size])
        rows = [
            (s, z, i < held[s, z]) for s in range(2) for z in range(2) for i in range(size[s, z])
        ]
        s, z, f = (np.array(column) for column in zip(*rows, strict=True))
        counts = Counts.from_arrays(decision=f, sensitive_features={"s": s}, strata={"z": z})
        found = fewest_together(counts, [(P_RULE, 0.9)], comparisons=MIXED)
        share = size.sum(0) / size.sum()
        grids = np.meshgrid(*(np.arange(n + 1) for n in size.ravel()), indexing="ij", sparse=True)
        k = np.array(grids, object).reshape(2, 2)
        rates = [sum(share[j] * k[i, j] / size[i, j] for j in range(2)) for i in range(2)]
        ok = np.minimum(*rates) >= 0.9 * np.maximum(*rates) - 1e-9
        moved = sum(abs(k[i, j] - held[i, j]) for i in range(2) for j in range(2))
        assert found.changes == np.where(ok & (np.maximum(*rates) > 0), moved, 10**6).min()


def test_each_group_is_compared_with_the_reference_alone():
    random = np.random.default_rng(0)
    n = 4_000
    s = random.choice(["a", "b", "c"], n)
    f = random.random(n) < np.select([s == "a", s == "b"], [0.42, 0.45], 0.35)
    counts = Counts.from_arrays(decision=f, sensitive_features={"s": s, "t": s != "c"})
    one = Comparisons.of(None, reference={"s": "b"})
    assert list(one.compare(counts)) == ["s: a against b", "s: c against b", "t"]
    compared = one.compare(counts)["s: c against b"]
    assert P_RULE.of(compared).value == pytest.approx(f[s == "c"].mean() / f[s == "b"].mean())
    only = counts.by("s")
    bound = fewest_together(only, [(P_RULE, 0.9)], comparisons=one)
    assert 0 < bound.changes <= P_RULE.fewest(only, 0.9).changes
    strata = Counts.from_arrays(
        decision=f, sensitive_features={"s": s}, strata={"z": random.integers(0, 2, n)}
    )
    both = Comparisons.of("z", reference="b")
    assert list(both.compare(strata)) == [
        "s in 0: a against b", "s in 0: c against b", "s in 1: a against b", "s in 1: c against b"
    ]  # fmt: skip


def against_a(p_rule, *, b, c, rows):
    """A fit of three groups, b and c against the reference a, and whom they come from."""
    population = Population(
        p_rule=0.6, accuracy=0.8, proxy=2.0,
        groups={"a": (0.6, 0.0), "b": (b, 0.5), "c": (c, 1.0)},
    )  # fmt: skip
    people = population.sample(rows, seed=0).to_pandas()
    X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people[["group"]]
    target = Target(p_rule=p_rule, reference="a")
    return FairPatch("score", target).fit(X, y, sensitive_features=s), population


def test_a_fit_against_a_reference():
    g, population = against_a(0.75, b=0.2, c=0.2, rows=12_000)
    names = [r.feature for r in g.certificate_.results]
    assert names == ["group: b against a", "group: c against a"]
    new = population.sample(20_000, seed=1).to_pandas()
    X, y, s = new.drop(columns=["id", "y", "group"]), new["y"], new[["group"]]
    after = g.predict(X) == 1
    rates = {v: after[new["group"] == v].mean() for v in "abc"}
    assert min(rates["b"], rates["c"]) / rates["a"] > 0.7
    assert "each group against a" in str(g.target)
    query = target_sql(g.target, Decision(), sensitive=["group"], groups=3)
    con = duckdb.connect()
    unfair = new.assign(fairpatch_decision=(new["score"] > 0.5) & (new["group"] != "c"))
    con.register("decided", unfair)
    found = con.execute(query).df()
    assert set(zip(found["lower"], found["higher"], strict=True)) >= {("c", "a")}
    assert not {("c", "b"), ("b", "c")} & set(zip(found["lower"], found["higher"], strict=True))
    with pytest.raises(ValueError, match="no such group"):
        FairPatch("score", Target(p_rule=0.8, reference="A")).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="no sensitive feature"):
        FairPatch("score", Target(p_rule=0.8, reference={"sex": "a"})).fit(
            X, y, sensitive_features=s
        )


@pytest.fixture(scope="module")
def lending():
    def people(n, seed):
        population = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=GROUPS)
        frame = population.sample(n, seed=seed).to_pandas()
        random = np.random.default_rng(seed + 100)
        z = random.choice(3, n, p=[0.5, 0.3, 0.2])
        z = np.where(frame["group"].eq("b") & (random.random(n) < 0.3), 0, z)
        frame["product"] = np.array(["card", "loan", "mortgage"])[z]
        return frame

    train = people(14_000, 0)
    X, y, s = train.drop(columns=["id", "y", "group"]), train["y"], train[["group"]]
    g = FairPatch("score", Target(p_rule=0.8, within="product")).fit(X, y, sensitive_features=s)
    return g, people(8_000, 7)


def test_a_patch_holds_in_every_stratum(lending):
    g, new = lending
    after = g.predict(new.drop(columns=["id", "y", "group"])) == 1
    for product in ("card", "loan", "mortgage"):
        own = [after[(new["product"] == product) & (new["group"] == v)].mean() for v in "ab"]
        assert min(own) / max(own) > 0.75
    assert g.certificate_.verdict is Verdict.CERTIFIED
    assert [r.feature for r in g.certificate_.results] == [
        "group in card", "group in loan", "group in mortgage"
    ]  # fmt: skip
    assert g.choice_.change_rate < 0.12
    assert g.choice_.bound.change_rate <= g.choice_.change_rate


def test_the_same_in_memory_duckdb_and_spark(lending, spark):
    g, new = lending
    target = g.target
    X, y, s = new.drop(columns=["id", "y", "group"]), new["y"], new[["group"]]
    memory = g.patched_.count(X, y, sensitive_features=s, comparisons=target.comparisons)
    for engine in (duckdb.from_df(new), spark.createDataFrame(new)):
        there = g.patched_.count(
            engine, "y", sensitive_features=["group"], comparisons=target.comparisons
        )
        assert there == memory
        judged = g.patched_.certify(engine, "y", sensitive_features=["group"], target=target)
        expected = g.certify(X, y, sensitive_features=s)
        assert [str(r.estimate) for r in judged.results] == [
            str(r.estimate) for r in expected.results
        ]


def test_a_table_in_an_engine_is_fitted_in_strata(lending):
    _, new = lending
    g = FairPatch("score", Target(p_rule=0.7, within="product"), roles=Roles(key="id"))
    g.fit(duckdb.from_df(new), "y", sensitive_features=["group"])
    assert {r.feature for r in g.certificate_.results} == {
        "group in card", "group in loan", "group in mortgage"
    }  # fmt: skip


def test_a_month_is_watched_in_every_stratum(lending, tmp_path):
    g, new = lending
    X, y, s = new.drop(columns=["id", "y", "group"]), new["y"], new[["group"]]
    watch = monitor(
        g.patched_, X, y, sensitive_features=s, target=g.target, period="2026-10",
        history=History(tmp_path / "h.jsonl"),
    )  # fmt: skip
    assert [p.feature for p in watch.guarantees] == [
        "group in card", "group in loan", "group in mortgage"
    ]  # fmt: skip


def test_a_query_finds_the_stratum_that_violates(lending):
    g, new = lending
    con = duckdb.connect()
    worse = new.assign(fairpatch_decision=g.predict(new.drop(columns=["id", "y", "group"])) == 1)
    con.register("decided", worse)
    query = target_sql(g.target, Decision(), sensitive=["group"])
    assert con.execute(query).fetchall() == []
    unfair = worse["product"].eq("loan") & worse["group"].eq("b")
    con.register("decided", worse.assign(
        fairpatch_decision=worse["fairpatch_decision"] & ~(unfair & (worse["id"] % 3 > 0))
    ))  # fmt: skip
    found = con.execute(query).df()
    assert list(found["stratum_1"]) == ["loan"]
    assert list(found["lower"]) == ["b"]


def test_the_review_names_strata_and_no_small_count(lending):
    g, new = lending
    X, y, s = new.drop(columns=["id", "y", "group"]), new["y"], new[["group"]]
    review = g.review(X, y, sensitive_features=s, refits=0)
    page = review.html()
    assert "group in mortgage" in page
    assert "within every product" in page
    names = [entry["name"] for entry in review.to_dict()["menu"]["rows"]]
    assert names == ["scorecard", "in order", "fewest changes"]  # no group alone within strata


@pytest.mark.parametrize(
    ("options", "why"),
    [({"within": "group"}, "it is the sensitive feature"),
     ({"within": "products"}, "Did you mean 'product'"),
     ({"within": "num_1"}, "at most 500")],
)  # fmt: skip
def test_strata_that_cannot_be_meant_are_refused(lending, options, why):
    _, new = lending
    X, y, s = new.drop(columns=["id", "y", "group"]), new["y"], new[["group"]]
    with pytest.raises(ValueError, match=why):
        FairPatch("score", Target(p_rule=0.8, **options)).fit(X, y, sensitive_features=s)


def test_targets_say_what_is_wrong():
    with pytest.raises(ValueError, match="give within"):
        Target(p_rule=0.8, strata="standardised")
    with pytest.raises(ValueError, match="each, standardised"):
        Target(p_rule=0.8, within="z", strata="standardized")
    with pytest.raises(ValueError, match="at least one column"):
        Target(p_rule=0.8, within=[])


def test_a_small_group_against_the_reference_is_judged_and_not_told():
    g, _ = against_a(0.3, b=0.395, c=0.005, rows=3_000)
    (first, _), (second, _) = g.certificate_.shown
    assert first.value == round(first.value, 2)
    assert second.withheld


def test_an_engine_that_counts_no_strata_gives_no_bound(lending):
    _, new = lending
    g = FairPatch("score", Target(p_rule=0.7, within="product"), roles=Roles(key="id"))
    g.fit(duckdb.from_df(new), "y", sensitive_features=["group"])
    assert g.choice_.bound is None  # that of everybody would be of another target
