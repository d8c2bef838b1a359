"""Mistakes that a stranger made without reading the code: one sentence each, in their own words."""

import pandas as pd
import pytest

from cli.test_cli import POPULATION, fairpatch
from fairpatch import FairPatch, Target
from fairpatch.engines.sql import sql
from fairpatch.patch import save
from fairpatch.patch.apply import apply
from fairpatch.patch.one import OnePerson


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hands")
    people = POPULATION.sample(3_000, seed=0).to_pandas()
    people.to_parquet(path / "people.parquet")
    people.head(0).to_csv(path / "names.csv", index=False)
    (path / "empty.csv").write_text("")
    (path / "cut.parquet").write_bytes((path / "people.parquet").read_bytes()[:900])
    (path / "file").write_text("")
    (path / "nothing").mkdir()
    people.assign(num_0="x").to_parquet(path / "text.parquet")
    people.assign(score=people["score"].map("{:.1%}".format)).to_parquet(path / "signs.parquet")
    (path / "fairpatch.yaml").write_text(
        "data: people.parquet\nlabel: y\nscore: score\nsensitive: [group]\nignore: [id]\n"
        "favourable: 1\ntarget: {p_rule: 0.7}\n"
    )
    fairpatch("fit", "-c", "fairpatch.yaml", "--out", "run", cwd=path)
    return path


FIT = ("fit", "-c", "fairpatch.yaml", "--out", "new")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("init", "people.parquet", "--favourable", "2", "--out", "a.yaml"), "must be 1 or 0"),
     (("apply", "run", "people.parquet", "nodir/o.csv"), "nodir does not exist: make it first"),
     (("apply", "run", "people.parquet", "file/o.csv"), "file is a file, no folder"),
     (("apply", "run", "names.csv", "o.csv"), "has a line of names and no rows"),
     ((*FIT, "--data", "empty.csv"), "empty.csv is empty"),
     (("apply", "run", "nothing", "o.csv"), "there is no file in 'nothing'"),
     (("audit", "-c", "fairpatch.yaml", "--data", "cut.parquet"), "is no Parquet file, or was cut"),
     (("apply", "run", "text.parquet", "o.csv"), "'num_0' must be a number"),
     (("apply", "run", "people.parquet", "o.csv", "--approvals", "9", "--key", "cat_0"),
      "'cat_0' does not tell people apart"),
     ((*FIT, "--data", "signs.parquet"), "must be numbers"),
     ((*FIT, "--model", "f.txt"), "is named twice"),
     ((*FIT, "--sensitive", "score"), "named as score and as sensitive"),
     ((*FIT, "--direction", "up"), "--direction up: input should be"),
     ((*FIT, "--target", "max_approvals=9"), "a target has no 'max_approvals'"),
     ((*FIT, "--data", "mysql://host/base::people"), "there is no driver for mysql here")],
)  # fmt: skip
def test_the_command_line_says_what_to_do(folder, arguments, words):
    done = fairpatch(*arguments, cwd=folder, code=(1, 2))
    assert words in done.stderr
    assert "Errno" not in done.stderr
    assert ".unfinished" not in done.stderr


def test_python_says_so_too(folder, tmp_path):
    people = pd.read_parquet(folder / "people.parquet").drop(columns="id")
    g = FairPatch("score", Target(p_rule=0.7)).fit(people, "y", sensitive_features=["group"])
    for way in (lambda: save(g, tmp_path / "a.json"), lambda: apply(g, people, "score"),
                lambda: OnePerson(g)):  # fmt: skip
        with pytest.raises(TypeError, match="got FairPatch: give its patch_"):
            way()
    with pytest.raises(ValueError, match="one column has one role"):
        FairPatch("score", Target(p_rule=0.7)).fit(people, "y", sensitive_features=["y"])
    with pytest.raises(ValueError, match="keep must be a list of columns"):
        sql(g.patch_, "score", keep="id")
    with pytest.raises(FileNotFoundError, match="nodir does not exist"):
        save(g.patch_, tmp_path / "nodir" / "a.json")
