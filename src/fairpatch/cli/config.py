"""The configuration: one YAML file holds all options; options of the command line go before it."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from fairpatch._extras import need
from fairpatch._hints import did_you_mean
from fairpatch.cli.say import note, refuse
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction
from fairpatch.measure.metric import METRICS
from fairpatch.report.identity import About

OF_THE_DECISION = ("positive", "favourable", "cutoff", "weight", "key")


class TargetOptions(BaseModel):
    """What must hold; see ``fairpatch.Target``."""

    model_config = ConfigDict(extra="forbid")

    max_changes: float | None = None
    max_displacement: float | None = None
    max_columns: int | None = None
    direction: Direction = "both"
    confidence: float = 0.95
    prefer: tuple[Literal["changes", "accuracy"], ...] | None = None
    price_per_change: float = 1.0
    max_churn: float | None = None
    price_per_churn: float = 1.0
    room: float = 0.0


class CardOptions(BaseModel):
    """How a card may look; see ``fairpatch.CardRules``."""

    model_config = ConfigDict(extra="forbid")

    max_lines: int | None = 10
    monotonic: dict[str, Literal[1, -1]] = {}
    signs: dict[str, Literal[1, -1]] = {}
    names: dict[str, str] = {}
    level_names: dict[str, dict[str, str]] = {}
    groupings: dict[str, dict[str, list[str | int | float | bool]]] = {}


if not TYPE_CHECKING:  # a limit for every metric that a target can ask for
    _limits = {
        m.name: (float | None, Field(None, description=f"{m.title}, {m.side} this"))
        for m in METRICS
    }
    TargetOptions = create_model(
        "TargetOptions", __base__=TargetOptions, __doc__=TargetOptions.__doc__, **_limits
    )


class Config(BaseModel):
    """Everything that a run needs."""

    model_config = ConfigDict(extra="forbid")

    data: str = Field(
        description="CSV or Parquet file, folder, glob, base.duckdb::table, URL::table"
    )
    label: str = Field(description="column of the outcome, of two labels")
    decision: Decision = Field(
        default_factory=Decision,
        description="the positive label, which decision is good for a person, cut-off, weights, "
        "key and words; positive, favourable, cutoff, weight and key may also stand by themselves",
    )
    sensitive: list[str] = Field(description="columns of the sensitive features")
    score: str | None = Field(None, description="column of the base model's probability")
    model: str | None = Field(
        None, description="a .skops or .onnx file or an MLflow URI, where there is no score"
    )
    trust_model: bool = Field(False, exclude=True, description="a flag only; not heeded in a file")
    exclude: list[str] = Field(
        default=[], description="columns of the base model that the patch must not read"
    )
    categories: list[str] = Field(
        default=[],
        description="columns of numbers that are codes",
    )
    ignore: list[str] = Field(default=[], description="columns that nobody reads")
    target: TargetOptions = Field(
        default_factory=lambda: TargetOptions.model_validate({"p_rule": 0.8})
    )
    max_rows: int | None = Field(100_000, description="rows to learn from, at most")
    learner: Literal["push", "adversarial"] = Field(
        "push", description="a card of points; or the paper's, which needs fairpatch[adversarial]"
    )
    card: CardOptions = Field(
        default_factory=CardOptions, description="lines, rules and names of a card"
    )
    n_concepts: int | None = Field(None, description="of the adversarial learner")
    n_steps: int | None = Field(None, description="of the adversarial learner")
    f_trained_on: str | None = Field(
        None, description="column that is true for rows that the base model was trained on"
    )
    about: About = Field(
        default_factory=About,
        description="what the review says of the model: its name, owner, purpose, names of groups",
    )
    seed: int = 0

    @field_validator("sensitive", "exclude", "categories", "ignore", mode="before")
    @classmethod
    def _one_name(cls, value: Any) -> Any:
        """One column needs no list around it."""
        return [value] if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _said_by_themselves(cls, data: Any) -> Any:
        """The decision's entries may stand beside it, as flags do."""
        if not isinstance(data, dict):
            return data
        own = {k: data[k] for k in OF_THE_DECISION if data.get(k) is not None}
        rest = {k: v for k, v in data.items() if k not in OF_THE_DECISION}
        inside = rest.get("decision") or {}
        inside = inside if isinstance(inside, dict) else dict(inside)
        twice = sorted(set(own) & set(inside))
        if twice:
            raise ValueError(f"{twice[0]} is given twice, by itself and in the decision")
        return {**rest, "decision": {**inside, **own}}

    @property
    def named(self) -> list[str]:
        """Every column that is spoken of."""
        some = (self.score, self.f_trained_on, self.decision.weight, self.decision.key)
        lists = (*self.sensitive, *self.exclude, *self.categories, *self.ignore)
        return list(dict.fromkeys([self.label, *lists, *(name for name in some if name)]))


