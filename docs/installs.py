"""Measure the documented installs: ``python docs/installs.py [WHEEL]`` writes install-sizes.md.

Each goes into an environment of its own, with the pinned versions; then what it promises is run.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PYTHON = """
import numpy as np
from fairpatch import FairPatch, Target, audit
random = np.random.default_rng(0)
s = random.integers(0, 2, 6_000)
X = random.normal(size=(6_000, 3)) + 0.5 * s[:, None]
y = (X[:, 0] + random.normal(size=6_000) > 0.5).astype(int)
from sklearn.linear_model import LogisticRegression
f = LogisticRegression().fit(X[:2_000], y[:2_000])
g = FairPatch(f, Target(p_rule=0.8)).fit(X[2_000:], y[2_000:], sensitive_features=s[2_000:])
audit(X, y, sensitive_features=s, estimator=g)
"""
PAGE = (
    PYTHON
    + """
g.review(X, y, sensitive_features=s, refits=0).to_html("review.html")
import typer, duckdb
from fairpatch.engines.sql import sql
assert "SELECT" in sql(g.patch_, "score", dialect="snowflake")
"""
)
EVERYTHING = (
    PAGE
    + """
from fairpatch.engines.onnx import merged_graph
assert merged_graph(g.patched_, X[:10].astype("float32"))
import fairpatch.engines.mlflow, pyspark, lightgbm, model_signing
"""
)
INSTALLS = (
    ("fairpatch", "learn, audit, apply", PYTHON),
    ("fairpatch[cli]", "and command line, SQL, review page", PAGE),
    ("fairpatch[all]", "and ONNX, MLflow, Spark, signatures, data sets", EVERYTHING),
)


def measured(wheel: str, what: str, code: str) -> float:
    """Megabytes of one install, after its code has run."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "venv"
        venv.create(home, with_pip=True)
        empty = size(home)
        source = what.replace("fairpatch", wheel, 1)
        pip = [str(home / "bin" / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, source], check=True)
        held = size(home) - empty
        subprocess.run([str(home / "bin" / "python"), "-c", code], check=True, cwd=scratch)
    return held


def size(folder: Path) -> float:
    """Megabytes of a folder's files, without the compiled ones that Python writes itself."""
    files = (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return sum(p.stat().st_size for p in files if p.suffix != ".pyc") / 1e6


def main() -> None:
    """Measure all of them, write the table."""
    wheel = sys.argv[1] if len(sys.argv) > 1 else str(ROOT)
    lines = ["| Install | Size | What was run in it |", "|---|---|---|"]
    for what, words, code in INSTALLS:
        lines.append(f"| `{what}` | {measured(wheel, what, code):,.0f} MB | {words} |")
        print(lines[-1], flush=True)
    (HERE / "install-sizes.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
