"""The same person in several rows: what an audit's interval, a certificate and a monitor are worth.

Two groups whose rates are a ratio of exactly 0.8 apart. What is decided about one person is alike
(a beta-binomial with the correlation CORRELATION). Each is right if it errs in at most 5 %: an
interval of 95 % that misses 0.8, a certificate of 0.8 that should not be one person above chance,
a monitor that shows in some month of MONTHS that 0.8 does not hold. Beside it, each as if rows were
people.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairpatch import Target
from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.tables import Table
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import certify
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.over_time import over_time

TRUTH, RATE, SECOND, CORRELATION = 0.8, 0.4, 0.42, 0.5
PEOPLE, MONTHLY, MONTHS = 3_000, 500, 12
HEAVY = "1 to 40"
ROWS = (1, 2, 5, 10, 20, 40, HEAVY)
"""Rows a person; of the last, most have one or two and some have forty."""


def run(tables: int = 500, streams: int = 100) -> dict[str, Any]:
    """Every number of rows a person has."""
    return {"tables": tables, "streams": streams, "found": list(_found(tables, streams))}


def _found(tables: int, streams: int) -> Iterator[dict[str, Any]]:
    for rows in ROWS:
        for by_person in (True, False):
            rng = np.random.default_rng(0)
            inside = certified = alarms = 0
            for _ in range(tables):
                counts = _counts(rng, rows, PEOPLE, by_person=by_person)
                found = P_RULE.of(counts)
                inside += (found.low or 0) <= TRUTH <= (found.high or 0)
                verdict = certify(counts, Target(p_rule=TRUTH)).verdict
                certified += verdict is Verdict.CERTIFIED
            for _ in range(streams):
                months = [_counts(rng, rows, MONTHLY, by_person=by_person) for _ in range(MONTHS)]
                alarms += over_time(months, P_RULE, TRUTH).verdict() is Verdict.REFUTED
            yield {
                "rows": rows, "by_person": by_person, "coverage": inside / tables,
                "certified": certified / tables, "alarms": alarms / max(streams, 1),
            }  # fmt: skip


def _counts(rng: np.random.Generator, rows: int | str, people: int, *, by_person: bool) -> Counts:
    """What was decided about so many people, each with several rows."""
    second = rng.random(people) < SECOND
    rate = np.where(second, RATE * TRUTH, RATE)
    spread = (1 - CORRELATION) / CORRELATION
    own: Floats = rng.beta(rate * spread, (1 - rate) * spread)
    person = np.repeat(np.arange(people), _rows_of(rng, rows, people))
    return Counts.from_arrays(
        decision=rng.random(len(person)) < own[person],
        sensitive_features=np.where(second[person], "b", "a"),
        person=rng.integers(0, 2**40, people)[person] if by_person else None,
    )


def _rows_of(rng: np.random.Generator, rows: int | str, people: int) -> Ints:
    if rows != HEAVY:
        return np.full(people, int(rows))
    return np.clip(np.round(rng.pareto(1.6, people) * 3.6 + 1), 1, 40).astype(int)


def show(result: dict[str, Any]) -> str:
    """Each share should be 0.05 or less, coverage 0.95."""
    rows = [
        [
            str(f["rows"]), "people" if f["by_person"] else "rows", f"{f['coverage']:.3f}",
            f"{f['certified']:.3f}", f"{f['alarms']:.3f}",
        ]
        for f in result["found"]
    ]  # fmt: skip
    header = ["rows a person", "counted as", "coverage", "certified at the truth", "alarms"]
    title = f"{result['tables']} tables, {result['streams']} streams of {MONTHS} months"
    return Table(title, header, rows).text()
