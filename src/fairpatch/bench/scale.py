"""Tables of up to 100 million rows: the patch against the bare engine, time, memory, a whole fit.

Everything that is timed runs in a process of its own, so that its memory is its own. Bare means:
the engine reads the same columns and groups by as many keys, and nothing of ours is in between.
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

from fairpatch._extras import need
from fairpatch.base import BaseModel
from fairpatch.choose.target import Target
from fairpatch.commod import Commod
from fairpatch.data.engine_splits import EngineSplits, count_table
from fairpatch.data.rows import Rows
from fairpatch.datasets import Population
from fairpatch.engines.partitions import apply_files
from fairpatch.engines.sample import sample_files
from fairpatch.life import History, monitor
from fairpatch.life.monitor import COMPARED
from fairpatch.measure.counts import Counts
from fairpatch.measure.show import Table
from fairpatch.patch import Patch, load, save
from fairpatch.patch.apply import DECISION
from fairpatch.patched import PatchedModel

POPULATION = Population(p_rule=0.6, accuracy=0.8)
BARE = (
    'SELECT "group", y, score > 0.5 AS f, num_0 > 50 AS g, count(*), {} FROM people '
    'GROUP BY "group", y, f, g'
)


def run(
    out: Path = Path("build/scale"), rows: int = 100_000_000, repeats: int = 3
) -> dict[str, Any]:
    """Write the tables that are not there yet, then measure."""
    sizes = [n for n in (rows // 100, rows // 10, rows) if n >= 1_000_000] or [rows]
    for n in sizes:
        if not _data(out, n).exists():
            POPULATION.write(_data(out, n), n, seed=n % 997, rows_per_file=10_000_000)
    patches = {"all": out / "patch.json", "3": out / "narrow.json"}
    for width, path in patches.items():
        if not path.exists():
            most = None if width == "all" else int(width)
            fitted = _fit(_duckdb(_data(out, sizes[0])), most, n_steps=100, max_rows=20_000)
            save(fitted.patch_, path)
    patch = patches["all"]
    found: dict[str, Any] = {"rows": sizes, "grow": {}}
    for n in sizes:
        found["grow"][n] = {
            name: _alone(job, str(_data(out, n)), str(patch), str(out / "applied"))
            for name, job in {"audit": _audit, "certify": _certify, "apply": _apply}.items()
        }
    found["same_as_numpy"] = _same_as_numpy(_data(out, sizes[0]), load(patch))
    middle = sizes[-2] if len(sizes) > 1 else sizes[0]
    found["bare"] = [
        {"engine": name, "rows": n, "columns": len(load(path).columns),
         **_alone(engine, str(_data(out, n)), str(path), str(repeats))["result"]}
        for name, engine, n in (("DuckDB", _on_duckdb, sizes[-1]), ("Spark", _on_spark, middle))
        for path in patches.values()
    ]  # fmt: skip
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


def _duckdb(folder: Path | str) -> Any:
    return need("duckdb", extra="cli").connect().read_parquet(f"{folder}/*.parquet")


def _fit(table: Any, max_columns: int | None = None, **options: Any) -> Commod:
    g = Commod("score", target=Target(p_rule=0.75, max_columns=max_columns), **options)
    return g.fit(table, "y", sensitive_features=["group"], key="id")


# What is measured, each with the folder of the data, the patch and a place to write to.


def _audit(data: str, patch: str, _: str) -> Any:
    return _counts(_duckdb(data), load(patch)).total


def _certify(data: str, patch: str, _: str) -> Any:
    """The last quarter of the rows, eight patches at once, as a fit does."""
    splits = EngineSplits(
        _duckdb(data), "id", "y", ("group",), BaseModel("score"), (0.5, 0.25, 0.25), 0
    )
    strengths = np.linspace(0.5, 2, 8)
    return len(splits.count([load(patch).with_strength(float(s)) for s in strengths]))


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
    splits = EngineSplits(_duckdb(data), "id", "y", ("group",), g.base_, g.splits, 0)
    learn, select = splits.samples((0, 1), g.max_rows)
    count = [splits.counts]  # outside of what is timed below
    start = time.perf_counter()
    Commod("score", target=Target(p_rule=0.75), max_rows=g.max_rows, splits=(0.5, 0.5, 0.0)).fit(
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
    return need("pyarrow", extra="cli").concat_tables([one, two])


def _bare_scan(data: str) -> Any:
    columns = ", ".join(f'count("{c}")' for c in ("id", *POPULATION.columns))
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


def _best(bare: Callable[[], Any], patched: Callable[[], Any], repeats: str) -> dict[str, float]:
    best = {"bare": np.inf, "patched": np.inf}
    for _ in range(int(repeats)):
        best["bare"] = min(best["bare"], _seconds(bare))
        best["patched"] = min(best["patched"], _seconds(patched))
    return best


def _read(patch: Patch) -> str:
    """The columns that a patch reads, as aggregates: a bare engine has to read them too."""
    return ", ".join(f'count("{c.name}")' for c in patch.columns)


def _on_duckdb(data: str, patch: str, repeats: str) -> dict[str, float]:
    own, people = load(patch), _people(data)
    table = _duckdb(data)
    return _best(
        lambda: people.execute(BARE.format(_read(own))).fetchall(),
        lambda: _counts(table, own),
        repeats,
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
    return _best(lambda: people.execute(bare).fetchall(), look, repeats)


def _on_spark(data: str, patch: str, repeats: str) -> dict[str, float]:
    own = load(patch)
    session = _spark()
    try:
        table = session.read.parquet(data)
        table.createOrReplaceTempView("people")
        text = BARE.format(_read(own)).replace('"', "`")
        return _best(lambda: session.sql(text).collect(), lambda: _counts(table, own), repeats)
    finally:
        session.stop()


def _counts(table: Any, patch: Patch) -> Counts:
    (counts,) = count_table(table, [patch], BaseModel("score"), y="y", sensitive_features=["group"])
    return counts


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
    sizes = sorted(result["grow"], key=int)
    seconds = [result["grow"][n][job]["seconds"] for n in (sizes[0], sizes[-1])]
    return float(np.log(seconds[1] / seconds[0]) / np.log(int(sizes[-1]) / int(sizes[0])))


def show(result: dict[str, Any]) -> str:
    """Seconds, memory, exponents, ratios."""
    rows = [
        [f"{int(n):,}", *(f"{own[j]['seconds']:.1f} s, {own[j]['gib']:.2f} GiB" for j in own)]
        for n, own in result["grow"].items()
    ]
    jobs = ("audit", "certify", "apply")
    if len(result["grow"]) > 1:
        rows.append(["exponent", *(f"{exponent(result, job):.2f}" for job in jobs)])
    tables = [Table("DuckDB, 2 cores", ["rows", *jobs], rows)]
    ratios = [
        [
            f"{own['engine']}, {own['columns']} columns",
            f"{own['rows']:,}",
            f"{own['bare']:.2f}",
            f"{own['patched']:.2f}",
            f"{own['patched'] / own['bare']:.2f}",
        ]
        for own in result["bare"]
    ]
    header = ["", "rows", "bare scan, s", "audit with patch, s", "ratio"]
    notes = [
        f"Spark's counts equal DuckDB's: {result['same_counts']}; DuckDB's equal "
        f"numpy's on the smallest table: {result['same_as_numpy']}."
    ]
    tables.append(Table("The patch against the bare engine", header, ratios, notes))
    month = result["monitor"]
    cells = [f"{month['bare']:.2f}", f"{month['patched']:.2f}"]
    cells.append(f"{month['patched'] / month['bare']:.2f}")
    rows = [[f"{int(result['rows'][-1]):,}", *cells]]
    header = ["rows", "bare scan, s", "monitor, s", "ratio"]
    tables.append(Table("A month of decisions that were made", header, rows))
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
