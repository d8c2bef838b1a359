"""What the columns of a table are: said once, and the same in learning, engines and pages.

What f decides is ``fairpatch.decision``. The role that a column plays is said here, or noticed
(``fairpatch.inputs.notice``) and asked for; it is never assumed.

==========  =====================  ======================  ====================  =================
role        learning               rates                   tests                 read by a patch
==========  =====================  ======================  ====================  =================
person      splits, folds          of rows                 by person             no
key         order of rows, draws   one row each            refused if it repeats no
date        the past               by vintage, too         on the latest rows    no
weight      counts everywhere      weighted                linearised variance   no
decided     f's score              f's, and those made     f's; monitor: made    no
outcomes    expected, where none   of everybody            of rates only         -
unknown     of no group            left out                left out              -
spellings   one group              one group               one group             -
bands       groups                 groups                  groups                -
probable    drawn by chance        weighted by chance      holds if              no
special     a line of its own      as they are             -                     its own line
exclude     f's only               as they are             -                     no
reasons     as any column          as they are             -                     yes, although
                                                                                 it looks protected
known       as any column          as they are             -                     yes, although it
                                                                                 looks decided later
==========  =====================  ======================  ====================  =================
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Annotated, Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from fairpatch._tools.hints import did_you_mean
from fairpatch.decision import Label
from fairpatch.inputs.probable import check_probable
from fairpatch.inputs.values import text

# A sensitive feature that is a number, cut into bands.
#
#     bands={"age": [25, 40, 60]}      below 25, 25 to below 40, 40 to below 60, 60 and above
#
# Inner edges leave nobody out.

LARGEST = float(np.finfo(np.float64).max)
MOST = 20
"""Edges: beyond that, bands are no groups either."""


def check_edges(feature: str, edges: Any) -> tuple[float, ...]:
    """Some numbers, rising."""
    numbers = list(edges) if isinstance(edges, list | tuple) else []
    real = all(isinstance(e, int | float) and not isinstance(e, bool) for e in numbers)
    if not numbers or not real or len(numbers) > MOST or not np.isfinite(numbers).all():
        raise ValueError(
            f"bands of {feature!r} must be the numbers at which one ends and the next begins, as "
            f"[25, 40, 60]; got {edges!r}"
        )
    if any(low >= high for low, high in pairwise(numbers)):
        raise ValueError(f"bands of {feature!r} must rise, as [25, 40, 60]; got {edges!r}")
    return tuple(float(e) for e in numbers)


def proposed(values: Sequence[float]) -> list[float]:
    """Edges at round numbers, about a quarter of the distinct values in each band.

    >>> proposed(range(17, 85))
    [35, 50, 65]
    """
    numbers = np.array(values, np.float64)
    quarters = np.quantile(numbers, [0.25, 0.5, 0.75])
    spread = float(quarters[2] - quarters[0]) or 1.0
    size = 10.0 ** np.floor(np.log10(spread / 4))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= spread / 8)
    edges = sorted({float(np.round(q / step) * step) for q in quarters})
    return [int(e) if e == int(e) else round(e, 6) for e in edges]


def names_of(edges: Sequence[float]) -> list[str]:
    """What the bands are called, the lowest first.

    >>> names_of([25, 40])
    ['below 25', '25 to below 40', '40 and above']
    """
    inner = [f"{a:g} to below {b:g}" for a, b in pairwise(edges)]
    return [f"below {edges[0]:g}", *inner, f"{edges[-1]:g} and above"]


def band_values(feature: str, values: NDArray[Any], edges: Sequence[float]) -> NDArray[Any]:
    """The band of every value, None where it is missing.

    >>> band_values("age", np.array([24.5, 25, np.nan]), [25, 40]).tolist()
    ['below 25', '25 to below 40', None]
    """
    try:
        numbers = np.array([np.nan if v is None else v for v in values], np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{feature!r} is to be cut into bands, and has values that are no numbers: leave its "
            "bands out, or make numbers of it"
        ) from None
    labels = np.array([*names_of(edges), None], object)
    place = np.searchsorted(np.asarray(edges), numbers, side="right")
    return np.asarray(labels[np.where(np.isfinite(numbers), place, -1)])


def band_expr(column: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """The band of a number, null where it is missing."""
    x = column.cast(nw.Float64)
    names = names_of(edges)
    case = nw.when((x < edges[0]) & (x >= -LARGEST)).then(nw.lit(names[0]))  # no infinity
    for edge, name in zip(edges[1:], names[1:], strict=False):
        case = case.when((x < edge) & (x >= edges[0])).then(nw.lit(name))
    return case.when((x >= edges[-1]) & (x <= LARGEST)).then(nw.lit(names[-1]))  # nor NaN


# What the columns of a table are: said once, and the same in learning, tests, engines and pages.

Outcomes = Literal["everybody", "approved", "sample"]
"""Whose outcome is known: everybody's, gaps aside that do not go with the decision (labels that are
too young); that of the approved alone; or that of the approved, and of some of the denied who stand
for the others with such scores."""
EVERY = "*"
"""In place of a feature's name: all of them."""
DOUBT = 1.5
"""By which factor odds may be off, unless somebody says otherwise."""


