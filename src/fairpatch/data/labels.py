"""Labels of two classes, as 0 and 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from fairpatch._arrays import Ints


def read_labels(y: Any, expected: Any = None) -> tuple[NDArray[Any], Ints]:
    """The two classes, and everybody's label as 0 or 1; ``expected`` are the base model's."""
    if y is None:
        raise ValueError("Commod requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(
            "Only binary classification is supported: fairpatch needs labels of 2 classes, "
            f"y has {len(classes)} class{'es' * (len(classes) != 1)}"
        )
    if expected is not None and list(expected) != list(classes):
        raise ValueError(
            f"y has the labels {list(classes)}, the estimator was fitted on {list(expected)}"
        )
    return classes, np.asarray(labels, np.int64)


def labels_of(y: Any, classes: NDArray[Any]) -> Ints:
    """Labels of known classes as 0 and 1; another one is refused, and so is a gap."""
    values = column_or_1d(y, warn=True)
    strange = sorted({str(v) for v in values[~np.isin(values, classes)]})
    if strange:
        raise ValueError(
            f"y has the values {', '.join(strange[:5])}; fit has seen "
            f"{', '.join(map(str, classes))}. Give labels as in fit, and leave out rows "
            "without one"
        )
    return np.asarray(values == classes[1], np.int64)
