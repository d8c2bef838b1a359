"""The decision rule: one table of cases, and everything that decides is held to it.

A case is what f says (side of the threshold, or exactly on it), r, the direction, and which
decision is favourable. Arrays, one person at a time, expressions, SQL and ONNX must all agree.
"""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpatch import BaseModel, Decision, PatchedModel
from fairpatch.commod.adversarial import Candidates
from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.measure.cells import DIRECTIONS
from fairpatch.patch import Column, Concept, NumberWeight, Patch
from fairpatch.patch.apply import DECISION, SCORE, apply
from fairpatch.patch.decide import changes, decide
from fairpatch.patch.row_scorer import RowScorer

T = 0.4
# f's decision (1 above the threshold), r -> the patched decision, where 1 is favourable
BOTH_WAYS = {
    (0.7, 1.0): 1, (0.7, 0.5): 1, (0.7, 0.0): 0, (0.7, -1.0): 0,
    (0.2, 1.0): 0, (0.2, 0.5): 0, (0.2, 0.0): 0, (0.2, -1.0): 1,
    (T, 1.0): 0, (T, 0.0): 0, (T, -1.0): 1,
}  # fmt: skip
# where 0 is favourable, f favours whoever is at or below the threshold
HARM = {
    (0.7, 1.0): 1, (0.7, 0.5): 1, (0.7, 0.0): 1, (0.7, -1.0): 0,
    (0.2, 1.0): 0, (0.2, 0.5): 0, (0.2, 0.0): 1, (0.2, -1.0): 1,
    (T, 1.0): 0, (T, 0.0): 1, (T, -1.0): 1,
}  # fmt: skip


# exactly at the threshold, where that is decision 1
AT_LEAST = {(T, 1.0): 1, (T, 0.0): 0, (T, -1.0): 0}
HARM_AT_LEAST = {(T, 1.0): 1, (T, 0.0): 1, (T, -1.0): 0}


def expected(p, r, direction, favourable, at_least=False):
    """The table; a direction leaves f's decision where it would change the other way."""
    before, after = int(p > T), (BOTH_WAYS if favourable else HARM)[p, r]
    if at_least and p == T:
        before, after = 1, (AT_LEAST if favourable else HARM_AT_LEAST)[p, r]
    promoted = (after == favourable) and before != favourable
    demoted = (after != favourable) and before == favourable
    forbidden = (promoted and direction == "demote_only") or (
        demoted and direction == "promote_only"
    )
    return before if forbidden else after


CASES = [(direction, favourable) for direction in DIRECTIONS for favourable in (1, 0)]


def patch_of(direction, favourable, at_least=False):
    """r is the column itself: r = 1 + (r - 1)."""
    slope = NumberWeight(column="r", coefficient=1.0, missing=0.0)
    return Patch(
        columns=[Column(name="r", kind="number")],
        concepts=[Concept(name="c", weight=1.0, intercept=-1.0, numbers=[slope])],
        decision=Decision(threshold=T, favourable=favourable, at_least=at_least),
        direction=direction,
    )


def frame():
    return pd.DataFrame(list(BOTH_WAYS), columns=["p", "r"])


@pytest.mark.parametrize("at_least", [False, True])
@pytest.mark.parametrize(("direction", "favourable"), CASES)
def test_everything_that_decides_keeps_to_the_table(direction, favourable, at_least):
    patch, rows = patch_of(direction, favourable, at_least), frame()
    wanted = [expected(p, r, direction, favourable, at_least) for p, r in BOTH_WAYS]
    model = PatchedModel(BaseModel("p"), patch)
    assert model.decide(rows).astype(int).tolist() == wanted
    one = RowScorer(patch)
    assert [int(one.decide({"r": r}, p).decision) for p, r in BOTH_WAYS] == wanted
    for table in (rows, pl.from_pandas(rows)):
        assert [int(d) for d in apply(patch, table, "p")[DECISION]] == wanted
    for (p, r), decision in zip(BOTH_WAYS, wanted, strict=True):
        row = pd.DataFrame({"p": [p], "r": [r]})  # noqa: F841 DuckDB finds it by its name
        assert int(duckdb.sql(sql(patch, "p", table="row")).df()[DECISION][0]) == decision
    graph = run_graph(patch_graph(patch).SerializeToString(), rows, score="p")
    assert graph[DECISION].astype(int).tolist() == wanted
    # and the patched score is on the side of the decision, everywhere
    scores = [apply(patch, rows, "p")[SCORE], graph[SCORE], model.predict_proba(rows)[:, 1]]
    scores.append(duckdb.sql(sql(patch, "p", table="rows", with_score=True)).df()[SCORE])
    for score in scores:
        above = np.asarray(score) >= T if at_least else np.asarray(score) > T
        near = np.abs(np.asarray(score) - T) < 1e-15  # r of 0 says nothing more
        assert (above == np.array(wanted))[~near].all()
    # the rule itself, in terms of whom f favours
    f_logit = model.logits(rows)
    favoured = decide(f_logit, rows["r"].to_numpy(), direction)
    assert (favoured == (np.array(wanted) == favourable)).all()


def test_a_stack_of_models_keeps_to_the_table_too():
    f_logit = np.array([1.0, -1.0, 0.0, 1.0, -1.0, 0.0])
    ratio = np.array([-1.0, -1.0, -1.0, 0.0, 0.0, 0.0])
    stack = object.__new__(Candidates)
    object.__setattr__(stack, "directions", DIRECTIONS)
    object.__setattr__(stack, "ratio", lambda _: np.tile(ratio, (3, 1)))
    decided = stack.decide(None, f_logit)
    for row, direction in zip(decided, DIRECTIONS, strict=True):
        assert row.tolist() == decide(f_logit, ratio, direction).tolist()
    assert decided[0].tolist() == [False, True, True, False, False, False]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_numbers_and_arrays_follow_the_same_rule(direction):
    for approved, declined in ((True, False), (False, True), (False, False)):
        for r in (1.0, 0.0, -0.0, -1e-300, -1.0):
            alone = changes(approved, declined, r, direction)
            arrays = changes(np.array([approved]), np.array([declined]), np.array([r]), direction)
            assert bool(alone) is bool(arrays[0])
