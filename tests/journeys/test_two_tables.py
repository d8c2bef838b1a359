"""S in a table of its own: fitted, certified, reviewed and monitored by a key that both share."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from cli.test_cli import fairpatch
from fairpatch.datasets import Population
from fairpatch.patch import load

POPULATION = Population(
    p_rule=0.6, accuracy=0.8, proxy=2.0, groups={"a": (0.6, 0.0), "b": (0.4, 1.0)}
)
ANY = (0, 3, 4, 5)
YAML = (
    "data: people.parquet\nsensitive_table: groups.parquet\nkey: id\nlabel: y\nscore: score\n"
    "sensitive: [group]\nfavourable: 1\ntarget: {p_rule: 0.75}\n"
)


def taken_apart(n, seed, folder, people="people.parquet", groups="groups.parquet", told=1.0):
    table = POPULATION.sample(n, seed=seed).to_pandas()
    table.drop(columns="group").to_parquet(folder / people)
    some = np.random.default_rng(seed).random(n) < told
    table[["id", "group"]][some].sample(frac=1, random_state=0).to_parquet(folder / groups)
    return table


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two tables")
    taken_apart(6_000, 0, folder)
    taken_apart(3_000, 1, folder, "2026-10.parquet", "groups_10.parquet")
    (folder / "fairpatch.yaml").write_text(YAML)
    return folder


def test_the_patch_is_that_of_one_table(run):
    said = fairpatch("fit", "-c", "fairpatch.yaml", "--out", "run", cwd=run).stderr
    assert "groups.parquet tells 'group' of 6,000 of 6,000 rows" in said
    whole = POPULATION.sample(6_000, seed=0).to_pandas()
    whole.to_parquet(run / "whole.parquet")
    own = ("--data", "whole.parquet", "--label", "y", "--score", "score", "--sensitive", "group",
           "--key", "id", "--favourable", "1", "--p-rule", "0.75")  # fmt: skip
    fairpatch("fit", *own, "--out", "one", cwd=run)
    two, one = (json.loads((run / r / "patch.json").read_text()) for r in ("run", "one"))
    assert two["concepts"] == one["concepts"]
    assert two["card"] == one["card"]


def test_a_month_has_its_own(run):
    month = ("--data", "2026-10.parquet", "--sensitive-table", "groups_10.parquet")
    certified = fairpatch("certify", "run", *month, cwd=run, code=ANY).stdout
    assert "Certificate at 95%: certified" in certified
    fairpatch("review", "run", *month, "--out", "again.html", cwd=run)
    by_month = ("monitor", "run", "2026-10.parquet", "--sensitive-table", "groups_10.parquet")
    said = fairpatch(*by_month, cwd=run, code=ANY)
    assert "groups_10.parquet tells 'group' of 3,000 of 3,000 rows" in said.stderr
    assert "1 period, last 2026-10" in said.stdout


def test_who_did_not_tell_is_unknown_and_twice_is_refused(tmp_path):
    table = taken_apart(4_000, 3, tmp_path, told=0.8)
    own = ("--sensitive", "group", "--score", "score", "--label", "y", "--favourable", "1")
    audit = ("audit", "--data", "people.parquet", *own, "--sensitive-table", "groups.parquet")
    said = fairpatch(*audit, "--join", "id", cwd=tmp_path).stderr
    assert "of 4,000 rows" in said
    assert "needs the column that both tables share: --join" in fairpatch(
        *audit, cwd=tmp_path, code=2
    ).stderr  # fmt: skip
    twice = table[["id", "group"]].head(10)
    pd.concat([twice, twice]).to_parquet(tmp_path / "groups.parquet")
    refused = fairpatch(*audit, "--join", "id", cwd=tmp_path, code=2).stderr
    assert "groups.parquet has more than one row for a 'id': keep one" in refused


def test_edit_refit_and_deploy_know_the_other_table_too(run):
    card = json.loads((run / "run" / "patch.json").read_text())
    assert card["concepts"]
    taken_apart(4_000, 5, run, "later.parquet", "groups_later.parquet")
    later = ("--data", "later.parquet", "--sensitive-table", "groups_later.parquet")
    (line,) = load(run / "run" / "patch.json").lines[:1]
    points = f"{line.name}={line.points + 5:g}"
    fairpatch("edit", "run", "--points", points, "--why", "x", *later, "--out", "edited",
              cwd=run, code=ANY)  # fmt: skip
    table = pd.read_parquet(run / "later.parquet")
    table.assign(new=table["score"] ** 1.05).to_parquet(run / "later.parquet")
    fairpatch("refit", "run", "--score", "new", *later, "--out", "next", cwd=run, code=ANY)
    said = fairpatch("deploy", "run", "pack", "--key", "id", "--sensitive-table", "registry",
                     cwd=run).stdout  # fmt: skip
    assert "wrote pack" in said
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE people AS FROM '{run}/people.parquet'")
    connection.execute(f"CREATE TABLE registry AS FROM '{run}/groups.parquet'")
    for file in ("decided.sql", "audit.sql"):
        connection.execute((run / "pack" / file).read_text())
    assert connection.execute((run / "pack" / "test_target.sql").read_text()).fetchall() == []
    rows = connection.execute((run / "pack" / "monitor.sql").read_text()).fetchall()
    assert sorted(row[0] for row in rows) == ["a", "b"]


def test_a_column_is_struck_as_a_whole(run):
    lines = [line.name for line in load(run / "run" / "patch.json").lines]
    column = lines[0].split(" ")[0]
    strike = [w for name in lines if name.split(" ")[0] == column for w in ("--strike", name)]
    taken_apart(4_000, 6, run, "more.parquet", "groups_more.parquet")
    more = ("--data", "more.parquet", "--sensitive-table", "groups_more.parquet")
    fairpatch("edit", "run", *strike, "--why", "no", *more, "--out", "struck", cwd=run, code=ANY)
    assert column not in {c.name for c in load(run / "struck" / "patch.json").columns}
    fairpatch("apply", "struck", "more.parquet", "decided.parquet", cwd=run, code=ANY)
