"""The patched model g: f and its patch together, as they are used, judged and explained."""

from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.card.learner import retune
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.fit import assumption_of, certify_rows
from fairpatch.data.copies import check_key, copies_in
from fairpatch.data.engine import count_table, is_engine_table
from fairpatch.data.features import ask_engine, ask_rows
from fairpatch.data.outcomes import expecting
from fairpatch.data.rows import Rows, rows_hash, seen_rows, strata_of, take, with_batches
from fairpatch.data.splits import CertificationSample, thinned_table
from fairpatch.data.used_rows import (
    NOT_LOOKED_AT,
    Counting,
    Found,
    UsedRows,
    counting,
    fetched,
    some_of,
    without_rows,
)
from fairpatch.identity.compare import Comparison, IfUnlike, compare, compare_model, compare_rows
from fairpatch.identity.fingerprint import scores_alike
from fairpatch.inputs.base import (
    AT_THRESHOLD,
    NO_SCORE,
    BaseModel,
    chances_of,
    scores_of,
    thresholds_of,
)
from fairpatch.inputs.past_decisions import made_in, made_of
from fairpatch.inputs.probable import columns_of
from fairpatch.inputs.sensitive import Given, column_names, take_apart
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.comparisons import Comparisons
from fairpatch.measure.counts import Counts
from fairpatch.measure.labels import labels_of, labels_with_gaps
from fairpatch.measure.recounted import of_weights
from fairpatch.patch import Patch
from fairpatch.patch.apply import apply, check_columns, with_decisions
from fairpatch.patch.batch import apply_to_places
from fairpatch.patch.columns import Columns
from fairpatch.patch.expressions import in_scope_table
from fairpatch.patch.learned import Outlook
from fairpatch.patch.terms import in_scope
from fairpatch.target import Target

OWN_SCORE = "__fairpatch_base_score"
"""Where a base model that is no column is written for a while."""


