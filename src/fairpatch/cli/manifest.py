"""The manifest of a run's folder: what the run was, and a hash of each of its files."""

from typing import Literal

from pydantic import Field, field_validator

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

    @field_validator("sha256")
    @classmethod
    def _inside(cls, value: dict[str, str]) -> dict[str, str]:
        """A name is a file's in this folder, and leads nowhere else."""
        for name in value:
            if name in ("", ".", "..") or set(name) & set("/\\:\0"):
                raise ValueError(f"{name!r} is no plain name of a file")
        return value
