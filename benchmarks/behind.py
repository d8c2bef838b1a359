"""What code stands behind a figure: stamped when it is made, compared when it is shown.

A stamp has the commit, and a hash of what each file *does*: comments, docstrings and layout may
change, imports may move to where they are used, and the figure stays as new as it was.
"""

import ast
import hashlib
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PYTHON = ".".join(platform.python_version_tuple()[:2])
"""What a hash is of: a syntax tree differs a little from one Python to the next."""

IMPORT = (ast.Import, ast.ImportFrom)
OURS = ("fairpatch", "benchmarks")


def stamp(patterns: Iterable[str]) -> dict[str, Any]:
    """Commit, day, and the code of all files that some patterns name."""
    return {
        "commit": commit(),
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": PYTHON,
        "code": code(patterns),
    }


def code(patterns: Iterable[str], root: Path = ROOT) -> dict[str, str]:
    """A hash of what each file does, by its path."""
    paths = sorted({path for pattern in patterns for path in root.glob(pattern)})
    return {
        str(path.relative_to(root)): meaning(path.read_text(encoding="utf-8")) for path in paths
    }


def meaning(source: str) -> str:
    r"""A hash of a module without its comments and docstrings, wherever its imports stand.

    >>> meaning('def f():\n    "Said."\n    return 1') == meaning("def f(): return 1  # now")
    True
    >>> meaning("x = 1") == meaning("x = 2")
    False
    >>> meaning("from a import b\ndef f(): b()") == meaning("def f():\n from a import b\n b()")
    True
    >>> meaning("from a import b\ndef f(): b()") == meaning("from c import b\ndef f(): b()")
    False

    Our own files may move: what they define keeps its name, and has a hash of its own.

    >>> meaning("from fairpatch.a import b") == meaning("from fairpatch.c import b")
    True
    """
    tree, imports = ast.parse(source), set[str]()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            imports |= {name for p in body if isinstance(p, IMPORT) for name in _imported(p)}
            node.body = [part for part in body if not _does_nothing(part)]  # type: ignore[attr-defined]
    told = ast.dump(tree) + "".join(sorted(imports))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _imported(part: ast.Import | ast.ImportFrom) -> set[str]:
    """What is imported: from where, unless it is ours."""
    module = part.module or "" if isinstance(part, ast.ImportFrom) else ""
    place = "ours" if module.startswith(OURS) else module
    return {f"{place} {ast.dump(alias)}" for alias in part.names}


def changed(made: dict[str, Any], patterns: Iterable[str], root: Path = ROOT) -> list[str]:
    """Files that do something else than when the figure was made, or are new, or gone."""
    before, now = made["code"], code(patterns, root)
    return sorted(p for p in before | now if before.get(p) != now.get(p))


def commit() -> str:
    """The commit of the checkout, and whether something in it was not committed."""
    try:
        return _git("rev-parse", "--short", "HEAD") + (
            " and changes" if _git("status", "--porcelain", "-uno") else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(  # noqa: S603 our own words
        ["git", *words],  # noqa: S607 whichever git is there
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def _does_nothing(part: ast.AST) -> bool:
    """A docstring, of a module, a class, a function or a name; an import, which is kept apart."""
    return isinstance(part, IMPORT) or (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )
