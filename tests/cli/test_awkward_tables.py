"""Tables and flags as people have them: directions unsaid, dialects, codes, copies, findings."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.test_cli import POPULATION, fairpatch
from fairpatch import Decision, FairPatch, Target
from fairpatch.card.bins import left_out
from fairpatch.cli.data import relation
from fairpatch.cli.dialect import Dialect, of_files
from fairpatch.cli.profile import profile
from fairpatch.inputs.vocabulary import columns_for, harm_in
from fairpatch.patch.columns import Columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("awkward")
    people = POPULATION.sample(5_000, seed=3).to_pandas()
    people.to_parquet(path / "people.parquet")
    (path / "said.yaml").write_text(
        "data: people.parquet\nlabel: y\nscore: score\nsensitive: [group]\nignore: [id]\n"
        "favourable: 1\nexclude: [num_1]\ntarget: {p_rule: 0.75}\n"
    )
    return path


def test_nothing_is_learned_while_the_direction_is_unsaid(folder):
    unsaid = (folder / "said.yaml").read_text().replace("favourable: 1\n", "")
    (folder / "unsaid.yaml").write_text(unsaid)
    done = fairpatch("fit", "-c", "unsaid.yaml", "--out", "no", cwd=folder, code=2)
    assert "which decision is good for a person" in done.stderr
    assert not (folder / "no").exists()
    done = fairpatch("init", "people.parquet", "--out", "new.yaml", cwd=folder)
    assert 'favourable: "?"' in (folder / "new.yaml").read_text()
    done = fairpatch("fit", "-c", "new.yaml", "--out", "no", cwd=folder, code=2)
    assert "favourable: only you can answer" in done.stderr


def test_a_threshold_that_hardly_anybody_is_above_is_asked_for(folder):
    people = pd.read_parquet(folder / "people.parquet")
    people["score"] /= 20  # as of a model of defaults: nobody is above one half
    people.to_csv(folder / "rare.csv", index=False)
    done = fairpatch("init", "rare.csv", "--out", "rare.yaml", cwd=folder)
    assert "favourable, threshold" in done.stderr
    assert "0.0% of the scores are above 0.5" in done.stderr
    refused = fairpatch("audit", "-c", "rare.yaml", "--favourable", "0", cwd=folder, code=2)
    assert "threshold: only you can answer" in refused.stderr
    fairpatch("audit", "-c", "rare.yaml", "--favourable", "0", "--threshold", "0.03", cwd=folder)


@pytest.mark.parametrize("name", ["default", "Ausfall 12M", "isFraud", "churned", "two_year_recid"])
def test_a_label_that_sounds_like_a_harm_is_asked_about(name):
    people = POPULATION.sample(2_000, seed=0).to_pandas().rename(columns={"y": name})
    X = people.drop(columns=["id", "group", name])
    g = FairPatch("score", Target(p_rule=0.7))
    with pytest.raises(ValueError, match="sounds like a harm"):
        g.fit(X, people[name], sensitive_features=people["group"])
    said = FairPatch("score", Target(p_rule=0.7), decision=Decision(favourable=1))
    said.fit(X, people[name], sensitive_features=people["group"])


@pytest.mark.parametrize("name", ["repaid", "no_default", "not arrested", "hired", "y", "badge"])
def test_other_labels_are_not(name):
    assert harm_in([name]) is None


TEXTS = st.text("abcäöüß€ é", min_size=1, max_size=6).map(str.strip).filter(bool)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.decimals(-99_999, 99_999, places=2), TEXTS), min_size=2, max_size=9),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    decimal=st.sampled_from([",", "."]),
    grouped=st.booleans(),
    zipped=st.booleans(),
)
def test_a_file_is_read_as_it_was_written(
    rows, encoding, decimal, grouped, zipped, tmp_path_factory
):
    """Numbers and texts come back, whatever the encoding and the decimal sign."""

    def written(x):
        text = f"{x:,.2f}" if grouped else f"{x:.2f}"
        return text if decimal == "." else text.translate(str.maketrans(",.", ".,"))

    lines = ["betrag;wort", *(f"{written(x)};{word}" for x, word in rows)]
    data = "\n".join([*lines, ""]).encode(encoding)
    path = tmp_path_factory.mktemp("csv") / ("a.csv.gz" if zipped else "a.csv")
    path.write_bytes(gzip.compress(data) if zipped else data)
    if decimal == "." and grouped:  # as English has it; read when it is said
        found = relation(str(path), Dialect(decimal=".", thousands=",")).fetchall()
    else:
        found = relation(str(path)).fetchall()
    assert [float(x) for x, _ in found] == [float(x) for x, _ in rows]
    assert [word for _, word in found] == [word for _, word in rows]


def test_what_is_said_goes_before_what_is_found(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1,5;x\n2,5;y\n")
    assert of_files((str(path),)).dialect.decimal == ","
    assert of_files((str(path),), Dialect(decimal=".")).dialect.decimal == "."
    with pytest.raises(ValueError, match="no encoding 'utf-99'"):
        relation(str(path), Dialect(encoding="utf-99"))


@pytest.mark.slow
def test_lists_of_flags_add_and_take_out(folder):
    fit = ("fit", "-c", "said.yaml", "--force", "--out", "lists")
    fairpatch(*fit, "--exclude", "num_2", cwd=folder)
    text = (folder / "lists" / "config.yaml").read_text()
    assert "exclude:\n- num_1\n- num_2\n" in text
    fairpatch(*fit, "--exclude", "-num_1", cwd=folder)
    assert "exclude: []\n" in (folder / "lists" / "config.yaml").read_text()
    done = fairpatch(*fit, "--exclude", "-num_3", cwd=folder, code=2)
    assert "--exclude -num_3: the file's exclude do not name 'num_3'" in done.stderr


def test_a_flag_that_contradicts_the_file_says_so(folder):
    done = fairpatch("audit", "-c", "said.yaml", "--threshold", "0.4", "--favourable", "0",
                     cwd=folder)  # fmt: skip
    assert "--favourable 0 overrides 1 of said.yaml" in done.stderr
    done = fairpatch("audit", "-c", "said.yaml", "--threshold", "40", cwd=folder, code=2)
    assert (
        "error: --threshold 40: threshold must be a probability above 0 and below 1; got 40.0 "
        "(of a score in points, say score_unit='points')"
    ) in done.stderr


def test_findings_are_told_and_may_fail_a_pipeline(folder):
    fit = ("fit", "-c", "said.yaml", "--force", "--out", "found")
    done = fairpatch(*fit, "--p-rule", "0.95", "--fail-on", "look", cwd=folder, code=7)
    assert "to decide on" in done.stderr
    assert "LOOK: " in done.stderr or "STOP: " in done.stderr
    done = fairpatch(*fit, "--fail-on", "much", cwd=folder, code=2)
    assert "--fail-on must be stop or look" in done.stderr


def test_a_key_a_postcode_and_a_copy_are_noticed_in_a_fit(folder):
    people = pd.read_parquet(folder / "people.parquet")
    random = np.random.default_rng(0)
    people["Rating"] = 1_000 - 900 * people["score"]
    people["PLZ"] = random.integers(10_000, 20_000, len(people))
    people.to_parquet(folder / "more.parquet")
    done = fairpatch("fit", "-c", "said.yaml", "--data", "more.parquet", "--ignore", "-id",
                     "--category", "PLZ", "--out", "noticed", cwd=folder)  # fmt: skip
    for word in ("'id', which is different for everybody", "'Rating', which is a copy of score",
                 "'PLZ' is a category of"):  # fmt: skip
        assert word in done.stderr
    found = profile(people, [])
    assert found.exclude["Rating"] == "a copy of score"


@settings(max_examples=30, deadline=None)
@given(start=st.integers(0, 10**6), step=st.integers(1, 40), seed=st.integers(0, 99))
def test_a_number_that_was_handed_out_is_no_quantity(start, step, seed):
    random = np.random.default_rng(seed)
    keys = start + random.permutation(4_000)[:3_000] * step
    incomes = random.integers(10_000, 90_000, 3_000)
    held = Columns.of(pd.DataFrame({"Vorgang": keys, "income": incomes}))
    found = left_out(held, held.described(), random.normal(size=3_000))
    assert set(found) == {"Vorgang"}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab _.-[]Ä", min_size=1, max_size=5), min_size=1, max_size=6, unique=True))
def test_names_are_mapped_one_to_one_or_not_at_all(names):
    assert columns_for(["a_b"], ["a.b", "a-b"]) == {}  # either may be meant
    assert columns_for(["a_b", "a__b"], ["a.b"]) == {"a_b": "a.b"}
    written = [name.replace(" ", "_") for name in names]
    found = columns_for(list(dict.fromkeys(written)), names)
    assert len(set(found.values())) == len(found)
    for name, column in found.items():
        assert name == column if name in names else name != column
    for name, column in zip(written, names, strict=True):
        if written.count(name) == 1 and name not in names:  # nobody else is written so
            assert found[name] == column


@pytest.mark.slow
def test_experiments_do_not_collect_in_the_life_of_a_model(folder):
    fairpatch("fit", "-c", "said.yaml", "--out", "served", "--life", "life", cwd=folder)
    entries = (folder / "life" / "ledger.jsonl").read_text()
    fairpatch("fit", "-c", "said.yaml", "--p-rule", "0.7", "--out", "try", cwd=folder)
    assert (folder / "life" / "ledger.jsonl").read_text() == entries


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (b'a,b\r"1,5",2\r"2,5",3\r', Dialect()),  # returns alone end lines
        (b"a, x~b\n1,5~2\n2,5~3\n", Dialect(delimiter="~")),  # a comma in a name
    ],
)
def test_decimal_commas_are_looked_for_where_commas_may_stand_in_fields(tmp_path, text, asked):
    (tmp_path / "odd.csv").write_bytes(text)
    assert of_files((str(tmp_path / "odd.csv"),), asked).dialect.decimal == ","


@pytest.mark.parametrize("role", ["label", "score"])
def test_a_column_that_weighs_rows_is_nothing_else(folder, role):
    weight = {"label": "y", "score": "score"}[role]
    done = fairpatch("audit", "-c", "said.yaml", "--weight", weight, cwd=folder, code=2)
    assert f"is named as {role} and as weight: one column has one role" in done.stderr
