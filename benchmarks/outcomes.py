"""Outcomes of the approved only: what a fit delivers on everybody, and what it says of people.

Of the people whom f denies all, some or none have a label. Each fit is compared with the one that
knows every label, on people nobody has seen: the P-Rule in the known direction, changes, who
changes, and whether the true outcome of the newly approved lies in the range that is shown.

The edge: a patch, and the limit that is its true P-Rule. At most one certificate in twenty may say
that it holds, however many labels there are.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.datasets import load
from benchmarks.problems import fitted_model
from fairpatch._tools.tables import Table
from fairpatch.choose.certificate import certify
from fairpatch.choose.objections import TargetNotReachedError
from fairpatch.data.outcomes import expected_of
from fairpatch.datasets import Population, load_loans
from fairpatch.decision import Decision
from fairpatch.front import FairPatch
from fairpatch.inputs.roles import Outcomes, Roles
from fairpatch.life.newly_approved import evidence_of_worse
from fairpatch.measure.counts import Counts
from fairpatch.target import Target

SHARES = (1.0, 0.3, 0.05, 0.0)
"""Of the denied, how many have a label; the first is what the others are compared with."""
ASKED = 0.8
MOST, OWN = 30_000, 5_000
"""Rows of a data set, and of these for f alone."""
MONTHS = 36
EDGE_ROWS, TRUTH_ROWS = (3_000, 12_000), 1_000_000
ROLE: dict[float, Outcomes] = {1.0: "everybody", 0.0: "approved"}
Source = tuple[Any, Any, Any, float]
"""X with a score, y, the groups, and the threshold."""


def _loans(seed: int) -> Source:
    people = load_loans().sample(frac=1, random_state=seed).reset_index(drop=True)
    X = people.drop(columns=["id", "repaid", "sex", "age"])
    return X, people["repaid"].to_numpy(int), people["sex"].to_numpy(str), 0.8


def _generated(seed: int) -> Source:
    people = _population().sample(20_000, seed=seed).to_pandas()
    X = people.drop(columns=["id", "group", "y"])
    return X, people["y"].to_numpy(int), people["group"].to_numpy(str), 0.5


def _population() -> Population:
    groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    return Population(p_rule=0.6, accuracy=0.8, groups=groups)


def _loaded(name: str, feature: str) -> Callable[[int], Source]:
    def source(seed: int) -> Source:
        data = load(name)
        order = np.random.default_rng(seed).permutation(len(data.y))[:MOST]
        own = min(OWN, len(order) // 3)
        X = data.X.drop(columns=data.also_in_x).iloc[order].reset_index(drop=True)
        y, values = np.asarray(data.y)[order], data.sensitive[feature].iloc[order]
        f = fitted_model("logistic", X[:own], y[:own], seed)
        common = (values == data.sensitive[feature].value_counts().index[0]).to_numpy()
        rest = X[own:].reset_index(drop=True)
        score = np.clip(f.predict_proba(rest)[:, 1], 1e-6, 1 - 1e-6)
        return rest.assign(score=score), y[own:], np.where(common[own:], "common", "other"), 0.5

    return source


SOURCES: dict[str, Callable[[int], Source]] = {
    "loans": _loans,
    "adult": _loaded("adult", "sex"),
    "acs_income": _loaded("acs_income", "race"),
    "german_credit": _loaded("german_credit", "age"),
    "generated": _generated,
}


def hidden(y: Any, approved: Any, share: float, seed: int) -> Any:
    """The labels, of the denied as many as that."""
    kept = approved | (np.random.default_rng([seed, 7]).random(len(y)) < share)
    return np.where(kept, y.astype(float), np.nan)


def one(source: str, seed: int) -> list[dict[str, Any]]:
    """A fit for each share of labels, on the same people."""
    X, y, s, threshold = SOURCES[source](seed)
    half = len(y) // 2
    known, fresh = X[:half].reset_index(drop=True), X[half:].reset_index(drop=True)
    before = fresh["score"].to_numpy() > threshold
    rates = {v: before[s[half:] == v].mean() for v in np.unique(s)}
    low, high = sorted(rates, key=lambda v: rates[v])
    found, full = [], None
    for share in SHARES:
        record: dict[str, Any] = {"source": source, "seed": seed, "share": share}
        g = FairPatch(
            "score", Target(p_rule=ASKED), decision=Decision(threshold=threshold),
            roles=Roles(outcomes=ROLE.get(share, "sample")), splits=(0.6, 0.4, 0.0),
            random_state=seed,
        )  # fmt: skip
        labels = hidden(y[:half], known["score"].to_numpy() > threshold, share, seed)
        try:
            g.fit(known, labels, sensitive_features=s[:half])
        except TargetNotReachedError:
            found.append({**record, "ratio": None})
            continue
        after = g.patched_.decide(fresh)
        changed = after != before
        up = after & ~before
        expected = expected_of(g.patched_.rows(fresh, None, s[half:]), g.patch_, up)
        full = changed if full is None else full
        either = (full | changed).sum()
        found.append({
            **record,
            "ratio": float(after[s[half:] == low].mean() / after[s[half:] == high].mean()),
            "changes": float(changed.mean()),
            "agreement": float((full & changed).sum() / either) if either else 1.0,
            "true": float(y[half:][up].mean()) if up.sum() >= 10 else None,
            "expected": None if expected is None else expected.value,
            "low": None if expected is None else expected.low,
            "high": None if expected is None else expected.high,
        })  # fmt: skip
    return found


@cache
def _at_the_edge() -> tuple[FairPatch, Any, float]:
    """A patch, a million people, and its P-Rule among them."""
    population = _population()
    people = population.sample(6_000, seed=1).to_pandas()
    X = people.drop(columns=["id", "group", "y"])
    g = FairPatch("score", Target(p_rule=ASKED), splits=(0.6, 0.4, 0.0))
    g.fit(X, people["y"], sensitive_features=people["group"])
    everybody = population.sample(TRUTH_ROWS, seed=2).to_pandas()
    X = everybody.drop(columns=["id", "group", "y"])
    found = {
        "before": X["score"].to_numpy() > 0.5, "after": g.patched_.decide(X),
        "group": everybody["group"].to_numpy(str), "y": everybody["y"].to_numpy(),
    }  # fmt: skip
    rate = [found["after"][found["group"] == v].mean() for v in ("b", "a")]
    return g, found, float(rate[0] / rate[1])


def edge(share: float, rows: int, draws: int) -> dict[str, Any]:
    """How often the limit is certified that is the truth, of people drawn from a million."""
    _, everybody, limit = _at_the_edge()
    target, certified, measured = Target(p_rule=limit), 0, []
    for draw in range(draws):
        some = np.random.default_rng([rows, draw]).integers(0, TRUTH_ROWS, rows)
        own = {name: values[some] for name, values in everybody.items()}
        counts = Counts.from_arrays(
            decision=own["before"], new_decision=own["after"],
            y=hidden(own["y"], own["before"], share, draw),
            sensitive_features={"group": own["group"]}, outcomes=ROLE.get(share, "sample"),
        )  # fmt: skip
        judged = certify(counts, target)
        certified += judged.verdict == "certified"
        measured.append(float(judged.results[0].estimate.value or np.nan))
    return {
        "share": share, "rows": rows, "draws": draws, "limit": limit,
        "certified": certified / draws, "measured": float(np.nanmean(measured)),
    }  # fmt: skip


def whole_fits(share: float, rows: int, fits: int) -> dict[str, Any]:
    """Fits from the first row to the certificate: how many certify what does not hold."""
    everybody = _population().sample(TRUTH_ROWS // 5, seed=2).to_pandas()
    X, groups = everybody.drop(columns=["id", "group", "y"]), everybody["group"].to_numpy(str)
    certified, violating = 0, 0
    for fit in range(fits):
        people = _population().sample(rows, seed=50_000 + fit).to_pandas()
        own = people.drop(columns=["id", "group", "y"])
        labels = hidden(people["y"].to_numpy(), own["score"].to_numpy() > 0.5, share, fit)
        g = FairPatch(
            "score", Target(p_rule=ASKED), roles=Roles(outcomes=ROLE.get(share, "sample")),
            random_state=fit,
        )  # fmt: skip
        try:
            g.fit(own, labels, sensitive_features=people["group"])
        except TargetNotReachedError:
            continue
        judged = g.certificate_
        if judged is not None and judged.verdict == "certified":
            certified += 1
            after = g.patched_.decide(X)
            violating += after[groups == "b"].mean() < ASKED * after[groups == "a"].mean()
    return {
        "share": share, "rows": rows, "fits": fits, "certified": certified / fits,
        "violating": violating / fits,
    }  # fmt: skip


def stream(people: int, worse: float, streams: int) -> dict[str, Any]:
    """Months of newly approved people: how often, and when, the monitor calls them worse."""
    random, found = np.random.default_rng([people, int(100 * worse)]), []
    for _ in range(streams):
        chance = random.uniform(0.1, 0.3, (MONTHS, people))
        bad = (random.random((MONTHS, people)) < chance + worse).sum(1).astype(float)
        known = np.full(MONTHS, float(people))
        over = np.flatnonzero(evidence_of_worse(known, bad, chance.sum(1)) >= np.log(2 / 0.05))
        found.append(over[0] + 1 if len(over) else np.inf)
    months = np.median(found)
    return {
        "people": people, "worse": worse, "streams": streams,
        "alarms": float(np.isfinite(found).mean()),
        "months": float(months) if np.isfinite(months) else None,
    }  # fmt: skip


def run(
    seeds: int = 10, draws: int = 0, fits: int = 0, streams: int = 0,
    sources: tuple[str, ...] = tuple(SOURCES),
) -> dict[str, Any]:  # fmt: skip
    """All sources and seeds; and draws at the edge, whole fits and streams, where asked for."""
    found = [r for source in sources for seed in range(seeds) for r in one(source, seed)]
    sizes = [(share, rows) for rows in EDGE_ROWS for share in SHARES]
    return {
        "runs": found,
        "edge": [edge(*size, draws) for size in sizes if draws],
        "fits": [whole_fits(*size, fits) for size in sizes if fits],
        "streams": [
            stream(people, worse, streams)
            for people in (50, 200, 1_000) for worse in (0.0, 0.02, 0.05, 0.1) if streams
        ],
    }  # fmt: skip


def show(result: dict[str, Any]) -> str:
    """By source and share of labels: delivery, changes, agreement, and ranges that hold."""
    rows = []
    for source, share in dict.fromkeys((r["source"], r["share"]) for r in result["runs"]):
        own = [r for r in result["runs"] if (r["source"], r["share"]) == (source, share)]
        met = [r for r in own if r["ratio"] is not None]
        if not met:
            rows.append([source, f"{share:.0%}", f"0/{len(own)}", *[""] * 8])
            continue
        ratio = np.array([r["ratio"] for r in met])
        told = [r for r in met if r["true"] is not None and r["expected"] is not None]
        inside = [r["low"] <= r["true"] <= r["high"] for r in told]
        means = {k: np.mean([r[k] for r in told]) for k in ("true", "expected", "low", "high")}
        rows.append([
            source, f"{share:.0%}", f"{len(met)}/{len(own)}", f"{ratio.mean():.3f}",
            f"{ratio.std():.3f}", f"{np.mean([r['changes'] for r in met]):.4f}",
            f"{np.mean([r['agreement'] for r in met]):.2f}",
            f"{means['true']:.2f}" if told else "-", f"{means['expected']:.2f}" if told else "-",
            f"{means['low']:.2f} to {means['high']:.2f}" if told else "-",
            f"{sum(inside)}/{len(told)}",
        ])  # fmt: skip
    header = [
        "source", "denied with a label", "reached", "P-Rule", "spread", "changes", "agreement",
        "promoted: true", "expected", "range", "true in range",
    ]  # fmt: skip
    tables = [Table(f"Asked: P-Rule {ASKED:g}; on fresh people", header, rows)] if rows else []
    for name, title, columns in (
        ("edge", "Certificates at the edge, nominal 0.05", ["draws", "limit", "measured"]),
        ("fits", f"Whole fits, P-Rule {ASKED:g} asked, nominal 0.05", ["fits", "violating"]),
    ):
        if result[name]:
            header = ["rows", "denied with a label", *columns, "certified"]
            cells = [
                [f"{r['rows']:,}", f"{r['share']:.0%}", *(f"{r[c]:.3g}" for c in header[2:])]
                for r in result[name]
            ]
            tables.append(Table(title, header, cells))
    if result["streams"]:
        header = ["newly approved a month", "worse by", "alarms in 36 months", "median month"]
        cells = [
            [f"{r['people']:,}", f"{r['worse']:.0%}", f"{r['alarms']:.1%}",
             "-" if r["months"] is None else f"{r['months']:g}"]
            for r in result["streams"]
        ]  # fmt: skip
        title = f"What became of them against what was expected, {result['streams'][0]['streams']} "
        tables.append(Table(title + "streams, nominal 2.5%", header, cells))
    return "\n".join(table.text() for table in tables)
