"""Tables as a hiring platform and a lender have them, and what is said of each beside the truth.

Each case is one role that a column plays. ``unsaid`` is what an audit or a fit says of the table as
it stands: a question, a refusal, or a verdict. ``said`` is what it says once the role is said.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch._tools.tables import Table
from fairpatch.choose.certificate import Certificate
from fairpatch.inputs.notice import UnsaidError

RACES, SHARES = ("White", "Black", "Hispanic", "API", "AIAN"), (0.62, 0.14, 0.17, 0.06, 0.01)
AT = Decision(threshold=0.6)
HALF = Decision()


def run(seed: int = 0) -> dict[str, Any]:
    """Every case."""
    return {"seed": seed, "found": [row for case in CASES for row in case(seed)]}


# ------------------------------------------------------------------------------------------ tables


def candidates(seed: int, n: int = 12_000) -> pd.DataFrame:
    """Applications, one a person: careers with gaps are scored lower, and women have more."""
    r = np.random.default_rng(seed)
    woman = r.random(n) < 0.42
    able = r.normal(0, 1, n)
    t = pd.DataFrame({
        "sex": np.where(woman, "Female", "Male"),
        "experience": np.clip(np.round(r.gamma(3, 2.5, n) - 1.2 * woman + 0.8 * able), 0, 40),
        "gap_months": np.where(
            r.random(n) < np.where(woman, 0.45, 0.15), np.round(r.gamma(2, 8, n)), 0
        ),
        "part_time": np.where(r.random(n) < np.where(woman, 0.4, 0.12), "yes", "no"),
        "location": r.choice(["NYC", "Chicago", "Austin", "Remote"], n),
    })  # fmt: skip
    low = 0.8 * ((t["gap_months"] > 0) * 0.9 + (t["part_time"] == "yes") * 0.9)
    t["score"] = expit(1.3 * able + 0.5 - low + r.normal(0, 0.4, n)).round(6)
    t["qualified"] = (r.random(n) < expit(1.3 * able)).astype(int)
    return t


def loans(seed: int, n: int = 20_000) -> pd.DataFrame:
    """Applications for credit, with a bureau's codes: -1 for no file, 999 for no card."""
    r = np.random.default_rng([seed, 2])
    race = r.choice(RACES, n, p=SHARES)
    few = np.isin(race, ["Black", "Hispanic"])
    age = np.clip(r.normal(43, 14, n), 18, 92).round()
    q = r.normal(0, 1, n) - 0.5 * few
    thin = r.random(n) < expit(-2.2 + 0.9 * few)
    no_card = r.random(n) < 0.12
    t = pd.DataFrame({
        "race": race,
        "age": age,
        "dti": np.clip(35 - 5 * q + r.normal(0, 8, n), 0, 80).round(1),
        "rev_util": np.where(thin, -1, np.where(
            no_card, 999, np.clip(55 - 18 * q + r.normal(0, 20, n), 0, 150).round()
        )),
        "inquiries": r.poisson(np.exp(0.3 - 0.3 * q)),
        "score": expit(0.6 + 0.9 * q - 0.6 * thin + r.normal(0, 0.35, n)).round(6),
        "repaid": (r.random(n) < expit(1.6 + 0.95 * q - 0.5 * thin)).astype(int),
    })  # fmt: skip
    return t.assign(few=np.where(few, "yes", "no"))


def ratio(group: Any, approved: Any, who: Any = None) -> float:
    """The lowest group's rate of approvals over the highest's."""
    who = slice(None) if who is None else np.asarray(who)
    rates = pd.Series(np.asarray(approved, float)[who]).groupby(np.asarray(group)[who]).mean()
    return float(rates.min() / rates.max())


# --------------------------------------------------------------------------------------- the cases


