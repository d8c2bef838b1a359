"""The lender's table: the same bits everywhere, plausible, and unfair in the way it says."""

import hashlib

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from fairpatch.datasets import load_loans

BITS = "d63baac67a47bc249d99195590886ea7427cd6b608f891e16718585737e37884"


def test_it_is_the_same_table_to_the_last_bit():
    text = load_loans().to_csv(index=False, lineterminator="\n")
    assert hashlib.sha256(text.encode()).hexdigest() == BITS
    assert not set(load_loans(500, 1)["id"]) & set(load_loans(500, 2)["id"])
    with pytest.raises(ValueError, match="rows must be a whole number"):
        load_loans(0)


def test_the_model_is_good_reads_no_group_and_is_wrong_about_part_time_work():
    loans = load_loans(60_000, 7)
    assert loans.notna().all(axis=None)
    assert 0.68 < roc_auc_score(loans["repaid"], loans["score"]) < 0.75
    approved = loans["score"] > 0.8
    rates = approved.groupby(loans["sex"]).mean()
    assert 0.7 < rates["female"] / rates["male"] < 0.77
    declined = loans[~approved].groupby("sex")["repaid"].mean()
    assert declined["female"] > declined["male"]
    # at the same score, part-timers repay more often than others
    part = (loans["employment"] == "part-time").to_numpy(float)
    logit = np.log(loans["score"] / (1 - loans["score"]))
    model = LogisticRegression().fit(np.column_stack([logit, part]), loans["repaid"])
    assert model.coef_[0, 1] > 0.4
    # and among people with the same work and columns, the score says nothing about their sex
    alike = loans[(loans["employment"] == "full-time") & (loans["tenure"] == 2)]
    means = alike.groupby("sex")["score"].mean()
    assert abs(means["female"] - means["male"]) < 0.02
