"""Tables too large for memory: sampled, scored and patched file by file, in batches.

A part appears under its name only when it is whole. Whoever is stopped runs the same call again:
what is there stays, what is missing is done. ``_plan.json`` says which files with which content,
which patch and which options it was begun with; where any of them differs, nothing is mixed.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpatch._tools.extras import connected, need, sql_name, sql_text
from fairpatch._tools.files import dumps_safely, read_strictly, sweep, whole_file, write_whole
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.patch import Patch, save
from fairpatch.patch.apply import CHANGED, apply

# Some rows of many Parquet files, from all over them: sampling in an engine reads every page.

MOST_FILES = 20
"""Files that rows are taken from, at most."""


def sample_files(files: Sequence[str | Path], columns: list[str], most: int) -> Any:
    """About so many rows as a DuckDB relation, a stretch of each file; None where all are few."""
    connection = connected()
    names = [str(name) for name in files[:: max(1, len(files) // MOST_FILES)]]
    counted = "SELECT file_name, num_rows FROM parquet_file_metadata(?) WHERE num_rows > 0"
    sizes = dict(connection.execute(counted, [names]).fetchall())
    if sum(sizes.values()) <= most:
        return None
    each = -(-most // len(sizes))
    stretches = [
        _stretch(name, columns, i * 7919 * each % max(1, size - each), each)
        for i, (name, size) in enumerate(sizes.items())
    ]
    # read once, and looked at several times
    connection.execute(f"CREATE TABLE sample AS {' UNION ALL '.join(stretches)}")
    return connection.table("sample")


def _stretch(name: str, columns: list[str], begin: int, rows: int) -> str:
    """Rows that follow each other: the file's other row groups are not read."""
    file = f"read_parquet({sql_text(name)}, file_row_number = true)"
    here = f"file_row_number BETWEEN {begin} AND {begin + rows - 1}"
    return f"SELECT {', '.join(map(sql_name, columns))} FROM {file} WHERE {here}"  # noqa: S608


# A base model as a score column of a table in an engine: in batches, in bounded memory.
#
# A DuckDB table is read twice: what f reads is scored in Python, then the scores are put beside the
# rows, which DuckDB writes itself. On Spark the executors do it (mapInArrow). Sending rows through
# Python is far slower than an expression: do it once, and keep the score.

VECTORS = 32
"""DuckDB's vectors in a batch: 65,536 rows."""
OTHER_ORDER = "the table gives its rows in another order each time: sort it by its key"


def score(
    table: Any,
    estimator: Estimator,
    columns: list[str],
    *,
    out: str | Path | None = None,
    name: str = "score",
) -> Any:
    """The table with one more column, f's probability; f is given a pandas frame of ``columns``.

    ``out``, a Parquet file to write, is needed for DuckDB; a Spark frame stays lazy.
    """
    f = estimator if isinstance(estimator, BaseModel) else BaseModel(estimator)
    if hasattr(table, "mapInArrow"):
        return _on_spark(table, f, columns, name)
    if out is None:
        raise ValueError("name a Parquet file to write the scored table to: out='scored.parquet'")
    out = Path(out)
    with whole_file(out) as unfinished, tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        scores = _scores(table, f, columns, Path(scratch))
        if scores is None:
            raise ValueError("the table has no rows")
        _beside(table, columns, scores, name).to_parquet(str(unfinished))
    return connected().read_parquet(str(out))


