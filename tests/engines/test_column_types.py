"""One table of what types mean: every engine decides alike, or every engine refuses."""

import datetime as dt
from decimal import Decimal

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairpatch.engines.mlflow_served import Patched
from fairpatch.engines.onnx import SCORE, patch_graph, run_graph
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import (
    CardScale,
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    Lock,
    Patch,
    Range,
    RangesWeight,
)
from fairpatch.patch.apply import apply
from fairpatch.patch.row_scorer import RowScorer

P = 0.4
NOT_THERE = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError)
"""What Arrow says of values that none of its columns can hold: there is no such table."""


def categories(*levels, missing=0.0):
    entries = [CategoryWeight(category=level, weight=20) for level in levels]
    part = CategoricalWeight(column="c", categories=entries, missing=missing)
    return _patch("category", categories=[part])


def number():
    part = RangesWeight(column="c", missing=0, ranges=[Range(at_least=1, weight=20)])
    return _patch("number", ranges=[part])


def lock(**condition):
    """Everybody changes, but who is locked."""
    kind = "category" if "values" in condition else "number"
    return Patch(
        columns=[Column(name="c", kind=kind)], concepts=[],
        card=CardScale(approve_at=0, locked=[Lock(column="c", **condition)]),
    )  # fmt: skip


def _patch(kind, **parts):
    return Patch(
        columns=[Column(name="c", kind=kind)], card=CardScale(approve_at=10),
        concepts=[Concept(name="c", weight=1, intercept=0, **parts)],
    )  # fmt: skip


def frame(values, dtype=None):
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype), "p": P})


def arrow(values):
    try:
        return pa.table({"c": values, "p": [P] * len(values)})
    except NOT_THERE:
        return None


def decided(table):
    return list(pd.Series(table["fairpatch_decision"]).tolist())


def by_polars(patch, values):
    try:
        table = pl.DataFrame({"c": values, "p": [P] * len(values)}, strict=True)
    except (pl.exceptions.PolarsError, TypeError, OverflowError):
        return None
    return apply(patch, table, "p")["fairpatch_decision"].to_list()


def by_arrow(patch, values):
    table = arrow(values)
    return None if table is None else apply(patch, table, "p")["fairpatch_decision"].to_pylist()


def by_duckdb(patch, values):
    table = arrow(values)
    if table is None:
        return None
    found = apply(patch, duckdb.connect().from_arrow(table), "p").project("fairpatch_decision")
    return [row[0] for row in found.fetchall()]


def by_onnx(patch, values):
    graph = patch_graph(patch).SerializeToString()
    return run_graph(graph, frame(values, object), score="p")["fairpatch_decision"].tolist()


def by_mlflow(patch, values):
    served = Patched()
    served.session = onnxruntime.InferenceSession(patch_graph(patch).SerializeToString())
    table = pd.DataFrame({"c": pd.Series(values), SCORE: P})
    return served.frame(table)["fairpatch_decision"].tolist()


