"""The patched model g: f and its patch together, as they are used, judged and explained."""

from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairpatch import _checks as check
from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.base import BaseModel
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.parameters import known_rows
from fairpatch.choose.redial import redial
from fairpatch.choose.suspicion import looks_known
from fairpatch.choose.target import Target
from fairpatch.data.engine_splits import count_table, is_engine_table
from fairpatch.data.labels import labels_of
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch
from fairpatch.patch.apply import apply, with_decisions


@dataclass(frozen=True, eq=False)
class PatchedModel:
    """A base model with its cut-off, a patch, and the names of the two classes.

    Everything that happens after learning takes one: ``explain``, ``report``, ``engines`` and the
    command line. ``Commod`` makes one (``patched_``); so does anybody with a patch file.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpatch.patch import Column, Concept, NumberWeight
    >>> patch = Patch(columns=[Column(name="a", kind="number")], concepts=[Concept(
    ...     name="c", weight=1.0, intercept=0.0,
    ...     numbers=[NumberWeight(column="a", coefficient=-1.0, missing=0.0)])])
    >>> g = PatchedModel(BaseModel("p"), patch, np.array(["no", "yes"]))
    >>> g.predict(pd.DataFrame({"a": [0.0, 2.0, 2.0], "p": [0.6, 0.6, 0.3]}))
    array(['yes', 'no', 'yes'], dtype='<U3')
    """

    base: BaseModel
    patch: Patch
    classes: NDArray[Any] = field(default_factory=lambda: np.array([0, 1]))

    def __post_init__(self) -> None:
        check.a("base", self.base, BaseModel, "BaseModel(f, cutoff)")
        object.__setattr__(self, "classes", np.asarray(self.classes))
        if self.base.cutoff != self.patch.cutoff:
            raise ValueError(
                f"the base model decides above {self.base.cutoff:g}, the patch was learned for a "
                f"cut-off of {self.patch.cutoff:g}: give the model the patch's cut-off, or learn "
                "a patch for the new one"
            )

    def logits(self, X: Any) -> Floats:
        """f_logit: what the patch multiplies."""
        return self.base.logits(X)

    def decide(self, X: Any) -> Bools:
        """Whether g decides 1."""
        return self.patch.decide(X, self.logits(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The patched decision, as a label."""
        return np.asarray(self.classes[self.decide(X).astype(int)])

    def predict_proba(self, X: Any) -> Floats:
        """Patched probabilities of the two classes; the cut-off still holds."""
        p = self._score(X, self.logits(X))
        return np.column_stack([1 - p, p])

    def ratio(self, X: Any) -> Floats:
        """r(x): 1 leaves a person's score as it is, below 0 reverses the decision."""
        return self.patch.ratio(X, self.logits(X))

    def labels_of(self, y: Any) -> Ints:
        """Labels as 0 and 1; one that was not there in fit is refused, and so is a gap."""
        return labels_of(y, self.classes)

    def rows(self, X: Any, y: Any, sensitive_features: Any) -> Rows:
        """Rows to look at, f having been asked about them."""
        return Rows.of(X, self.labels_of(y), sensitive_features).scored(self.base)

    def count(self, X: Any, y: Any, *, sensitive_features: Any) -> Counts:
        """Decisions before and after, by group and label; a table in an engine is counted there.

        For a table in an engine, y and sensitive_features are names of its columns.
        """
        if not is_engine_table(X):
            return count_rows(self.rows(X, y, sensitive_features), self.patch)
        names = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
        (counts,) = count_table(X, [self.patch], self.base, y=y, sensitive_features=names)
        return counts

    def certify(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target, f_trained_on: Any = None
    ) -> Certificate:
        """Judge a target on rows that neither learning nor choosing has seen.

        Rows that f was trained on (``f_trained_on``, one boolean a row) are left out; where f looks
        as if it knew the others, the certificate says so.
        """
        check.a("target", target, Target, "Target(p_rule=0.8)")
        if is_engine_table(X):
            if f_trained_on is not None:
                raise ValueError("f_trained_on is for rows in memory: leave the rows out yourself")
            return certify(self.count(X, y, sensitive_features=sensitive_features), target)
        rows = self.rows(X, y, sensitive_features)
        known = known_rows(f_trained_on, len(rows))
        if known is not None:
            rows = rows.take(np.flatnonzero(~known))
        return replace(certify(count_rows(rows, self.patch), target), warning=looks_known(rows))

    def redial(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target, seed: int = 0
    ) -> tuple["PatchedModel", Certificate]:
        """An edited card at the price that meets the target on half of these rows.

        The other half judges it: certified, refuted or too few data. Give rows that f was not
        trained on.
        """
        check.a("target", target, Target, "Target(p_rule=0.8)")
        rows = self.rows(X, y, sensitive_features)
        half = rows.split_codes((0.25, 0.25, 0.5), seed) == 2
        first, fresh = (rows.take(np.flatnonzero(part)) for part in (~half, half))
        found = PatchedModel(self.base, redial(self.patch, first, target), self.classes)
        return found, certify(count_rows(fresh, found.patch), target)

    def apply(self, table: Any, *, with_score: bool = True, with_reason: bool = False) -> Any:
        """The table with more columns: ratio, patched score, decision, change, and its reason.

        Where f is a score column, the engine that holds the table does it all.
        """
        options = {"with_score": with_score, "with_reason": with_reason}
        if self.base.score_column is not None:
            return apply(self.patch, table, self.base.score_column, **options)
        f_logit = self.logits(table)
        return with_decisions(
            self.patch,
            nw.from_native(table, eager_only=True),
            ratio=self.patch.ratio(table, f_logit),
            score=self._score(table, f_logit),
            before=f_logit > 0,
            after=self.patch.decide(table, f_logit),
            **options,
        )

    def _score(self, X: Any, f_logit: Floats) -> Floats:
        return np.asarray(expit(self.patch.logits(X, f_logit) + logit(self.patch.cutoff)))
