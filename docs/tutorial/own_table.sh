#!/usr/bin/env bash
# Your own awkward table, from a model of harm to a served model and a SQL view; no column is
# rewritten. Run it in a fresh folder; the tests run this file as it stands.
set -euo pipefail
PORT=${PORT:-5055}

# A bank's table, as it is: 'yes' is a default, a date, a key, codes, weights, an odd index. The
# model is LightGBM's, trained on half of it, and saved as LightGBM saves it.
python - <<'PYTHON'
import lightgbm
import numpy as np
import pandas as pd
from fairpatch.datasets import Population

groups = {"m": (0.7, 0.0), "f": (0.3, 1.0)}
raw = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups).sample(12_000, seed=5)
raw, random = raw.to_pandas(), np.random.default_rng(0)
codes = {letter: 10 * i + 3 for i, letter in enumerate("abcdefgh")}
people = pd.DataFrame({
    "customer": [f"C{i:06d}" for i in range(len(raw))],
    "opened": pd.Timestamp("2015-01-01") + pd.to_timedelta(random.integers(0, 3000, len(raw)), "D"),
    "income": raw["num_1"],
    "age": raw["num_0"].round().astype(int),
    "tenure": raw["num_3"],
    "region_code": raw["cat_0"].astype(str).map(codes),
    "job": raw["cat_1"].astype(object),
    "sample_weight": random.uniform(0.5, 2, len(raw)).round(2),
    "sex": raw["group"].astype(str),
    "default": np.where(raw["y"] == 1, "no", "yes"),
})
people.index = random.permutation(len(people)) * 7 + 3
X, half = people[["income", "age", "tenure", "region_code"]], len(people) // 2
f = lightgbm.LGBMClassifier(n_estimators=60, verbose=-1).fit(X[:half], people["default"][:half])
f.booster_.save_model("model.txt")
people[half:].to_parquet("people.parquet")
PYTHON

# What is each column for? The guesses are in the file, with the reason beside them. That a high
# score, a probable default, is bad for a person is never guessed: say it.
fairpatch init people.parquet --model model.txt --favourable 0
cat fairpatch.yaml

# Today, and with a patch: who is accepted, when 'yes' is a default?
fairpatch audit --config fairpatch.yaml
fairpatch fit --config fairpatch.yaml --out run

# A month later: the model scores, the patch decides, with a reason for each change.
fairpatch apply run people.parquet decided.parquet --reasons

# The same as a view of a database that has the model's score as a column ...
fairpatch deploy run --to sql --score pd --table scored --keep customer --reasons > patch.sql
fairpatch deploy run --score pd --table scored --to check > check.sql
python - <<'PYTHON'
import duckdb
base = duckdb.connect("bank.duckdb")
base.execute("CREATE TABLE scored AS SELECT * RENAME (fairpatch_base_score AS pd) FROM (SELECT * "
             "EXCLUDE (fairpatch_points, fairpatch_ratio, fairpatch_score, fairpatch_decision, "
             "fairpatch_changed, fairpatch_reason) FROM 'decided.parquet')")
base.execute("CREATE VIEW decided AS " + open("patch.sql").read().rstrip(";\n"))
print("the scores are", base.sql(open("check.sql").read().rstrip(";\n")).fetchall()[0][0])
PYTHON

# ... and as a service: the table's rows as they are go in, decisions with reasons come out.
fairpatch deploy run served --to mlflow --reasons
mlflow models serve -m served --env-manager local --host 127.0.0.1 --port "$PORT" > serve.log 2>&1 &
SERVER=$!
trap 'kill $SERVER 2>/dev/null; wait $SERVER 2>/dev/null || true' EXIT
python - "$PORT" <<'PYTHON'
import json
import sys
import time
import urllib.error
import urllib.request

import duckdb
import pandas as pd

url = f"http://127.0.0.1:{sys.argv[1]}"
for _ in range(120):
    try:
        urllib.request.urlopen(url + "/ping", timeout=2)
        break
    except (urllib.error.URLError, OSError):
        time.sleep(1)
people = pd.read_parquet("people.parquet").reset_index(drop=True)[:500]
rows = json.loads(people.drop(columns="opened").to_json(orient="split", index=False))
request = urllib.request.Request(
    url + "/invocations", json.dumps({"dataframe_split": rows}).encode(),
    {"Content-Type": "application/json"},
)
answer = json.loads(urllib.request.urlopen(request, timeout=60).read())["predictions"]
served = pd.DataFrame(answer)
applied = pd.read_parquet("decided.parquet")[:500]
view = duckdb.connect("bank.duckdb").sql("SELECT * FROM decided").df().set_index("customer")
view = view.loc[people["customer"]]
for other in (served, view):
    assert (applied["fairpatch_decision"].to_numpy() == other["fairpatch_decision"].to_numpy()).all()
    told, here = (t["fairpatch_reason"].fillna("").to_numpy() for t in (applied, other))
    assert (told == here).all()
changed = applied["fairpatch_changed"].sum()
print(f"{len(people)} people, {changed} of them decided otherwise: file, view and service agree")
PYTHON