ENGINES = {
    "pandas": lambda patch, v: decided(apply(patch, frame(v), "p")),
    "pandas objects": lambda patch, v: decided(apply(patch, frame(v, object), "p")),
    "numpy": lambda patch, v: patch.decide(frame(v), np.full(len(v), -0.4)).tolist(),
    "numpy objects": lambda patch, v: patch.decide(
        frame(v, object), np.full(len(v), -0.4)
    ).tolist(),
    "polars": by_polars,
    "pyarrow": by_arrow,
    "duckdb": by_duckdb,
    "onnx": by_onnx,
    "mlflow": by_mlflow,
    "one person": lambda patch, v: [RowScorer(patch).decide({"c": x}, P).decision for x in v],
}
REFUSED = "refused"
CASES = {
    "booleans, text categories": (categories("True"), [True, False], REFUSED),
    "text, boolean categories": (categories(True), ["True", "False"], REFUSED),
    "booleans, boolean categories": (categories(True), [True, False], [True, False]),
    "booleans, whole categories": (categories(1), [True, False], [True, False]),
    "whole numbers, boolean categories": (categories(True), [1, 0, 2], [True, False, False]),
    "whole numbers, text categories": (categories("1"), [1, 2], REFUSED),
    "text, whole categories": (categories(1), ["1", "2"], REFUSED),
    "floats, whole categories": (categories(1), [1.0, 1.5, float("nan")], [True, False, False]),
    "decimals, whole categories": (
        categories(1), [Decimal("1.00"), Decimal("1.50")], [True, False],
    ),
    "decimals, float categories": (
        categories(0.1), [Decimal("0.1"), Decimal("0.2")], [True, False],
    ),
    "dates": (categories("2020-01-01"), [dt.date(2020, 1, 1), dt.date(2021, 1, 1)], REFUSED),
    "times": (categories("2020-01-01 00:00:00"), [dt.datetime(2020, 1, 1)] * 2, REFUSED),
    "bytes": (categories("a"), [b"a", b"b"], REFUSED),
    "lists": (categories("['a']"), [["a"], ["b"]], REFUSED),
    "text that begins with NUL": (categories(1, "x"), ["\x001", "x", "y"], [False, True, False]),
    "whole numbers, both": (categories(1, "x"), [1, 2], [True, False]),
    "text, both": (categories(1, "x"), ["1", "x", "y"], [False, True, False]),
    "NUL in text": (categories("a"), ["a", "a\x00", "\x00a", "\x00"], [True, False, False, False]),
    "gaps": (categories("a", missing=20), ["a", "", None, " "], [True, True, True, False]),
    "a number as text": (number(), ["1", "2.5"], REFUSED),
    "an empty text": (number(), ["", "1"], REFUSED),
    "a number as boolean": (number(), [True, False], [True, False]),
    "a number as decimal": (number(), [Decimal("1.0"), Decimal("0.99")], [True, False]),
    "a huge number": (number(), [10**25, 1], [True, True]),
    "a number beyond doubles": (number(), [10**400, 1], [False, True]),
    "a date for a number": (number(), [dt.date(2020, 1, 1), dt.date(1960, 1, 1)], REFUSED),
    "a time for a number": (number(), [dt.datetime(2020, 1, 1), dt.datetime(1960, 1, 1)], REFUSED),
    "a duration for a number": (number(), [dt.timedelta(days=1), dt.timedelta(0)], REFUSED),
    "a list for a number": (number(), [[1.0], [2.0]], REFUSED),
    "a complex number": (number(), [1 + 0j, 2 + 0j], REFUSED),
    "nothing for a number": (number(), [None, None], [False, False]),
    "NaN for a text": (categories("a", missing=20), [float("nan")] * 2, [True, True]),
    "nothing for a text": (categories("a", missing=20), [None, None], [True, True]),
    "single precision": (categories(0.1), np.array([0.1, 0.2], np.float32), [False, False]),
    "unsigned": (categories(-1, 5), np.array([2**64 - 1, 5], np.uint64), [False, True]),
    "beyond doubles' whole numbers": (categories(7), [2**53 + 1, 7], [False, True]),
    "locked by text, booleans": (lock(values=["yes"]), [True, False], REFUSED),
    "locked by text, whole numbers": (lock(values=["1"]), [1, 0], REFUSED),
    "locked by text, dates": (lock(values=["2020-01-01"]), [dt.date(2020, 1, 1)] * 2, REFUSED),
    "locked by text, bytes": (lock(values=["a"]), [b"a", b"b"], REFUSED),
    "locked by text, lists": (lock(values=["a"]), [["a"], ["b"]], REFUSED),
    "locked by numbers, text": (lock(values=[1]), ["1", "0"], REFUSED),
    "locked by both, whole numbers": (lock(values=["yes", 1]), [1, 2], [False, True]),
    "locked by both, text": (lock(values=["yes", 1]), ["yes", "1"], [False, True]),
    "locked by a number, booleans": (lock(values=[1]), [True, False], [False, True]),
    "locked by what no boolean is": (lock(values=[2]), [True, False], [True, True]),
    "locked, single precision": (
        lock(values=[0.1]), np.array([0.1, 0.5], np.float32), [True, True],
    ),
    "locked, unsigned": (lock(values=[-1]), np.array([2**64 - 1, 1], np.uint64), [True, True]),
    "locked, gaps": (lock(values=["yes"]), ["yes", None, "", "no"], [False, True, True, True]),
    "locked, an empty column": (lock(values=["yes"]), [None, None], [True, True]),
    "unless, a gap": (lock(values=["a"], unless=True), ["a", None, "b"], [True, False, False]),
    "unless, whole numbers": (lock(values=["a"], unless=True), [1, 2], REFUSED),
    "a range locks dates": (lock(at_least=0), [dt.date(2020, 1, 1)] * 2, REFUSED),
    "a range locks text": (lock(at_least=0), ["1", "2"], REFUSED),
    "a range locks booleans": (lock(at_least=1), [True, False], [False, True]),
    "a range locks decimals": (
        lock(at_least=0.1), [Decimal("0.1"), Decimal("0.09")], [False, True],
    ),
    "a range locks, gaps": (lock(at_least=1), [1.0, float("nan"), 0.0], [False, True, True]),
    "a range locks an empty column": (lock(at_least=1), [None, None], [True, True]),
    "a range locks huge numbers": (
        lock(at_least=10**15), np.array([2**64 - 1, 1], np.uint64), [False, True],
    ),
    "a range locks single precision": (
        lock(at_least=0.1), np.array([0.1, 0.05], np.float32), [False, True],
    ),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES)
