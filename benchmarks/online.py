"""One request after the other: a decision with the patch beside f alone, in Python, ONNX and HTTP.

The model is a pipeline as people deploy it: columns by their names, scaled numbers, encoded texts,
logistic regression. p50 and p99 over some thousand calls, taking turns.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from fairpatch._tools.extras import need
from fairpatch._tools.tables import Table
from fairpatch.datasets import Population
from fairpatch.engines.onnx import merged_graph
from fairpatch.engines.onnx_base import base_logits
from fairpatch.engines.onnx_graph import Graph
from fairpatch.front import FairPatch
from fairpatch.inputs.base import BaseModel
from fairpatch.patch.row_scorer import RowScorer
from fairpatch.target import Target

CALLS = 2_000
CLIENTS = 4


def run(calls: int = CALLS) -> dict[str, Any]:
    """Seconds of each call, as quantiles."""
    X, f, g = fitted()
    with threadpool_limits(1):
        found = {rows: _compared(_jobs(X.iloc[:rows], f, g, X), calls) for rows in (1, 100)}
        return {"quantiles": found, "served": _served(X, f, g, calls)}


def fitted() -> tuple[Any, Any, Any]:
    """People, a pipeline, and a patch of it."""
    people = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)})
    table = people.sample(20_000, seed=0).to_pandas()
    X = table.drop(columns=["id", "group", "y", "score"])
    texts = [name for name in X.columns if name.startswith("cat")]
    numbers = [name for name in X.columns if name not in texts]
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepare = make_column_transformer((StandardScaler(), numbers), (encode, texts))
    X[numbers] = X[numbers].fillna(0.0)
    X[texts] = X[texts].astype(object).where(X[texts].notna(), "none")
    f = make_pipeline(prepare, LogisticRegression(max_iter=1_000)).fit(
        X[:5_000], table["y"][:5_000]
    )
    g = FairPatch(f, Target(p_rule=0.75))
    return X, f, g.fit(X[5_000:], table["y"][5_000:], sensitive_features=table["group"][5_000:])


def _jobs(some: Any, f: Any, g: FairPatch, X: Any) -> dict[str, Callable[[], Any]]:
    """f and the patched model, each in Python and as a graph."""
    one, rows = RowScorer(g.patch_), some.to_dict("records")

    def each() -> Any:
        scores = f.predict_proba(some)[:, 1].tolist()
        return [one.decide(row, p).decision for row, p in zip(rows, scores, strict=True)]

    onnx = need("onnx", extra="onnx")
    alone = Graph(onnx)
    name = base_logits(alone, BaseModel(f), X)
    graphs = {
        "f, ONNX": alone.model({name: onnx.TensorProto.DOUBLE}, {}),
        "patched, ONNX": merged_graph(g.patched_, X),
    }
    jobs = {"f, Python": lambda: f.predict_proba(some), "patched, RowScorer": each,
            "patched, predict": lambda: g.predict(some)}  # fmt: skip
    return jobs | {k: _graph(made, some) for k, made in graphs.items()}


def _graph(made: Any, some: Any) -> Callable[[], Any]:
    runtime = need("onnxruntime", extra="onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        made.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feed = {
        entry.name: some[entry.name].to_numpy(object if "string" in entry.type else np.float64)[
            :, None
        ]
        for entry in session.get_inputs()
    }
    return lambda: session.run(None, feed)


def _compared(jobs: dict[str, Callable[[], Any]], calls: int) -> dict[str, tuple[float, float]]:
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(calls):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    return {name: _quantiles(own) for name, own in seconds.items()}


def _quantiles(seconds: list[float]) -> tuple[float, float]:
    low, high = np.quantile(seconds, [0.5, 0.99])
    return float(low), float(high)


def app(f: Any, patch: Any, X: Any) -> Any:
    """A service: POST a person as JSON to /f or to /patched."""
    FastAPI, frame = need("fastapi", extra="mlflow").FastAPI, need("pandas", extra="mlflow")
    service, one = FastAPI(), RowScorer(patch)

    def score(person: dict[str, Any]) -> float:
        return float(f.predict_proba(frame.DataFrame([person], columns=X.columns))[0, 1])

    def plain(person: dict[str, Any]) -> dict[str, Any]:
        p = score(person)
        return {"decision": p > 0.5, "score": p}

    def patched(person: dict[str, Any]) -> dict[str, Any]:
        decided = one.decide(person, score(person))
        return {"decision": decided.decision, "changed": decided.changed, "reason": decided.reason}

    service.post("/f")(plain)
    service.post("/patched")(patched)
    return service


def _served(X: Any, f: Any, g: FairPatch, calls: int) -> dict[str, tuple[float, float]]:
    """Some clients at once on loopback, each asking one after the other."""
    uvicorn = need("uvicorn", extra="mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(app(f, g.patch_, X), host="127.0.0.1", port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    bodies = [json.dumps(row) for row in X.iloc[:100].to_dict("records")]
    try:
        return {path: _asked(port, path, bodies, calls) for path in ("/f", "/patched", "/f")}
    finally:
        server.should_exit = True
        thread.join(10)


def _asked(port: int, path: str, bodies: list[str], calls: int) -> tuple[float, float]:
    seconds: list[float] = []

    def client() -> None:
        connection = HTTPConnection("127.0.0.1", port)
        for i in range(calls // CLIENTS):
            start = time.perf_counter()
            connection.request("POST", path, bodies[i % 100], {"Content-Type": "application/json"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise RuntimeError(answer.read().decode())
            answer.read()
            seconds.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return _quantiles(seconds)


def show(result: dict[str, Any]) -> str:
    """Milliseconds, and as multiples of f's."""
    rows = []
    for n, own in result["quantiles"].items():
        for name, (low, high) in own.items():
            f = own["f, ONNX" if "ONNX" in name else "f, Python"]
            rows.append([str(n), name, f"{1e3 * low:.3f}", f"{1e3 * high:.3f}",
                         f"{low / f[0]:.2f}", f"{high / f[1]:.2f}"])  # fmt: skip
    f = result["served"]["/f"]
    for path, (low, high) in result["served"].items():
        times = [f"{1e3 * t:.3f}" for t in (low, high)]
        ratios = [f"{low / f[0]:.2f}", f"{high / f[1]:.2f}"]
        rows.append([f"1, {CLIENTS} clients", f"HTTP {path}", *times, *ratios])
    header = ["rows", "", "p50, ms", "p99, ms", "p50 / f", "p99 / f"]
    return Table("One call, one thread", header, rows).text()
