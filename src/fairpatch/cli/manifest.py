"""The manifest of a run's folder: what the run was, and a hash of each of its files."""

from typing import Literal

from pydantic import Field

from fairpatch.patch.parts import Part


class Manifest(Part):
    """What a run was, and a hash of each of its files."""

    format: Literal["fairpatch.run", "fairpatch.alternatives"] = "fairpatch.run"
    version: Literal[1] = 1
    data: str
    data_sha256: str | None
    rows: int
    certificate: str | None
    sha256: dict[str, str] = Field(description="by the name of a file")
