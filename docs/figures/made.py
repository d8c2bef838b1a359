"""What the pages print, with the commit that printed it: ``python docs/figures/made.py``.

Every block of a page that begins with ``$ python -m benchmarks`` is the output of that command.
Below it stands when and by which commit it was printed, and whether the code behind it has changed
since.

    make figures                     what is older than its code; goes on where it was stopped
    make figures ONLY="scale cost"   some
    make figures ONLY=note           only the line below each block
"""

import hashlib
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCS, ROOT = HERE.parent, HERE.parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.behind import changed, stamp

MADE = HERE / "made.json"
BLOCK = re.compile(
    r"^```\n\$ (?P<command>python -m benchmarks [^\n#]*?) *(?:#[^\n]*)?\n(?P<text>.*?)^```\n"
    r"(?:\n\*Printed on [^\n]*\*\n)?",
    re.MULTILINE | re.DOTALL,
)
LEARNING = ("card", "choose", "data", "measure", "patch")
BEHIND = {
    "load": ["src/fairpatch/patch/*.py", "src/fairpatch/engines/onnx*.py",
             "docs/howto/serve_app.py"],
    "online": ["src/fairpatch/patch/*.py", "src/fairpatch/engines/onnx*.py"],
    "scale": ["src/fairpatch/engines/s*.py", "src/fairpatch/data/engine.py",
              "src/fairpatch/measure/count*.py", "src/fairpatch/patch/*.py"],
    "stack": ["src/fairpatch/commod/*.py"],
    "ten": ["src/fairpatch/commod/*.py"],
}  # fmt: skip
"""The code behind an experiment, where it is not all that learns and chooses."""


@dataclass(frozen=True)
class Block:
    """A command and what it printed, on a page."""

    page: Path
    command: str
    text: str
    whole: str

    @property
    def name(self) -> str:
        """The experiment."""
        return shlex.split(self.command)[3]

    @property
    def head(self) -> str:
        """The fence and the command."""
        return "".join(self.whole.splitlines(keepends=True)[:2])

    @property
    def digest(self) -> str:
        """Of what was printed."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def behind(self) -> list[str]:
        """Patterns of the files that stand behind it."""
        default = [f"src/fairpatch/{room}/*.py" for room in LEARNING]
        return [f"benchmarks/{self.name}.py", *BEHIND.get(self.name, default)]


def blocks() -> list[Block]:
    """Every block of every page."""
    pages = [p for p in sorted(DOCS.rglob("*.md")) if p.parent.name not in ("gallery", "decisions")]
    return [
        Block(page, found["command"], found["text"], found[0])
        for page in pages
        for found in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def made() -> dict[str, dict[str, Any]]:
    """The stamps, by command."""
    known: dict[str, dict[str, Any]] = json.loads(MADE.read_text(encoding="utf-8"))
    return known


def is_old(block: Block, about: dict[str, Any]) -> bool:
    """Whether the code behind it does something else today."""
    return bool(changed(about, block.behind))


def note(block: Block, about: dict[str, Any]) -> str:
    """The line below a block."""
    since = ", before later changes of the code behind it" if is_old(block, about) else ""
    return f"*Printed on {about['day']} by commit {about['commit']}{since}.*"


def write_notes() -> None:
    """The line below every block, as it is today."""
    known = made()
    for block in blocks():
        if block.command in known:
            fence = f"{block.text}```\n"
            told = f"{block.head}{fence}\n{note(block, known[block.command])}\n"
            text = block.page.read_text(encoding="utf-8").replace(block.whole, told)
            block.page.write_text(text, encoding="utf-8")


def run(block: Block) -> None:
    """Print it anew, and stamp it at once."""
    about = stamp(block.behind)
    words = [sys.executable, *shlex.split(block.command)[1:]]
    done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    text = block.page.read_text(encoding="utf-8")
    told = f"{block.head}{done.stdout.rstrip()}\n```\n"
    block.page.write_text(text.replace(block.whole, told), encoding="utf-8")
    digest = hashlib.sha256((done.stdout.rstrip() + "\n").encode()).hexdigest()[:16]
    kept = {**made(), block.command: {**about, "text": digest}}
    MADE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write_notes()


def main(words: list[str]) -> None:
    """Run what was asked for, or all that is old."""
    if words == ["note"]:
        write_notes()
        return
    known = made()
    for block in blocks():
        about = known.get(block.command)
        if block.name in words or (not words and (about is None or is_old(block, about))):
            sys.stderr.write(f"{block.page.name}: {block.command}\n")
            run(next(b for b in blocks() if b.command == block.command))


if __name__ == "__main__":
    main(sys.argv[1:])