@dataclass(frozen=True, eq=False)
class PatchedModel:
    """A base model with its threshold, a patch, and the names of the two classes.

    Everything that happens after learning takes one: ``explain``, ``report``, ``engines`` and the
    command line. ``FairPatch`` makes one (``patched_``); so does anybody with a patch file.

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
    classes: NDArray[Any] = None  # type: ignore[assignment]
    """Of decision 0 and of decision 1; those of the patch where they are not given."""
    used: UsedRows | None = field(default=None, repr=False)
    """The rows that learned and chose it, so that nobody certifies on them; not stored with it."""

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is known of people: a stored model holds no row."""
        return {**vars(self), "used": None}

    def __post_init__(self) -> None:
        check.a("base", self.base, BaseModel, "BaseModel(f)")
        decision = self.patch.decision
        known = [0, 1] if decision.negative is None else [decision.negative, decision.positive]
        classes = np.asarray(known if self.classes is None else self.classes)
        object.__setattr__(self, "classes", classes)
        base = self.base.decision
        told = base.has_threshold and base.threshold != decision.threshold
        if told or ("at_least" in base.given and base.at_least != decision.at_least):
            raise ValueError(
                f"the base model decides {base.rule}, the patch was learned for a model that "
                f"decides {decision.rule}: learn a patch for the new rule"
            )
        if "favourable" in base.given and base.favourable != decision.favourable:
            raise ValueError(
                f"the favourable decision of the base model is {base.favourable}, the patch was "
                f"learned for {decision.favourable}"
            )
        model = BaseModel(self.base.estimator, decision=decision, roles=self.patch.roles)
        object.__setattr__(self, "base", model)

    def logits(self, X: Any) -> Floats:
        """f_logit, towards the favourable decision: what the patch multiplies."""
        return self.base.logits(X)

    def decide(self, X: Any) -> Bools:
        """Whether g decides 1, in f's own terms: the score is above the threshold.

        Of a patch that refers people these are f's decisions: a person takes the others.
        """
        return self._decided(X, self.logits(X))

    def _decided(self, X: Any, f_logit: Floats) -> Bools:
        refers = self.patch.action == "refer"
        return self._as_f(f_logit > 0 if refers else self.patch.decide(X, f_logit))

    def refer(self, X: Any) -> Bools:
        """Whom a person should look at: whoever would change, where the patch refers people."""
        if self.patch.action != "refer":
            raise ValueError("this patch refers nobody: learn one with Target(..., action='refer')")
        f_logit = self.logits(X)
        return np.asarray(self.patch.decide(X, f_logit) != (f_logit > 0))

    def _as_f(self, favoured: Bools) -> Bools:
        """Favourable decisions as f's 1 and 0."""
        return np.asarray(favoured == bool(self.patch.decision.favourable))

    def predict(self, X: Any) -> NDArray[Any]:
        """The patched decision, as a label; rows unlike those of the fit are warned of."""
        f_logit = self.logits(X)
        self.compare(X, f_logit).warn_refused()
        return np.asarray(self.classes[self._decided(X, f_logit) * 1])

    def decision_function(self, X: Any) -> Floats:
        """g_logit towards decision 1: patched log-odds relative to the threshold."""
        g_logit = self._patched_logits(X)
        if self.patch.action != "refer":  # r = 0: a decision that changes, right at the threshold
            g_logit = np.where(g_logit == 0, -AT_THRESHOLD, g_logit)
        return g_logit if self.patch.decision.favourable else -g_logit

    def _patched_logits(self, X: Any) -> Floats:
        """g_logit, towards the favourable decision; f's where a person takes the others."""
        f_logit = self.logits(X)
        return f_logit if self.patch.action == "refer" else self.patch.logits(X, f_logit)

    def predict_proba(self, X: Any) -> Floats:
        """Patched probabilities of the two classes; the threshold still holds."""
        f_logit = self._patched_logits(X)
        p = chances_of(f_logit, self.patch.decision, thresholds_of(self.patch.decision, X))
        return np.column_stack([1 - p, p])

    def ratio(self, X: Any) -> Floats:
        """r(x): 1 leaves a score as it is, below 0 reverses the decision if the direction may."""
        return self.patch.ratio(X, self.logits(X))

    def labels_of(self, y: Any) -> Ints:
        """Labels, 1 for the favourable one; one that fit has not seen is refused, and a gap."""
        return labels_of(y, self.classes, self.patch.decision)

    def _labels_with_gaps(self, y: Any) -> Ints:
        """The same, UNKNOWN where there is no label."""
        labels = labels_with_gaps(y, self.classes, self.patch.decision)
        return np.array([UNKNOWN if label is None else label for label in labels], np.int64)

    def rows(self, X: Any, y: Any, sensitive_features: Any) -> Rows:
        """Rows to look at, f having been asked about them; y and S may be names of X's columns.

        A label that is missing is ``UNKNOWN``, and is expected as when the patch was learned. There
        may be no labels at all, y being None.
        """
        given = take_apart(X, y, sensitive_features, self.patch.roles, self._read())
        columns = (given.X, self._labels_of(given), given.sensitive, None, given.weight)
        rows = Rows.of(*columns)
        if given.drawn is not None:
            rows = replace(rows, chances=given.drawn.chances, told=given.drawn.known)
        roles, favourable = self.patch.roles, self.patch.decision.favourable
        rows = replace(
            rows, outcomes=self.patch.outcomes, person=given.person, month=given.month,
            made=None if given.made is None else made_of(given.made, roles, favourable),
        )  # fmt: skip
        inside = in_scope(self.patch.scope, rows.X, self.base.needed_score)
        rows = (rows if inside is None else rows.take(np.flatnonzero(inside))).scored(self.base)
        ask_rows(rows, self.base, self.patch.roles)
        return expecting(rows, self.outlook, self.patch.decision)

    @property
    def outlook(self) -> Outlook:
        """What is expected of people without an outcome: as the score says, if no more is known."""
        known = self.patch.outlook
        return Outlook(outcomes=self.patch.outcomes, people=0) if known is None else known

    @property
    def score_columns(self) -> tuple[str, ...]:
        """The column that f is, where it is one."""
        return () if self.base.score_column is None else (self.base.score_column,)

    def favoured(self, X: Any) -> Ints:
        """1 where a person gets the favourable decision, 0 where not, -1 where f has no score."""
        score = self.base.score_column
        if score is None:
            return self.patch.decide(X, self.logits(X)).astype(np.int64)
        p = np.asarray(nw.from_native(X, eager_only=True)[score].cast(nw.Float64).to_numpy())
        t = thresholds_of(self.patch.decision, X, gaps=True)
        known = (np.isfinite(p) | self.patch.decision.knocks_out) & np.isfinite(t)
        X = nw.from_native(X, eager_only=True).filter(known.tolist()).to_native()
        found = np.full(len(known), -1, np.int64)
        if known.any():
            found[known] = self.patch.decide(X, self.base.logits(X))
        return found

    def features(self, X: Any, y: Any, sensitive_features: Any) -> Any:
        """X without labels, S and weights, where those are names of its columns."""
        if is_engine_table(X):
            return X
        return take_apart(X, y, sensitive_features, self.patch.roles, self._read()).X

    def _read(self) -> list[str]:
        """Columns that f or the patch reads."""
        return [*(self.base.columns or ()), *(c.name for c in self.patch.columns)]

    def used_rows(self, X: Any, y: Any, sensitive_features: Any) -> Found | None:
        """Which rows in memory learned or chose the patch; None where nobody knows."""
        return self._used(take_apart(X, y, sensitive_features, self.patch.roles, self._read()))

    def _used(self, given: Given) -> Found | None:
        if self.used is None:
            return None
        return self.used.among(given.X, self._labels_of(given), self.logits(given.X))

    def _labels_of(self, given: Given) -> Ints:
        if given.y is None:
            return np.full(Columns.of(given.X).rows, UNKNOWN)
        check.same_people(X=given.X, y=given.y)
        return self._labels_with_gaps(given.y)

    def that_count(self, X: Any, y: Any, sensitive_features: Any, *others: Any) -> Counting:
        """Rows that a certificate counts, with all that goes with them; and what is said of others.

        Neither rows that learned or chose, nor copies of others.
        """
        check_key(X, self.patch.roles)
        if is_engine_table(X):
            return self._that_count_there(X, y, sensitive_features, list(others))
        scored = in_scope((), X, self.base.needed_score)
        if scored is not None and not scored.all():
            X, y, sensitive_features, others = some_of(scored, X, y, sensitive_features, *others)
        given = take_apart(X, y, sensitive_features, self.patch.roles, self._read())
        used = self._used(given)
        rows = Rows.of(given.X, self._labels_of(given), given.sensitive, None, given.weight)
        copies = copies_in(replace(rows, person=given.person))
        return counting(used, copies, X, y, sensitive_features, *others)

    def _telling(self, y: Any, S: Any) -> list[Any]:
        """The columns that tell rows of a table apart."""
        roles, known = self.patch.roles, () if self.used is None else self.used.columns
        own = (roles.weight, roles.person, *columns_of(roles.probable))
        return [y, *column_names(S), *self._read(), *known, *own]

    def _that_count_there(self, X: Any, y: Any, S: Any, others: list[Any]) -> Counting:
        """The same of a table in DuckDB, which is looked through; others are not."""
        if self.used is None:
            return "", X, y, S, others
        if (some := fetched(X, self._telling(y, S))) is None:
            return NOT_LOOKED_AT, X, y, S, others
        said, left, *_ = self.that_count(some, y, S)
        gone = ~some.index.isin(left.index)
        return said, without_rows(X, gone) if gone.any() else X, y, S, others

    def count(
        self, X: Any, y: Any = None, *, sensitive_features: Any, decided: str | None = None,
        comparisons: Comparisons | None = None, thinned: bool = False,
    ) -> Counts:  # fmt: skip
        """Decisions before and after, by group and label; a table in an engine is counted there.

        For a table in an engine, y and sensitive_features are names of its columns. Labels and S
        may have gaps, and there may be no labels yet. ``decided`` names a column of decisions that
        were made: those are counted. ``comparisons`` are a target's strata. ``thinned`` draws
        people as likely as w / max w, and counts each once: the same sample every time.
        """
        if not is_engine_table(X):
            given = take_apart(X, y, sensitive_features, self.patch.roles, self._read())
            made = None if decided is None else self.made(X, decided)
            inside = in_scope(self.patch.scope, given.X, self.base.needed_score)
            if inside is not None:
                at = np.flatnonzero(inside)
                given = given.take(at)
            f_logit = self.logits(given.X)
            known = given.y is not None
            weight, drawn = given.weight, None
            if thinned and weight is not None:  # of equal weights, everybody
                heavy = np.asarray(weight, np.float64)
                drawn = np.random.default_rng(0).random(len(heavy)) < heavy / heavy.max()
                weight = drawn.astype(np.float64)
            counts = Counts.from_arrays(
                decision=f_logit > 0,
                new_decision=self.patch.decide(given.X, f_logit) if made is None else made,
                y=labels_with_gaps(given.y, self.classes, self.patch.decision) if known else None,
                sensitive_features=given.sensitive,
                sample_weight=weight,
                strata=strata_of(comparisons, given.X),
                outcomes=self.patch.outcomes,
                person=given.person,
            )
            return counts if drawn is None else of_weights(counts)
        names, base, X = column_names(sensitive_features), self.base, self._in_scope(X)
        if thinned and base.roles.weight is not None:
            X = thinned_table(X, base.roles)
            base = replace(base, roles=base.roles.replace(weight=None))
        (counts,) = count_table(
            X, [self.patch], base, y=y, sensitive_features=names, decided=decided,
            strata=() if comparisons is None else comparisons.columns, outcomes=self.patch.outcomes,
        )  # fmt: skip
        return counts

    def _in_scope(self, X: Any) -> Any:
        """A table without the rows that the patch is not for."""
        frame = nw.from_native(X, pass_through=True)
        if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
            return X
        return in_scope_table(self.patch.scope, X, self.base.needed_score)

    def made(self, X: Any, decided: str) -> Bools:
        """Decisions of a column as favourable ones, of the rows that the patch is for."""
        values = nw.from_native(self._in_scope(X), eager_only=True)[decided].to_numpy()
        made = made_of(values, made_in(decided, self.patch.roles), self.patch.decision.favourable)
        if (made < 0).any():
            raise ValueError(
                f"column {decided!r} has no decision in {int((made < 0).sum()):,} rows: leave out "
                "those that nobody has decided yet"
            )
        return np.asarray(made == 1)

    def decided_in(self, X: Any) -> str | None:
        """The column of decisions as they were made, where a table has the one that was named."""
        column, frame = self.patch.roles.decided_column, nw.from_native(X, pass_through=True)
        if column is None or not isinstance(frame, nw.DataFrame | nw.LazyFrame):
            return None
        return column if column in frame.collect_schema() else None

    def certify(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target, seen_by_base: Any = None,
        if_unlike: IfUnlike = "refuse",
    ) -> Certificate:  # fmt: skip
        """Judge a target on rows that neither learning nor choosing has seen.

        Rows that f was trained on (``seen_by_base``, one boolean a row) are left out; where f looks
        as if it knew the others, the certificate says so. So are rows that learned or chose the
        patch, where the model knows them, and copies of others. Scores that look like another
        model's are refused: see ``apply``.
        """
        check.a("target", target, Target, "Target(p_rule=0.8)")
        if is_engine_table(X):
            if seen_by_base is not None:
                raise ValueError("seen_by_base is for rows in memory: leave the rows out yourself")
            said, X, *_ = self.that_count(X, y, sensitive_features)
            self.compare(X).act(if_unlike)
            roles = self.patch.roles
            ask_engine(X, column_names(sensitive_features), self.base, roles, rule_is_open=False)
            counts = self.count(
                X, y, sensitive_features=sensitive_features, comparisons=target.comparisons
            )
            judged = certify(counts, target).remarking(said)
            own = fetched(X, self._telling(y, sensitive_features))
            if own is not None:
                given = take_apart(own, y, sensitive_features, roles, self._read())
                asked = Rows.of(given.X, self._labels_of(given), given.sensitive)
                judged = replace(judged, rows_sha256=rows_hash(asked))
            return judged.resting_on(*assumption_of(None, self.patch))
        said, X, y, sensitive_features, (seen_by_base,) = self.that_count(
            X, y, sensitive_features, seen_by_base
        )
        rows = with_batches(self.rows(X, y, sensitive_features), target.places)
        self.compare(rows.X, rows.f).act(if_unlike)
        known = seen_rows(seen_by_base, len(rows))
        if known is not None:
            rows = rows.take(np.flatnonzero(~known))
        return certify_rows(rows, self.patch, target).remarking(said)

    def retune(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target, seed: int = 0
    ) -> tuple["PatchedModel", Certificate]:
        """An edited card at the price that meets the target on half of these rows.

        The other half judges it. Give rows that f was not trained on.
        """
        check.a("target", target, Target, "Target(p_rule=0.8)")
        first, fresh = self.halves(X, y, sensitive_features, seed)
        patch, certificate = retune(self.patch, first, target, CertificationSample(fresh))
        return PatchedModel(self.base, patch, self.classes), certificate

    def halves(self, X: Any, y: Any, sensitive_features: Any, seed: int) -> tuple[Rows, Rows]:
        """Rows to choose on, and as many to judge on."""
        rows = self.rows(X, y, sensitive_features)
        half = rows.split_codes((0.25, 0.25, 0.5), seed) == 2
        first, fresh = (rows.take(np.flatnonzero(part)) for part in (~half, half))
        return first, fresh

    def compare(self, X: Any, f_logit: Floats | None = None) -> Comparison:
        """How far these rows and f's scores are from the fit's; in an engine by one scan."""
        score = self.base.score_column
        if is_engine_table(X):
            if score is None:
                raise TypeError("f must be a score column of a table in an engine")
            return compare(self.patch, X, score)
        if f_logit is None:  # whoever has no score is not asked about
            X = in_scope_table((), X, self.base.needed_score)
            f_logit = self.logits(X)
        inside = in_scope(self.patch.scope, X)
        asked = (f_logit != NO_SCORE) & (True if inside is None else inside)
        if not asked.all():
            X, f_logit = take(X, np.flatnonzero(asked)), f_logit[asked]
        thresholds = thresholds_of(self.patch.decision, X)
        alike = scores_alike(f_logit, self.patch.decision, thresholds)
        return compare_model(self.patch, self.base, X) + compare_rows(self.patch, X, alike)

    def apply(
        self,
        table: Any,
        *,
        with_score: bool = True,
        with_reason: bool = False,
        if_unlike: IfUnlike = "refuse",
        approvals: Any = None,
        key: str | None = None,
    ) -> Any:
        """The table with more columns: ratio, patched score, decision, change, and its reason.

        Where f is a score column, the engine that holds the table does it all, after one scan that
        compares it with the rows of the fit: what looks like another model's is refused, unless
        ``if_unlike`` says "warn"; with "ignore" a lazy table is not looked at.

        With ``approvals``, exactly so many people get the favourable decision, by the patch's own
        order: a number, or places by a column, ``{"by": "requisition"}``; ``key`` tells people
        apart. A certificate is of the patch's own decisions, unless it was for such places.
        """
        options: dict[str, Any] = {"with_score": with_score, "with_reason": with_reason}
        if approvals is not None:
            return self._apply_to_places(table, approvals, key, if_unlike, options)
        score = self.base.score_column
        if score is not None:
            check_columns(self.patch, nw.from_native(check.a_table("table", table)), score)
            if if_unlike != "ignore":
                self.compare(table).act(if_unlike)
            return apply(self.patch, table, score, **options)
        frame = nw.from_native(table, eager_only=True)
        check_columns(self.patch, frame)
        f_logit = self.logits(table)
        self.compare(table, f_logit).act(if_unlike)
        return with_decisions(
            self.patch,
            frame,
            ratio=self.patch.ratio(table, f_logit),
            score=self._in_unit(table, self.patch.logits(table, f_logit)),
            before=self._as_f(f_logit > 0),
            after=self._as_f(self.patch.decide(table, f_logit)),
            **options,
        )

    def _apply_to_places(
        self, table: Any, approvals: Any, key: str | None, if_unlike: IfUnlike,
        options: dict[str, Any],
    ) -> Any:  # fmt: skip
        key = self.patch.roles.key if key is None else key
        if key is None:
            raise ValueError(
                "approvals are shared out person by person: name the column that tells them apart, "
                "key='id'"
            )
        about = {"approvals": approvals, "key": key, **options}
        score = self.base.score_column
        if score is not None:
            if if_unlike != "ignore":
                self.compare(table).act(if_unlike)
            return apply_to_places(self.patch, table, score, **about)
        frame = nw.from_native(table, eager_only=True)
        f_logit = self.logits(table)
        self.compare(table, f_logit).act(if_unlike)
        own = nw.new_series(
            OWN_SCORE, self._in_unit(table, f_logit),
            backend=nw.get_native_namespace(frame),
        )  # fmt: skip
        placed = apply_to_places(
            self.patch, frame.with_columns(own).to_native(), OWN_SCORE, **about
        )
        return nw.from_native(placed, eager_only=True).drop(OWN_SCORE).to_native()

    def _in_unit(self, X: Any, f_logit: Floats) -> Floats:
        """Log-odds as scores in f's own unit."""
        return scores_of(f_logit, self.patch.decision, thresholds_of(self.patch.decision, X))
