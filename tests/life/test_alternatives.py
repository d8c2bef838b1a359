"""The record of alternatives: it comes out again from the same rows, and frauds do not."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairpatch import BaseModel, Decision, Target
from fairpatch.cli import alternatives, config, run_folder
from fairpatch.cli.sign import sign
from fairpatch.data.rows import Rows
from fairpatch.datasets import Population
from fairpatch.life import plan as plans
from fairpatch.life.alternatives import Money, Tried, _choose, _given_up, _told_once, keeps
from fairpatch.life.plan import Need, Plan, Try, tries_for
from fairpatch.report.figures import Figure
from fairpatch.report.proxy_section import chance_of_better

OPTIONS = """\
data: {data}
label: y
favourable: 1
score: score
sensitive: group
ignore: [id]
target: {{p_rule: 0.8}}
alternatives: {{metric: accuracy, tolerance: 0.05}}
"""


@pytest.fixture(scope="module", autouse=True)
def few_tries():
    """Two tries are enough to be dropped, changed or swapped."""
    patched = pytest.MonkeyPatch()
    two = (Try(name="as configured"), Try(name="one column", target={"max_columns": 1}))
    patched.setattr(plans, "tries_for", lambda *_: two)
    yield
    patched.undo()


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A record, signed, and the rows."""
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    keys = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    place = tmp_path_factory.mktemp("record")
    people = Population(p_rule=0.6, groups={"a": (0.7, 0.0), "b": (0.3, 1.0)}).sample(4_000)
    people.to_pandas().to_parquet(place / "people.parquet")
    (place / "fairpatch.yaml").write_text(OPTIONS.format(data=place / "people.parquet"))
    alternatives.search(config.read(place / "fairpatch.yaml"), place / "A", quiet=True)
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(
        keys.Encoding.PEM, keys.PrivateFormat.TraditionalOpenSSL, keys.NoEncryption()
    )
    public = key.public_key().public_bytes(
        keys.Encoding.PEM, keys.PublicFormat.SubjectPublicKeyInfo
    )
    (place / "private.pem").write_bytes(private)
    (place / "public.pem").write_bytes(public)
    sign(place / "A", place / "private.pem", "Validator")
    return place


@pytest.fixture
def copy(record, tmp_path):
    """Another copy, with the rows under another name."""
    shutil.copytree(record / "A", tmp_path / "A")
    shutil.copy(record / "people.parquet", tmp_path / "rows.parquet")
    return tmp_path


def reseal(folder):
    """What a fraud does who knows about the manifest."""
    known = run_folder.manifest(folder)
    about = known.model_dump(exclude={"sha256", "version"})
    run_folder.seal(folder, about, tuple(known.sha256))


def changed(folder, name, change):
    path = Path(folder) / name
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data, indent=1))


def replaced(folder, name, old, new):
    path = Path(folder) / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_another_copy_gives_the_same_record(record, copy, capsys):
    rows = str(copy / "rows.parquet")
    alternatives.check(copy / "A", data=rows, key=record / "public.pem")
    assert "signed by Validator" in capsys.readouterr().out
    data = json.loads((copy / "A" / "record.json").read_text())
    assert [t["name"] for t in data["tried"]] == ["as configured", "one column"]
    assert data["chosen"] in ("as configured", "one column")
    assert data["plan_sha256"] == Plan.model_validate(data["plan"]).sha256
    page = (copy / "A" / "record.html").read_text()
    assert all(step in page for step in ("Step 1: the disparity", "Step 2", "Step 3"))


FRAUDS = {
    "the business metric, in the record": lambda f: changed(
        f, "record.json", lambda d: d["plan"]["need"].update(metric="approvals")
    ),
    "the tolerance, in the plan": lambda f: changed(
        f, "plan.json", lambda d: d["need"].update(tolerance=0.2)
    ),
    "the tolerance, in the configuration": lambda f: replaced(f, "config.yaml", "0.05", "0.2"),
    "an alternative that is dropped": lambda f: changed(
        f, "record.json", lambda d: d["tried"].pop()
    ),
    "a figure": lambda f: changed(
        f, "record.json", lambda d: d["tried"][1].update(kept=not d["tried"][1]["kept"])
    ),
    "the choice": lambda f: changed(f, "record.json", lambda d: d.update(chosen=None)),
    "the page": lambda f: replaced(f, "record.html", "Step 2", "Step two"),
    "the patch": lambda f: changed(
        f, "patch.json", lambda d: d["card"].update(approve_at=d["card"]["approve_at"] + 5)
    ),
}


@pytest.mark.parametrize("what", FRAUDS)
def test_a_fraud_is_found(what, copy):
    folder, rows = copy / "A", str(copy / "rows.parquet")
    FRAUDS[what](folder)
    with pytest.raises(ValueError, match="not what the manifest says"):
        alternatives.check(folder, data=rows)
    reseal(folder)
    with pytest.raises(ValueError, match="is not what the search gives"):
        alternatives.check(folder, data=rows)


def test_swapped_rows_are_found(copy):
    other = Population(p_rule=0.6).sample(4_000)
    other.to_pandas().to_parquet(copy / "rows.parquet")
    with pytest.raises(ValueError, match="other rows"):
        alternatives.check(copy / "A", data=str(copy / "rows.parquet"))