def _scores(table: Any, f: BaseModel, columns: list[str], scratch: Path) -> Path | None:
    """f's score of every row in the table's order, with a hash of what f has read."""
    kept = need("duckdb", extra="cli").connect(str(scratch / "scores.duckdb"))
    kept.execute("CREATE TABLE scores (read UBIGINT, score DOUBLE)")
    read_columns = f"SELECT {_names(columns)}, {_hash(columns)} FROM t"  # noqa: S608
    table.query("t", read_columns).to_parquet(str(scratch / "read.parquet"))
    rows = kept.cursor().execute("FROM read_parquet(?)", [str(scratch / "read.parquet")])
    found = False
    while len(batch := rows.fetch_df_chunk(VECTORS)):
        read = batch.iloc[:, -1]
        own = batch.iloc[:, :-1].set_axis(columns, axis=1)  # as they are written in the table
        scored = read.to_frame("read").assign(score=f.scores(own))  # noqa: F841 read below
        kept.execute("INSERT INTO scores SELECT read, score FROM scored")
        found = True
    kept.execute("COPY scores TO ?", [str(scratch / "scores.parquet")])
    kept.close()
    return scratch / "scores.parquet" if found else None


def _beside(table: Any, columns: list[str], scores: Path, name: str) -> Any:
    """The table with its scores, row by row; an error where a row is not the one that was read."""
    same = f"{_hash(columns)} IS NOT DISTINCT FROM s.read"
    score = f"CASE WHEN {same} THEN s.score ELSE error('{OTHER_ORDER}') END"
    both = f"t POSITIONAL JOIN read_parquet({sql_text(str(scores))}) s"
    return table.query("t", f"SELECT t.*, {score} AS {sql_name(name)} FROM {both}")  # noqa: S608


def _hash(columns: list[str]) -> str:
    return f"hash(row({_names(columns)}))" if columns else "hash(0)"


def _names(columns: list[str]) -> str:
    return ", ".join(f"t.{sql_name(column)}" for column in columns)


def _on_spark(table: Any, f: BaseModel, columns: list[str], name: str) -> Any:
    types = need("pyspark.sql.types", extra="spark")
    schema = types.StructType([*table.schema.fields, types.StructField(name, types.DoubleType())])

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        pa = need("pyarrow", extra="spark")
        own = pa.field(name, pa.float64())
        for batch in batches:
            scores = pa.array(f.scores(batch.select(columns).to_pandas()))
            parts = [*batch.columns, scores]
            yield pa.RecordBatch.from_arrays(parts, schema=batch.schema.append(own))

    return table.mapInArrow(work, schema)


# A patch applied file by file, from a folder to a folder: resumable, each part written once.

PATCH, PLAN, DONE, LOCK = "_patch.json", "_plan.json", "_SUCCESS", "_lock"
MOST_BYTES = 100_000_000
"""A plan names every file."""


@dataclass(frozen=True)
class Applied:
    """What was done."""

    rows: int
    changed: int
    parts: int
    kept: int
    """Parts that an earlier, stopped run had already written."""


