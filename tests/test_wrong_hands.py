"""Mistakes that a stranger made without reading the code: one sentence each, in their own words."""

# ruff: noqa: ARG005 every mistake is given the model and the people

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cli.test_cli import POPULATION, fairpatch
from fairpatch import BaseModel, Decision, FairPatch, Target
from fairpatch.engines.sql import sql
from fairpatch.life import History, monitor, refit
from fairpatch.patch import load, save
from fairpatch.patch.apply import apply
from fairpatch.patch.row_scorer import RowScorer


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
                lambda: RowScorer(g)):  # fmt: skip
        with pytest.raises(TypeError, match="got FairPatch: give its patch_"):
            way()
    with pytest.raises(ValueError, match="one column has one role"):
        FairPatch("score", Target(p_rule=0.7)).fit(people, "y", sensitive_features=["y"])
    with pytest.raises(ValueError, match="keep must be a list of columns"):
        sql(g.patch_, "score", keep="id")
    with pytest.raises(FileNotFoundError, match="nodir does not exist"):
        save(g.patch_, tmp_path / "nodir" / "a.json")


@pytest.fixture(scope="module")
def fitted(folder):
    people = pd.read_parquet(folder / "people.parquet").drop(columns="id")
    g = FairPatch("score", Target(p_rule=0.7)).fit(people, "y", sensitive_features=["group"])
    return g, people


def again(people):
    return FairPatch("score", Target(p_rule=0.7)).fit(people, "y", sensitive_features=["group"])


def watched(model, people, target, **options):
    """A month of January, unless it is said otherwise."""
    month = {"period": "2026-01", "history": History("h.jsonl"), **options}
    return monitor(model, people, "y", sensitive_features=["group"], target=target, **month)


WRONG = {
    "a decision has no 'favorable'": lambda g, X: Decision(favorable=1),
    "favourable: Input should be 0 or 1; got 2": lambda g, X: Decision(favourable=2),
    "^threshold must be a probability": lambda g, X: Decision(threshold=50),
    "positive and negative are both 'yes'": lambda g, X: Decision(positive="yes", negative="yes"),
    "give a fitted object of it": lambda g, X: BaseModel(LogisticRegression),
    "must give one probability a row": lambda g, X: BaseModel(lambda Z: Z["score"][:5]).scores(X),
    "score column 'score' must be numbers": lambda g, X: again(X.astype({"score": str})),
    r"must be text, numbers or booleans.*\[1\]": lambda g, X: again(X.assign(o=[[1]] * len(X))),
    "X is an array that holds text": lambda g, X: g.predict(X.to_numpy()),
    "X must be a frame or an array; got str": lambda g, X: g.predict("people.csv"),
    "X must be a frame or an array; got list": lambda g, X: g.predict(X.to_dict("records")),
    "table must be a frame": lambda g, X: apply(g.patch_, "people.csv", "score"),
    "there is no file 'none.json'": lambda g, X: load("none.json"),
    "is a folder: name the file in it": lambda g, X: load("."),
    "expected the name of a patch file; got dict": lambda g, X: load({}),
    "table must be a str": lambda g, X: sql(g.patch_, "score", table=None),
    "strength must be a number": lambda g, X: g.patch_.with_strength("much"),
    "refits must be a whole number": lambda g, X: g.review(
        X, "y", sensitive_features=["group"], refits=-1
    ),
    "model must be a PatchedModel": lambda g, X: watched(g, X, g.target),
    "model must be a PatchedModel.*got None": lambda g, X: watched(None, X, g.target),
    "target must be a Target": lambda g, X: watched(g.patched_, X, 0.8),
    "history must be a History": lambda g, X: watched(g.patched_, X, g.target, history="h"),
    "202601 is no period": lambda g, X: watched(g.patched_, X, g.target, period=202601),
    "old must be a PatchedModel": lambda g, X: refit(
        g, "score", X, "y", sensitive_features=["group"], target=g.target
    ),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("words", WRONG)
def test_one_sentence_of_ours(fitted, words):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=words) as caught:
        WRONG[words](*fitted)
    assert "\n" not in str(caught.value)


def test_decisions_and_probabilities_in_the_wrong_place_are_noticed(fitted):
    g, people = fitted
    X = people.drop(columns=["y", "group"])
    with pytest.raises(ValueError, match="log-odds are needed"):
        g.patch_.decide(X, X["score"])
    with pytest.warns(UserWarning, match="only two values, as decisions have"):
        again(people.assign(score=(people["score"] > 0.5).astype(float)))
