"""A folder that nobody else can read, and that goes when this process ends."""

import atexit
import shutil
import tempfile
from functools import cache
from itertools import count
from pathlib import Path

_NUMBER = count()


def private_file(name: str) -> Path:
    """A new place for a file of this name."""
    folder = _folder() / str(next(_NUMBER))
    folder.mkdir()
    return folder / name


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fairpatch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