def test_a_type_means_the_same_everywhere(case, engine):
    patch, values, expected = CASES[case]
    if expected == REFUSED:
        if arrow(values) is None and engine in ("pyarrow", "duckdb"):
            return  # there is no such table
        with pytest.raises(TypeError, match="column 'c' (must be|is)"):
            ENGINES[engine](patch, values)
        return
    found = ENGINES[engine](patch, values)
    if found is not None:
        assert [None if v is None else bool(v) for v in found] == expected


@pytest.mark.parametrize("case", [c for c in CASES if arrow(CASES[c][1]) is not None])
def test_spark_too(case, spark):
    patch, values, expected = CASES[case]
    try:
        table = spark.createDataFrame(arrow(values))
    except Exception:
        return
    if expected == REFUSED:
        with pytest.raises(TypeError, match="column 'c' (must be|is)"):
            apply(patch, table, "p")
        return
    rows = apply(patch, table, "p").select("fairpatch_decision").collect()
    assert [bool(row[0]) for row in rows] == expected


@pytest.mark.parametrize("score", [None, float("nan"), 10**400, "much", -0.1, 1.5])
def test_a_score_that_is_none_has_no_decision_and_no_reason(score):
    patch = categories("a")
    if score == "much":
        with pytest.raises(TypeError, match="must be a number"):
            RowScorer(patch).decide({"c": "a"}, score)
        return
    one = RowScorer(patch).decide({"c": "a"}, score)
    assert (one.decision, one.changed, one.reason) == (None, None, None)
    if score in (None, 10**400):
        return
    table = pd.DataFrame({"c": ["a", "a"], "p": [score, P]})
    graph = patch_graph(patch, with_reason=True).SerializeToString()
    out = run_graph(graph, table, score="p")
    assert out["fairpatch_decision"][0] is None
    assert out["fairpatch_reason"][0] is None
    assert out["fairpatch_reason"][1] is not None
    served = Patched()
    served.session = onnxruntime.InferenceSession(graph)
    rows = served.frame(table.rename(columns={"p": SCORE}))
    assert rows["fairpatch_reason"][0] is None
    assert rows["fairpatch_reason"][1] is not None


SCORES = {
    "text": ["0.4", "0.6"], "dates": [dt.date(2020, 1, 1)] * 2, "bytes": [b"1", b"0"],
    "times": [dt.datetime(2020, 1, 1)] * 2, "lists": [[0.4], [0.6]],
}  # fmt: skip


@pytest.mark.parametrize("engine", ["pandas", "numpy", "polars", "pyarrow", "duckdb", "onnx"])
@pytest.mark.parametrize("what", SCORES)
def test_a_score_that_is_no_number_is_refused_everywhere(what, engine, spark):
    patch, table = categories("a"), pa.table({"c": ["a", "b"], "p": SCORES[what]})
    tables = {
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table), "pyarrow": lambda: table,
        "duckdb": lambda: duckdb.connect().from_arrow(table),
    }  # fmt: skip
    graph = patch_graph(patch).SerializeToString()
    engines = {
        "numpy": lambda: BaseModel("p").logits(table.to_pandas()),
        "onnx": lambda: run_graph(graph, table.to_pandas(), score="p"),
    }
    by = engines.get(engine, lambda: apply(patch, tables[engine](), "p"))
    with pytest.raises(TypeError, match="p' must be (a number|numbers)"):
        by()
    with pytest.raises(TypeError, match="must be a number"):
        apply(patch, spark.createDataFrame(table), "p")
    with pytest.raises(TypeError, match="must be a number"):
        RowScorer(patch).decide({"c": "a"}, SCORES[what][0])


def test_a_patch_that_compares_a_column_with_text_and_with_numbers_is_refused():
    card = CardScale(approve_at=10, locked=[Lock(column="c", values=[1])])
    with pytest.raises(ValueError, match="with text in one place and with numbers in another"):
        Patch.model_validate({**categories("a").model_dump(), "card": card.model_dump()})
