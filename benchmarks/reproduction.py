"""The whole paper: run what the journal does not have, then tables and figures from the files."""

from pathlib import Path
from typing import Any

from benchmarks.journal import Records, Run, execute, write_results
from benchmarks.reproduce import (
    architectures,
    calibration,
    example,
    least,
    readability,
    sensitivity,
    sweeps,
)
from benchmarks.reproduction_page import page

WORK = {
    "sweep": sweeps.work,
    "least": least.work,
    "trees": readability.trees,
    "concepts": readability.concepts,
    "posthoc": readability.posthoc,
    "example": example.work,
    "sensitivity": sensitivity.work,
    "architectures": architectures.work,
    "calibration": calibration.work,
}

BEHIND = (
    "benchmarks/reproduction.py", "benchmarks/paper.py", "benchmarks/quartiles.py",
    "benchmarks/methods.py", "benchmarks/sample.py", "benchmarks/score.py",
    "benchmarks/reproduce/*.py", "benchmarks/baselines/*.py", "src/fairpatch/baselines/*.py",
    "src/fairpatch/commod/*.py", "src/fairpatch/patch/decide.py", "src/fairpatch/patch/encoding.py",
    "src/fairpatch/measure/bounds.py", "src/fairpatch/measure/metric.py",
    "src/fairpatch/measure/rates.py",
)  # fmt: skip
"""The code that the page's figures depend on: when it does something else, run again."""


def runs(*, quick: bool = False) -> list[Run]:
    """Every experiment of the paper as a declaration; ``quick`` is a small one for CI."""
    datasets = ["law_school"] if quick else ["law_school", "compas"]
    return [
        *sweeps.runs(datasets, 1 if quick else 4, 1 if quick else 10, quick=quick),
        *least.runs(datasets),
        *readability.runs(datasets, 1 if quick else 5, quick=quick),
        *([] if quick else example.runs()),
        *sensitivity.runs(datasets, 3 if quick else 20),
        *architectures.runs(quick=quick),
        *calibration.runs(quick=quick),
    ]


def work(run: Run) -> Records:
    """One run of whichever experiment."""
    return WORK[run["experiment"]](run)


def run(out: Path = Path("build/paper"), jobs: int = 2, quick: bool = False) -> dict[str, Any]:
    """Do it all; the page and its figures are drawn from the files alone."""
    entries = execute(runs(quick=quick), work, out / "journal.jsonl", jobs=jobs, progress=True)
    write_results(entries, out, BEHIND)
    return {"out": str(out), "page": str(page(out, out / "page"))}


def show(result: dict[str, Any]) -> str:
    """Where it is."""
    return f"results in {result['out']}, page {result['page']}"
