"""A score lies in the same band in every engine: compared as it was given, in its own unit."""

from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from pydantic import ValidationError

from fairpatch.decision import Decision
from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight
from fairpatch.patch.apply import apply
from fairpatch.patch.parts import ScoreBand
from fairpatch.patch.row_scorer import RowScorer

ROUND = [k / 100 for k in range(1, 100)] + [k / 1000 for k in (1, 5, 123, 877, 995, 999)]
UNITS = {
    "probability": (Decision(threshold=0.5), ROUND),
    "probability, at least": (Decision(threshold=0.37, at_least=True), ROUND),
    "harm": (Decision(threshold=0.8, favourable=0), ROUND),
    "percent": (Decision(threshold=0.6, score_unit="percent"), ROUND),
    "points": (
        Decision(
            threshold=640, score_unit="points", points={"base": 600, "odds": 30, "double": 20}
        ),
        [600 + k / 10 for k in range(100)] + [float(k) for k in range(601, 700)],
    ),
    "by product": (
        Decision(threshold={"by": "c", "at": [{"value": "a", "threshold": 0.6},
                                              {"value": "b", "threshold": 0.35}]}),
        [-0.3, -0.25, -0.1, -0.05, 0.05, 0.11, 0.3],
    ),
}  # fmt: skip


def problem(unit):
    """A card that changes who is in every second band; scores at and beside every end."""
    decision, ends = UNITS[unit]
    ends = sorted(set(ends))
    bands = [
        ScoreBand(at_least=low, below=high, points=None if i % 2 else 0)
        for i, (low, high) in enumerate(pairwise(ends))
    ]
    patch = Patch(
        columns=[Column(name="c", kind="category")], concepts=[], decision=decision,
        card=CardScale(approve_at=0, deny_at=0, confidence=bands),
    )  # fmt: skip
    own = [t + e for t in (0.6, 0.35) for e in ends] if decision.cuts else ends
    own = [round(e, 9) for e in own] + own
    beside = [1 - (1 - e) for e in own] + [1 - e for e in own] + [np.float32(e) for e in own]
    scores = [*own, *(beside if not decision.in_points else [])]
    for way in (np.inf, -np.inf):
        step = list(own)
        for _ in range(2):
            step = [float(np.nextafter(e, way)) for e in step]
            scores += step
    scores = np.array([s for s in scores if decision.in_points or 1e-6 < s < 1 - 1e-6], float)
    scores = scores * 100 if unit == "percent" else scores
    return patch, pd.DataFrame({"c": np.where(np.arange(len(scores)) % 2, "a", "b"), "p": scores})


ENGINES = {
    "pandas": lambda patch, table: apply(patch, table, "p")["fairpatch_decision"].tolist(),
    "polars": lambda patch, table: apply(patch, pl.from_pandas(table), "p")[
        "fairpatch_decision"].to_list(),
    "duckdb": lambda patch, table: apply(patch, duckdb.connect().from_df(table), "p").df()[
        "fairpatch_decision"].tolist(),
    "onnx": lambda patch, table: run_graph(
        patch_graph(patch).SerializeToString(), table, score="p")["fairpatch_decision"].tolist(),
    "one person": lambda patch, table: [
        RowScorer(patch).decide({"c": c}, p).decision
        for c, p in zip(table["c"], table["p"], strict=True)],
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("engine", ENGINES)
def test_at_every_end_and_beside_it_engines_decide_as_numpy(engine, unit):
    patch, table = problem(unit)
    f_logit = BaseModel("p", decision=patch.decision).logits(table)
    approved = patch.decide(table, f_logit)
    expected = approved == bool(patch.decision.favourable)
    assert 0.2 < (approved != (f_logit > 0)).mean() < 0.8
    found = np.array(ENGINES[engine](patch, table), bool)
    assert (found != expected).sum() == 0


def test_a_score_a_step_below_an_end_lies_below_it():
    """0.11 and 1 - 0.89 differ in their last bit, and their log-odds do not."""
    bands = [ScoreBand(below=0.11, points=1), ScoreBand(at_least=0.11, points=2)]
    patch = Patch(columns=[], concepts=[], card=CardScale(approve_at=0, confidence=bands))
    f_logit = BaseModel("p").logits(pd.DataFrame({"p": [1 - 0.89, 0.11, 0.5]}))
    assert patch.band(f_logit).tolist() == [0, 1, 1]


def test_a_column_of_many_ranges_is_applied_and_of_too_many_refused():
    """200 comparisons one in the other were too deep for pandas, 3,000 for every engine."""
    ranges = [Range(at_least=k, below=k + 1, weight=20 * (k % 2)) for k in range(1_001)]
    with pytest.raises(ValidationError, match="at most 1,000 ranges; got 1,001"):
        RangesWeight(column="c", ranges=ranges)
    part = RangesWeight(column="c", ranges=ranges[:-1], missing=20)
    patch = Patch(
        columns=[Column(name="c", kind="number")], card=CardScale(approve_at=10),
        concepts=[Concept(name="c", weight=1, intercept=0, ranges=[part])],
    )  # fmt: skip
    table = pd.DataFrame(
        {"c": [-1.0, 0.0, 0.5, 1.0, 500.0, 501.0, 999.9, 1000.0, np.nan], "p": 0.4}
    )
    expected = [False, False, False, True, False, True, True, False, True]
    for engine in ("pandas", "duckdb"):
        assert ENGINES[engine](patch, table) == expected
    assert patch.decide(table, BaseModel("p").logits(table)).tolist() == expected


def test_polars_divides_per_cent_to_the_last_bit():
    decision = Decision(threshold=0.35, score_unit="percent")
    patch = Patch(columns=[], concepts=[], card=CardScale(approve_at=10), decision=decision)
    table = pl.DataFrame({"p": [35.0, 41.0, 34.999999]})  # 35 * 0.01 is above 0.35
    assert apply(patch, table, "p")["fairpatch_decision"].to_list() == [False, True, False]
    assert apply(patch, table.lazy(), "p").collect().columns[:1] == ["p"]
