"""Is it slower than the commit before? Fifteen paths on both, in turn, in the same run.

A speed means little on a machine that others use; a ratio of two versions that take turns means
something. Noise only adds, so the best of all rounds counts; a path that looks slower after the
first rounds is timed again, up to four times more, before it is called so.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fairpatch._tools.tables import Table

ROOT = Path(__file__).parents[1]
SLOWER = 1.5
"""Times the processor time of the commit before."""
ROUNDS = 1
AGAIN = 4


def run(against: str = "HEAD~1", only: list[str] | None = None) -> dict[str, Any]:
    """The best times of both, by path and round; nothing where there is no earlier commit."""
    with tempfile.TemporaryDirectory() as scratch:
        earlier = Path(scratch) / "earlier"
        if not _checked_out(against, earlier):
            return {"against": against, "rounds": []}
        trees = {"before": earlier, "now": ROOT}
        result: dict[str, Any] = {"against": against, "rounds": []}
        for done in range(ROUNDS + AGAIN):
            again = (only or []) if done < ROUNDS else slower(result)
            if done >= ROUNDS and not again:
                break
            result["rounds"].append({name: times(tree, again) for name, tree in trees.items()})
    return result


def times(tree: Path, only: list[str]) -> dict[str, float]:
    """Seconds by path, of the library in a tree and of today's paths."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    script = [sys.executable, str(ROOT / "benchmarks" / "watched.py"), *only]
    done = subprocess.run(script, env=env, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """By path that both have: the best time now over the best time before."""
    before, now = best(result, "before"), best(result, "now")
    return {name: now[name] / max(before[name], 1e-4) for name in sorted(before.keys() & now)}


def best(result: dict[str, Any], which: str) -> dict[str, float]:
    """By path: the least of all rounds."""
    found: dict[str, float] = {}
    for times_of in result["rounds"]:
        for name, seconds in times_of[which].items():
            found[name] = min(seconds, found.get(name, seconds))
    return found


def slower(result: dict[str, Any]) -> list[str]:
    """The paths that got slower by more than noise."""
    return [name for name, ratio in ratios(result).items() if ratio > SLOWER]


def show(result: dict[str, Any]) -> str:
    """A table for people."""
    if not result["rounds"]:
        return f"there is no commit {result['against']}: nothing to compare with"
    bests = [best(result, which) for which in ("before", "now")]
    rows = [
        [name, *(f"{1e3 * times_of[name]:.1f}" for times_of in bests), f"{ratio:.2f}",
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
