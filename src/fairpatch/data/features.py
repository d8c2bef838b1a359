"""X at the door: a frame stays a frame, everything else becomes a checked array of numbers."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data


def read_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check X by scikit-learn's rules; with ``reset`` the estimator remembers its columns."""
    if _is_frame(X):
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")


def _is_frame(X: Any) -> bool:
    """Whether X has columns with names; numbers are positions, as in scikit-learn."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return len(names) > 0 and all(isinstance(name, str) for name in names)
