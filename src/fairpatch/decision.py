"""What f decides: what its score is, which label that is about, and whom it is good for.

Said once, stored in the patch, and used everywhere: ``audit``, ``FairPatch``, the command line, SQL
and ONNX. Decision 1 is a score above the threshold, or at least as high; f's score is the
probability of the positive label. Where that label is a harm, being spared it is the favourable
decision: ``favourable=0``.

Inside fairpatch 1 is always the favourable side, of labels, decisions and log-odds: turned where
they come in (``labels_of``, ``BaseModel.logits``) and turned back where they go out.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from scipy.special import logit

from fairpatch._tools.hints import did_you_mean

# Points, as lenders print them, are log-odds on a scale of their own: ``odds`` to 1 at ``base``
# points, and twice that every ``double`` points more,
#
#     log-odds(s) = ln(odds) + (s - base) ln(2) / double
#
# Both ways round: decisions, bands and what is shown stay in the score's own unit, in every engine.

Label = StrictBool | StrictInt | StrictFloat | StrictStr
Unit = Literal["probability", "percent", "points"]
MOST_CUTS = 200
"""Values of a column that have a threshold of their own, at most."""
LARGEST_SCORE = 1e9
"""Points are smaller than this in size; what is larger is no score."""


class PointScale(BaseModel):
    """How points go with the odds of the positive label.

    Parameters
    ----------
    base : float
        Points at which the odds are ``odds`` to 1.
    odds : float
        Those odds.
    double : float
        So many points more double the odds.
    origin : {"stated", "fitted", "assumed"}
        Whether somebody said so; or it was fitted to people with an outcome; or assumed, as there
        are none: then one standard deviation of the score is one unit of log-odds.

    Examples
    --------
    >>> scale = PointScale(base=600, odds=30, double=20)
    >>> [round(float(scale.log_odds(s)), 3) for s in (600, 620)]
    [3.401, 4.094]
    >>> round(float(scale.points(scale.log_odds(642.0))), 6)
    642.0
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: float = Field(allow_inf_nan=False)
    odds: float = Field(gt=0, allow_inf_nan=False)
    double: float = Field(gt=0, allow_inf_nan=False)
    origin: Literal["stated", "fitted", "assumed"] = "stated"

    @property
    def unit(self) -> float:
        """Log-odds of one point."""
        return log(2) / self.double

    def log_odds(self, points: Any) -> Any:
        """Of the positive label."""
        return log(self.odds) + (points - self.base) * self.unit

    def points(self, log_odds: Any) -> Any:
        """The other way round."""
        return self.base + (log_odds - log(self.odds)) / self.unit

    def __str__(self) -> str:
        known = {"stated": "", "fitted": " (fitted to known outcomes)", "assumed": " (assumed)"}
        return (
            f"{self.odds:.3g} to 1 at {self.base:g} points, doubled every {self.double:.3g}"
            f"{known[self.origin]}"
        )


