"""A lender's applications, made up: a table to try things on, on any machine, without a download.

A bank decides by a validated model of repayment and approves above a score of 0.8. The model was
built when hardly anybody worked part-time or changed jobs, and marks both down by more than today's
repayment warrants. Women do so more often: fewer of them are approved, and those who are declined
repay more often than the men who are. Nobody's score reads sex or age.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairpatch._tools.arrays import Floats
from fairpatch._tools.checks import whole
from fairpatch._tools.extras import need

if TYPE_CHECKING:
    import pandas as pd

AGES = ("18 to 29", "30 to 44", "45 to 59", "60 and over")
REGIONS = ("north", "east", "south", "west", "capital")
PURPOSES = ("car", "home improvement", "debt consolidation", "education", "other")
EMPLOYMENT = ("full-time", "part-time", "self-employed", "temporary", "retired")
FAR = 100_000_000
"""Numbers between the applicants of two seeds: nobody has another's."""


def load_loans(
    rows: int = 20_000,
    seed: int = 0,
    *,
    outcomes: Literal["everybody", "approved"] = "everybody",
    score: Literal["probability", "points"] = "probability",
) -> "pd.DataFrame":
    """Made-up loan applications with the score that a bank's model gives them.

    The same table to the last bit wherever it is made.

    Parameters
    ----------
    rows : int
        Applicants.
    seed : int
        Another seed, other applicants of the same kind.
    outcomes : {"everybody", "approved"}
        Whose ``repaid`` is known. A bank's own file has that of the people it approved, and a gap
        for everybody else; with everybody's, methods can be compared.
    score : {"probability", "points"}
        The score as a probability, the bank approving above 0.8; or in points, as lenders print
        them: 600 at even odds, 20 more double them, and the bank approves above 640.

    Returns
    -------
    pandas.DataFrame
        ``id``; ``income`` a year; ``amount`` asked for and its ``purpose``; ``employment`` and
        ``tenure``, years with the employer; ``debt_ratio``, percent of the income that goes to
        other debts; ``late_payments`` in two years; ``history``, years since the first account;
        ``region``; ``sex`` and ``age``, for audits only; ``repaid``, 1 or 0; ``score``, how likely
        the model calls it that the loan is repaid.

    Examples
    --------
    >>> loans = load_loans()
    >>> loans.shape
    (20000, 14)
    >>> approved = loans["score"] > 0.8
    >>> approved.groupby(loans["sex"]).mean().round(2).to_dict()
    {'female': 0.42, 'male': 0.57}
    >>> own = load_loans(outcomes="approved", score="points")
    >>> own["repaid"].isna().equals(own["score"] <= 640)
    True
    """
    for name, value, known in (
        ("outcomes", outcomes, ("everybody", "approved")),
        ("score", score, ("probability", "points")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    whole("rows", rows, 1)
    whole("seed", seed, 0)
    random = np.random.default_rng(seed)
    female = random.random(rows) < 0.46
    age = _pick(random, [0.24, 0.36, 0.27, 0.13], rows)
    employment = _employment(random, female, age)
    tenure = _tenure(random, female, age, employment)
    history = np.clip(np.rint((age + random.random(rows)) * 9 + 4 * _bell(random, rows)), 0, 45)
    income = 28_000 + 2_500 * np.minimum(age, 2) + 250 * tenure + 9_000 * _bell(random, rows)
    income += np.select([employment == 1, employment == 4], [-7_000, -5_000], 0)
    income = np.maximum(np.rint(income / 100) * 100, 9_000)
    amount = np.rint(income * (0.1 + 0.5 * random.random(rows) ** 2) / 100) * 100
    debt_ratio = np.clip(np.rint(22 + 11 * _bell(random, rows) - 1.5 * age), 0, 70)
    late = np.minimum(np.floor(-0.62 * np.log(random.random(rows)) * (1 + debt_ratio / 60)), 6)
    purpose, region = _pick(random, [0.3, 0.22, 0.26, 0.1, 0.12], rows), random.integers(0, 5, rows)
    sound = (
        1.95 - 0.62 * late - 0.05 * (debt_ratio - 20) + 0.012 * (history - 15)
        + 0.03 * (income - 32_000) / 1_000 - 1.1 * (amount / income - 0.27) - 0.25 * (purpose == 2)
    )  # fmt: skip
    chance = sound - 0.35 * (employment == 3) + 0.02 * np.minimum(tenure, 10)
    # the bank's model: what it learned of jobs no longer holds
    believed = (
        sound - 0.7 * (employment == 3) - 0.7 * (employment == 1)
        + 0.2 * np.minimum(tenure, 4) - 0.6 + 0.25 * _bell(random, rows)
    )  # fmt: skip
    repaid = random.random(rows) < _logistic(chance)
    frame: pd.DataFrame = need("pandas", extra="datasets").DataFrame(
        {
            "id": np.arange(rows) + 1 + FAR * seed,
            "income": income.astype(np.int64),
            "amount": amount.astype(np.int64),
            "purpose": np.array(PURPOSES, object)[purpose],
            "employment": np.array(EMPLOYMENT, object)[employment],
            "tenure": tenure.astype(np.int64),
            "debt_ratio": debt_ratio.astype(np.int64),
            "late_payments": late.astype(np.int64),
            "history": history.astype(np.int64),
            "region": np.array(REGIONS, object)[region],
            "sex": np.where(female, "female", "male").astype(object),
            "age": np.array(AGES, object)[age],
            "repaid": repaid.astype(np.int64),
            "score": np.clip(np.round(_logistic(believed), 4), 0.0001, 0.9999),
        }
    )
    if score == "points":
        odds = frame["score"] / (1 - frame["score"])
        frame["score"] = np.rint(600 + 20 * np.log2(odds)).astype(np.int64)
    if outcomes == "approved":
        threshold = 640 if score == "points" else 0.8
        frame["repaid"] = frame["repaid"].where(frame["score"] > threshold).astype("Int64")
    return frame


def _employment(random: Any, female: Any, age: Any) -> Any:
    """Women work part-time more often, the young on temporary contracts; the old are retired."""
    part = np.where(female, 0.33, 0.07)
    temporary = np.where(age == 0, 0.16, 0.05)
    u = random.random(len(female))
    kind = np.select([u < part, u < part + 0.1, u < part + 0.1 + temporary], [1, 2, 3], 0)
    return np.where((age == 3) & (random.random(len(female)) < 0.6), 4, kind)


def _tenure(random: Any, female: Any, age: Any, employment: Any) -> Floats:
    """Years with the employer: fewer after breaks, which women more often have."""
    longest = np.array([8.0, 13.0, 18.0, 20.0])[age] * np.where(female, 0.55, 1.0)
    years = np.floor(longest * random.random(len(female)) ** 1.3)
    return np.asarray(np.where(employment == 3, np.minimum(years, 2), years), np.float64)


def _pick(random: Any, shares: list[float], rows: int) -> Any:
    return np.searchsorted(np.cumsum(shares)[:-1], random.random(rows), side="right")


def _bell(random: Any, rows: int) -> Floats:
    """Nearly normal, by sums alone, which are the same everywhere.

    Logarithms and powers of e may differ in the last bit: what comes of them is rounded.
    """
    return np.asarray(random.random((rows, 12)).sum(1) - 6.0)


def _logistic(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
