"""The service of the docs under load: requests at a fixed rate, one in ten of them bad.

The base model is an ONNX graph, as services have it. Requests are due at fixed times, and an
answer's time counts from when its request was due: a service that falls behind cannot hide it by
making its clients wait.
"""

import json
import multiprocessing
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.online import fitted
from fairpatch._tools.extras import need
from fairpatch._tools.tables import Table
from fairpatch.engines.onnx_base import base_logits
from fairpatch.engines.onnx_graph import Graph
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import load, save
from fairpatch.patch.row_scorer import RowScorer

RATE = 500
CLIENTS = 16
EVERY = 10
"""One request in so many is bad."""
BAD = ("[1, 2]", "{", "", '{"num_0": "old"}', '{"num_0": 1' + "0" * 400 + "}")
DIFFERENT = 200
"""People who are asked about, again and again."""
HOWTO = Path(__file__).parents[1] / "docs" / "howto"

Answer = tuple[int, int, float, bool | None]
"""Number of the request, status, seconds from when it was due, decision."""


def run(rate: int = RATE, seconds: int = 20) -> dict[str, Any]:
    """Ask, and compare every answer with what the patch decides here."""
    X, f, g = fitted()
    people = X.iloc[:DIFFERENT].to_dict("records")
    one = RowScorer(g.patch_)
    with tempfile.TemporaryDirectory() as folder, _serving(Path(folder), X, f, g.patch_) as port:
        score = _score(Path(folder))
        right = [one.decide(person, score(person)).decision for person in people]
        bodies = [json.dumps(person) for person in people]
        _ask(port, bodies, rate, 2)  # it warms up
        answers = _ask(port, bodies, rate, seconds)
    good = [a for a in answers if not _is_bad(a[0])]
    times = {
        "good": [t for _, _, t, _ in good],
        "bad": [t for i, _, t, _ in answers if _is_bad(i)],
    }
    return {
        "asked": rate, "seconds": seconds, "answers": len(answers),
        "answered": len(answers) / (max(a[0] / rate + a[2] for a in answers)),
        "wrong": sum(decision != right[i % DIFFERENT] for i, _, _, decision in good),
        "statuses": {str(k): v for k, v in sorted(Counter(a[1] for a in answers).items())},
        "quantiles": {k: np.quantile(v, [0.5, 0.99, 1.0]).tolist() for k, v in times.items()},
    }  # fmt: skip


def _is_bad(i: int) -> bool:
    return i % EVERY == EVERY - 1


@contextmanager
def _serving(folder: Path, X: Any, f: Any, patch: Any) -> Iterator[int]:
    """The service in a process of its own, on loopback."""
    onnx = need("onnx", extra="onnx")
    graph = Graph(onnx)
    name = base_logits(graph, BaseModel(f), X)
    onnx.save(graph.model({name: onnx.TensorProto.DOUBLE}, {}), str(folder / "base.onnx"))
    save(patch, folder / "patch.json")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(str(folder), list(X.columns), port), daemon=True
    )
    process.start()
    try:
        while not _listens(port):
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.join(10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _serve(folder: str, columns: list[str], port: int) -> None:
    sys.path.insert(0, str(HOWTO))
    service = need("serve_app", extra="mlflow").service
    app = service(load(Path(folder) / "patch.json"), _score(Path(folder)), columns)
    need("uvicorn", extra="mlflow").run(app, host="127.0.0.1", port=port, log_level="error")


def _score(folder: Path) -> Callable[[dict[str, Any]], float]:
    """The base model's probability for one person, by its graph."""
    runtime = need("onnxruntime", extra="onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        str(folder / "base.onnx"), options, providers=["CPUExecutionProvider"]
    )
    kinds = {e.name: object if "string" in e.type else np.float64 for e in session.get_inputs()}

    def score(person: dict[str, Any]) -> float:
        feed = {name: np.array([[person[name]]], kind) for name, kind in kinds.items()}
        return float(expit(session.run(None, feed)[0].ravel()[0]))

    return score


def _ask(port: int, bodies: list[str], rate: int, seconds: int) -> list[Answer]:
    """So many requests a second, each when it is due, by clients that take turns."""
    answers: list[Answer] = []
    start = time.perf_counter() + 0.1

    def client(first: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        for i in range(first, rate * seconds, CLIENTS):
            due = start + i / rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            body = BAD[i // EVERY % len(BAD)] if _is_bad(i) else bodies[i % DIFFERENT]
            connection.request("POST", "/decide", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            told = json.loads(answer.read() or "{}")
            took = time.perf_counter() - due
            answers.append((i, answer.status, took, told.get("decision")))

    threads = [threading.Thread(target=client, args=(k,)) for k in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def show(result: dict[str, Any]) -> str:
    """Requests, answers, and milliseconds from when a request was due."""
    rows = [
        [what, *(f"{1e3 * t:.1f}" for t in times)] for what, times in result["quantiles"].items()
    ]
    table = Table("Requests", ["", "p50, ms", "p99, ms", "longest, ms"], rows).text()
    statuses = ", ".join(f"{n:,} with {status}" for status, n in result["statuses"].items())
    return (
        f"{result['asked']} requests a second for {result['seconds']} s, one in {EVERY} bad: "
        f"{result['answered']:.0f} answers a second\n"
        f"{statuses}; wrong decisions: {result['wrong']}\n{table}"
    )
