"""The journal: every finished run written at once, so that a killed benchmark goes on where it was.

One line a run, appended and synced to disk before the next. A line that a kill cut short is dropped
when the journal is read, and its run is done again.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.behind import stamp
from fairpatch._tools.extras import need

Run = dict[str, Any]
"""What identifies a run: its experiment and settings, plain values only."""
Records = list[dict[str, Any]]


def key(run: Run) -> str:
    """The run as one string, whatever the order of its settings."""
    return json.dumps(run, sort_keys=True, default=_plain)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The finished runs by key; cuts off what a kill left unfinished."""
    if not path.exists():
        return {}
    found, whole = {}, 0
    with path.open("rb") as file:
        for line in file:
            try:
                entry = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            found[key(entry["run"])] = entry
            whole += len(line)
    if whole < path.stat().st_size:
        os.truncate(path, whole)
    return found


def execute(
    runs: Iterable[Run],
    work: Callable[[Run], Records],
    path: Path,
    *,
    jobs: int = 1,
    progress: bool = False,
) -> list[dict[str, Any]]:
    """Do the runs that the journal does not have yet; give the entries of all, in order.

    joblib carries them: any of its backends (processes here; dask, ray or spark elsewhere) may be
    chosen around the call by ``joblib.parallel_config``.
    """
    runs = list(runs)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = read(path)
    left = [run for run in runs if key(run) not in done]
    finished: Iterator[dict[str, Any]] = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(timed)(work, run) for run in left
    )
    if progress:
        finished = iter(need("tqdm.auto", extra="bench").tqdm(finished, total=len(left)))
    with path.open("ab") as file:
        for entry in finished:
            file.write(json.dumps(entry, default=_plain).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            done[key(entry["run"])] = entry
    return [done[key(run)] for run in runs]


def timed(work: Callable[[Run], Records], run: Run) -> dict[str, Any]:
    """One run with its processor time: other work on the machine does not count."""
    start = time.process_time()
    records = work(run)
    return {"run": run, "seconds": time.process_time() - start, "records": records}


def write_results(entries: list[dict[str, Any]], folder: Path, behind: Sequence[str] = ()) -> None:
    """Records as one Parquet file an experiment; environment, code and times as one JSON."""
    pa = need("pyarrow", extra="bench")
    parquet = need("pyarrow.parquet", extra="bench")
    by_experiment: dict[str, Records] = {}
    for entry in entries:
        rows = by_experiment.setdefault(entry["run"]["experiment"], [])
        rows += [
            {**entry["run"], "seconds": entry["seconds"], **record} for record in entry["records"]
        ]
    for name, rows in by_experiment.items():
        columns = {k: None for row in rows for k in row}
        table = pa.table({k: [row.get(k) for row in rows] for k in columns})
        parquet.write_table(table, folder / f"{name}.parquet")
    seconds: dict[str, float] = {}
    for entry in entries:
        name = " ".join(str(entry["run"].get(k, "")) for k in ("experiment", "method")).strip()
        seconds[name] = seconds.get(name, 0.0) + entry["seconds"]
    packages = ("fairpatch", "numpy", "scipy", "scikit-learn", "torch", "fairlearn", "oxonfair")
    about = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in packages},
        "runs": len(entries),
        "made": stamp(behind),
        "seconds": seconds,
    }
    (folder / "run.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def read_results(folder: Path, name: str) -> Any:
    """The records of one experiment as a pandas frame."""
    return need("pandas", extra="bench").read_parquet(folder / f"{name}.parquet")


def _plain(value: Any) -> Any:
    """Numpy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} does not go into a journal")
