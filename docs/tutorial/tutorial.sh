#!/usr/bin/env bash
# From a table of scores to production, in a fresh folder. CI runs this file as it stands.
# pip install 'fairpatch[cli,datasets]'
set -euo pipefail
ROWS=${ROWS:-1000000}

# Last year's applications and this month's. Yours come from your own system; these are made up. The
# bank's model scores in points, the bank approves above 640, and it knows who repaid among those.
python - <<PYTHON
from fairpatch.datasets import load_loans
load_loans(20_000, seed=1, outcomes="approved", score="points").to_parquet("last_year.parquet", index=False)
load_loans($ROWS, seed=2, outcomes="approved", score="points").to_parquet("month.parquet", index=False)
PYTHON

# A commented configuration from the data; a person checks the guesses. Which decision is good for a
# person is never guessed: here it is 1, a score above the threshold. Whose outcomes are known is
# asked, too, as they are missing on one side of the score.
fairpatch init last_year.parquet --favourable 1 --out fairpatch.yaml
sed -i.bak 's/outcomes: "?"/outcomes: approved/' fairpatch.yaml

# What does the base model do today?
fairpatch audit --config fairpatch.yaml

# Learn a patch that brings the P-Rule to 0.8, certify it, and write the review.
fairpatch fit --config fairpatch.yaml --p-rule 0.8 --out run
fairpatch show run
cat run/menu.json

# Review it on the new month too, which nothing has seen.
fairpatch review run --data month.parquet --out review-month.html

# Apply it to the new month's file ...
fairpatch apply run month.parquet applied.parquet

# ... the same inside a database ...
fairpatch deploy run --to sql --keep id --table people --dialect duckdb > patch.sql
python - <<'PYTHON'
import duckdb
connection = duckdb.connect()
connection.execute("CREATE VIEW people AS SELECT * FROM read_parquet('month.parquet')")
connection.sql(open("patch.sql").read().rstrip(";\n")).to_parquet("by_sql.parquet")
PYTHON

# ... and as an ONNX graph.
fairpatch deploy run patch.onnx

# All three decide alike, for every row.
python - <<'PYTHON'
import duckdb
from fairpatch.engines.onnx import run_graph
month = duckdb.sql("SELECT * FROM read_parquet('month.parquet') ORDER BY id").df()
applied = duckdb.sql("SELECT fairpatch_decision FROM 'applied.parquet' ORDER BY id").df()
by_sql = duckdb.sql("SELECT fairpatch_decision FROM 'by_sql.parquet' ORDER BY id").df()
by_onnx = run_graph("patch.onnx", month, score="score")["fairpatch_decision"]
assert len(month) == len(applied) == len(by_sql) == len(by_onnx)
assert (applied["fairpatch_decision"] == by_sql["fairpatch_decision"]).all()
assert (applied["fairpatch_decision"].to_numpy(bool) == by_onnx).all()
print(f"{len(month):,} decisions are the same in all three")
PYTHON