def _persons(seed: int) -> Iterator[dict[str, Any]]:
    one = candidates(seed, 3_000).assign(candidate_id=np.arange(3_000) + 10_000)
    r = np.random.default_rng([seed, 1])
    many = np.clip(np.round(r.pareto(1.6, 3_000) * 3.6 + 1), 1, 40).astype(int)
    t = one.loc[np.repeat(one.index, many)].reset_index(drop=True)
    t["score"] = expit(logit(t["score"]) + r.normal(0, 0.3, len(t))).round(6)
    truth = ratio(candidates(99, 400_000)["sex"], candidates(99, 400_000)["score"] > 0.6)
    own = {"label": "qualified", "sensitive": "sex", "decision": AT}
    yield _both(
        "1", "the same person in up to 40 rows", truth, t, own, Roles(person="candidate_id")
    )


def _unknown(seed: int) -> Iterator[dict[str, Any]]:
    t = candidates(seed)
    r = np.random.default_rng([seed, 1])
    silent = r.random(len(t)) < np.where(t["score"] > 0.6, 0.4, 0.2)
    truth = ratio(t["sex"], t["score"] > 0.6, ~silent)
    t["sex"] = np.where(silent, "Decline to state", t["sex"])
    own = {"label": "qualified", "sensitive": "sex", "decision": AT}
    roles = Roles(unknown={"sex": "Decline to state"})
    yield _both("2", "'Decline to state'", truth, t, own, roles)
    ways = {"Female": ["Female", "female", "F", "Woman"], "Male": ["Male", "male", "M"]}
    t = candidates(seed)
    truth = ratio(t["sex"], t["score"] > 0.6)
    t["sex"] = [r.choice(ways[sex]) for sex in t["sex"]]
    roles = Roles(spellings={"sex": {group: written[1:] for group, written in ways.items()}})
    yield _both("2", "a group written in four ways", truth, t, own, roles)


def _probable(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed)
    r = np.random.default_rng([seed, 1])
    at = t["race"].map({race: i for i, race in enumerate(RACES)}).to_numpy()
    P = np.array(SHARES) * 0.3 + 0.3 * r.dirichlet(np.array(SHARES) * 4, len(t))
    P[np.arange(len(t)), at] += 0.4 * r.random(len(t))
    P /= P.sum(1, keepdims=True)
    rates = P[(t["score"] > 0.6).to_numpy()].sum(0) / P.sum(0)
    t = t.assign(**{f"p_{i}": P[:, i] for i in range(len(RACES))}, id=np.arange(len(t)))
    for order in (range(5), range(4, -1, -1)):
        roles = Roles(key="id", probable={"race": {RACES[i]: f"p_{i}" for i in order}})
        made = audit(
            t.drop(columns="race"), "repaid", sensitive_features=["race"], estimator="score",
            decision=AT, roles=roles,
        )  # fmt: skip
        rows = {row.group: row.impact_ratio for row in made.adverse_impact("White")[0].rows}
        yield {
            "point": "3", "table": f"probable race, {RACES[order[0]]} first: AIAN to White",
            "truth": f"{rates[4] / rates[0]:.3f}", "unsaid": "", "said": f"{rows['AIAN']:.3f}",
        }  # fmt: skip


def _one_sided(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed)
    old = (t["age"] >= 62).to_numpy()
    t["score"] = expit(logit(t["score"].clip(1e-6, 1 - 1e-6)) + 1.1 * old)
    roles = Roles(bands={"age": [62]})
    g = FairPatch("score", Target(p_rule=0.8, reference="below 62"), decision=AT, roles=roles)
    try:
        g.fit(t.drop(columns=["race", "few"]), "repaid", sensitive_features=["age"])
        moved = float((g.patched_.decide(t) != (t["score"] > 0.6)).mean())
        said = f"{moved:.1%} change; {_certificate(g).remarks[0]}"
    except ValueError as error:
        said = _first(error)
    yield {
        "point": "4", "table": "62 and older approved more often than the reference",
        "truth": "0 % have to change", "unsaid": "", "said": said,
    }  # fmt: skip


