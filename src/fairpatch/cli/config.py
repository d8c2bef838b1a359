"""The configuration: one YAML file holds all options; options of the command line go before it."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from fairpatch._tools.extras import need
from fairpatch._tools.hints import did_you_mean
from fairpatch.choose.learner import learner_of, options_of
from fairpatch.cli.dialect import Dialect
from fairpatch.cli.say import note, refuse
from fairpatch.decision import MOVED, Decision
from fairpatch.inputs.probable import columns_of
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.vocabulary import harm_in
from fairpatch.life.plan import Need
from fairpatch.report.signed import About
from fairpatch.target import GONE, OPTIONS, Target

OF_THE_DECISION = ("positive", "favourable", "threshold", "score_unit")
OF_THE_COLUMNS = ("outcomes", "doubt", "weight", "key")
INSIDE = {"decision": OF_THE_DECISION, "columns": OF_THE_COLUMNS}
"""Entries of a group that may also stand by themselves, as flags do."""
LISTS = ("sensitive", "exclude", "categories", "ignore")
FLAG = {"categories": "category"}
"""Flags that are not named as their entry."""

if TYPE_CHECKING:

    class TargetOptions(BaseModel):
        """What must hold; see ``fairpatch.Target``."""

else:  # a target's own options, with its own types and defaults
    TargetOptions = create_model(
        "TargetOptions",
        __config__=ConfigDict(extra="forbid"),
        __doc__="What must hold; see ``fairpatch.Target``.",
        **{
            name: (option.annotation, Field(option.default, description=option.text or None))
            for name, option in OPTIONS.items()
        },
    )


class Config(BaseModel):
    """Everything that a run needs."""

    model_config = ConfigDict(extra="forbid")

    data: str = Field(
        description="CSV or Parquet file, folder, glob, base.duckdb::table, URL::table"
    )
    label: str | None = Field(
        None, description="column of the outcome, of two labels; empty where there are no outcomes"
    )
    decision: Decision = Field(
        default_factory=Decision,
        description="the positive label, which decision is good for a person, threshold and words; "
        "positive, favourable, threshold and score_unit may be given directly, too",
    )
    columns: Roles = Field(
        default_factory=Roles,
        description="what the columns are: whose outcomes there are, weight, key, bands; outcomes, "
        "doubt, weight and key may be given directly, too",
    )
    sensitive: list[str] = Field(description="columns of the sensitive features")
    sensitive_table: str | None = Field(
        None, description="a table of their own for them, joined by `join`, which both share"
    )
    join: str | None = Field(None, description="column that both tables share; else the key")
    score: str | None = Field(None, description="column of the base model's probability")
    model: str | None = Field(
        None, description="a .skops or .onnx file or an MLflow URI, where there is no score"
    )
    trust_model: bool = Field(False, exclude=True, description="a flag only; ignored in a file")
    exclude: list[str] = Field(
        default=[], description="columns of the base model that the patch must not read"
    )
    categories: list[str] = Field(
        default=[],
        description="columns of numbers that are codes",
    )
    ignore: list[str] = Field(default=[], description="columns that nobody reads")
    target: TargetOptions = Field(
        default_factory=lambda: TargetOptions.model_validate({"p_rule": 0.8}),
        description="what must hold",
    )
    csv: Dialect = Field(
        default_factory=Dialect,
        description="how text files are written: delimiter, decimal, thousands, encoding; what is "
        "not said is looked for in the file",
    )
    max_rows: int | None = Field(100_000, description="rows to learn from, at most")
    learner: dict[str, Any] = Field(
        default={"name": "card"},
        description="a learner by its name (card, adversarial), or a mapping of its name and its "
        "options, such as max_bins",
    )
    may_use_sensitive: bool = Field(
        False,
        description="whether the patch may decide by the sensitive features: only where the "
        "law allows it, with the legal basis in about: record",
    )
    seen_by_base: str | None = Field(
        None, description="column that is true for rows that the base model was trained on"
    )
    alternatives: Need = Field(
        default_factory=Need,
        description="for `fairpatch alternatives`: the business metric, and how much of it may be "
        "given up",
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

    @field_validator("learner", mode="before")
    @classmethod
    def _known_learner(cls, value: Any) -> Any:
        """A name alone is a learner with its defaults; options are checked by the learner."""
        options = {"name": value} if isinstance(value, str) else value
        if not isinstance(options, dict):
            raise ValueError(f"expected a learner's name, or its name and options; got {value!r}")
        return options_of(learner_of({"name": "card", **options}))

    @model_validator(mode="before")
    @classmethod
    def _said_by_themselves(cls, data: Any) -> Any:
        """Entries of the decision and of the columns may stand beside them, as flags do."""
        if not isinstance(data, dict):
            return data
        data = _without_gone(_with_moved(data))
        for group, names in INSIDE.items():
            direct = {k: data[k] for k in names if data.get(k) is not None}
            rest = {k: v for k, v in data.items() if k not in names}
            inside = rest.get(group) or {}
            inside = inside if isinstance(inside, dict) else dict(inside)
            twice = sorted(set(direct) & set(inside))
            if twice:
                raise ValueError(f"{twice[0]} is given twice, by itself and in {group}")
            data = {**rest, group: {**inside, **direct}}
        return data

    @model_validator(mode="after")
    def _one_role_each(self) -> "Config":
        """A column that is two things at once is a mistake."""
        roles = [("label", self.label), ("score", self.score), ("weight", self.columns.weight),
                 *(("sensitive", name) for name in self.sensitive)]  # fmt: skip
        seen: dict[str, str] = {}
        for role, name in roles:
            if name is not None and seen.setdefault(name, role) != role:
                raise ValueError(
                    f"column {name!r} is named as {seen[name]} and as {role}: one column has one "
                    "role"
                )
        return self

    @property
    def asked(self) -> Target:
        """The target."""
        return Target(**self.target.model_dump())

    @property
    def named(self) -> list[str]:
        """Every column that is spoken of."""
        some = (self.score, self.seen_by_base, self.columns.weight, self.columns.key)
        probable = self.columns.probable  # such a feature need not be a column itself
        told = [name for name in self.sensitive if name not in probable]
        lists = (*told, *columns_of(probable), *self.exclude, *self.categories, *self.ignore)
        named = (self.label, *lists, *some, *self.columns.exclude, *self.columns.categories)
        return list(dict.fromkeys(name for name in named if name))

    @property
    def needed(self) -> list[str]:
        """Columns without which nobody can be counted: what a month must have."""
        probable, roles = self.columns.probable, self.columns
        told = [name for name in self.sensitive if name not in probable]
        some = (self.label, *told, *columns_of(probable), self.score, roles.weight, roles.person)
        return list(dict.fromkeys(name for name in some if name))


def _without_gone(data: dict[str, Any]) -> dict[str, Any]:
    """A target of version 0.1 without the options that are gone, where they said nothing."""
    target = data.get("target")
    if not isinstance(target, dict):
        return data
    for name, (instead, unsaid) in GONE.items():
        if name in target and target[name] != unsaid:
            raise ValueError(f"target: {name} is gone. Instead: {instead}")
    return {**data, "target": {k: v for k, v in target.items() if k not in GONE}}


def _with_moved(data: dict[str, Any]) -> dict[str, Any]:
    """What a decision said of columns, until 0.1, in its place."""
    decision = data.get("decision")
    if not isinstance(decision, dict) or not any(decision.get(name) for name in MOVED):
        return data
    columns = {**(data.get("columns") or {})}
    for name in MOVED:
        value = decision.get(name)
        if value and columns.setdefault(name, value) != value:
            raise ValueError(f"{name} is given twice, in decision and in columns")
    rest = {name: value for name, value in decision.items() if name not in MOVED}
    return {**data, "decision": rest, "columns": columns}


def schema() -> str:
    """The JSON schema, for editors."""
    return json.dumps(Config.model_json_schema(), indent=2, sort_keys=True) + "\n"


def read(path: Path | None, *, adding: bool = False, **options: Any) -> Config:
    """The file's options, those of the command line before them.

    With ``adding``, lists of the command line add to the file's, ``-X`` takes X out of it, and what
    else overrides the file is said.
    """
    entries: dict[str, Any] = {}
    if path is not None:
        if not path.exists():
            refuse(f"there is no file {str(path)!r}; write one with: fairpatch init DATA")
        loaded = _loaded(path)
        if not isinstance(loaded, dict):
            refuse(f"{path} must hold options as 'name: value'; see: fairpatch init DATA")
        entries = loaded
        if entries.pop("trust_model", None):
            note(
                f"trust_model in {path} is ignored: whether a file may run code is decided by the "
                "person who runs the command, with --trust-model"
            )
    inner: dict[str, Any] = {}
    for group in INSIDE:
        inner |= entries[group] if isinstance(entries.get(group), dict) else {}
    unsaid = [k for k, v in (*entries.items(), *inner.items()) if v in ("?", ["?"])]
    unknown = [k for k in unsaid if options.get(k) is None]
    if unknown:
        refuse(f"{path}: {', '.join(unknown)}: only you can answer this; replace the '?'")
    for name in ("target", *INSIDE):
        if not isinstance(entries.get(name) or {}, dict):
            refuse(f"{path}: {name} must hold options as 'name: value'; got {entries[name]!r}")
    asked = _given(options.pop("target", {}))
    target = {**(entries.get("target") or {}), **asked}
    if adding:
        _tell_contradictions(entries, inner, options, path)
        options = _with_lists(entries, options)
    entries, direct = _with_flags(entries, options)
    flags = {**_given(options), **direct, **asked}
    entries |= _given(options)
    if target:
        entries["target"] = target
    try:
        return Config.model_validate(entries)
    except ValidationError as error:
        return refuse("; ".join(_blamed(p, flags, path) for p in error.errors()))


def _with_flags(
    entries: dict[str, Any], options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The file's groups with what flags say of them; and those flags, out of the options."""
    direct: dict[str, Any] = {}
    for group, names in INSIDE.items():
        flagged = {k: v for k in names if (v := options.pop(k, None)) is not None}
        if flagged:
            inside = entries.get(group) or {}
            entries = {k: v for k, v in entries.items() if k not in flagged}
            entries[group] = {**inside, **flagged}
        direct |= flagged
    return entries, direct


