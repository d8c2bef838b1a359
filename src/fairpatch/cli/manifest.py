"""The manifest of a run's folder: what the run was, and a hash of each of its files."""

from typing import Literal

from pydantic import Field, field_validator

from fairpatch.cli.run_folder import FILES
from fairpatch.patch.parts import Part


class Manifest(Part):
    """What a run was, and a hash of each of its files."""

    format: Literal["fairpatch.run"] = "fairpatch.run"
    version: Literal[1] = 1
    data: str
    data_sha256: str | None
    rows: int
    certificate: str | None
    sha256: dict[str, str] = Field(description="by the name of a file")

    @field_validator("sha256")
    @classmethod
    def _whole(cls, value: dict[str, str]) -> dict[str, str]:
        missing = [name for name in FILES if name not in value]
        if missing:
            raise ValueError(f"it does not name {', '.join(missing)}")
        return value
