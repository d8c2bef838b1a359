"""One table in many shapes, through every door: the same decisions and counts, row by row.

Each kind is the same people written down differently (or asked about differently). Whatever the
kind, every door must decide as the others do; and where only the writing differs, as for the plain
table.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.cli import apply as apply_verb
from fairpatch.cli import config as configs
from fairpatch.cli.fit import fit as fit_verb
from fairpatch.datasets import Population
from fairpatch.engines.mlflow import save_model
from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.patch import load

TARGET = {"p_rule": 0.75}
REGIONS = {letter: 10 * i + 3 for i, letter in enumerate("abcdefgh")}


def plain_people():
    groups = {"a": (0.65, 0.0), "b": (0.35, 1.0)}
    raw = Population(p_rule=0.55, accuracy=0.8, proxy=2.0, groups=groups).sample(3_000, seed=3)
    p = raw.to_pandas()
    return pd.DataFrame(
        {
            "income": p["num_1"], "age": p["num_0"].round(), "tenure": p["num_3"],
            "region": p["cat_0"].astype(str), "job": p["cat_1"].astype(str),
            "sex": p["group"].astype(str), "y": p["y"].astype(int), "score": p["score"],
        }
    )  # fmt: skip


PEOPLE = plain_people()


@dataclass
class Kind:
    """A way to write the people down, and what has to be said about it."""

    name: str
    table: Any
    decision: Decision = field(default_factory=Decision)
    sensitive: tuple[str, ...] = ("sex",)
    exclude: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    roles: Roles = field(default_factory=Roles)
    as_plain: float = 1.0
    """Share of decisions that must be those of the plain table: rows are split by what they say, so
    that a table with other cells is learned from in other parts."""
    target: dict[str, Any] = field(default_factory=lambda: dict(TARGET))

    @property
    def frame(self):
        """As pandas, whose index is nobody's."""
        t = self.table
        found = t.to_pandas() if hasattr(t, "to_pandas") else t
        return found.reset_index(drop=True)


def kinds():
    p, yes = PEOPLE, np.where(PEOPLE["y"] == 1, "yes", "no")
    random = np.random.default_rng(0)
    dates = pd.Timestamp("2020-02-29") + pd.to_timedelta(random.integers(0, 900, len(p)), "D")
    odd = random.permutation(len(p)) * 7 + 3
    race = random.choice(["x", "y", None], len(p), p=[0.5, 0.3, 0.2])
    sex = np.where(random.random(len(p)) < 0.1, None, p["sex"])
    harm = Decision(positive="yes", favourable=0, approved="accepted", positive_words="defaulted")
    yield Kind("labels 0 and 1", p)
    yield Kind("text labels", p.assign(y=yes))
    yield Kind("boolean labels", p.assign(y=p["y"] == 1))
    yield Kind("categorical labels", p.assign(y=pd.Categorical(yes)))
    bad = p.assign(y=np.where(p["y"] == 1, "no", "yes"), score=1 - p["score"])  # 1 - p is rounded
    yield Kind("favourable 0", bad, harm, as_plain=0.9)  # other numbers, other splits
    yield Kind("threshold .27", p, Decision(threshold=0.27), as_plain=0.0)
    yield Kind("weights", p.assign(w=random.uniform(0.5, 2, len(p)).round(2)),
               roles=Roles(weight="w"), as_plain=0.0)  # fmt: skip
    yield Kind("dates and keys", p.assign(opened=dates, number=[f"C{i}" for i in range(len(p))]),
               exclude=("opened",), ignore=("number",))  # fmt: skip
    yield Kind("odd index", p.set_index(pd.Index(odd, name="customer")))
    yield Kind("two features with gaps", p.assign(sex=sex, race=race), sensitive=("sex", "race"),
               as_plain=0.0)  # fmt: skip
    yield Kind("integer codes", p.assign(region=p["region"].map(REGIONS)), categories=("region",),
               as_plain=0.0)  # fmt: skip
    points = (600 + 20 / np.log(2) * np.log(p["score"] / (1 - p["score"]))).round(1)
    in_points = p.assign(score=points)
    scale = {"base": 600, "odds": 1, "double": 20}
    yield Kind("points", in_points,
               Decision(score_unit="points", threshold=600, points=scale),
               as_plain=0.9)  # fmt: skip
    yield Kind("points of harm", bad.assign(score=1200 - points),
               harm.replace(score_unit="points", threshold=600), as_plain=0.0)  # fmt: skip
    by_region = {letter: 597.0 + i for i, letter in enumerate(sorted(p["region"].unique()))}
    yield Kind(
        "points by region",
        in_points,
        Decision(score_unit="points", threshold={"region": by_region}),
        as_plain=0.0,
    )
    by_code = {code: 0.48 + code / 2_000 for code in REGIONS.values()}
    yield Kind("thresholds by a code", p.assign(region=p["region"].map(REGIONS)),
               Decision(threshold={"region": by_code}), categories=("region",),
               as_plain=0.0)  # fmt: skip
    yield Kind(
        "a column of thresholds",
        in_points.assign(cut=in_points["region"].map(by_region)),
        Decision(score_unit="points", threshold="cut"),
        as_plain=0.0,
    )
    yield Kind(
        "outcomes of the approved",
        p.assign(y=p["y"].where(p["score"] > 0.5)),
        roles=Roles(outcomes="approved"),
        as_plain=0.9,
    )
    coded = p["income"].where(random.random(len(p)) > 0.1, -99.0)
    yield Kind("special codes", p.assign(income=coded.where(p["job"] != p["job"].iloc[0], 999.0)),
               roles=Roles(special={"income": {-99: "no file", 999: "not asked"}}),
               as_plain=0.0)  # fmt: skip
    yield Kind("no score", p.assign(score=p["score"].where(random.random(len(p)) > 0.08)),
               Decision(no_score="denied"), as_plain=0.8)  # fmt: skip
    ties = p.assign(score=p["score"].round(1))
    for at_least in (True, False):
        yield Kind(f"ties, at least {at_least}", ties, Decision(at_least=at_least), as_plain=0.0)
    some = sorted(p["region"].unique())[:4]
    yield Kind("one scope", p, as_plain=0.0, target={**TARGET, "where": {"region": some}})
    yield Kind("polars", pl.from_pandas(p))
    yield Kind("pyarrow", pa.Table.from_pandas(p))


