"""The service of the docs, on loopback: bad requests are refused with 422, and delay nobody."""

import json
import socket
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import uvicorn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "howto"))
from serve_app import service

GOOD = {"age": 25, "income": 2_000.0}
BAD = {
    "no object": b"[1, 2]",
    "no JSON": b"{age: 25",
    "nothing": b"",
    "a column is missing": json.dumps({"age": 25}).encode(),
    "text for a number": json.dumps({**GOOD, "age": "old"}).encode(),
    "a list for a number": json.dumps({**GOOD, "age": [25]}).encode(),
    "an object for a number": json.dumps({**GOOD, "income": {"a": 1}}).encode(),
    "a number beyond doubles": b'{"age": 25, "income": 1' + b"0" * 400 + b"}",
    "no number": b'{"age": 25, "income": NaN}',
    "null": json.dumps({**GOOD, "income": None}).encode(),
    "half a character": b'{"age": 25, "income": "\xff"}',
}


@pytest.fixture(scope="module")
def port():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.integers(18, 80, 500), "income": random.normal(2e3, 500, 500)})
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(X, random.random(500) < 0.5)
    part = RangesWeight(column="age", missing=0, ranges=[Range(below=30, weight=40)])
    patch = Patch(
        columns=[Column(name="age", kind="number")], card=CardScale(approve_at=30),
        concepts=[Concept(name="age", weight=1, intercept=0, ranges=[part])],
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]

    def score(person):
        return float(model.predict_proba(pd.DataFrame([person], columns=list(X)))[0, 1])

    app = service(patch, score, list(X))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=number, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield number
    server.should_exit = True
    thread.join(10)


def asked(port, body):
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/decide", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_a_person_is_decided_about(port):
    status, text = asked(port, json.dumps(GOOD).encode())
    assert status == 200
    assert set(json.loads(text)) == {"decision", "reason"}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused(port, name):
    status, text = asked(port, BAD[name])
    assert status in (400, 422), text
    assert "Traceback" not in text


def test_bad_requests_under_load_disturb_nobody(port):
    found, bodies = [], [json.dumps(GOOD).encode(), *BAD.values()]

    def client(first):
        for i in range(50):
            body = bodies[(first + i) % len(bodies)] if i % 2 else bodies[0]
            found.append((body is bodies[0], asked(port, body)[0]))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert {status for good, status in found if good} == {200}
    assert {status for good, status in found if not good} <= {400, 422}