class Cut(BaseModel):
    """The threshold of the rows with one value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Label
    threshold: float = Field(allow_inf_nan=False)


class Cuts(BaseModel):
    """A threshold for each value of a column, as a product's or a region's.

    >>> cuts = Cuts.of({"product": {"card": 640, "loan": 600}})
    >>> str(cuts), cuts.of_values(["loan", "card", "boat"]).tolist()
    ('by product (card 640, loan 600)', [600.0, 640.0, nan])
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: str
    at: tuple[Cut, ...] = Field(min_length=1, max_length=MOST_CUTS)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From ``{"product": {"card": 640, "loan": 600}}``."""
        (column, by_value), *others = given.items()
        if others or not isinstance(by_value, Mapping) or not by_value:
            raise ValueError(
                "thresholds by a column's values are given as {'product': {'card': 640, 'loan': "
                f"600}}}}; got {dict(given)!r}"
            )
        if len(by_value) > MOST_CUTS:
            raise ValueError(
                f"{column!r} has {len(by_value)} thresholds; at most {MOST_CUTS} can be named"
            )
        cuts = tuple(Cut(value=value, threshold=t) for value, t in by_value.items())
        return cls(by=column, at=cuts)

    @property
    def by_value(self) -> dict[Any, float]:
        """The thresholds by their values."""
        return {cut.value: cut.threshold for cut in self.at}

    def of_values(self, values: Iterable[Any]) -> Any:
        """The threshold of each row; NaN where its value has none."""
        known, missing = self.by_value, float("nan")
        return np.array([known.get(v, missing) for v in _plain(values)], np.float64)

    def expr(self) -> nw.Expr:
        """The threshold of each row of a table; null where its value has none."""
        first, *others = self.at
        case = nw.when(nw.col(self.by) == first.value).then(nw.lit(first.threshold))
        for cut in others:
            case = case.when(nw.col(self.by) == cut.value).then(nw.lit(cut.threshold))
        return case.otherwise(nw.lit(None, nw.Float64))

    def __str__(self) -> str:
        shown = [f"{cut.value} {cut.threshold:g}" for cut in self.at[:6]]
        more = f" and {len(self.at) - 6} more" if len(self.at) > 6 else ""
        return f"by {self.by} ({', '.join(shown)}{more})"


def _plain(values: Iterable[Any]) -> list[Any]:
    """Values as Python has them, and nothing that cannot be looked up."""
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    return [v if isinstance(v, str | int | float) else None for v in cells]


def check_threshold(value: Any, unit: Unit) -> None:
    """Refuse a threshold that the unit's scores cannot have."""
    if unit == "points":
        inside = isfinite(value) and abs(value) < LARGEST_SCORE
        wanted = "points as the score has them"
    else:
        inside = 1e-6 < value < 1 - 1e-6
        wanted = "a probability above 0 and below 1"
    if not inside:
        points = "" if unit == "points" or not value > 1 else (
            " (of a score in points, say score_unit='points')"
        )  # fmt: skip
        raise ValueError(f"threshold must be {wanted}; got {value!r}{points}")


MOVED = ("weight", "key", "bands", "probable")
"""What columns are, which ``fairpatch.inputs.roles`` says now."""


