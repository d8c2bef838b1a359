"""A terminal session as text: ``fairpatch fit`` in a real pty, with the documented extras only.

``python docs/start/terminal.py`` makes a virtual environment, installs ``fairpatch[cli]`` from this
folder with the pinned versions, runs the session and writes ``terminal.txt`` beside this file, and
``terminal.svg``, the same as a moving picture. Of a line that is drawn over itself, one frame of
each stage is kept.
"""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import venv
from pathlib import Path

from cast import moving_picture

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PEOPLE = """
from fairpatch.datasets import load_loans
load_loans().to_csv("loans.csv", index=False)
load_loans(5_000, seed=1).to_csv("2026-12.csv", index=False)
"""
COMMANDS = (
    "fairpatch init loans.csv --favourable 1",
    "fairpatch fit --config fairpatch.yaml --p-rul 0.8",
    "fairpatch fit --config fairpatch.yaml --threshold 0.8 --score scor",
    "fairpatch fit --config fairpatch.yaml --threshold 0.8",
    "fairpatch apply run 2026-12.csv decided.parquet --reasons",
)
STAGES = ("learning", "choosing", "certifying", "reviewing")


def in_a_terminal(command: str, folder: Path, path: str) -> str:
    """What a person sees who types the command: run in a pty of 100 columns."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    env = {**os.environ, "PATH": path, "COLUMNS": "100", "TERM": "xterm", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        shlex.split(command), cwd=folder, env=env, stdin=other, stdout=other, stderr=other
    ) as process:
        os.close(other)
        seen = b""
        while True:
            try:
                part = os.read(main, 65_536)
            except OSError:  # the other end is closed: the command is done
                break
            if not part:
                break
            seen += part
        process.wait()
    os.close(main)
    return seen.decode(errors="replace")


def as_text(seen: str) -> str:
    """What was drawn, without colours; of a line drawn over itself, one frame a stage."""
    seen = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", seen).replace("\r\n", "\n")
    lines = []
    for line in seen.split("\n"):
        *frames, last = line.split("\r")
        for stage in STAGES:
            own = [frame for frame in frames if frame.startswith(stage)]
            lines += [own[len(own) // 2].rstrip()] if own else []
        lines.append(last.rstrip())
    return "\n".join(lines).strip("\n")


def main() -> None:
    """Make the environment, run the session, write the text."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, home = Path(scratch), Path(scratch) / "venv"
        venv.create(home, with_pip=True)
        pip = [str(home / "bin" / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, f"{ROOT}[cli]"], check=True)
        subprocess.run([str(home / "bin" / "python"), "-c", PEOPLE], check=True, cwd=folder)
        path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
        told = [f"$ {c}\n{as_text(in_a_terminal(c, folder, path))}" for c in COMMANDS]
    text = "\n\n".join(told) + "\n"
    (HERE / "terminal.txt").write_text(text, encoding="utf-8")
    (HERE / "terminal.svg").write_text(moving_picture(text, STAGES), encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
