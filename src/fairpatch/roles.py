"""What the columns of a table are: what is said of them, and what each of them is for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import narwhals as nw
from pydantic import BaseModel, ConfigDict, Field, field_validator

from fairpatch._hints import did_you_mean
from fairpatch.decision import Decision
from fairpatch.probable import Drawn, columns_of, draw
from fairpatch.sensitive import banded

Outcomes = Literal["everybody", "approved", "sample"]
"""Whose outcome is known: everybody's, gaps aside that do not go with the decision (labels that are
too young); that of the approved alone; or that of the approved, and of some of the denied who stand
for the others with such scores."""
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
    exclude : names of columns
        Columns that the patch must not use, beside those with a sensitive feature's name.
    categories : names of columns
        Columns of numbers that are codes.

    Examples
    --------
    >>> Roles(outcomes="approved", exclude=["age"]).exclude
    ('age',)
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcomes: Outcomes = "everybody"
    doubt: Annotated[float, Field(ge=1.0, le=100.0)] = DOUBT
    exclude: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @field_validator("exclude", "categories", mode="before")
    @classmethod
    def _one_name(cls, value: Any) -> Any:
        """One column needs no list around it."""
        return [value] if isinstance(value, str) else value


Role = Literal["patch", "model", "score", "sensitive", "label", "weight", "key", "ignored"]


@dataclass(frozen=True)
class ColumnRoles:
    """The role of every column, by name."""

    of: dict[str, Role]
    read_by_f: frozenset[str] = frozenset()
    """Columns that f reads whatever their role: a model may have been trained on S itself."""

    @classmethod
    def given(
        cls,
        names: Sequence[str],
        *,
        label: str | None = None,
        sensitive: Sequence[str] = (),
        score: str | None = None,
        exclude: Collection[str] = (),
        ignore: Collection[str] = (),
        decision: Decision | None = None,
        read_by_f: Collection[str] | None = None,
    ) -> "ColumnRoles":
        """The roles as they were said; a column that nobody speaks of is read by the patch.

        >>> roles = ColumnRoles.given(["age", "opened", "sex", "y"], label="y", sensitive=["sex"],
        ...                           exclude=["opened"])
        >>> roles.of
        {'age': 'patch', 'opened': 'model', 'sex': 'sensitive', 'y': 'label'}
        >>> roles.features, roles.hidden
        (['age', 'opened'], ['opened'])
        """
        contract = decision or Decision()
        roles: list[tuple[Role, Collection[str | None]]] = [
            ("model", exclude), ("ignored", ignore), ("weight", [contract.weight]),
            ("key", [contract.key]), ("score", [score]), ("sensitive", sensitive),
            ("label", [label]),
        ]  # fmt: skip
        by_name: dict[str, Role] = dict.fromkeys(names, "patch")
        for role, columns in roles:
            for name in columns:
                if name is not None and name not in by_name:
                    raise KeyError(
                        f"{_SAID[role]} names column {name!r}, which the table does not have"
                        + did_you_mean(name, names)
                    )
                if name is not None:
                    by_name[name] = role
        return cls(by_name, frozenset(() if read_by_f is None else read_by_f) & set(names))

    @property
    def features(self) -> list[str]:
        """What f or the patch reads."""
        wanted = ("patch", "model", "score")
        return [n for n, role in self.of.items() if role in wanted or n in self.read_by_f]

    @property
    def hidden(self) -> list[str]:
        """Of the features, those that the patch must not read."""
        return [name for name in self.features if self.of[name] != "patch"]


_SAID: dict[Role, str] = {
    "model": "exclude", "ignored": "ignore", "weight": "the decision's weight",
    "key": "the decision's key", "score": "the score", "sensitive": "sensitive_features",
    "label": "y",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Given:
    """What a caller gave, taken apart: everything by itself."""

    X: Any
    y: Any
    sensitive: Any
    weight: Any = None
    hidden: tuple[str, ...] = ()
    """What the patch must not read: columns of X, and those that were taken out of it."""
    named: bool = False
    """Whether labels, S or weights were names of X's columns."""
    drawn: Drawn | None = None
    """Groups that were drawn by probabilities, and the chances behind them."""


