"""Tables of up to a billion rows: the patch against the bare engine, time, memory, a whole fit.

Everything that is timed runs in a process of its own, so that its memory is its own. Bare means:
the engine reads the same columns and groups by as many keys, and nothing of ours is in between. It
really reads them: a sum of every number and the longest of every text (DuckDB answers the count of
a column without gaps from its metadata). The billion rows are those of 100 million, read ten times.
"""

import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fairpatch._tools.extras import need
from fairpatch._tools.tables import Table
from fairpatch.data.engine import EngineSplits
from fairpatch.data.rows import Rows
from fairpatch.datasets import Population
from fairpatch.engines.streams import apply_files, sample_files
from fairpatch.front import FairPatch
from fairpatch.inputs.base import BaseModel
from fairpatch.inputs.roles import Roles
from fairpatch.life import History, monitor
from fairpatch.life.monitor import COMPARED
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch, load, save
from fairpatch.patch.apply import DECISION, apply
from fairpatch.patched import PatchedModel
from fairpatch.target import Target

POPULATION = Population(p_rule=0.6, accuracy=0.8)
BARE = (
    'SELECT "group", y, score > 0.5 AS f, num_0 > 50 AS g, count(*), {} FROM people '
    'GROUP BY "group", y, score > 0.5, num_0 > 50'
)
TIMES = 10
"""How often the largest table is read for the last step of the growth."""
STEPS = 8
"""Patches that are certified at once."""


