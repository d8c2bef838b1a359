"""Folders to deploy: every file run, the tests failing where they should, and the way back."""

import hashlib

import duckdb
import pytest
from test_engines import patch_on, people

from fairpatch import Target
from fairpatch.engines.deploy import Audited, Destination, pack, untested
from fairpatch.engines.sql import DIALECTS
from fairpatch.identity.fingerprint import fingerprint_of
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import save

PROMISED = Audited(Target(p_rule=0.8), ("sex",), "y", groups=2, change_rate=0.4)


def known_patch(frame):
    patch = patch_on("n", "c")
    found = fingerprint_of(frame, frame["p"].to_numpy(), patch.columns)
    return patch.model_copy(update={"fingerprint": found})


@pytest.fixture
def deployed():
    frame = people(rows=2_000)
    frame["sex"], frame["y"] = (frame["id"] % 2).map({0: "f", 1: "m"}), frame["id"] % 3 == 0
    connection = duckdb.connect()
    connection.execute("create table people as from frame")
    patch = known_patch(frame)
    files = pack(patch, "p", "view", Destination("people", "decided", "id", (), "duckdb"), PROMISED)
    for name in ("decided.sql", "audit.sql"):
        connection.execute(files[name])
    return connection, files, patch, frame


def test_the_view_decides_and_shows_no_sensitive_column(deployed):
    connection, _, patch, frame = deployed
    found = connection.sql("select * from decided order by id").df()
    decided = patch.decide(frame, BaseModel("p").logits(frame))
    assert (found["fairpatch_decision"].to_numpy(bool) == decided).all()
    assert "sex" not in found.columns
    assert "sex" in connection.sql("from decided_audit").columns


def test_tests_and_monitoring_run_and_the_tests_can_fail(deployed):
    connection, files, _, frame = deployed
    assert connection.execute(files["test_fingerprint.sql"]).fetchall() == []
    assert connection.execute(files["test_changes.sql"]).fetchall() == []
    assert connection.execute(files["test_target.sql"]).fetchall() == []
    assert connection.execute(files["test_key.sql"]).fetchall() == []
    rows = connection.execute(files["monitor.sql"]).fetchall()
    assert sorted((row[0], row[1]) for row in rows) == [("f", 1_000), ("m", 1_000)]
    decided = connection.sql("from decided").df().merge(frame, on="id")
    by_group = decided.groupby("sex")[["fairpatch_decision", "fairpatch_changed"]].sum() // 10 * 10
    assert [row[3:] for row in sorted(rows)] == [tuple(v) for v in by_group.to_numpy()]
    connection.execute("update people set p = null where id % 4 = 0")  # no decision is no denial
    known = connection.execute(files["monitor.sql"]).fetchall()
    kept = decided[decided["id"] % 4 != 0].groupby("sex")["fairpatch_decision"].sum() // 10 * 10
    assert [row[3] for row in sorted(known)] == kept.tolist()
    connection.execute("insert into people from people limit 1")
    assert len(connection.execute(files["test_key.sql"]).fetchall()) == 1
    # another model's scores, one group treated badly, and few people
    frame["p"] = 0.97 + 0.01 * frame["p"]
    connection.execute("create or replace table people as from frame")
    assert connection.execute(files["test_fingerprint.sql"]).fetchall() != []
    frame["n"], frame["p"] = 9.0, (frame["sex"] == "f") * 0.5 + 0.3
    connection.execute("create or replace table people as from frame")
    assert connection.execute(files["test_changes.sql"]).fetchall() != []
    assert connection.execute(files["test_target.sql"]).fetchall() != []
    connection.execute("delete from people where sex = 'f' and id > 12")
    assert [row[0] for row in connection.execute(files["monitor.sql"]).fetchall()] == ["m"]


def test_the_way_back_gives_f_under_the_same_name(deployed):
    connection, files, *_ = deployed
    before = connection.sql("from decided").columns
    connection.execute(files["rollback.sql"])
    assert connection.sql("from decided").columns == before
    kept = "select count(*) from decided where fairpatch_changed"
    assert connection.execute(kept).fetchone() == (0,)
    own = (
        "select count(*) from decided join people using (id) where fairpatch_decision <> (p > 0.5)"
    )
    assert connection.execute(own).fetchone() == (0,)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_a_folder_with_its_page(dialect):
    place = Destination("risk.people", "risk.decided", "id", (), dialect)
    files = pack(patch_on("n", "c"), "p", "view", place, PROMISED)
    assert files.keys() >= {"decided.sql", "rollback.sql", "audit.sql", "monitor.sql", "README.md"}
    for name in files.keys() - {"README.md"}:
        assert f"`{name}`" in files["README.md"]