def _with_lists(entries: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Lists of the file and the command line together, less what is taken out."""
    lists: dict[str, None] = {}
    for name in LISTS:
        held = entries.get(name) or []
        held = [held] if isinstance(held, str) else list(held)
        given = options.get(name) or []
        gone = [column[1:] for column in given if column.startswith("-")]
        for column in gone:
            if column not in held:
                refuse(
                    f"--{FLAG.get(name, name)} -{column}: the file's {name} do not name {column!r}"
                    + did_you_mean(column, held)
                )
        added = [column for column in given if not column.startswith("-")]
        rest = [column for column in held if column not in gone]
        if added or gone:
            entries[name] = list(dict.fromkeys([*rest, *added]))
            lists[name] = None
    return {**options, **lists}


def _tell_contradictions(
    entries: dict[str, Any], inner: dict[str, Any], options: dict[str, Any], path: Path | None
) -> None:
    """Say where a flag overrides the file."""
    for name, value in options.items():
        held = entries.get(name, inner.get(name))
        if value is None or held in (None, "?") or isinstance(value, list | dict):
            continue
        if str(held) != str(value):
            note(f"--{name.replace('_', '-')} {value} overrides {held!r} of {path}")


def need_direction(options: Config) -> None:
    """Refuse to learn anything while nobody said which decision is good for a person."""
    if "favourable" in options.decision.model_fields_set:
        return
    harm = harm_in([options.label or "", options.decision.positive or ""])
    refuse(
        "nobody said which decision is good for a person: --favourable 1 where a high score speaks "
        "for them (repaid, hired), --favourable 0 where it speaks against them (default, fraud); "
        "in a file, favourable: 1 or 0"
        + (f". {harm!r} sounds like a harm: then it is 0" if harm else "")
    )


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
        sign: [resolver for resolver in some if not resolver[0].endswith((":timestamp", ":bool"))]
        for sign, some in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Once.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Once)
    except (yaml.YAMLError, UnicodeError) as error:
        return refuse(f"{path} is not valid YAML: {error}")
    except (RecursionError, ValueError) as error:
        return refuse(f"{path} has a value that no option accepts ({error})")


def _blamed(error: Any, flags: dict[str, Any], path: Path | None) -> str:
    """What is wrong, and with what: a flag, or the file."""
    name = str(error["loc"][-1]) if error["loc"] else ""
    if name in flags:
        what = error["msg"].removeprefix("Value error, ").lower()
        return f"--{FLAG.get(name, name).replace('_', '-')} {flags[name]}: {what}"
    return f"{path or 'the options'}: {_problem(error)}"


def _problem(error: Any) -> str:
    """What is wrong with an option, and which one was meant."""
    place = [str(part) for part in error["loc"]]
    known: dict[str, Any] = {
        "target": TargetOptions,
        "decision": Decision,
        "columns": Roles,
        "about": About,
        "alternatives": Need,
    }
    fields = known[place[0]].model_fields if len(place) > 1 and place[0] in known else None
    names = list(Config.model_fields if fields is None else fields)
    if place[:1] == ["csv"]:
        names = list(Dialect.__dataclass_fields__)
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"there is no option {'.'.join(place)!r}" + did_you_mean(place[-1], names)
    if error["type"] == "missing":
        return f"{'.'.join(place)} is missing: give it in the file or as --{place[0]}"
    said = error["msg"].removeprefix("Value error, ").lower()
    return f"{'.'.join(place)}: {said}".removeprefix(": ")


def limits(given: list[str], taken: dict[str, Any]) -> dict[str, Any]:
    """What the command line asks of the target: NAME=VALUE, the names of the file.

    ``taken`` are those that flags of their own give.
    """
    taken = _given(taken)
    limits_given = {}
    known = list(TargetOptions.model_fields)
    for entry in given:
        name, equals, value = entry.partition("=")
        if not equals:
            refuse(f"--target {entry}: expected NAME=VALUE, such as p_rule=0.8")
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            refuse(f"--target {entry}: a target has no {name!r}{near}")
        if name in limits_given or name in taken:
            refuse(f"--target {entry}: {name} is given twice")
        limits_given[name] = _value(entry, value)
    return taken | limits_given


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