def _ties(seed: int) -> Iterator[dict[str, Any]]:
    t = candidates(seed)
    t["score"] = np.round(t["score"] * 20) / 20
    approved = t["score"] >= 0.6
    own = {"label": "qualified", "sensitive": "sex", "decision": AT}
    at_least = Decision(threshold=0.6, at_least=True)
    truth = ratio(t["sex"], approved)
    yield _both("5", "approved at 60 or more", truth, t, own, Roles(), at_least)
    made = t.assign(invited=np.where(approved, "invite", "reject"))
    roles = Roles(decided={"invited": "invite"})
    above = own | {"decision": Decision(threshold=0.6, at_least=False)}
    yield _both(
        "5", "the same with decisions as made, and above 60 said", truth, made, above, roles
    )


def _knock_outs(seed: int) -> Iterator[dict[str, Any]]:
    t = candidates(seed)
    r = np.random.default_rng([seed, 1])
    out = r.random(len(t)) < np.where(t["sex"] == "Female", 0.35, 0.1)
    truth = ratio(t["sex"], (t["score"] > 0.6) & ~out)
    t.loc[out, "score"] = np.nan
    own = {"label": "qualified", "sensitive": "sex", "decision": AT}
    denied = Decision(threshold=0.6, no_score="denied")
    yield _both("6", "no score: knocked out before", truth, t, own, Roles(), denied)


def _places(seed: int) -> Iterator[dict[str, Any]]:
    n, size, k = 400, 30, 5
    t = candidates(seed, n * size).assign(job=np.repeat(np.arange(n), size), id=np.arange(n * size))
    rank = t.groupby("job")["score"].rank(ascending=False, method="first")
    z = pd.Series(logit(t["score"].clip(1e-6, 1 - 1e-6)), t.index)
    at = [z.where(rank == i).groupby(t["job"]).transform("max") for i in (k, k + 1)]
    t["score"] = expit(z - (at[0] + at[1]) / 2)
    target = Target(p_rule=0.8, approvals={"by": "job", "number": k})
    g = FairPatch("score", target, roles=Roles(key="id"))
    g.fit(t, "qualified", sensitive_features=["sex"])
    left = g.patched_.apply(t, approvals=target.approvals, key="id", if_unlike="ignore")
    found = _certificate(g).results[0].estimate
    yield {
        "point": "7", "table": f"{k} places in each of {n} jobs",
        "truth": f"{ratio(t['sex'], left['fairpatch_decision']):.3f} when all are filled",
        "unsaid": f"{ratio(t['sex'], rank <= k):.3f} before", "said": f"certified for {found}",
    }  # fmt: skip


def _decided_later(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed).drop(columns=["race", "age"])
    r = np.random.default_rng([seed, 1])
    yes = t["score"] > 0.6
    own = {"label": "repaid", "sensitive": "few", "decision": AT, "learns": True}
    status = np.where(yes, "Booked", np.where(r.random(len(t)) < 0.5, "Declined: file", "Declined"))
    later = {
        "application_status": status,
        "final_decision": np.where(yes, "A", "D"),
        "dpd_max_12m": np.where(yes, np.where(t["repaid"] == 1, 0, 60), np.nan),
        "apr_offered": np.where(yes, (30 - 20 * t["score"]).round(2), np.nan),
        "chargeoff_amt": np.where(t["repaid"] == 0, 900.0, 0.0),
    }
    for name, values in later.items():
        yield _both("9", name, None, t.assign(**{name: values}), own, Roles(exclude=[name]))


def _special(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed).drop(columns=["race", "age"])
    meant = {"rev_util": {-1: "no file", 999: "no card"}}
    for said, roles in (("unsaid", Roles()), ("said", Roles(special=meant))):
        g = FairPatch("score", Target(p_rule=0.9), decision=AT, roles=roles)
        g.fit(t, "repaid", sensitive_features=["few"])
        lines = [line.strip() for line in str(g.patch_).splitlines()]
        told = [
            line for line in lines if line.startswith(("is -1", "is 999", "no file", "no card"))
        ][:2]
        yield {
            "point": "10", "table": f"-1 and 999 in rev_util, {said}",
            "truth": "codes are no quantities", "unsaid": "", "said": "; ".join(told) or lines[0],
        }  # fmt: skip


