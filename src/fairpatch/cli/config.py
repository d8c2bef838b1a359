"""The configuration: one YAML file holds all options; options of the command line go before it."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairpatch._extras import need
from fairpatch.cli.say import refuse


class TargetOptions(BaseModel):
    """What must hold; see ``fairpatch.Target``."""

    model_config = ConfigDict(extra="forbid")

    p_rule: float | None = None
    demographic_parity_difference: float | None = None
    equal_opportunity_difference: float | None = None
    disparate_mistreatment: float | None = None
    max_changes: float | None = None
    max_displacement: float | None = None
    max_columns: int | None = None
    direction: Literal["both", "promote_only", "demote_only"] = "both"
    confidence: float = 0.95


class Config(BaseModel):
    """Everything that a run needs."""

    model_config = ConfigDict(extra="forbid")

    data: str = Field(
        description="CSV or Parquet file, folder, glob, base.duckdb::table, URL::table"
    )
    label: str = Field(description="column of the outcome, 0 or 1")
    positive: str | None = Field(None, description="the label that counts as 1, where it is text")
    sensitive: list[str] = Field(description="columns of the sensitive features")
    score: str | None = Field(None, description="column of the base model's probability")
    model: str | None = Field(
        None, description="a .skops or .onnx file or an MLflow URI, where there is no score"
    )
    trust_model: bool = Field(False, description="read a pickle or an MLflow model: can run code")
    exclude: list[str] = Field(default=[], description="columns that the patch must not read")
    ignore: list[str] = Field(default=[], description="columns that are no features, such as keys")
    key: str | None = Field(
        None, description="column of whole numbers: fit inside the engine, on tables of any size"
    )
    cutoff: float = Field(0.5, description="decision 1 is a probability above this")
    target: TargetOptions = TargetOptions(p_rule=0.8)
    max_rows: int | None = Field(100_000, description="rows to learn from, at most")
    n_concepts: int = 3
    n_steps: int = 400
    seed: int = 0

    @property
    def not_features(self) -> list[str]:
        """Columns that are kept from the patch."""
        return [self.label, *self.sensitive, *self.ignore, *([self.key] if self.key else [])]


def schema() -> str:
    """The JSON schema, for editors."""
    return json.dumps(Config.model_json_schema(), indent=2, sort_keys=True) + "\n"


def read(path: Path | None, **options: Any) -> Config:
    """The file's options, those of the command line before them."""
    found: dict[str, Any] = {}
    if path is not None:
        if not path.exists():
            refuse(f"there is no file {str(path)!r}; write one with: fairpatch init DATA")
        loaded = need("yaml", extra="cli").safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(loaded, dict):
            refuse(f"{path} must hold options as 'name: value'; see: fairpatch init DATA")
        found = loaded
    unknown = [k for k, v in found.items() if v in ("?", ["?"])]
    if unknown and not any(options.get(k) for k in unknown):
        refuse(f"{path}: {', '.join(unknown)} could not be guessed: replace the '?'")
    target = {**(found.get("target") or {}), **_given(options.pop("target", {}))}
    found |= _given(options)
    if target:
        found["target"] = target
    try:
        return Config.model_validate(found)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, p['loc']))}: {p['msg'].lower()}" for p in error.errors()
        )
        return refuse(f"{path or 'the options'}: {problems}")


def write(config: Config) -> str:
    """The configuration as YAML."""
    text: str = need("yaml", extra="cli").safe_dump(
        config.model_dump(mode="json"), sort_keys=False, allow_unicode=True
    )
    return text


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if v not in (None, [], ())}
