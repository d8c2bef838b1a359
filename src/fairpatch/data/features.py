"""X at the door: a frame stays a frame, everything else becomes a checked array of numbers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._checks import same_people
from fairpatch.decision import Decision
from fairpatch.inputs.given import Given, take_apart
from fairpatch.inputs.roles import Roles
from fairpatch.measure.labels import read_labels
from fairpatch.patch.columns import Columns


def read_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check X by scikit-learn's rules; with ``reset`` the estimator remembers its columns."""
    from sklearn.utils.validation import validate_data  # noqa: PLC0415 two seconds to import

    if _is_frame(X):
        if reset:  # scikit-learn below 1.9 does not see the names of polars 2
            estimator._columns = list(nw.from_native(X).columns)
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_array(X)
    return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")


def _check_array(X: Any) -> None:
    """Refuse what is no table, and an array that holds text, in our words."""
    rows = isinstance(X, list) and X and isinstance(X[0], dict)
    if X is None or isinstance(X, str) or type(X) is dict or rows:
        raise TypeError(f"X must be a frame or an array; got {type(X).__name__}")
    texts = isinstance(X, np.ndarray) and (
        X.dtype.kind in "US" or (X.dtype == object and any(isinstance(v, str) for v in X.flat))
    )
    if texts:
        raise ValueError("X is an array that holds text: give a frame, whose columns have types")


def _is_frame(X: Any) -> bool:
    """Whether X has columns with names; numbers are positions, as in scikit-learn."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return len(names) > 0 and all(isinstance(name, str) for name in names)


def read_given(
    estimator: Any, X: Any, y: Any, sensitive_features: Any, decision: Decision, roles: Roles,
    *, gaps: bool = False, kept: Sequence[str] = (),
) -> tuple[Given, NDArray[Any]]:  # fmt: skip
    """Rows in memory, features checked and labels as 0 and 1; and the classes of the labels.

    Columns that are ``kept`` stay among those that a patch may read. Where ``gaps`` are allowed, a
    label that is missing is ``UNKNOWN``, and there may be none.
    """
    f = estimator.estimator
    known, classes = (getattr(f, name, None) for name in ("feature_names_in_", "classes_"))
    read = None if known is None and not kept else [*(() if known is None else known), *kept]
    given = take_apart(X, y, sensitive_features, roles, read)
    given = replace(given, hidden=tuple(name for name in given.hidden if name not in kept))
    same_people(X=given.X, y=given.y)
    features = read_features(estimator, given.X, reset=True)
    if given.y is None and gaps:
        given = replace(given, y=np.full(Columns.of(features).rows, np.nan))
    label_classes, labels = read_labels(given.y, decision, classes, gaps=gaps)
    return replace(given, X=features, y=labels), label_classes


def some_columns(X: Any, names: Any) -> Any:
    """The named columns of a frame, in that order; what is no frame, or lacks one, stays so."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not set(names) <= set(frame.columns):
        return X
    return frame.select(list(names)).to_native()