def take_apart(
    X: Any, y: Any, sensitive: Any, decision: Decision, read_by_f: Collection[str] | None = None
) -> Given:
    """Labels, S and weights that are named as columns of X, taken out of it.

    What is given as values stays as it is, and so does an X that is no frame.
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    weight = decision.weight
    if not isinstance(frame, nw.DataFrame):
        for name, column in (("y", y), ("the decision's weight", weight)):
            if isinstance(column, str):
                raise TypeError(
                    f"{name} names column {column!r}, so X must be a frame; got {type(X).__name__}"
                )
        return Given(X, y, banded(sensitive, decision.bands))
    drawn = draw(frame, decision.probable, decision.key)
    if drawn is not None:
        given = take_apart(*_with_drawn(frame, drawn, y, sensitive, decision), read_by_f)
        hidden = (*given.hidden, *columns_of(decision.probable))
        return replace(given, drawn=drawn, hidden=hidden)
    names = list(frame.columns)
    label = y if isinstance(y, str) else None
    features = names_in(sensitive, names, len(frame))
    if label is not None and label in (features or ()):
        raise ValueError(f"column {label!r} is y and a sensitive feature: one column has one role")
    known = {"key": decision.key if decision.key in names else None, "weight": weight}
    if label is None and features is None and not any(known.values()):
        return Given(X, y, banded(sensitive, decision.bands))
    roles = ColumnRoles.given(
        names, label=label, sensitive=features or (), decision=decision.replace(**known),
        read_by_f=read_by_f,
    )  # fmt: skip
    return Given(
        frame.select(roles.features).to_native(),
        y if label is None else frame[label].to_native(),
        banded(
            sensitive if features is None else frame.select(features).to_native(), decision.bands
        ),
        None if known["weight"] is None else frame[known["weight"]].to_numpy(),
        (*roles.hidden, *(name for name in names if name not in roles.features)),
        True,
    )


def _with_drawn(
    frame: Any, drawn: Drawn, y: Any, sensitive: Any, decision: Decision
) -> tuple[Any, Any, Any, Decision]:
    """The frame without its probabilities, the drawn groups among its sensitive features."""
    rest = frame.drop([c for c in columns_of(decision.probable) if c in frame.columns])
    names = [sensitive] if isinstance(sensitive, str) else sensitive
    known = [*rest.columns, drawn.feature]
    if sensitive is None or not names_in(names, known, len(frame)):
        raise ValueError(
            f"{drawn.feature!r} is known by probabilities, so sensitive_features must be names: "
            f"sensitive_features=[{drawn.feature!r}]; got {type(sensitive).__name__}"
        )
    if drawn.feature not in names:
        return rest.to_native(), y, sensitive, decision.replace(probable={})
    series = nw.new_series(
        drawn.feature, drawn.values.tolist(), nw.String, backend=nw.get_native_namespace(frame)
    )
    named = rest.with_columns(series).to_native()
    return named, y, sensitive, decision.replace(probable={})


def names_in(given: Any, columns: Sequence[str], rows: int) -> list[str] | None:
    """Names of columns, where that is what was given; None where it is values."""
    wanted = [given] if isinstance(given, str) else given
    if not isinstance(wanted, list | tuple) or not wanted:
        return None
    if not all(isinstance(name, str) for name in wanted):
        return None
    if len(set(wanted)) < len(wanted):  # one for each row
        return None
    present = [name for name in wanted if name in columns]
    if len(present) == len(wanted):
        return list(wanted)
    if isinstance(given, str) or len(wanted) != rows:
        lost = next(name for name in wanted if name not in columns)
        raise KeyError(f"there is no column {lost!r} in X" + did_you_mean(lost, columns))
    return None
