"""What one verb writes the next one reads: every format, every dialect, the same people."""

import shutil

import duckdb
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairpatch.cli.main import app
from fairpatch.datasets import Population
from fairpatch.life.history import History

WORK = ["Käserei", "Bäckerei", "Büro", "Straßenbau"]


def people(n, seed):
    table = Population(p_rule=0.6, accuracy=0.8).sample(n, seed=seed).to_pandas()
    table["Beschäftigung"] = np.random.default_rng(seed).choice(WORK, n)
    numbers = [name for name in table if name.startswith("num")]
    table[numbers] = table[numbers].round(3) + 0.0005  # a fraction in every row
    return table.rename(columns={"group": "Geschlecht", "y": "Zahlt"})


def as_text(table, path, *, sep=",", decimal=".", encoding="utf-8"):
    table.to_csv(path, index=False, sep=sep, decimal=decimal, encoding=encoding)
    return path


def as_duckdb(table, path):
    with duckdb.connect(str(path)) as base:
        base.register("given", table)
        base.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"{path}::people"


FORMATS = {
    "German": lambda t, p: as_text(t, p / "in.csv", sep=";", decimal=",", encoding="cp1252"),
    "plain": lambda t, p: as_text(t, p / "in.csv"),
    "tabs": lambda t, p: as_text(t, p / "in.csv", sep="\t", decimal=","),
    "UTF-16": lambda t, p: as_text(t, p / "in.csv", sep=";", encoding="utf-16"),
    "Parquet": lambda t, p: t.to_parquet(p / "in.parquet") or p / "in.parquet",
    "DuckDB": lambda t, p: as_duckdb(t, p / "in.duckdb"),
}
HOW = {
    "German": "{decimal: ',', encoding: cp1252}",
    "plain": "{}",
    "tabs": "{decimal: ','}",
    "UTF-16": "{}",
    "Parquet": "{}",
    "DuckDB": "{}",
}


def said(*words, code=(0, 3, 4, 5)):
    done = CliRunner().invoke(app, [str(w) for w in words])
    assert not isinstance(done.exception, ValueError), done.exception
    assert done.exit_code in code, (words, done.output)
    return done.output


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("plain", "Parquet")]


@pytest.fixture(scope="module", params=["German", *SLOW])
def run(request, tmp_path_factory):
    """A run learned from one of three formats; its configuration excludes what a month may lack."""
    folder = tmp_path_factory.mktemp("loops")
    table = people(3_000, 0).assign(neuer_score=0.5)
    source = FORMATS[request.param](table, folder)
    (folder / "c.yaml").write_text(
        f"data: {source}\nlabel: Zahlt\nfavourable: 1\nscore: score\nsensitive: [Geschlecht]\n"
        f"ignore: [id]\nexclude: [neuer_score]\ncsv: {HOW[request.param]}\n"
        "target: {p_rule: 0.7, max_columns: 3}\n"
    )
    said("fit", "--config", folder / "c.yaml", "--out", folder / "run")
    return folder / "run"


@pytest.mark.parametrize("written", ["csv", "parquet"])
@pytest.mark.parametrize("format_", FORMATS)
def test_what_apply_writes_every_later_verb_reads(run, format_, written, tmp_path):
    mine = tmp_path / "run"
    shutil.copytree(run, mine)
    month = people(1_500, 7)
    source, out = FORMATS[format_](month, tmp_path), tmp_path / f"month-2026-11.{written}"
    told = said("apply", mine, source, out, code=(0,))
    assert "1,500 rows" in told
    assert "fairpatch_" not in told.replace("fairpatch_decision", "")
    said("monitor", mine, out, "--life", tmp_path / "life")
    (period,) = History(tmp_path / "life" / "history.jsonl")
    assert period.counts.total == 1_500
    said("certify", mine, "--data", out)
    said("review", mine, "--data", out, "--out", tmp_path / "page.html", code=(0, 1))
    if written == "parquet":  # somebody drops what was added, and applies again
        plain, again = tmp_path / "plain.parquet", tmp_path / "again.parquet"
        one = pd.read_parquet(out)
        one.filter(regex="^(?!fairpatch_)").to_parquet(plain)
        said("apply", mine, plain, again, code=(0,))
        assert one.equals(pd.read_parquet(again))


def test_a_german_file_comes_back_as_it_was_written(run, tmp_path):
    source = FORMATS["German"](people(300, 3).assign(Datum="13.07.2026"), tmp_path)
    out = tmp_path / "out.csv"
    said("apply", run, source, out, code=(0,))
    given, found = (p.read_bytes().decode("cp1252") for p in (source, out))
    assert found.split("\n")[0].startswith(given.split("\n")[0].strip())
    assert found.split("\n")[1].startswith(given.split("\n")[1].strip().rsplit(";", 3)[0])
    back = pd.read_csv(out, sep=";", decimal=",", encoding="cp1252")
    assert set(back["Beschäftigung"]) == set(WORK)
    assert set(back["Datum"]) == {"13.07.2026"}
    assert back["num_0"].dtype == float


def test_a_letter_that_the_encoding_lacks_is_written_all_the_same(run, tmp_path):
    month = people(300, 3)
    out = tmp_path / "out.csv"
    month["名"] = "x"
    wide = as_text(month, tmp_path / "wide.csv", sep=";", decimal=",")
    told = said("apply", run, wide, out, code=(0,))
    assert "名" in out.read_text(encoding="utf-8")
    assert "300 rows" in told