def schema() -> str:
    """The JSON schema, for editors."""
    return json.dumps(Config.model_json_schema(), indent=2, sort_keys=True) + "\n"


def read(path: Path | None, **options: Any) -> Config:
    """The file's options, those of the command line before them."""
    found: dict[str, Any] = {}
    if path is not None:
        if not path.exists():
            refuse(f"there is no file {str(path)!r}; write one with: fairpatch init DATA")
        loaded = _loaded(path)
        if not isinstance(loaded, dict):
            refuse(f"{path} must hold options as 'name: value'; see: fairpatch init DATA")
        found = loaded
        if found.pop("trust_model", None):
            note(
                f"trust_model in {path} is not heeded: whether a file may run code is said by the "
                "person who runs this, with --trust-model"
            )
    inner: dict[str, Any] = found["decision"] if isinstance(found.get("decision"), dict) else {}
    unknown = [k for k, v in (*found.items(), *inner.items()) if v in ("?", ["?"])]
    if unknown and not any(options.get(k) for k in unknown):
        refuse(f"{path}: {', '.join(unknown)} could not be guessed: replace the '?'")
    for name in ("target", "decision"):
        if not isinstance(found.get(name) or {}, dict):
            refuse(f"{path}: {name} must hold options as 'name: value'; got {found[name]!r}")
    target = {**(found.get("target") or {}), **_given(options.pop("target", {}))}
    decision = {k: v for k in OF_THE_DECISION if (v := options.pop(k, None)) is not None}
    if decision:
        inside = found.get("decision") or {}
        found = {k: v for k, v in found.items() if k not in decision}
        found["decision"] = {**inside, **decision}
    found |= _given(options)
    if target:
        found["target"] = target
    try:
        return Config.model_validate(found)
    except ValidationError as error:
        problems = "; ".join(_problem(p) for p in error.errors())
        return refuse(f"{path or 'the options'}: {problems}")


def _loaded(path: Path) -> Any:
    """What a YAML file holds."""
    yaml = need("yaml", extra="cli")

    class Once(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """Names, dates, yes and no as they are written (0: women), and no name twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value if isinstance(key.value, str)]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise yaml.YAMLError(f"{twice!r} is given twice; keep one of the two")
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    key.tag = "tag:yaml.org,2002:str"
            return super().construct_mapping(node, deep)

    Once.yaml_implicit_resolvers = {
        sign: [own for own in some if not own[0].endswith((":timestamp", ":bool"))]
        for sign, some in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Once.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Once)
    except (yaml.YAMLError, UnicodeError) as error:
        return refuse(f"{path} is no YAML that can be read: {error}")
    except (RecursionError, ValueError) as error:
        return refuse(f"{path} holds what no option can be ({error})")


def _problem(found: Any) -> str:
    """What is wrong with an option, and which one was meant."""
    place = [str(part) for part in found["loc"]]
    known: dict[str, Any] = {
        "target": TargetOptions,
        "decision": Decision,
        "card": CardOptions,
        "about": About,
    }
    fields = known[place[0]].model_fields if len(place) > 1 and place[0] in known else None
    names = list(Config.model_fields if fields is None else fields)
    if found["type"] == "extra_forbidden":
        return f"there is no option {'.'.join(place)!r}" + did_you_mean(place[-1], names)
    if found["type"] == "missing":
        return f"{'.'.join(place)} is missing: give it in the file or as --{place[0]}"
    return f"{'.'.join(place)}: {found['msg'].lower()}".removeprefix(": ")


def limits(given: list[str], taken: dict[str, Any]) -> dict[str, Any]:
    """What the command line asks of the target: NAME=VALUE, the names of the file.

    ``taken`` are those that flags of their own give.
    """
    taken = _given(taken)
    found = {}
    known = list(TargetOptions.model_fields)
    for entry in given:
        name, equals, value = entry.partition("=")
        if not equals or name not in known:
            refuse(
                f"--target {entry}: expected NAME=VALUE, with one of {', '.join(known)}"
                + did_you_mean(name, known)
            )
        if name in found or name in taken:
            refuse(f"--target {entry}: {name} is given twice")
        found[name] = _value(entry, value)
    return taken | found


def _value(entry: str, text: str) -> Any:
    """What stands behind the equals sign: a number, a word or a list."""
    yaml = need("yaml", extra="cli")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if value is None or isinstance(value, bool):
        refuse(f"--target {entry}: expected a value such as 0.8 behind the equals sign")
    return value


def write(config: Config) -> str:
    """The configuration as YAML."""
    text: str = need("yaml", extra="cli").safe_dump(
        config.model_dump(mode="json"), sort_keys=False, allow_unicode=True
    )
    return text


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if v not in (None, [], ())}
