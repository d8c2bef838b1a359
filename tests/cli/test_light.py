"""The command line works with what its extra names, and with nothing heavier."""

import subprocess
import sys

import duckdb

from fairpatch.cli.data import index_columns
from fairpatch.datasets import load_loans

ABSENT = ("fairlearn", "matplotlib", "mlflow", "onnx", "polars", "pyarrow", "torch")

SCRIPT = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
from fairpatch.cli.main import main
for words in (
    "init people.parquet --favourable 1",
    "audit -c fairpatch.yaml",
    "fit -c fairpatch.yaml --p-rule 0.7 --out run",
    "review run --out review.html",
    "apply run people.parquet decided.parquet",
    "certify run --data others.parquet",
    "monitor run people.parquet --period 2026-01 --life life",
    "sql run --score score",
):
    sys.argv = ["fairpatch", *words.split()]
    try:
        main()
    except SystemExit as end:
        open("codes", "a").write(f"{{words.split()[0]}} {{end.code or 0}}\\n")
"""


def test_every_command_without_arrow_pictures_and_pytorch(tmp_path):
    load_loans(3_000).to_parquet(tmp_path / "people.parquet")
    load_loans(3_000, 1).to_parquet(tmp_path / "others.parquet")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    codes = (tmp_path / "codes").read_text().split("\n")
    verbs = ("init", "audit", "fit", "review", "apply", "certify", "monitor", "sql")
    assert codes == [*(f"{verb} 0" for verb in verbs), ""], done.stderr


def test_a_frames_index_is_no_data_of_a_person(tmp_path):
    loans = load_loans(50)
    loans.to_parquet(tmp_path / "plain.parquet")
    loans.set_index("region").to_parquet(tmp_path / "indexed.parquet")
    duckdb.sql("SELECT 1 AS a").to_parquet(str(tmp_path / "none.parquet"))
    for name, index in (("plain", []), ("indexed", ["region"]), ("none", [])):
        assert index_columns(str(tmp_path / f"{name}.parquet")) == index
    assert index_columns(str(tmp_path / "people.csv")) == []