class Decision(BaseModel):
    """What a base model decides.

    Parameters
    ----------
    positive : label, optional
        The label that the score is the probability of. Of 0 and 1 that is 1, of two texts the one
        that sorts last, as in scikit-learn.
    negative : label, optional
        The other one; found in the data.
    favourable : {1, 0}
        The decision that is good for a person, and whose rates are compared. Where the positive
        label is a default or an arrest, it is 0: not to be taken for one.
    threshold : float, or mapping
        Decision 1 is a score above this (``at_least``: or equal to it). Where it depends on a
        column's value, ``{"product": {"card": 640, "loan": 600}}``; or the name of a column that
        holds it.
    at_least : bool
        Whether a score of exactly the threshold is decision 1, too: a model that approves at 60 or
        more, and not only above 60.
    no_score : {"refuse", "denied", "left_out"}
        What a row without a score is: a mistake; a denial before anybody was scored (a knock-out),
        which counts in every rate and which no patch changes; or not decided yet, in no rate.
    score_unit : {"probability", "percent", "points"}
        Of a score column: from 0 to 1, from 0 to 100, or points such as 300 to 850. The threshold
        is a probability for the first two, and so is the patched score; points stay points.
    points : PointScale, optional
        How points go with odds: ``{"base": 600, "odds": 30, "double": 20}``. Fitted to known
        outcomes unless stated.
    approved, denied : str, optional
        What people call the favourable decision, and the other one.
    positive_words, negative_words : str, optional
        What people call the outcomes: "defaulted", "paid back".

    Examples
    --------
    >>> loans = Decision(positive="yes", favourable=0, threshold=0.27, positive_words="defaulted")
    >>> loans.threshold, loans.favoured, loans.good_outcome
    (0.27, 'decision 0', 'not defaulted')
    >>> Decision(score_unit="points", threshold={"product": {"card": 640, "loan": 600}}).above
    'the threshold of its product (card 640, loan 600)'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    positive: Label | None = None
    negative: Label | None = None
    favourable: Literal[0, 1] = 1
    score_unit: Unit = "probability"
    threshold: float | Cuts | str = 0.5
    at_least: bool = False
    no_score: Literal["refuse", "denied", "left_out"] = "refuse"
    points: PointScale | None = None
    approved: str | None = None
    denied: str | None = None
    positive_words: str | None = None
    negative_words: str | None = None

    _moved: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, **given: Any) -> None:
        """Refuse in one sentence what is no part of a decision."""
        moved = {name: given.pop(name) for name in MOVED if name in given}
        unknown = [name for name in given if name not in type(self).model_fields]
        if unknown:
            raise ValueError(
                f"a decision has no {unknown[0]!r}; it has {', '.join(type(self).model_fields)}"
                + did_you_mean(unknown[0], type(self).model_fields)
            )
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            text = first["msg"].removeprefix("Value error, ")
            name = ".".join(map(str, first["loc"]))
            text = text if text.startswith(name) else f"{name}: {text}; got {first['input']!r}"
            raise ValueError(text) from None
        if moved:
            warnings.warn(
                f"what columns are is said in the roles now: Roles({next(iter(moved))}=...), not "
                f"Decision({next(iter(moved))}=...), which answers until 0.3",
                DeprecationWarning, stacklevel=2,
            )  # fmt: skip
            self._moved = moved
        if self.positive is not None and self.positive == self.negative:
            raise ValueError(f"positive and negative are both {self.positive!r}: one label each")

    # of a decision inside a file pydantic says where it is wrong
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @field_validator("threshold", mode="before")
    @classmethod
    def _one_or_by_value(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and set(value) != {"by", "at"}:
            return Cuts.of(value)
        if isinstance(value, str):  # a number from a shell, or a column
            try:
                return float(value)
            except ValueError:
                return value
        if isinstance(value, bool) or not isinstance(value, int | float | str | Mapping | Cuts):
            raise ValueError(
                f"threshold must be a number, or one by a column's values; got {value!r}"
            )
        return value

    @field_validator("threshold")
    @classmethod
    def _of_its_unit(cls, value: Any, info: ValidationInfo) -> Any:
        each = [cut.threshold for cut in value.at] if isinstance(value, Cuts) else [value]
        for one in each:
            if not isinstance(one, str):
                check_threshold(one, info.data.get("score_unit", "probability"))
        return value

    @field_validator("points")
    @classmethod
    def _of_points(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("score_unit") != "points":
            raise ValueError("points says how points go with odds: say score_unit='points' too")
        return value

    def replace(self, **changes: Any) -> "Decision":
        """The same with some things changed, and checked."""
        return Decision.model_validate({**self.given, **changes})

    @property
    def moved(self) -> dict[str, Any]:
        """Roles of columns that were said here."""
        return self._moved

    @property
    def given(self) -> dict[str, Any]:
        """What was said, without what is a default."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    @property
    def has_threshold(self) -> bool:
        """Whether it names a threshold; a model may have one of its own otherwise."""
        return "threshold" in self.model_fields_set

    @property
    def in_points(self) -> bool:
        """Whether the score is in points, and no probability."""
        return self.score_unit == "points"

    @property
    def cuts(self) -> Cuts | None:
        """The thresholds by a column's values, where there is more than one."""
        return self.threshold if isinstance(self.threshold, Cuts) else None

    @property
    def thresholds(self) -> list[float]:
        """Every threshold; none where a column that nobody has read holds them."""
        if isinstance(self.threshold, Cuts):
            return [cut.threshold for cut in self.threshold.at]
        return [] if isinstance(self.threshold, str) else [self.threshold]

    @property
    def cut(self) -> float:
        """The one threshold; of several, 0: a score is then compared by its distance to its own."""
        if isinstance(self.threshold, str):
            raise ValueError(f"the thresholds in column {self.threshold!r} have not been read")
        return self.threshold if isinstance(self.threshold, float) else 0.0

    @property
    def above(self) -> str:
        """What decision 1 is above, in words: "0.8", "640 points", "its product's threshold"."""
        if self.cuts is not None:
            return f"the threshold of its {self.cuts.by} ({str(self.cuts).partition('(')[2]}"
        return f"{self.threshold:g} points" if self.in_points else f"{self.threshold:g}"

    @property
    def rule(self) -> str:
        """From where on decision 1 is made, in words.

        >>> Decision(threshold=0.8).rule, Decision(threshold=60, score_unit="points",
        ...     at_least=True).rule
        ('above 0.8', 'at 60 points or more')
        """
        return f"at {self.above} or more" if self.at_least else f"above {self.above}"

    @property
    def knocks_out(self) -> bool:
        """Whether a row without a score is a denial."""
        return self.no_score == "denied"

    def decides(self, score: Any, threshold: Any) -> Any:
        """Whether a score is decision 1: numbers, or expressions of a table's columns."""
        return score >= threshold if self.at_least else score > threshold

    @property
    def scale(self) -> PointScale:
        """How points go with odds, once that is known."""
        if self.points is None:
            raise ValueError(
                "how points go with odds is not known yet: state it, Decision(points={'base': 600, "
                "'odds': 30, 'double': 20}), or fit a patch, which finds it out"
            )
        return self.points

    def log_odds(self, score: Any) -> Any:
        """Of decision 1's label, by a score in its own unit (percent are probabilities by now)."""
        if self.in_points:
            return self.scale.log_odds(score)
        with np.errstate(divide="ignore"):
            return logit(score)

    def compared(self, score: Any) -> Any:
        """What a score column holds, numbers or an expression, as thresholds and bands have it."""
        return score / 100.0 if self.score_unit == "percent" else score

    @property
    def sign(self) -> int:
        """1 where a higher score is better for a person, -1 where it is worse."""
        return 1 if self.favourable else -1

    @property
    def favoured(self) -> str:
        """The favourable decision, as tables have it."""
        return self.approved or f"decision {self.favourable}"

    @property
    def sides(self) -> tuple[str, str]:
        """What the favourable decision and the other are called in a sentence."""
        return self.approved or "approved", self.denied or "denied"

    @property
    def outcomes(self) -> tuple[str, str]:
        """What the negative and the positive label are called."""
        positive = 1 if self.positive is None else self.positive
        negative = 0 if self.negative is None else self.negative
        no = f"not {self.positive_words}" if self.positive_words else f"y = {negative}"
        yes = f"not {self.negative_words}" if self.negative_words else f"y = {positive}"
        return self.negative_words or no, self.positive_words or yes

    @property
    def good_outcome(self) -> str:
        """The label that goes with the favourable decision, in words."""
        return self.outcomes[self.favourable]

    @property
    def bad_outcome(self) -> str:
        """The other one."""
        return self.outcomes[1 - self.favourable]

    def classes_of(self, labels: Sequence[Any]) -> tuple[Any, Any]:
        """The negative and the positive one of the labels that occur, gaps left out."""
        values = list(labels)
        shown = ", ".join(map(repr, values[:10])) or "none at all"
        if self.positive is None:
            if len(values) != 2 and not {text_of(v) for v in values} <= {"0", "1"}:
                raise ValueError(
                    "Only binary classification is supported: fairpatch needs labels of 2 classes, "
                    f"y has {len(values)} class{'es' * (len(values) != 1)}: {shown}"
                )
            if {text_of(v) for v in values} <= {"0", "1"}:
                values = sorted(values, key=text_of)
            else:
                values = sorted(values)
            return (values[0], values[1]) if len(values) == 2 else (0, 1)
        positives = [v for v in values if text_of(v) == text_of(self.positive)]
        others = [v for v in values if text_of(v) != text_of(self.positive)]
        if not positives:
            hint = did_you_mean(str(self.positive), [str(v) for v in values])
            raise ValueError(
                f"no row has the label {self.positive!r} that the score is the probability of; the "
                f"labels are {shown}{hint}"
            )
        if len(others) != 1:
            raise ValueError(
                f"beside {self.positive!r} there must be one other label; the labels are {shown}. "
                "Leave out the rows of others, or make one label of them"
            )
        return others[0], positives[0]

    @property
    def classes_unseen(self) -> tuple[Any, Any]:
        """The negative and the positive label where no row has one: as said, or 0 and 1.

        >>> Decision().classes_unseen, Decision(positive="hired").classes_unseen
        ((0, 1), ('not hired', 'hired'))
        """
        positive = 1 if self.positive is None else self.positive
        other = 0 if self.positive is None else f"not {self.positive}"
        return other if self.negative is None else self.negative, positive

    def named(self, classes: Iterable[Any]) -> "Decision":
        """The same, with the labels' names as they were found."""
        negative, positive = (v.item() if hasattr(v, "item") else v for v in classes)
        plain = bool | int | float | str
        kept = [v if isinstance(v, plain) else str(v) for v in (negative, positive)]
        return self.model_copy(update={"negative": kept[0], "positive": kept[1]})


PLAIN = Decision()
"""Labels 0 and 1, 1 being good for a person, and a threshold of a half."""


def text_of(label: Any) -> str:
    """A label as text, alike for what a file, a shell and an engine make of it.

    >>> [text_of(v) for v in (1, 1.0, True, "1", "True", "yes")]
    ['1', '1', '1', '1', '1', 'yes']
    """
    if hasattr(label, "item"):
        label = label.item()
    if isinstance(label, bool) or (isinstance(label, float) and label.is_integer()):
        return str(int(label))
    text = str(label)
    return {"true": "1", "false": "0"}.get(text.lower(), text)
