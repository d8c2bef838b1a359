"""Labels of two classes, as 0 and 1, and whose are known: in memory or in an engine.

Text, booleans, categories, 0 and 1 come to the same; which label is the positive one and whether
that is good for a person, the ``Decision`` says.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Ints
from fairpatch._tools.extras import rows_of
from fairpatch._tools.hints import hint
from fairpatch.decision import PLAIN, Decision, text_of
from fairpatch.inputs.roles import Outcomes
from fairpatch.inputs.values import Value, factorize, plain
from fairpatch.measure.cells import UNKNOWN

LARGEST = float(np.finfo(np.float64).max)
MOST_LABELS = 100
"""Distinct labels that are fetched from an engine, at most."""


def read_labels(
    y: Any, decision: Decision = PLAIN, expected: Any = None, *, gaps: bool = False
) -> tuple[NDArray[Any], Ints]:
    """The two classes, the positive one last, and everybody's label, 1 for the favourable one.

    ``expected`` are the base model's classes. A label may be missing where ``gaps`` are allowed; it
    is then ``UNKNOWN``.
    """
    from sklearn.utils.multiclass import check_classification_targets  # noqa: PLC0415 two seconds to import
    from sklearn.utils.validation import assert_all_finite, column_or_1d  # noqa: PLC0415 two seconds to import

    if y is None:
        raise ValueError("fairpatch requires y to be passed, but the target y is None")
    y = column_or_1d(_array(y), warn=True)
    if not len(y):
        raise ValueError("the table has no rows (0 samples): give one with people in it")
    known = _known(y) if gaps else np.ones(len(y), bool)
    if gaps and not known.any():
        named = decision.classes_unseen
        if expected is not None:
            named = decision.classes_of(list(expected))
        return np.array(named), np.full(len(y), UNKNOWN)
    if known.any() and not known.all():
        some = y[known]
        if y.dtype.kind == "f" and np.isin(some, (0, 1)).all():  # whole numbers, but for the gaps
            some = some.astype(np.int64)
        classes, labels = read_labels(some, decision, expected)
        found = np.full(len(y), UNKNOWN)
        found[known] = labels
        return classes, found
    values, code = factorize(y)
    if y.dtype == object and None not in values:  # numbers or truths among objects
        y = np.asarray(y.tolist())
    missing = sum(int((code == k).sum()) for k, v in enumerate(values) if v is None)
    if missing:
        raise ValueError(f"Input y contains NaN: {missing} rows have no label. Leave them out")
    if y.dtype != object:
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if len(values) != 2 and decision.positive is None:
        raise ValueError(
            "Only binary classification is supported: fairpatch needs labels of 2 classes, "
            f"y has {len(values)} class{'es' * (len(values) != 1)}"
        )
    negative, positive = decision.classes_of(values)
    at = [int(np.argmax(code == values.index(v))) for v in (negative, positive)]
    classes = y[at]  # as they came, so that predictions have their type
    _check_expected(classes, decision, expected)
    is_positive = code == values.index(positive)
    return classes, _favourable(is_positive, decision)


def labels_of(y: Any, classes: NDArray[Any], decision: Decision = PLAIN) -> Ints:
    """Labels of known classes, 1 for the favourable one; another is refused, and so is a gap."""
    from sklearn.utils.validation import column_or_1d  # noqa: PLC0415 two seconds to import

    values, code = factorize(column_or_1d(_array(y), warn=True))
    names = [text_of(plain(c)) for c in classes]
    strange = sorted({str(v) for v in values if v is None or text_of(v) not in names})
    if strange:
        raise ValueError(
            f"y has the values {', '.join(strange[:5])}; fit has seen "
            f"{', '.join(map(str, classes))}. Give labels as in fit, and leave out rows "
            "without one"
        )
    positive = np.array([text_of(v) == names[1] for v in values] or [False])
    return _favourable(positive[code], decision)


def labels_with_gaps(y: Any, classes: NDArray[Any], decision: Decision = PLAIN) -> NDArray[Any]:
    """The same, None where a label has not come yet."""
    array = np.asarray(_array(y), object)
    known = _known(array)
    labels = np.full(len(array), None, object)
    if known.any():
        labels[known] = labels_of(array[known], classes, decision)
    return labels


def known_label(value: Value, decision: Decision) -> int | None:
    """1 for the favourable label, 0 for the other, None for a gap; another one is refused.

    >>> [known_label(v, Decision(positive="paid", negative="lost")) for v in ("paid", "lost", None)]
    [1, 0, None]
    """
    if value is None or value == "":
        return None
    names = {text_of(plain(decision.negative)): 0, text_of(plain(decision.positive)): 1}
    label = names.get(text_of(value))
    if label is None:
        raise ValueError(
            f"y has the value {value!r}; fit has seen {decision.negative!r} and "
            f"{decision.positive!r}. Give labels as in fit; one that has not come yet is missing"
        )
    return label if decision.favourable else 1 - label


def positive_labels(y: Any, decision: Decision) -> tuple[tuple[Value, Value], NDArray[Any]]:
    """The classes, the positive one last; and 1 for it, 0 for the other, None for a gap."""
    values, code = factorize(np.asarray(_array(y)))
    negative, positive = decision.classes_of([v for v in values if v is not None])
    known = {text_of(negative): 0, text_of(positive): 1}
    labels = [None if v is None else known[text_of(v)] for v in values]
    return (negative, positive), np.array(labels or [None], object)[code]


def label_expr(table: Any, y: str, decision: Decision) -> tuple[tuple[Value, Value], nw.Expr]:
    """The classes of a table in an engine, and the label as an expression: null where it is."""
    frame = nw.from_native(table).lazy()
    dtype = frame.collect_schema()[y]
    column = nw.col(y)
    if dtype in (nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
        column = column.cast(nw.String)
    some = frame.select(column.alias(y)).filter(~nw.col(y).is_null()).unique().head(MOST_LABELS)
    values_found = [row[y] for row in rows_of(some)]
    values = sorted({plain(v) for v in values_found} - {None}, key=str)
    negative, positive = decision.classes_of(values)
    positive_value = next((v for v in values_found if plain(v) == positive), positive)
    right = column == positive_value if decision.favourable else column != positive_value
    known = ~column.is_null()
    if dtype.is_float():  # NaN is a gap too, and above all numbers in some engines
        known = known & (column <= LARGEST)
    return (negative, positive), nw.when(known).then(right.cast(nw.Int64))


def _known(y: NDArray[Any]) -> Bools:
    """Whether there is a label."""
    values, code = factorize(y)
    return np.asarray(np.array([v is not None for v in values] or [True])[code])


def _favourable(is_positive: Any, decision: Decision) -> Ints:
    return np.asarray(is_positive == bool(decision.favourable), np.int64)


def _array(y: Any) -> Any:
    """A series of any kind as an array."""
    series = nw.from_native(y, allow_series=True, series_only=True, pass_through=True)
    return series.to_numpy() if isinstance(series, nw.Series) else y


def _check_expected(classes: NDArray[Any], decision: Decision, expected: Any) -> None:
    if expected is None:
        return
    theirs = {text_of(plain(c)) for c in expected}
    if theirs == {text_of(plain(c)) for c in classes}:
        return
    if theirs != {"0", "1"} or decision.positive is None:
        raise ValueError(
            f"y has the labels {list(classes)}, the estimator was fitted on {list(expected)}"
        )


# Whose outcome is known, and whether that goes with what was decided.
#
# A lender learns what becomes of the people it approves, and of nobody else. Rates of decisions are
# of everybody all the same. What is counted among labels is a figure of those who have one: of
# everybody only where labels are known as often, whatever was decided.

CHANCE, SLIGHT = 4.0, 0.01
"""Standard errors and a share: from both on, labels are missing by decision."""


@dataclass(frozen=True)
class KnownLabels:
    """How many people f approved and denied, and of how many of each there is a label."""

    denied: float
    approved: float
    labelled_denied: float
    labelled_approved: float

    @classmethod
    def of(cls, by_label_and_decision: Any) -> "KnownLabels":
        """From counts along label and f's decision, 1 being the favourable one.

        >>> import numpy as np
        >>> KnownLabels.of(np.array([[0, 90], [0, 900], [990, 10]]))
        KnownLabels(denied=990.0, approved=1000.0, labelled_denied=0.0, labelled_approved=990.0)
        """
        people, known = by_label_and_decision.sum(0), by_label_and_decision[:UNKNOWN].sum(0)
        return cls(float(people[0]), float(people[1]), float(known[0]), float(known[1]))

    @property
    def shares(self) -> tuple[float, float]:
        """Of the approved and of the denied, how many have a label."""
        return (
            self.labelled_approved / max(self.approved, 1),
            self.labelled_denied / max(self.denied, 1),
        )

    @property
    def by_decision(self) -> bool:
        """Whether labels are missing more often after one decision than chance allows.

        >>> KnownLabels(990, 1000, 0, 990).by_decision, KnownLabels(100, 100, 90, 95).by_decision
        (True, False)
        """
        labelled, everybody = (
            self.labelled_approved + self.labelled_denied, self.approved + self.denied,
        )  # fmt: skip
        if not labelled or labelled == everybody or not min(self.approved, self.denied):
            return False
        one, other = self.shares
        share = labelled / everybody
        error = sqrt(share * (1 - share) * (1 / self.approved + 1 / self.denied))
        return abs(one - other) > max(CHANCE * error, SLIGHT)

    def check(self, said: Outcomes) -> None:
        """Refuse to take labels for everybody's that are missing by decision."""
        if said != "everybody" or not self.by_decision:
            return
        few = self.labelled_denied < SLIGHT * self.denied
        others = ". Where those of the denied who have one stand for the others with such scores, "
        others = "" if few else others + hint("Roles(outcomes='sample')", "outcomes: sample")
        raise ValueError(
            f"{self}, more than chance explains: whose outcomes are known? If that of the approved "
            "alone, say "
            + hint("Roles(outcomes='approved')", "outcomes: approved in columns, or --outcomes")
            + others
        )

    def __str__(self) -> str:
        """As "98% of the approved and none of the denied have an outcome"."""
        approved, denied = (_percent(share) for share in self.shares)
        return f"{approved} of the approved and {denied} of the denied have an outcome"


def _percent(share: float) -> str:
    """A share in whole percent; all and none only where it is all or none.

    >>> _percent(0.9999), _percent(1.0), _percent(0.001), _percent(0.0)
    ('99%', 'all', '1%', 'none')
    """
    if share in (0, 1):
        return "all" if share else "none"
    return f"{min(max(round(100 * share), 1), 99)}%"