def run(
    out: Path = Path("build/scale"), rows: int = 100_000_000, repeats: int = 3
) -> dict[str, Any]:
    """Write the tables that are not there yet, then measure."""
    sizes = [n for n in (rows // 100, rows // 10, rows) if n >= 1_000_000] or [rows]
    for n in sizes:
        if not _data(out, n).exists():
            POPULATION.write(_data(out, n), n, seed=n % 997, rows_per_file=10_000_000)
    patch = out / "card.json"
    if not patch.exists():
        save(_fit(_duckdb(_data(out, sizes[0]))).patch_, patch)
    found: dict[str, Any] = {"rows": sizes, "grow": {}}
    for n in sizes:
        found["grow"][n] = {
            name: _alone(job, str(_data(out, n)), str(patch), str(out / "applied"))
            for name, job in {"audit": _audit, "certify": _certify, "apply": _apply}.items()
        }
    found["grow"][sizes[-1] * TIMES] = {
        "audit": _alone(_audit, str(_data(out, sizes[-1])), str(patch), str(TIMES))
    }
    found["same_as_numpy"] = _same_as_numpy(_data(out, sizes[0]), load(patch))
    middle = sizes[-2] if len(sizes) > 1 else sizes[0]
    found["bare"] = [
        {"engine": name, "rows": n, "columns": len(load(patch).columns),
         **_alone(engine, str(_data(out, n)), str(patch), str(repeats))["result"]}
        for name, engine, n in (("DuckDB", _on_duckdb, sizes[-1]), ("Spark", _on_spark, middle))
    ]  # fmt: skip
    found["copy"] = _alone(_copied, str(_data(out, middle)), str(patch), str(repeats))["result"]
    found["same_counts"] = (
        _alone(_spark_counts, str(_data(out, middle)), str(patch), "")["result"]
        == _alone(_duckdb_counts, str(_data(out, middle)), str(patch), "")["result"]
    )
    decided = out / f"decided-{sizes[-1]}"
    if not decided.exists():
        read = need("duckdb", extra="cli").connect().read_parquet
        files = sorted(_data(out, sizes[-1]).glob("*.parquet"))
        apply_files(load(patch), files, decided, "score", read=read)
    found["monitor"] = _alone(_monitored, str(decided), str(patch), str(repeats))["result"]
    found["fit"] = _alone(_whole_fit, str(_data(out, sizes[-1])), str(patch), "")
    return found


def _data(out: Path, rows: int) -> Path:
    return out / f"people-{rows}"


def _duckdb(folder: Path | str, times: int = 1) -> Any:
    files = sorted(map(str, Path(folder).glob("*.parquet")))
    return need("duckdb", extra="cli").connect().read_parquet(files * times)


def _fit(table: Any) -> FairPatch:
    g = FairPatch("score", Target(p_rule=0.75), roles=Roles(key="id"))
    return g.fit(table, "y", sensitive_features=["group"])


# What is measured, each with the folder of the data, the patch and a place to write to.


def _audit(data: str, patch: str, times: str) -> Any:
    return _counts(_duckdb(data, _number(times)), load(patch)).total


def _number(times: str) -> int:
    """How often to read a table; a place to write to is no number."""
    return int(times) if times.isdigit() else 1


def _certify(data: str, patch: str, _: str) -> Any:
    """The last half of the rows, eight patches at once, as a fit does."""
    return len(_ladder(_duckdb(data), load(patch)))


def _ladder(table: Any, patch: Patch) -> list[Counts]:
    base = BaseModel("score", decision=patch.decision)
    splits = EngineSplits(table, "id", "y", ("group",), base, (0.3, 0.2, 0.5), 0)
    return splits.count(_weaker(patch))


def _weaker(patch: Patch) -> list[Patch]:
    """The card, each time with a point more needed."""
    card: Any = patch.card
    needed = [
        {"approve_at": card.approve_at + k, "deny_at": card.deny_at - k} for k in range(STEPS)
    ]
    return [patch.model_copy(update={"card": card.model_copy(update=n)}) for n in needed]


def _apply(data: str, patch: str, out: str) -> Any:
    shutil.rmtree(out, ignore_errors=True)
    read = need("duckdb", extra="cli").connect().read_parquet
    files = sorted(Path(data).glob("*.parquet"))
    done = apply_files(load(patch), files, out, "score", read=read)
    shutil.rmtree(out)
    return done.rows


def _whole_fit(data: str, _: str, __: str) -> dict[str, float]:
    """A fit from the table; beside it a bare scan of the same columns, and training by itself."""
    start = time.perf_counter()
    g = _fit(_duckdb(data))
    whole = time.perf_counter() - start
    scan = min(_seconds(lambda: _bare_scan(data)) for _ in range(2))
    asked, roles = g.base_.decision, g.base_.roles
    splits = EngineSplits.of(_duckdb(data), "y", "group", "score", asked, roles, g.splits, 0)
    learn, select = splits.samples((0, 1), g.max_rows)
    count = [splits.counts]  # outside of what is timed below
    start = time.perf_counter()
    FairPatch("score", Target(p_rule=0.75), max_rows=g.max_rows, splits=(0.5, 0.5, 0.0)).fit(
        _joined(learn.X, select.X), np.append(learn.y, select.y),
        sensitive_features=np.append(_values(learn), _values(select)),
    )  # fmt: skip
    train = time.perf_counter() - start
    del count
    return {"fit": whole, "scan": scan, "train": train}


def _values(rows: Rows) -> Any:
    """Everybody's value of the one sensitive feature."""
    return np.array([*rows.s.values[0], None], object)[rows.s.codes[:, 0]]


def _joined(one: Any, two: Any) -> Any:
    return need("pandas", extra="cli").concat([one, two], ignore_index=True)


def _bare_scan(data: str) -> Any:
    columns = ", ".join(["max(id)", *(_touched(c) for c in POPULATION.columns)])
    return _people(data).execute(BARE.format(columns)).fetchall()


def _people(data: str) -> Any:
    connection = need("duckdb", extra="cli").connect()
    connection.execute(f"CREATE VIEW people AS SELECT * FROM read_parquet('{data}/*.parquet')")  # noqa: S608
    return connection


def _seconds(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _alone(job: Callable[[str, str, str], Any], *arguments: str) -> dict[str, Any]:
    """Run a job in a fresh process: seconds, peak memory in GiB, what it gives."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        seconds, peak, result = pool.apply(_measured, (job, arguments))
    return {"seconds": seconds, "gib": peak / 2**20, "result": result}


def _measured(
    job: Callable[[str, str, str], Any], arguments: tuple[str, str, str]
) -> tuple[float, int, Any]:
    start = time.perf_counter()
    result = job(*arguments)
    took = time.perf_counter() - start
    return took, _peak_kib(), result


def _peak_kib() -> int:
    """The peak of this process alone; getrusage would keep that of the one it was forked from."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0])


# The patch against the bare engine, taking turns.


def _best(repeats: str, **jobs: Callable[[], Any]) -> dict[str, float]:
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(int(repeats)):
        for name, job in jobs.items():
            best[name] = min(best[name], _seconds(job))
    return best


def _touched(name: str) -> str:
    """A column as an aggregate that has to read it."""
    return f'max(length("{name}"))' if name.startswith("cat") else f'sum("{name}")'


def _read(patch: Patch) -> str:
    """The columns that a patch reads: a bare engine has to read them too."""
    return ", ".join(_touched(c.name) for c in patch.columns)


def _on_duckdb(data: str, patch: str, repeats: str) -> dict[str, float]:
    own, people = load(patch), _people(data)
    table = _duckdb(data)
    return _best(
        repeats,
        bare=lambda: people.execute(BARE.format(_read(own))).fetchall(),
        audit=lambda: _counts(table, own),
        certify=lambda: _ladder(table, own),
    )


def _copied(data: str, patch: str, repeats: str) -> dict[str, float]:
    """Copies of a table: bare with four plain columns more, and with the patch's."""
    own, people = load(patch), _people(data)
    table = _duckdb(data)
    plain = "score * 2 AS a, num_0 - 1 AS b, score > 0.5 AS c, num_0 > 50 AS d"
    with tempfile.TemporaryDirectory(dir=Path(data).parent) as scratch:
        file = f"{scratch}/copy.parquet"
        return _best(
            repeats,
            bare=lambda: people.execute(f"COPY (SELECT *, {plain} FROM people) TO '{file}'"),  # noqa: S608
            applied=lambda: apply(own, table, "score").to_parquet(file),
            without_score=lambda: apply(own, table, "score", with_score=False).to_parquet(file),
        )


def _monitored(data: str, patch: str, repeats: str) -> dict[str, float]:
    """A month of decisions as they were made: counted, tried, noted and judged."""
    own = load(patch)
    g, target = PatchedModel(BaseModel("score"), own), Target(p_rule=0.75)
    read = [*(c.name for c in own.columns), "score", "group", "y", DECISION]
    bare = f'SELECT "group", y, score > 0.5 AS f, {DECISION}, count(*) FROM people GROUP BY ALL'  # noqa: S608

    def look() -> None:
        table = _duckdb(data)
        with tempfile.TemporaryDirectory() as scratch:
            monitor(
                g, table, "y", sensitive_features=["group"], target=target, period="2026-01",
                history=History(Path(scratch) / "history.jsonl"), decided=DECISION,
                compare_with=sample_files(sorted(Path(data).glob("*.parquet")), read, COMPARED),
            )  # fmt: skip

    people = _people(data)
    return _best(repeats, bare=lambda: people.execute(bare).fetchall(), monitor=look)


def _on_spark(data: str, patch: str, repeats: str) -> dict[str, float]:
    own = load(patch)
    session = _spark()
    try:
        table = session.read.parquet(data)
        table.createOrReplaceTempView("people")
        text = BARE.format(_read(own)).replace('"', "`")
        return _best(
            repeats,
            bare=lambda: session.sql(text).collect(),
            audit=lambda: _counts(table, own),
            certify=lambda: _ladder(table, own),
        )
    finally:
        session.stop()


def _counts(table: Any, patch: Patch) -> Counts:
    g = PatchedModel(BaseModel("score"), patch)
    return g.count(table, "y", sensitive_features=["group"])


def _plain(counts: Counts) -> list[Any]:
    return [list(counts.groups), counts.n.tolist()]


def _duckdb_counts(data: str, patch: str, _: str) -> list[Any]:
    return _plain(_counts(_duckdb(data), load(patch)))


def _spark_counts(data: str, patch: str, _: str) -> list[Any]:
    session = _spark()
    try:
        return _plain(_counts(session.read.parquet(data), load(patch)))
    finally:
        session.stop()


def _spark() -> Any:
    """Spark in this process on two threads, on loopback."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return (
        need("pyspark.sql", extra="spark").SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "2g")
        .config("spark.log.level", "ERROR").getOrCreate()
    )  # fmt: skip


def _same_as_numpy(data: Path, patch: Patch) -> bool:
    frame = _duckdb(data).df()
    f_logit = BaseModel("score").logits(frame)
    by_numpy = Counts.from_arrays(
        decision=f_logit > 0,
        new_decision=patch.decide(frame, f_logit),
        y=frame["y"],
        sensitive_features={"group": frame["group"]},
    )
    return by_numpy == _counts(_duckdb(data), patch)


def exponent(result: dict[str, Any], job: str) -> float:
    """Of seconds against rows, from the smallest to the largest table."""
    sizes = sorted((n for n, own in result["grow"].items() if job in own), key=int)
    seconds = [result["grow"][n][job]["seconds"] for n in (sizes[0], sizes[-1])]
    return float(np.log(seconds[1] / seconds[0]) / np.log(int(sizes[-1]) / int(sizes[0])))


def _cost(own: dict[str, Any] | None) -> str:
    return "" if own is None else f"{own['seconds']:.1f} s, {own['gib']:.2f} GiB"


def show(result: dict[str, Any]) -> str:
    """Seconds, memory, exponents, ratios."""
    jobs = ("audit", "certify", "apply")
    rows = [
        [f"{int(n):,}", *(_cost(own.get(job)) for job in jobs)] for n, own in result["grow"].items()
    ]
    if len(result["grow"]) > 1:
        rows.append(["exponent", *(f"{exponent(result, job):.2f}" for job in jobs)])
    tables = [Table("DuckDB, 2 cores", ["rows", *jobs], rows)]
    ratios = [
        [f"{own['engine']}, {own['columns']} columns", f"{own['rows']:,}", f"{own['bare']:.2f}",
         f"{own['audit'] / own['bare']:.2f}", f"{own['certify'] / own['bare']:.2f}"]
        for own in result["bare"]
    ]  # fmt: skip
    header = ["", "rows", "bare read, s", "audit / bare", "certify 8 / bare"]
    notes = [
        f"Spark's counts equal DuckDB's: {result['same_counts']}; DuckDB's equal "
        f"numpy's on the smallest table: {result['same_as_numpy']}."
    ]
    tables.append(Table("The patch against the bare engine", header, ratios, notes))
    month, copy = result["monitor"], result["copy"]
    rows = [
        ["a month of decisions that were made: monitor", f"{month['bare']:.2f}",
         f"{month['monitor'] / month['bare']:.2f}"],
        *([f"a copy: {words}", f"{copy['bare']:.2f}", f"{copy[job] / copy['bare']:.2f}"]
          for job, words in (("applied", "apply"), ("without_score", "apply without the score"))),
    ]  # fmt: skip
    tables.append(Table("On DuckDB", ["", "bare, s", "ours / bare"], rows))
    fit = result["fit"]["result"]
    limit = 3 * fit["scan"] + fit["train"]
    tables.append(
        Table(
            "A fit to a target from the largest table, seconds",
            ["whole fit", "bare scan", "training alone", "3 scans + training", "GiB"],
            [[*(f"{v:.1f}" for v in (fit["fit"], fit["scan"], fit["train"], limit)),
              f"{result['fit']['gib']:.2f}"]],
        )
    )  # fmt: skip
    return "\n".join(table.text() for table in tables)
