"""Faults made at random where figures are made, and the share that the tests notice.

`make mutants` draws 300 of mutmut's mutants of the rooms that `pyproject.toml` names, runs the
tests that reach each of them, and prints the survivors. Half an hour on two cores; the folder
`mutants/` keeps what was found, so that the same call goes on where it was stopped.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "mutants"
NOTHING = "fairpatch._tools.smallest_count*"
"""The smallest file: asking for its mutants makes all of them."""
SURVIVED, NO_TEST = (0,), (5, 33)


def mutmut(*names: str) -> None:
    """Run mutmut on the mutants of these names."""
    subprocess.run(
        [sys.executable, "-m", "mutmut", "run", "--max-children", "2", *names],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip


def results() -> dict[str, int | None]:
    """Every mutant's exit code; None where it has not been run."""
    found: dict[str, int | None] = {}
    for path in sorted(FOLDER.rglob("*.meta")):
        found |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return found


def main(how_many: int = 300, seed: int = 0) -> int:
    """Draw, run, and say what survived."""
    if not FOLDER.exists():
        mutmut(NOTHING)
    names = sorted(name for name in results() if ".smallest_count." not in name)
    # by a hash of the name, so that the draw stays where other files change
    drawn = sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())[:how_many]
    known = results()
    mutmut(*[name for name in drawn if known[name] in (None, *SURVIVED, *NO_TEST)])
    codes = {name: results()[name] for name in drawn}
    kinds = Counter(
        "survived" if c in SURVIVED else "no test reaches it" if c in NO_TEST
        else "not run" if c is None else "killed"
        for c in codes.values()
    )  # fmt: skip
    for name, code in sorted(codes.items()):
        if code in (*SURVIVED, *NO_TEST):
            sys.stdout.write(f"{name}\n")
    total = len(drawn) - kinds["not run"]
    if not total:
        sys.stdout.write("nothing was run: see mutmut's words above\n")
        return 1
    sys.stdout.write(f"{kinds['killed']} of {total} killed ({kinds['killed'] / total:.1%}); ")
    sys.stdout.write(f"{dict(kinds)}; show one with: mutmut show NAME\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
