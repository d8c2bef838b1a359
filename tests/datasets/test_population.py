"""The generator: what is asked for is had, same seed same bytes, constant memory."""

import hashlib
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from fairpatch import audit
from fairpatch.datasets import Population

MANY = {"a": (0.4, 0.0), "b": (0.3, 0.3), "c": (0.25, 1.0), "d": (0.049, 0.6), "e": (0.001, 0.2)}


@pytest.mark.parametrize(
    ("p_rule", "accuracy", "options"),
    [
        (0.6, 0.8, {}),
        (0.3, 0.9, {"rate": 0.4}),
        (0.95, 0.65, {"rate": 0.2, "n_numeric": 12, "n_categorical": 8}),
        (0.8, 0.7, {"groups": MANY, "missing": 0.3, "proxy": 2.0}),
        (
            0.5,
            0.75,
            {"groups": {"x": (0.5, 1.0), "y": (0.5, 0.0)}, "n_numeric": 2, "n_categorical": 1},
        ),
    ],
)
def test_the_base_model_has_the_p_rule_and_accuracy_asked_for(p_rule, accuracy, options):
    population = Population(p_rule=p_rule, accuracy=accuracy, **options)
    people = population.sample(500_000, seed=7)
    found = audit(people, "y", sensitive_features="group", estimator="score", min_count=2_000)
    assert float(found.comparisons["group"].metrics["p_rule"]) == pytest.approx(p_rule, abs=0.01)
    assert float(found.accuracy) == pytest.approx(accuracy, abs=0.01)


def test_columns_are_proxies_of_s_that_the_score_does_not_read():
    people = Population(proxy=1.5).sample(20_000, seed=0).to_pandas()
    b = people["group"] == "B"
    assert roc_auc_score(b, -people["num_0"]) > 0.75
    x = np.column_stack([people["num_0"], people["score"]])
    weights = LogisticRegression().fit((x - x.mean(0)) / x.std(0), people["y"]).coef_[0]
    assert abs(weights[0]) < 0.1 * weights[1]


def test_missing_values_rare_groups_and_kinds_of_columns():
    people = Population(missing=0.1).sample(200_000, seed=0).to_pandas()
    assert people["num_1"].isna().mean() == pytest.approx(0.1, abs=0.01)
    assert people["cat_1"].isna().mean() == pytest.approx(0.1, abs=0.01)
    assert people["num_0"].isna().sum() == 0
    assert (people["group"] == "D").mean() == pytest.approx(0.001, abs=5e-4)
    assert people["cat_0"].nunique() == 8
    assert people["id"].is_unique


def test_same_seed_same_bytes_another_seed_other_people(tmp_path):
    def digest(name, seed):
        folder = Population().write(tmp_path / name, 300_000, seed=seed, rows_per_file=150_000)
        files = sorted(folder.iterdir())
        assert len(files) == 3
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]

    assert digest("one", 1) == digest("two", 1)
    assert digest("three", 2) != digest("four", 3)


def test_writing_and_sampling_give_the_same_people_and_a_longer_one_begins_alike(tmp_path):
    population = Population()
    written = pq.read_table(population.write(tmp_path / "people", 200_000, seed=5))
    sampled = population.sample(200_000, seed=5)
    assert written.to_pandas().equals(sampled.to_pandas())
    assert (
        population.sample(140_000, seed=5)
        .slice(0, 131_072)
        .equals(sampled.slice(0, 131_072).combine_chunks())
    )


def test_an_existing_folder_is_never_overwritten(tmp_path):
    Population().write(tmp_path / "people", 10)
    with pytest.raises(FileExistsError, match="remove it or name another"):
        Population().write(tmp_path / "people", 10)
    assert [p.name for p in tmp_path.iterdir()] == ["people"]


# VmHWM, not ru_maxrss: the latter is never below what the parent had when it forked
MEASURE = """
import pathlib, re, sys
from fairpatch.datasets import Population
Population().write(sys.argv[1], int(sys.argv[2]))
print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024)
"""


@pytest.mark.parametrize("rows", [1_000_000, pytest.param(20_000_000, marks=pytest.mark.slow)])
def test_memory_stays_below_a_gibibyte_however_many_rows(tmp_path, rows):
    out = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "people"), str(rows)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(out.stdout) < 500  # MiB; the limit we promise is 1024
    parts = sorted((tmp_path / "people").iterdir())
    assert sum(pq.ParquetFile(part).metadata.num_rows for part in parts) == rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p_rule": 1.2}, "p_rule must be above 0 and below 1"),
        ({"accuracy": 0.4}, "accuracy must be above 0.5"),
        ({"missing": 1.0}, "missing must be"),
        ({"n_numeric": 1}, "at least 2 numeric"),
        ({"groups": {"a": (0.5, 0.0), "b": (0.4, 1.0)}}, "sum to 1"),
        ({"groups": {"a": (0.5, 0.1), "b": (0.5, 1.0)}}, "run from 0 to 1"),
    ],
)
def test_impossible_populations_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Population(**options)