KINDS = {kind.name: kind for kind in kinds()}
LATER = (
    "outcomes of the approved", "one scope", "ties, at least False", "thresholds by a code",
    "polars", "a column of thresholds", "points by region", "special codes",
)  # fmt: skip
"""A quarter of a minute each, the first minutes: in `make check-slow`."""
EVERY_KIND = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] if name in LATER else [])
        for name, kind in KINDS.items()
    ],
    ids=KINDS,
)


def fitted(kind):
    return _fitted(kind.name)


@cache
def _fitted(name):
    kind = KINDS[name]
    g = FairPatch(
        "score", Target(**kind.target), decision=kind.decision, roles=kind.roles,
        categories=kind.categories, exclude=[*kind.exclude, *kind.ignore],
    )  # fmt: skip
    return g.fit(kind.table, "y", sensitive_features=list(kind.sensitive))


@pytest.fixture(scope="module")
def reference():
    return fitted(KINDS["labels 0 and 1"]).patched_.decide(PEOPLE)


@pytest.mark.filterwarnings("ignore")
@EVERY_KIND
def test_every_door_decides_alike(kind, reference, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    g, frame = fitted(kind), kind.frame
    decided = g.patched_.decide(kind.table)
    changed = decided != g.base_.decisions(kind.table)
    assert changed.any()
    same = (decided == reference) == bool(kind.decision.favourable)
    assert same.mean() >= kind.as_plain

    # Python: labels and a table with decisions
    assert (g.predict(kind.table) == g.classes_[decided.astype(int)]).all()
    applied = g.patched_.apply(kind.table, with_reason=True)
    columns = {n: np.array(applied[n].to_pylist() if isinstance(applied, pa.Table) else applied[n])
               for n in ("fairpatch_decision", "fairpatch_changed")}  # fmt: skip
    assert (columns["fairpatch_decision"] == decided).all()
    assert (columns["fairpatch_changed"] == changed).all()

    # SQL, ONNX, MLflow
    found = duckdb.sql(sql(g.patch_, "score", table="frame")).df()
    assert (found["fairpatch_decision"] == decided).all()
    found = run_graph(patch_graph(g.patch_).SerializeToString(), frame, score="score")
    assert (found["fairpatch_decision"] == decided).all()
    import mlflow

    served = mlflow.pyfunc.load_model(str(save_model(g.patch_, frame, tmp_path / "served")))
    found = served.predict(frame.rename(columns={"score": "fairpatch_base_score"}))
    assert (found["fairpatch_decision"].to_numpy() == decided).all()

    # the command line
    data = tmp_path / "people.parquet"
    kind.table.write_parquet(data) if kind.name == "polars" else (
        pa.parquet.write_table(kind.table, data) if kind.name == "pyarrow"
        else kind.table.to_parquet(data)
    )  # fmt: skip
    said = {
        "data": str(data), "label": "y", "score": "score", "sensitive": list(kind.sensitive),
        "decision": kind.decision.model_dump(exclude_none=True), "target": kind.target,
        "exclude": list(kind.exclude), "ignore": list(kind.ignore),
        "categories": list(kind.categories), "columns": kind.roles.model_dump(mode="json"),
    }  # fmt: skip
    (tmp_path / "fairpatch.yaml").write_text(yaml.safe_dump(said))
    run = tmp_path / "run"
    fit_verb(configs.read(tmp_path / "fairpatch.yaml"), run, quiet=True)
    assert load(run / "patch.json").lines == g.patch_.lines
    apply_verb.run(run, str(data), tmp_path / "out.parquet", reasons=True)
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert (found["fairpatch_decision"].to_numpy() == decided).all()
    reasons = np.array(
        applied["fairpatch_reason"].to_pylist()
        if isinstance(applied, pa.Table)
        else applied["fairpatch_reason"],
        object,
    )
    told = found["fairpatch_reason"].to_numpy(object)
    assert (told[changed] == reasons[changed]).all()


def rounded(found):
    """Sums in another order differ in their last digit."""
    if isinstance(found, dict):
        return {k: rounded(v) for k, v in found.items()}
    if isinstance(found, list):
        return [rounded(v) for v in found]
    return round(found, 9) if isinstance(found, float) else found


@EVERY_KIND
def test_every_door_counts_alike(kind):
    frame = kind.frame
    table = duckdb.sql("SELECT * FROM frame")
    S = list(kind.sensitive)
    own = {"estimator": "score", "decision": kind.decision}
    found = [
        audit(kind.table, "y", sensitive_features=S, **own).to_dict(),
        audit(table, "y", sensitive_features=S, **own).to_dict(),
        audit(frame, frame["y"], sensitive_features=frame[S], **own).to_dict(),
    ]
    assert rounded(found[0]) == rounded(found[1]) == rounded(found[2])
    g = fitted(kind)
    counted = [
        g.patched_.count(kind.table, "y", sensitive_features=S),
        g.patched_.count(table, "y", sensitive_features=S),
        g.patched_.count(frame, frame["y"], sensitive_features=frame[S]),
    ]
    assert all((counted[0].n == other.n).all() for other in counted)
    certified = [g.certify(rows, "y", sensitive_features=S) for rows in (kind.table, table, frame)]
    for other in certified:
        assert [v.verdict for v in other.results] == [v.verdict for v in certified[0].results]
        for one, two in zip(other.results, certified[0].results, strict=True):
            assert float(one.estimate) == pytest.approx(float(two.estimate), abs=1e-12)


def test_arrays_decide_and_count_alike():
    """Arrays have no names: the doors that take them."""
    numbers = ["income", "age", "tenure"]
    X = PEOPLE[[*numbers, "score"]].to_numpy()
    named = PEOPLE[[*numbers, "score"]].set_axis(["x0", "x1", "x2", "x3"], axis=1)
    S, y = PEOPLE["sex"].to_numpy(), PEOPLE["y"].to_numpy()
    target = Target(p_rule=0.65)
    g = FairPatch(lambda X: np.asarray(X)[:, 3], target, exclude=["x3"])
    g.fit(X, y, sensitive_features=S)
    h = FairPatch(lambda X: X["x3"].to_numpy(), target, exclude=["x3"])
    h.fit(named, y, sensitive_features=S)
    assert g.patch_.lines == h.patch_.lines
    decided = g.patched_.decide(X)
    assert (decided == h.patched_.decide(named)).all()
    found = run_graph(patch_graph(g.patch_).SerializeToString(), X, score="x3")
    assert (found["fairpatch_decision"] == decided).all()
    found = duckdb.sql(sql(h.patch_, "x3", table="named")).df()
    assert (found["fairpatch_decision"] == decided).all()
    audits = [
        audit(X, y, sensitive_features=S, estimator=lambda X: X[:, 3]).to_dict(),
        audit(named, y, sensitive_features=S, estimator="x3").to_dict(),
    ]
    assert audits[0] == audits[1]
    counts = [g.patched_.count(X, y, sensitive_features=S),
              h.patched_.count(named, y, sensitive_features=S)]  # fmt: skip
    assert (counts[0].n == counts[1].n).all()