def test_dbt_gets_references_and_nothing_of_the_data_is_a_template():
    place = Destination("people", "decided", "id", (), "duckdb")
    files = pack(patch_on("n", "c"), "p", "dbt", place, PROMISED)
    assert "FROM {{ ref('people') }}" in files["models/decided.sql"]
    assert "{{ ref('decided_audit') }}" in files["tests/decided_target.sql"]
    hostile = pack(patch_on("{{ 1/0 }}", "c"), "p", "dbt", place, PROMISED)["models/decided.sql"]
    assert hostile.partition("\n")[2].startswith("{% raw %}")
    jinja2 = pytest.importorskip("jinja2")
    text = jinja2.Template(hostile).render(ref=lambda name: name)
    assert "{{ 1/0 }}" in text
    assert 'FROM people AS "t0"' in text
    with pytest.raises(ValueError, match="run as a template"):
        pack(patch_on("{% endraw %}{{ 1/0 }}", "c"), "p", "dbt", place)
    with pytest.raises(ValueError, match="no name of a dbt model"):
        pack(
            patch_on("n", "c"), "p", "dbt", Destination("x'); drop", "decided", "id", (), "duckdb")
        )


def test_of_a_model_that_predicts_harm_the_spared_are_monitored():
    patch = patch_on("n", "c", decision={"favourable": 0})
    place = Destination("people", "decided", "id", (), "duckdb")
    text = pack(patch, "p", "view", place, PROMISED)["monitor.sql"]
    assert 'WHEN NOT "fairpatch_decision" THEN 1 END' in text


def test_a_dbt_project_without_a_key_has_no_reference_to_an_audit():
    place = Destination("people", "decided", None, (), "duckdb")
    files = pack(patch_on("n", "c"), "p", "dbt", place, PROMISED)
    assert not any("_audit" in text for name, text in files.items() if name != "README.md")
    assert "ref('decided')" in files["tests/decided_changes.sql"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Destination("people", "decided", "id", ("SEX",), "duckdb"), "'SEX' is sensitive"),
        (Destination("people", "decided", "sex", (), "duckdb"), "'sex' is sensitive"),
        (Destination("people", "People", "id", (), "duckdb"), "is the table of people"),
        (Destination("a.b.c.d", "decided", "id", (), "duckdb"), "catalog.schema.people"),
        (Destination("", "decided", "id", (), "duckdb"), "catalog.schema.people"),
        (Destination("people", "decided", "id", (), "redshift"), "dialect must be one of"),
    ],
)
def test_mistakes_are_refused(place, said):
    with pytest.raises(ValueError, match=said):
        pack(patch_on("n", "c"), "p", "view", place, PROMISED)


def test_what_no_query_can_ask_is_left_out_and_named():
    target = Target(p_rule=0.8, disparate_mistreatment=0.1)
    assert untested(target, "y") == ["disparate_mistreatment"]
    only = Audited(Target(disparate_mistreatment=0.1), ("sex",), "y", 2, None)
    place = Destination("people", "decided", "id", (), "duckdb")
    files = pack(patch_on("n", "c"), "p", "view", place, only)
    assert "test_target.sql" not in files
    assert "monitor.sql" in files


def test_what_a_dialect_cannot_do_is_said():
    for dialect in ("sqlite", "mssql"):
        with pytest.raises(ValueError, match="deploy a view"):
            pack(patch_on("n", "c"), "p", "function", Destination("t", "f", None, (), dialect))
    with pytest.raises(ValueError, match=r"has '\$\$' in it"):
        pack(patch_on("n$$", "c"), "p", "function", Destination("t", "f", None, (), "snowflake"))


def test_the_page_names_the_hash_of_the_file_and_what_true_means(tmp_path):
    patch = patch_on("n", "c")
    place = Destination("people", "decided", "id", (), "duckdb")
    page = pack(patch, "p", "view", place, PROMISED)["README.md"]
    file = save(patch, tmp_path / "patch.json")
    assert hashlib.sha256(file.read_bytes()).hexdigest() in page
    assert "is true for *approved*, false for *denied*" in page


@pytest.mark.parametrize("kind", ["view", "function", "dbt"])
@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "bigquery"])
def test_every_statement_says_where_it_comes_from(kind, dialect, tmp_path):
    if (kind, dialect) == ("function", "sqlite"):
        return  # it has none
    patch = patch_on("n", "c")
    files = pack(patch, "p", kind, Destination("people", "decided", "id", (), dialect), PROMISED)
    file = save(patch, tmp_path / "patch.json")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    for name, text in files.items():
        if name.endswith(".sql"):
            first = text.splitlines()[0]
            assert first.startswith("-- Written by fairpatch ")
            assert digest in first
            assert ";" not in first
