"""What ``fairpatch init`` makes of columns: dates, keys, codes, weights, labels of harm."""

import numpy as np
import pandas as pd
import pytest
import yaml

from cli.test_cli import fairpatch
from fairpatch.cli.data import true_or_false
from fairpatch.cli.profile import profile
from fairpatch.datasets import Population

N = 300


def table(**columns):
    random = np.random.default_rng(0)
    plain = {
        "income": random.normal(50, 10, N),
        "sex": random.choice(["f", "m"], N),
        "y": random.integers(0, 2, N),
        "score": random.random(N),
    }
    return pd.DataFrame({**plain, **columns})


def test_a_plain_table_leaves_nothing_open():
    found = profile(table(), [])
    assert (found.label, found.score, found.sensitive) == ("y", "score", ["sex"])
    assert (found.positive, found.harm) == (None, None)
    assert not [*found.exclude, *found.ignore, *found.categories]


def test_dates_keys_codes_weights_and_bands_are_found():
    random = np.random.default_rng(1)
    found = profile(
        table(
            opened=pd.date_range("2020-01-01", periods=N),
            closed=[f"2021-01-{1 + i % 28:02d}" for i in range(N)],
            id=np.arange(N) + 7,
            number=[f"C{i}" for i in range(N)],
            note=[f"free text {i // 2}" for i in range(N)],
            branch_code=random.integers(1, 12, N),
            rooms=random.integers(1, 7, N),
            sample_weight=random.random(N) + 0.5,
            age_band=random.choice(["18-25", "26-60", "60+"], N),
            blood_group=random.choice(["a", "b"], N),
            constant="x",
            in_train=random.choice([True, False], N),
        ),
        ["customer"],
    )
    assert set(found.exclude) == {"opened", "closed", "note"}
    assert set(found.ignore) == {"customer", "number", "constant"}
    assert found.key == "id"  # rows weigh differently: people are drawn by it
    assert found.categories == ["branch_code"]
    assert found.perhaps_codes == ["rooms"]
    assert found.weight == "sample_weight"
    assert found.sensitive == ["sex", "age_band"]
    assert found.trained == "in_train"


@pytest.mark.parametrize(
    ("name", "labels", "positive", "harm"),
    [("default", ("no", "yes"), "yes", "default"), ("repaid", ("no", "yes"), "yes", None),
     ("class", ("bad", "good"), "bad", "bad"), ("outcome", ("left", "stayed"), "?", None),
     ("y", (False, True), None, None), ("defaulted", (0, 1), None, "defaulted")],
)  # fmt: skip
def test_labels_of_text_and_what_is_a_harm(name, labels, positive, harm):
    frame = table().drop(columns="y")
    frame[name] = np.array(labels)[np.arange(N) % 2]
    found = profile(frame, [])
    assert found.label == name
    assert found.positive == positive
    assert found.harm == harm


def test_true_and_false_however_they_are_written():
    for values in (["true", "False"], [1, 0], ["yes", "no"], [True, False]):
        assert true_or_false(pd.Series(values, name="t")).tolist() == [True, False]
    with pytest.raises(SystemExit):
        true_or_false(pd.Series(["true", "perhaps"], name="t"))


@pytest.mark.parametrize("ages", [["18 to 29", "30 to 44"], [23, 61], [23.5, 61.0]])
def test_an_age_is_kept_from_the_patch(ages):
    people = pd.DataFrame({"Age": ages * 50, "y": [0, 1] * 50})
    assert "an age" in profile(people, []).exclude["Age"]


def test_numbers_with_a_word_for_gaps_are_named_as_such():
    income = [f"{1000 + 7 * i}" if i % 9 else "n/a" for i in range(N)]
    reason = profile(table(salary=pd.Series(income, dtype=object)), []).exclude["salary"]
    assert reason == "numbers, but 34 of 300 are text such as 'n/a': leave those cells empty"


def test_groups_too_small_to_judge_are_left_out_in_the_file(tmp_path):
    groups = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    people = Population(groups=groups).sample(4_000, seed=3)
    table = people.to_pandas().astype({"group": object})
    table.loc[:59, "group"] = "c"
    table.loc[60:64, "group"] = "d"
    table.drop(columns="id").to_csv(tmp_path / "people.csv", index=False)
    done = fairpatch("init", "people.csv", "--favourable", "1", cwd=tmp_path)
    assert "group: too few people to show anything of, so not compared: c" in done.stderr
    written = yaml.safe_load((tmp_path / "fairpatch.yaml").read_text())
    assert written["target"]["not_compared"] == {"group": ["c"]}