def test_a_record_that_is_made_anew_by_another_plan_is_not_as_it_was_signed(record, copy):
    folder, rows = copy / "A", str(copy / "rows.parquet")
    options = config.read(record / "fairpatch.yaml", data=rows)
    loose = options.model_copy(update={"alternatives": Need(tolerance=0.5)})
    alternatives.search(loose, folder, quiet=True)
    alternatives.check(folder, data=rows)  # it is a record, only not the one that was signed
    with pytest.raises(ValueError, match="not as it was signed"):
        alternatives.check(folder, data=rows, key=record / "public.pem")


def test_every_wish_is_tried_and_stricter_targets_too():
    names = [t.name for t in tries_for(Target(p_rule=0.8), Decision())]
    assert names[0] == "as configured"
    assert {"close calls only", "the base model's order not kept", "no approval withdrawn"} <= {
        *names
    }
    assert "the target stricter by 0.1" in names


def test_a_run_is_no_record_and_a_loss_needs_amounts(tmp_path, record):
    options = config.read(record / "fairpatch.yaml")
    loss = options.model_copy(update={"alternatives": Need(metric="expected_loss")})
    with pytest.raises(ValueError, match="expected_loss needs amount"):
        alternatives.search(loss, tmp_path / "B", quiet=True)
    ignored = Need(metric="expected_loss", amount="id")
    loss = options.model_copy(update={"alternatives": ignored})
    with pytest.raises(ValueError, match="A column that is ignored is not read"):
        alternatives.search(loss, tmp_path / "B", quiet=True)


def test_the_least_disparity_is_chosen_unless_changes_are_preferred():
    def tried(name, changed, p_rule, *, kept=True):
        figure = Figure(
            value=None, low=None, high=None, at_least=p_rule, at_most=p_rule, reason=None,
            groups="", between=None,
        )  # fmt: skip
        return Tried(
            name=name, reached=True, why_not=None, verdict=None, met=True, kept=kept,
            changed=changed, fairness={"s": figure}, accuracy=figure, need=0.0, columns=[],
            proxy=0.5, patch_sha256=None,
        )  # fmt: skip

    some = [tried("few", 100, 0.82), tried("fair", 200, 0.92), tried("fairer", 300, 0.93),
            tried("dear", 50, 0.99, kept=False)]  # fmt: skip
    target = Target(p_rule=0.8)
    assert _choose(some, target, Need())[0] == "fair"  # nearly the least, and fewer changes
    assert _choose(some, target, Need(prefer="fewest_changes"))[0] == "few"
    assert _choose(some[3:], target, Need())[0] is None


def test_a_gap_of_nothing_meets_every_limit():
    approved = np.arange(200) % 2 == 0
    X = pd.DataFrame({"score": np.where(approved, 0.9, 0.1)})
    rows = Rows.of(X, np.arange(200) % 4 // 2, {"s": np.repeat([0, 1], 100)})
    rows = rows.scored(BaseModel("score"))
    met, missed = keeps(rows, approved, Target(demographic_parity_difference=0.0))
    assert (met, missed) == (True, 0.0)


def read(folder):
    return json.loads((folder / "record.json").read_text())


def test_that_nothing_serves_is_a_record_too(tmp_path, record):
    """Where no try finds a patch at all, what was asked and tried is still written and sealed."""
    options = config.read(record / "fairpatch.yaml")
    target = options.target.model_copy(update={"p_rule": 0.999, "max_changes": 0.0001})
    hopeless = options.model_copy(update={"target": target})
    chosen, why = alternatives.search(hopeless, tmp_path / "none", quiet=True)
    assert chosen is None
    tries = len(read(tmp_path / "none")["tried"])
    assert why == f"None qualifies: 0 of {tries} tries meet the target."
    assert not any(t["reached"] for t in read(tmp_path / "none")["tried"])
    page = (tmp_path / "none" / "record.html").read_text()
    assert "No alternative meets the target" in page
    assert "out of reach" in page


def test_the_same_patch_is_counted_once(record):
    told = read(record / "A")
    own = [t for t in told["tried"] if t["reached"] and t["same_as"] is None]
    assert len(own) == len({t["patch_sha256"] for t in told["tried"] if t["reached"]})
    assert told["chance"] == chance_of_better(len(own))
    one = Tried.model_validate(own[0])
    again, third = (one.model_copy(update={"name": name}) for name in ("again", "third"))
    assert [t.same_as for t in _told_once([one, again, third])] == [None, one.name, one.name]


@pytest.mark.parametrize(
    ("metric", "worse"), [("expected_loss", 0.5), ("profit", 0.5), ("approvals", -0.5)]
)
def test_what_is_given_up_is_counted_by_hand(metric, worse):
    """Two are approved, one of whom does not pay 10 back; then a third, who does not pay 5."""
    X = pd.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "sum": [10.0, 8, 5, 4], "margin": 20.0})
    rows = Rows.of(X, np.array([0, 1, 0, 1]), {"s": ["a", "b", "a", "b"]})
    rows = rows.scored(BaseModel("score"))
    money = Money(X["sum"].to_numpy(), X["margin"].to_numpy())
    need = Need(metric=metric, amount="sum", gain="margin")
    then = np.array([True, True, True, False])
    assert _given_up(need, rows, None, then, money) == pytest.approx(worse)
