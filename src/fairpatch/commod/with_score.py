"""r(x, f_logit), the paper's appendix C.1: f's log-odds as one more column that r may read.

An ordinary column of an ordinary patch, so it is read, explained and deployed as any other is:
wherever the patch is applied, its table has a column with f's log-odds.
"""

from typing import Any

import narwhals as nw

from fairpatch.base import BaseModel, Estimator

COLUMN = "f_logit"


class WithScore:
    """f, and X with f's own log-odds beside the other columns.

    Parameters
    ----------
    estimator : fitted classifier or callable
        The base model f.
    column : str
        The name of the new column.

    Examples
    --------
    >>> import pandas as pd
    >>> f = WithScore(lambda X: X["income"] / 10)
    >>> X = f.add(pd.DataFrame({"income": [2, 5, 9]}))
    >>> X["f_logit"].round(2).tolist()
    [-1.39, -0.0, 2.2]
    >>> BaseModel(f).scores(X)
    array([0.2, 0.5, 0.9])

    Then ``Commod(f, ...).fit(X, y, ...)`` learns r(x, f_logit).
    """

    def __init__(self, estimator: Estimator, column: str = COLUMN) -> None:
        self.estimator = estimator
        self.column = column

    def add(self, X: Any) -> Any:
        """X with the log-odds of every row."""
        frame = nw.from_native(X, eager_only=True)
        if self.column in frame.columns:
            raise ValueError(
                f"X has a column {self.column!r} already: give another name, "
                "WithScore(f, column=...)"
            )
        logits = BaseModel(self.estimator).logits(X)
        if frame.implementation.is_pandas():  # by position, whatever the index is
            return X.assign(**{self.column: logits})
        values = nw.new_series(self.column, logits, backend=frame.implementation)
        return frame.with_columns(values).to_native()

    def __call__(self, X: Any) -> Any:
        """f's probabilities; it never sees its own log-odds."""
        rest = nw.from_native(X, eager_only=True).drop(self.column, strict=False).to_native()
        return BaseModel(self.estimator).scores(rest)
