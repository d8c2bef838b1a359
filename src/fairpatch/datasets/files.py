"""Where a data set's files come from: FAIRPATCH_DATA, else a cache filled from the public source.

Only sources whose bytes equal the files we tested with are fetched, at a pinned commit and with a
sha256. For the others the message says what to get and where to put it.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from fairpatch._extras import need

VARIABLE = "FAIRPATCH_DATA"


@dataclass(frozen=True)
class File:
    """One file of a data set."""

    path: str
    """Below the data folder, as ``data_set/file``."""
    sha256: str
    url: str | None = None
    """A pinned public address with the very same bytes, if there is one."""
    hint: str = ""
    """Where else to get it."""

    def locate(self) -> Path:
        """Find the file, fetching it where that is possible and needed."""
        given = os.environ.get(VARIABLE)
        if given:
            path = Path(given) / self.path
            if not path.is_file():
                raise FileNotFoundError(
                    f"{path} is missing ({VARIABLE}={given}). {self._advice(path)}"
                )
            return path
        return self._from_cache()

    def _from_cache(self) -> Path:
        pooch = need("pooch", extra="datasets")
        target = Path(pooch.os_cache("fairpatch")) / self.path
        if target.is_file() and pooch.file_hash(str(target)) == self.sha256:
            return target
        if self.url is None:
            raise FileNotFoundError(f"{target} is missing or has changed. {self._advice(target)}")
        try:
            pooch.retrieve(self.url, f"sha256:{self.sha256}", path=target.parent, fname=target.name)
        except Exception as error:
            # one line instead of the four chained tracebacks of an HTTP client
            raise OSError(
                f"could not download {self.path} ({type(error).__name__}). {self._advice(target)}"
            ) from None
        return target

    def _advice(self, target: Path) -> str:
        where = f"Get it from {self.url or self.hint}" if self.url or self.hint else "Get it"
        return (
            f"{where} and put it at {target} (sha256 {self.sha256}), "
            f"or set {VARIABLE} to a folder that has {self.path}."
        )


def github(repository: str, commit: str, path: str) -> str:
    """Give the address of a file of a public repository at a commit."""
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