def apply_files(
    patch: Patch,
    files: Sequence[str | Path],
    out: str | Path,
    score: str,
    *,
    read: Callable[[str], Any],
    with_score: bool = True,
    with_reason: bool = False,
    made_from: Sequence[str | Path] | None = None,
    made_with: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Applied:
    """Apply a patch to every file; ``read`` opens one as a DuckDB relation.

    ``made_from`` are the files to remember where those given were made from others, and will be
    again; ``made_with`` tells the base model. ``progress`` is called with parts done and
    parts in all.
    """
    out, names = Path(out), sorted(map(str, files))
    with_what = {"with_score": with_score, "with_reason": with_reason}
    before = [_state(name) for name in names]
    origins = sorted(map(str, names if made_from is None else made_from))
    plan = {
        "format": "fairpatch.plan",
        "version": 1,
        "patch_sha256": hashlib.sha256(patch.model_dump_json().encode()).hexdigest(),
        "options": {
            "score": score,
            "with_reason": with_reason,
            "model": made_with,
            **({} if with_score else {"with_score": False}),
        },
        "files": sorted((_about(name, origins) for name in origins), key=lambda f: f["name"]),
    }
    with _alone(out):
        parts = [out / f"part-{i:05d}.parquet" for i in range(len(names))]
        _claim(patch, plan, out, parts)
        (out / DONE).unlink(missing_ok=True)
        sweep(out)
        kept = 0
        for i, file in enumerate(names):
            part = parts[i]
            if part.exists():
                kept += 1
            else:
                with whole_file(part) as unfinished:
                    applied = apply(patch, read(file), score, **with_what)
                    applied.to_parquet(str(unfinished))
                    if _state(file) != before[i]:
                        raise ValueError(f"{file} changed while it was read: run the same again")
            if progress is not None:
                progress(i + 1, len(names))
        rows, changed = _count(out)
        write_whole(out / DONE, f"{len(names)} parts, {rows} rows")
    return Applied(rows, changed, len(names), kept)


def _claim(patch: Patch, plan: dict[str, Any], out: Path, parts: Sequence[Path]) -> None:
    """Make the folder this plan's, or refuse one that is another's."""
    there = {path.name for path in out.iterdir()} - {LOCK}
    if PLAN in there:
        old = read_strictly(out / PLAN, "a plan", MOST_BYTES)
        if old != plan:
            raise ValueError(
                f"{out} was begun {_difference(old, plan)}: use another folder, or take this "
                "one away and begin anew"
            )
        stray = sorted({p.name for p in out.glob("part-*")} - {part.name for part in parts})
        if stray:
            raise ValueError(f"{out} has {stray[0]}, which is no part of it: take it away")
        unknown = [f["name"] for f in plan["files"] if f["sha256"] is None]
        if unknown and any(part.exists() for part in parts):
            raise ValueError(
                f"whether {unknown[0]} is still what it was cannot be told: use another folder, or "
                "take this one away and begin anew"
            )
    elif any(not name.startswith(".") for name in there):
        raise ValueError(f"{out} is not empty and was not begun by fairpatch: use another folder")
    else:
        write_whole(out / PLAN, dumps_safely(plan))  # first: it makes the folder ours
    if PATCH not in there:
        save(patch, out / PATCH)


def _difference(old: Any, new: dict[str, Any]) -> str:
    """What differs between two plans, in words."""
    if not isinstance(old, dict) or old.get("patch_sha256") != new["patch_sha256"]:
        return "with another patch"
    if old.get("options") != new["options"]:
        return f"with other options ({old.get('options')})"
    was = {f["name"]: f for f in old.get("files", [])}
    now = {f["name"]: f for f in new["files"]}
    more, fewer = sorted(now.keys() - was.keys()), sorted(was.keys() - now.keys())
    other = sorted(name for name in now.keys() & was.keys() if now[name] != was[name])
    groups = [(more, "without"), (fewer, "also with"), (other, "with another content of")]
    return "; ".join(f"{how} {', '.join(names[:5])}" for names, how in groups if names)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Nobody else writes to the folder meanwhile; the lock goes with the process that holds it."""
    out.mkdir(parents=True, exist_ok=True)
    if os.name != "posix":
        yield
        return
    import fcntl  # noqa: PLC0415 not on every system

    handle = os.open(out / LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise ValueError(f"another run is writing to {out}: wait for it, or stop it") from None
    try:
        yield
    finally:
        os.close(handle)


def _about(name: str, names: Sequence[str]) -> dict[str, Any]:
    """A file's name among the others, size and content; of a table in a database its name."""
    path = Path(name)
    if not path.is_file() and "::" in name:  # a table of a DuckDB file
        path = Path(name.partition("::")[0])
    if not path.is_file():
        return {"name": name, "size": None, "sha256": None}
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    above = os.path.commonpath([str(Path(n).resolve().parent) for n in names])
    relative = name if "::" in name else os.path.relpath(path.resolve(), above)
    return {"name": relative, "size": path.stat().st_size, "sha256": digest}


def _state(name: str) -> tuple[int, int] | None:
    """What tells that a file was written to."""
    path = Path(name)
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else None


def _count(out: Path) -> tuple[int, int]:
    duckdb = need("duckdb", extra="cli")
    written = duckdb.connect().read_parquet(str(out / "part-*.parquet"))
    rows, changed = written.aggregate(f'count(*), count(*) FILTER ("{CHANGED}")').fetchall()[0]
    return int(rows), int(changed)
