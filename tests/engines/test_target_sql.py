"""A target as a query: rows exactly where a certificate says no; text in every dialect."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch.choose.certificate import certify
from fairpatch.decision import Decision
from fairpatch.engines.sql import DIALECTS
from fairpatch.engines.target_query import target_sql
from fairpatch.measure.counts import Counts
from fairpatch.target import Target

PAID = Decision(positive="paid", negative="lost")


@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.5), (0.5, 0.38, 0.45), (0.5, 0.25, 0.5)])
@pytest.mark.parametrize(
    "target", [Target(p_rule=0.8), Target(demographic_parity_difference=0.1),
               Target(equal_opportunity_difference=0.1), Target(predictive_equality_difference=0.1)]
)  # fmt: skip
def test_rows_come_where_a_certificate_refutes(rates, target):
    rng, n = np.random.default_rng(0), 3_000
    s = rng.integers(0, 3, n)
    d = rng.random(n) < np.array(rates)[s]
    y = np.where(rng.random(n) < 0.7, d, ~d)
    frame = pd.DataFrame({
        "sex": np.array(["a", "b", "c"])[s], "fairpatch_decision": d,
        "y": np.where(y, "paid", "lost"),
    })  # fmt: skip
    text = target_sql(target, PAID, sensitive=["sex"], label="y", table="frame", groups=3)
    rows = duckdb.sql(text).df()
    counts = Counts.from_arrays(
        decision=d, y=y.astype(int), sensitive_features={"sex": frame["sex"]}
    )
    assert bool(len(rows)) == (certify(counts, target).verdict == "shown not to hold")
    if len(rows):
        assert (rows["lower"] == "b").all()


def test_every_dialect_has_a_text_and_what_cannot_be_asked_is_refused():
    target = Target(p_rule=0.8, equal_opportunity_difference=0.1)
    for dialect in DIALECTS:
        text = target_sql(target, PAID, sensitive=["sex"], label="y", dialect=dialect)
        assert "fairpatch_decision" in text
    assert "y" not in target_sql(Target(p_rule=0.8), PAID, sensitive=["s"]).split('"')
    with pytest.raises(ValueError, match="without labels"):
        target_sql(Target(disparate_mistreatment=0.1), PAID, sensitive=["sex"])


@pytest.mark.parametrize("target", [Target(p_rule=0.8), Target(demographic_parity_difference=0.1)])
def test_the_query_turns_exactly_where_the_certificate_does(target):
    """At the same approval: the score test of a ratio is written in SQL, too.

    That of a gap has no short form: the query asks the z test with one hit and one miss more in
    each group, and turns within two approvals of the certificate.
    """
    text = target_sql(target, Decision(), sensitive=["sex"], table="frame", groups=2)
    apart = 0 if target.p_rule else 2
    for n in (20, 38, 43, 400):  # few people: the two that are added to each group weigh
        refuted, asked = [], []
        for k in range(n // 2 + 1):
            d = np.repeat([1, 0, 1, 0], [n // 2, n - n // 2, k, n - k]).astype(bool)
            s = np.repeat(["a", "b"], n)
            frame = pd.DataFrame({"sex": s, "fairpatch_decision": d})  # noqa: F841 DuckDB finds it
            counts = Counts.from_arrays(decision=d, sensitive_features={"sex": s})
            wrong = certify(counts, target).verdict == "shown not to hold"
            asked.append(bool(len(duckdb.sql(text).df())))
            refuted.append(wrong)
        assert abs(sum(asked) - sum(refuted)) <= apart, n
        assert asked == sorted(asked, reverse=True)
        assert refuted[0]
        assert not refuted[-1]