class Roles(BaseModel):
    """What is to be known of a table's columns, beside what f decides.

    Parameters
    ----------
    outcomes : {"everybody", "approved", "sample"}
        Whose outcome is known. "everybody": a label may be missing, but not because of the decision
        (it is too young). "approved": nobody knows what would have become of the denied. "sample":
        some of the denied have a label and stand for the others with such scores (accepts against
        the score, bureau data).
    doubt : float
        By which factor the odds of an outcome that nobody has seen may be better or worse than what
        is expected.
    person : str, optional
        Column that says whose row it is, where a person may have several: applications of the same
        candidate, loans of the same customer. Rows of a person are split, tested and monitored
        together.
    weight : str, optional
        Column of what each row weighs, in everything that is counted.
    key : str, optional
        Column that tells the rows of a table apart: whole numbers where it stays in an engine.
    unknown : values, or values by feature
        Values of sensitive features that say that nobody knows: ``["Decline to state"]`` in any of
        them; codes by feature, ``{"applicant_sex": [3, 4]}``. Whoever has one belongs to no group.
    spellings : mapping, optional
        Of sensitive features, groups that are written in several ways:
        ``{"sex": {"female": ["F", "Woman"]}}``.
    bands : mapping, optional
        Sensitive features that are numbers, by where one band ends and the next begins:
        ``{"age": [25, 40, 60]}``.
    probable : mapping, optional
        A sensitive feature that is known by probabilities, or for some people only: its groups,
        each with its column, ``{"race": {"White": "p_white", "Black": "p_black"}}``. The columns
        are as sensitive as the groups, and no patch reads them.
    date : str, optional
        Column that says when somebody was decided: a date, or numbers such as 202411. No patch
        reads it; verdicts are shown by period, and the latest rows certify.
    decided : str, or mapping
        Column of the decisions as they were made, compared with the score's; and, unless its words
        say so, which of them is the favourable one: ``{"final_decision": "A"}``.
    special : mapping, optional
        Numbers of a column that are no quantities, and what they mean:
        ``{"utilisation": {-1: "no file", 999: "no revolving account"}}``. Each has a line of its
        own. Unless said, numbers that stand apart from all others are taken for such codes; ``{}``
        says that a column has none.
    exclude : names of columns
        Columns that the patch must not use, beside those with a sensitive feature's name.
    categories : names of columns
        Columns of numbers that are codes.
    known : names of columns
        Columns that look as if they had been filled after the decision, and were known before.
    reasons : mapping
        Why a patch may use columns whose names say a protected basis, or as good as one; without a
        reason it does not read them: ``{"dependents": "affordability rules, section 4"}``.

    Examples
    --------
    >>> Roles(outcomes="approved", exclude=["age"]).exclude
    ('age',)
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcomes: Outcomes = "everybody"
    doubt: Annotated[float, Field(ge=1.0, le=100.0)] = DOUBT
    person: str | None = None
    weight: str | None = None
    key: str | None = None
    unknown: dict[str, tuple[Label, ...]] = {}
    spellings: dict[str, dict[str, tuple[Label, ...]]] = {}
    bands: dict[str, tuple[float, ...]] = {}
    probable: dict[str, dict[str, str]] = {}
    date: str | None = None
    decided: dict[str, Label | None] = {}
    special: dict[str, dict[str, str]] = {}
    exclude: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    reasons: dict[str, str] = {}

    def __init__(self, **given: Any) -> None:
        """Refuse in one sentence what is no role."""
        known = list(type(self).model_fields)
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(
                f"there is no role {unknown[0]!r}; roles are {', '.join(known)}"
                + did_you_mean(unknown[0], known)
            )
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            text = first["msg"].removeprefix("Value error, ")
            name = ".".join(map(str, first["loc"]))
            text = text if text.startswith(name) else f"{name}: {text}; got {first['input']!r}"
            raise ValueError(text) from None

    # of roles inside a file pydantic says where they are wrong
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @field_validator("decided", mode="before")
    @classmethod
    def _one_decision(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {value: None}
        if value is not None and (not isinstance(value, Mapping) or len(value) > 1):
            raise ValueError(
                "decided must name one column, or the column and its favourable word, as "
                f"{{'final_decision': 'A'}}; got {value!r}"
            )
        return value or {}

    @field_validator("special", mode="before")
    @classmethod
    def _codes_by_column(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError(
                "special must name codes by column, as {'utilisation': {-1: 'no file'}}; got "
                f"{value!r}"
            )
        return {column: _codes(column, codes) for column, codes in value.items()}

    @field_validator("exclude", "categories", "known", mode="before")
    @classmethod
    def _one_name(cls, value: Any) -> Any:
        """One column needs no list around it."""
        return [value] if isinstance(value, str) else value

    @field_validator("unknown", mode="before")
    @classmethod
    def _of_every_feature(cls, value: Any) -> Any:
        """Values alone are of every sensitive feature."""
        if value is None:
            return {}
        by_feature = value if isinstance(value, Mapping) else {EVERY: value}
        listed = by_feature.get(EVERY, ())
        for code in [listed] if isinstance(listed, str | int | float) else listed:
            if str(code).strip().lstrip("-").isdigit():
                raise ValueError(
                    f"unknown: {code!r} may be a group of another column. Say whose code it is, as "
                    f"{{'applicant_sex': [{code!r}]}}"
                )
        return {
            feature: [some] if isinstance(some, str | int | float) else some
            for feature, some in by_feature.items()
        }

    @field_validator("spellings", mode="before")
    @classmethod
    def _one_spelling(cls, value: Any) -> Any:
        by_feature = value.values() if isinstance(value, Mapping) else [value]
        if not all(isinstance(groups, Mapping) for groups in by_feature):
            raise ValueError(
                "spellings must name each group's by feature, as {'sex': {'female': ['F', "
                f"'Woman']}}}}; got {value!r}"
            )
        for feature, groups in value.items():
            written = [
                text(v) for some in groups.values()
                for v in ([some] if isinstance(some, str | int | float) else some)
            ]  # fmt: skip
            twice = next((v for v in written if written.count(v) > 1), None)
            if twice is not None:
                raise ValueError(f"spellings of {feature!r} have {twice!r} in two groups")
        return {
            feature: {
                str(group): [some] if isinstance(some, str | int | float) else some
                for group, some in groups.items()
            }
            for feature, groups in value.items()
        }

    @field_validator("bands", mode="before")
    @classmethod
    def _rising(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError(f"bands must name features, as {{'age': [25, 40, 60]}}; got {value!r}")
        return {name: check_edges(name, edges) for name, edges in value.items()}

    @field_validator("probable", mode="before")
    @classmethod
    def _of_two_groups(cls, value: Any) -> Any:
        return check_probable(value)

    @property
    def decided_column(self) -> str | None:
        """The column of decisions as they were made."""
        return next(iter(self.decided), None)

    def column_of(self, role: str) -> str | None:
        """The column that has a role."""
        return self.decided_column if role == "decided" else getattr(self, role)

    @property
    def columns(self) -> list[str]:
        """Every column that something is said of."""
        single = (self.person, self.weight, self.key, self.date, self.decided_column)
        probable = (c for groups in self.probable.values() for c in groups.values())
        named = (*single, *probable, *self.exclude, *self.known)
        return list(dict.fromkeys(name for name in named if name))

    @property
    def groups_said(self) -> bool:
        """Whether anything is said of the groups of sensitive features."""
        return bool(self.unknown or self.spellings or self.bands)

    def unknown_of(self, feature: str) -> tuple[str, ...]:
        """Values of a sensitive feature, as texts, that say that nobody knows."""
        return tuple(text(v) for name in (EVERY, feature) for v in self.unknown.get(name, ()))

    def spelled(self, feature: str) -> dict[str, str]:
        """The group of every value, as text, of a feature that is written in several ways."""
        groups = self.spellings.get(feature, {})
        return {text(v): group for group, values in groups.items() for v in values}

    def replace(self, **changes: Any) -> "Roles":
        """The same with some things changed, and checked."""
        return Roles(**{**self.given, **changes})

    @property
    def given(self) -> dict[str, Any]:
        """What was said, without what is a default."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def _codes(column: str, given: Any) -> dict[str, str]:
    """Codes of a column and what they mean: a mapping, or the codes alone."""
    if isinstance(given, str | int | float):
        given = [given]
    named = given.items() if isinstance(given, Mapping) else [(code, "") for code in given or ()]
    found: dict[str, str] = {}
    for code, meaning in named:
        try:
            number = float(code)
        except (TypeError, ValueError):
            raise ValueError(
                f"special codes of {column!r} must be numbers, as {{-1: 'no file'}}; got {code!r}"
            ) from None
        if not isfinite(number):
            raise ValueError(
                f"special codes of {column!r} must be numbers, as {{-1: 'no file'}}; got {code!r}"
            )
        found[text(number)] = str(meaning or "")
    return found


def with_moved(roles: Roles | None, decision: Any) -> Roles:
    """The roles, with those that were said in the decision, as until 0.1 they were."""
    roles = Roles() if roles is None else roles
    moved = getattr(decision, "moved", {})
    if not moved:
        return roles
    both = roles.replace(**moved)
    for name in moved:
        if name in roles.model_fields_set and getattr(roles, name) != getattr(both, name):
            raise ValueError(f"{name} is given in the decision and in the roles: leave one out")
    return both


PLAIN = Roles()
"""A row for each person, and nothing that needs to be said."""