def _dates(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed).drop(columns=["race", "age"])
    r = np.random.default_rng([seed, 1])
    t["app_month"] = 202400 + r.integers(1, 13, len(t))
    late = (t["app_month"] >= 202410) & (t["few"] == "yes")
    t["score"] = expit(logit(t["score"].clip(1e-6, 1 - 1e-6)) - 1.5 * late)
    own = {"label": "repaid", "sensitive": "few", "decision": AT, "learns": True}
    last = t["app_month"] >= 202410
    truth = ratio(t["few"], t["score"] > 0.6, last)
    yield _both("11", "worse from October on", truth, t, own, Roles(date="app_month"))


def _protected(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed).drop(columns=["race", "age"])
    r = np.random.default_rng([seed, 1])
    few = t["few"] == "yes"
    names = ("preferred_language", "num_dependents", "cbsa", "pa_inc_flg", "marital_status")
    for name in names:
        t[name] = r.poisson(np.where(few, 2.2, 0.8))
    g = FairPatch("score", Target(p_rule=0.9), decision=AT)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        g.fit(t, "repaid", sensitive_features=["few"])
    read = [c.name for c in g.patch_.columns if c.name in names]
    yield {
        "point": "12", "table": ", ".join(names), "truth": "protected by their names",
        "unsaid": f"read: {', '.join(read) or 'none'}; {len(caught)} warnings",
        "said": "; ".join(str(w.message)[:160] for w in caught),
    }  # fmt: skip


def _order(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed, 12_000).drop(columns=["race", "age"])
    r = np.random.default_rng([seed, 1])
    base = t[["dti", "rev_util", "inquiries"]].to_numpy(float)
    noisy = {
        f"bureau_{k:03d}": base[:, k % 3] + r.normal(0, base[:, k % 3].std() * 0.2, len(t)).round()
        for k in range(210)
    }
    t = pd.concat([t, pd.DataFrame(noisy)], axis=1)
    fits = []
    for rows in (np.arange(len(t)), r.permutation(len(t))):
        g = FairPatch("score", Target(p_rule=0.85), decision=AT)
        fits.append(g.fit(t.iloc[rows], "repaid", sensitive_features=["few"]))
    apart = float((fits[0].patched_.decide(t) != fits[1].patched_.decide(t)).mean())
    names = [{c.name for c in g.patch_.columns} for g in fits]
    yield {
        "point": "13", "table": "210 columns alike, rows in another order", "truth": "0 % differ",
        "unsaid": "", "said": f"{apart:.1%} differ, {len(names[0] ^ names[1])} other columns",
    }  # fmt: skip


def _not_compared(seed: int) -> Iterator[dict[str, Any]]:
    r = np.random.default_rng([seed, 1])
    sizes = [5_000] * 4 + [85] * 80
    job = np.repeat([f"job {i:02d}" for i in range(84)], sizes)
    small = np.repeat([False] * 4 + [True] * 80, sizes)
    woman = r.random(len(job)) < 0.4
    able = r.normal(0, 1, len(job))
    score = expit(1.3 * able - np.where(small, 1.6, 0.2) * woman + r.normal(0, 0.4, len(job)))
    t = pd.DataFrame({
        "sex": np.where(woman, "w", "m"), "job": job, "able": able.round(2), "score": score,
        "y": (r.random(len(job)) < expit(able)).astype(int),
    })  # fmt: skip
    made = FairPatch("score", Target(p_rule=0.8, within="job"))
    try:
        made.fit(t, "y", sensitive_features=["sex"])
        c = _certificate(made)
        said = " ".join([str(c.verdict), *c.remarks])
    except ValueError as error:
        said = _first(error)
    truth = ratio(t["sex"], t["score"] > 0.5, small)
    yield {"point": "14", "table": "80 jobs too small to compare", "truth": f"{truth:.3f} in them",
           "unsaid": "", "said": said}  # fmt: skip
    t = candidates(seed)
    here = (t["location"] == "NYC").to_numpy()
    g = FairPatch("score", Target(p_rule=0.8, where={"location": "NYC"}), decision=AT)
    g.fit(t, "qualified", sensitive_features=["sex"])
    decided = g.patched_.decide(t)
    moved = int((decided != (t["score"] > 0.6))[~here].sum())
    yield {
        "point": "14", "table": "a rule of NYC alone", "truth": "0 others change", "unsaid": "",
        "said": f"{moved} others change; there {ratio(t['sex'], decided, here):.3f}",
    }  # fmt: skip


