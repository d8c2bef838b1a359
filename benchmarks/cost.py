"""What a patch costs beyond its base model: the same rows scored with and without it.

In Python, in onnxruntime and in DuckDB (f as an Arrow function there), one thread, taking turns.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from fairpatch._tools.extras import need
from fairpatch._tools.tables import Table
from fairpatch.commod.estimator import Commod
from fairpatch.datasets import Population
from fairpatch.decision import Decision
from fairpatch.engines.onnx import merged_graph
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import Patch
from fairpatch.patch.expressions import decision_expr
from fairpatch.patched import PatchedModel

Job = Callable[[], Any]


def run(rows: int = 200_000, repeats: int = 7) -> dict[str, Any]:
    """Best of several, taking turns."""
    population = Population(p_rule=0.6, accuracy=0.8)
    train = population.sample(20_000, seed=1).to_pandas()
    people = population.sample(rows, seed=2).to_pandas()
    columns = population.columns
    text = [c for c in columns if c.startswith("cat_")]
    train, people = (t.astype(dict.fromkeys(text, str)) for t in (train, people))
    found: dict[str, Any] = {}
    with threadpool_limits(1):
        for name, final in _models().items():
            numbers = [c for c in columns if c not in text]
            f = make_pipeline(
                make_column_transformer(
                    (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
                    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), text),
                ),
                final,
            ).fit(train[columns].fillna(dict.fromkeys(text, "none")), train["y"])
            X = people[columns].fillna(dict.fromkeys(text, "none"))
            g = Commod(f, lambda_fair=3.0).fit(
                train[columns].fillna(dict.fromkeys(text, "none")),
                train["y"],
                sensitive_features=train["group"],
            )
            found[name] = {
                where: _turns(bare, patched, repeats)
                for where, (bare, patched) in {
                    "Python": _python(f, g, X),
                    "ONNX": _onnx(f, g.patch_, X),
                    "DuckDB": _duckdb(f, g.patch_, X),
                }.items()
            }
    return {"rows": rows, "seconds": found}


def _models() -> dict[str, Any]:
    lightgbm = need("lightgbm", extra="test")
    return {
        "logistic regression": LogisticRegression(),
        "LightGBM, 100 trees": lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
    }


def _python(f: Any, g: Commod, X: Any) -> tuple[Job, Job]:
    """The estimators, as a batch job would call them."""
    return lambda: f.predict_proba(X)[:, 1] > 0.5, lambda: g.predict(X)


def _onnx(f: Any, patch: Patch, X: Any) -> tuple[Job, Job]:
    """One graph with a patch that does nothing, and one with the patch."""
    onnxruntime = need("onnxruntime", extra="onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    empty = Patch(columns=(), concepts=(), decision=patch.decision)

    def job(own: Patch) -> Job:
        g = PatchedModel(BaseModel(f, Decision(threshold=own.decision.cut)), own)
        graph = merged_graph(g, X.head(100)).SerializeToString()
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        feed = {
            entry.name: X[entry.name].to_numpy(object if "string" in entry.type else np.float64)
            for entry in session.get_inputs()
        }
        rows = {name: values[:, None] for name, values in feed.items()}
        return lambda: session.run(["fairpatch_decision"], rows)

    return job(empty), job(patch)


def _duckdb(f: Any, patch: Patch, X: Any) -> tuple[Job, Job]:
    """The base model as a function on Arrow batches; the patch as an expression around it."""
    duckdb, pa = need("duckdb", extra="cli"), need("pyarrow", extra="datasets")
    nw = need("narwhals", extra="cli")
    base = duckdb.connect()
    base.execute("SET threads = 1")
    base.register("frame", pa.Table.from_pandas(X, preserve_index=False))
    base.execute("CREATE TABLE people AS SELECT * FROM frame")

    def score(person: Any) -> Any:
        record = person.combine_chunks() if hasattr(person, "combine_chunks") else person
        frame = pa.Table.from_arrays(record.flatten(), list(X.columns)).to_pandas()
        return pa.array(BaseModel(f).scores(frame))

    kinds = {c: "VARCHAR" if c.startswith("cat_") else "DOUBLE" for c in X.columns}
    person = duckdb.struct_type(kinds)
    base.create_function("f", score, [person], "DOUBLE", type="arrow", null_handling="special")
    fields = ", ".join(f'"{c}" := "{c}"' for c in X.columns)
    scored = f"SELECT *, f(struct_pack({fields})) AS p FROM people"  # noqa: S608

    def count(decision: Any) -> Job:
        table = nw.from_native(base.sql(scored)).lazy()
        return lambda: table.select(decision.cast(nw.Int64).sum()).collect()

    return count(nw.col("p") > patch.decision.cut), count(decision_expr(patch, "p"))


def _turns(bare: Job, patched: Job, repeats: int) -> dict[str, float]:
    best = {"bare": np.inf, "patched": np.inf}
    for _ in range(repeats):
        for name, job in (("bare", bare), ("patched", patched)):
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def show(result: dict[str, Any]) -> str:
    """Microseconds a row, and the ratio."""
    rows = []
    for model, places in result["seconds"].items():
        for where, own in places.items():
            micro = [f"{own[k] / result['rows'] * 1e6:.3f}" for k in ("bare", "patched")]
            rows.append([f"{model}, {where}", *micro, f"{own['patched'] / own['bare']:.2f}"])
    header = ["", "f alone", "f and patch", "ratio"]
    return Table("Microseconds a row, one thread, best of several", header, rows).text()
