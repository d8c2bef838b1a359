"""Read the pages as prose: ``python docs/prose.py``, or ``make prose``.

Code, tables and headings are left out. proselint (without its rules about typography) and a list of
words that we do not use must find nothing; the pages that strangers read first must be readable
with ten years of school.
"""

import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
import textstat

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGES = sorted(
    [
        *(
            ROOT / name
            for name in ("README.md", "CONTRIBUTING.md", "GOVERNANCE.md", "RELEASING.md")
        ),
        *(page for page in HERE.glob("*.md") if page.name != "glossary.md"),
        *(p for folder in ("start", "guide", "howto") for p in (HERE / folder).glob("*.md")),
    ]
)
FIRST = ("README.md", "index.md", "install.md", "engineer.md", "validator.md", "researcher.md")
GRADE = 10
NOT_OURS = (
    r"\b(whoever|whomever|turns? round|turned round|thereof|hereby|ere|utili[sz]e|in order to)\b"
)
LEFT_OUT = ("typography", "dates_times")
"""Groups of rules: quotation marks are straight here, and 0.8 to 0.9 is no span of years."""


def prose(text: str) -> str:
    """The sentences of a page."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?:\||#|    |: ).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|\[\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|\{\w+\}`([^`<]*)[^`]*`", r"\1\2", text)
    text = re.sub(r"`[^`]*`", "code", text)
    return re.sub(r"[*_]|^\s*(?:-|\d+\.) ", "", text, flags=re.MULTILINE)


def main() -> int:
    """Say what was found; 1 where it was anything."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for page in PAGES:
            text = prose(page.read_text(encoding="utf-8"))
            name = page.relative_to(ROOT)
            found += [
                f"{name}: we do not write {m[0]!r}" for m in re.finditer(NOT_OURS, text, re.I)
            ]
            if page.name in FIRST:
                grade = textstat.flesch_kincaid_grade(text)
                print(f"{name}: grade {grade}")
                found += [f"{name}: grade {grade}, above {GRADE}"] if grade > GRADE else []
            own = Path(scratch) / str(name).replace("/", "-")
            own.write_text(text, encoding="utf-8")
            told = subprocess.run(
                ["proselint", "check", str(own)], capture_output=True, text=True, check=False
            ).stdout
            complaints = re.findall(r"\.md:(\d+:\d+: ([a-z_]+).*)", told)
            found += [f"{name}: {text}" for text, rule in complaints if rule not in LEFT_OUT]
    print("\n".join(found) or f"{len(PAGES)} pages: nothing to mend")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