def _reasons(seed: int) -> Iterator[dict[str, Any]]:
    t = loans(seed).drop(columns=["race", "age"])
    g = FairPatch("score", Target(p_rule=0.85, approvals="keep"), decision=AT)
    g.fit(t, "repaid", sensitive_features=["few"])
    made = g.patched_.apply(t, with_reason=True)
    lost = made[(t["score"] > 0.6).to_numpy() & ~made["fairpatch_decision"].astype(bool)]
    empty = (lost["fairpatch_reason"].fillna("") == "").sum()
    yield {
        "point": "16", "table": f"approvals kept: {len(lost):,} lose one", "truth": "0 unexplained",
        "unsaid": "", "said": f"{empty} without a reason",
    }  # fmt: skip


CASES: tuple[Callable[[int], Iterator[dict[str, Any]]], ...] = (
    _persons, _unknown, _probable, _one_sided, _ties, _knock_outs, _places, _decided_later,
    _special, _dates, _protected, _order, _not_compared, _reasons,
)  # fmt: skip


# ------------------------------------------------------------------------------------ what is said


def _both(
    point: str, table: str, truth: float | None, t: pd.DataFrame, own: dict[str, Any],
    roles: Roles, decision: Decision | None = None,
) -> dict[str, Any]:  # fmt: skip
    said = own if decision is None else own | {"decision": decision}
    return {
        "point": point, "table": table, "truth": "" if truth is None else f"{truth:.3f}",
        "unsaid": _told(t, roles=Roles(), **own), "said": _told(t, roles=roles, **said),
    }  # fmt: skip


def _told(
    t: pd.DataFrame, roles: Roles, *, label: str, sensitive: str, decision: Decision,
    learns: bool = False,
) -> str:  # fmt: skip
    """What an audit says of the P-Rule, or a fit certifies; a question, where it asks one."""
    about: dict[str, Any] = {"sensitive_features": [sensitive]}
    try:
        if learns:
            g = FairPatch("score", Target(p_rule=0.85), decision=decision, roles=roles)
            g.fit(t, label, **about)
            c = _certificate(g)
            return " ".join([f"{c.verdict} {c.results[0].estimate}", c.warning or "", *c.remarks])
        made = audit(t, label, estimator="score", decision=decision, roles=roles, **about)
    except (UnsaidError, ValueError) as error:
        return _first(error)
    found = made.comparisons[sensitive].metrics["p_rule"]
    return " ".join([str(found), *made.remarks[:1]])


def _first(error: Exception) -> str:
    if isinstance(error, UnsaidError):
        return f"asks: {error.questions[0].evidence}"
    return f"refuses: {error}"[:160]


def _certificate(g: FairPatch) -> Certificate:
    if g.certificate_ is None:
        raise ValueError("nothing was left to certify on")
    return g.certificate_


def show(result: dict[str, Any]) -> str:
    """What is said beside the truth."""
    names = ("point", "table", "truth", "unsaid", "said")
    rows = [[str(row[name]) for name in names] for row in result["found"]]
    return Table("Roles that columns play", list(names), rows).text()
