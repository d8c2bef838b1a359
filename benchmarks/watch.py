"""Is it slower than the commit before? Fifteen paths on both, in turn, in the same run.

A speed means little on a machine that others use; a ratio of two versions that take turns means
something. A path counts as slower where the best of each round is, in every round.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fairpatch._table import Table

ROOT = Path(__file__).parents[1]
SLOWER = 1.5
"""Times the processor time of the commit before."""
ROUNDS = 2


def run(against: str = "HEAD~1", only: list[str] | None = None) -> dict[str, Any]:
    """The best times of both, by path and round; nothing where there is no earlier commit."""
    with tempfile.TemporaryDirectory() as scratch:
        earlier = Path(scratch) / "earlier"
        if not _checked_out(against, earlier):
            return {"against": against, "rounds": []}
        trees = {"before": earlier, "now": ROOT}
        rounds = [{name: times(tree, only or []) for name, tree in trees.items()}
                  for _ in range(ROUNDS)]  # fmt: skip
    return {"against": against, "rounds": rounds}


def times(tree: Path, only: list[str]) -> dict[str, float]:
    """Seconds by path, of the library in a tree and of today's paths."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    script = [sys.executable, str(ROOT / "benchmarks" / "watched.py"), *only]
    done = subprocess.run(script, env=env, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """By path that both have: the smallest ratio of all rounds, as noise only adds."""
    rounds = result["rounds"]
    shared = set.intersection(*(set(t) for r in rounds for t in r.values())) if rounds else set()
    return {
        name: min(r["now"][name] / max(r["before"][name], 1e-4) for r in rounds)
        for name in sorted(shared)
    }


def slower(result: dict[str, Any]) -> list[str]:
    """The paths that got slower by more than noise."""
    return [name for name, ratio in ratios(result).items() if ratio > SLOWER]


def show(result: dict[str, Any]) -> str:
    """A table for people."""
    if not result["rounds"]:
        return f"there is no commit {result['against']}: nothing to compare with"
    last = result["rounds"][-1]
    rows = [
        [name, *(f"{1e3 * last[which][name]:.1f}" for which in ("before", "now")), f"{ratio:.2f}",
         "slower" if ratio > SLOWER else ""]
        for name, ratio in ratios(result).items()
    ]  # fmt: skip
    header = ["path", "before, ms", "now, ms", "ratio", ""]
    return Table(f"Processor time against {result['against']}", header, rows).text()


def _checked_out(commit: str, folder: Path) -> bool:
    """Put the files of a commit into a folder; False where there is no such commit."""
    folder.mkdir()
    git = subprocess.run(
        ["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=False
    )
    if git.returncode:
        return False
    subprocess.run(["tar", "-x", "-C", str(folder)], input=git.stdout, check=True)
    return True
