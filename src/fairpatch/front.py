"""FairPatch: a base model and a target in, a patched model out. The front door."""

import warnings
from collections.abc import Collection
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Floats
from fairpatch._tools.progress import showing
from fairpatch._tools.verdict import FitWarning
from fairpatch.card.learner import Card
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import Choice
from fairpatch.choose.fit import Fitted, fit_target
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Learner, Task
from fairpatch.choose.menu import Menu
from fairpatch.data.copies import check_key, copies_in, said_of
from fairpatch.data.engine import EngineSplits, is_engine_table
from fairpatch.data.features import ask_rows, read_features, read_given, with_scale, with_thresholds
from fairpatch.data.outcomes import check_outcomes, learned_rows
from fairpatch.data.rows import Rows, Shares, seen_rows, with_batches
from fairpatch.data.splits import Splits, in_memory
from fairpatch.decision import Decision
from fairpatch.estimator import PatchEstimator, seed_of
from fairpatch.identity.compare import IfUnlike
from fairpatch.identity.fingerprint import with_probe
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.inputs.notice import ask_table
from fairpatch.inputs.past_decisions import made_of
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.vocabulary import check_direction
from fairpatch.measure.places import Places
from fairpatch.patch.columns import Columns
from fairpatch.patch.expressions import in_scope_table
from fairpatch.patch.terms import check_locks, in_scope
from fairpatch.patched import PatchedModel
from fairpatch.target import Target

DECIDES = "the law lets this group decide (may_use_sensitive)"
"""Why a patch reads a sensitive feature."""


class FairPatch(PatchEstimator):
    """Make a base model meet a fairness target by changing few of its decisions.

    ``fit`` learns a patch r and never touches f: g_logit = r(x) * f_logit. Of a whole frontier of
    patches the one that meets the target with the fewest changes and errors is chosen, and
    certified on rows that nothing else has seen. The sensitive features are used in ``fit`` only,
    never to predict.

    Parameters
    ----------
    estimator : fitted classifier, callable, str or None
        The base model f: anything with ``predict_proba``, a callable X -> probabilities, or the
        name of a score column of X. It is never refitted. None fits a logistic regression first.
    target : Target
        What must hold for the patched model.
    learner : Learner
        How candidates are learned: ``Card()`` for a card of points, ``Adversarial()`` for the
        paper's learner, or any other object that does what ``fairpatch.choose.learner`` says.
    decision : Decision, optional
        What f decides: which label its score is about, which decision is favourable, its
        threshold, weights, and what people call all this.
    roles : Roles, optional
        What is to be known of the columns: whose outcomes there are, what the patch must not use,
        which numbers are codes.
    exclude : collection of str
        As of ``roles``: columns that the patch must not use, beside those with a sensitive
        feature's name.
    categories : collection of str
        As of ``roles``: columns of numbers that are codes.
    may_use_sensitive : bool
        Whether the patch may read the sensitive features too, as columns of X: only where the law
        lets a group decide, and with the legal basis in the review's record. Off unless said.
    splits : three shares, optional
        Of the rows, how many to learn from, to choose on (a card does both on the two together),
        and to certify on; with 0 use ``certify``. By default half of them learn and
        choose, of more than 20,000 rows 10,000 or a tenth, whichever is more; the rest certify.
    max_rows : int or None
        Most rows to learn from, drawn at random.
    random_state : int, RandomState or None
        Same seed, same patch.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    patch_ : Patch
        What was learned: readable, storable, applicable anywhere.
    patched_ : PatchedModel
        f with the patch: what explanations, reviews and exports take.
    base_ : BaseModel
        f alone.
    frontier_ : Frontier
        All candidates.
    choice_ : Choice
        The chosen one, and what to expect of it.
    preferred_ : Choice
        The one preferred before certifying, which may change fewer decisions.
    certificate_ : Certificate or None
        The verdicts on the certification set.
    menu_ : Menu
        The patches to choose from: this one, in the base model's order, with the fewest changes,
        with the group known; and what conditions cost. Made when it is asked for.
    fitted_ : Fitted
        All of it.

    Examples
    --------
    >>> from fairpatch.datasets import Population
    >>> groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    >>> people = Population(p_rule=0.6, groups=groups).sample(8000).to_pandas()
    >>> X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
    >>> g = FairPatch("score", Target(p_rule=0.8)).fit(X, y, sensitive_features=s)
    >>> g.choice_.metrics["group"]["p_rule"] >= 0.8, len(g.patch_.columns) <= 6
    (True, True)
    """

    _kept: ClassVar[frozenset[str]] = frozenset(
        {"estimator", "decision", "target", "learner", "roles"}
    )
    frontier_: Frontier
    choice_: Choice
    preferred_: Choice
    certificate_: Certificate | None

    def __init__(
        self,
        estimator: Estimator,
        target: Target,
        *,
        learner: Learner = Card(),  # noqa: B008 it never changes
        decision: Decision | None = None,
        roles: Roles | None = None,
        exclude: Collection[str] = (),
        categories: Collection[str] = (),
        may_use_sensitive: bool = False,
        splits: Shares | None = None,
        max_rows: int | None = 100_000,
        random_state: Any = 0,
        progress: bool = False,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.learner = learner
        self.decision = decision
        self.roles = roles
        self.exclude = exclude
        self.categories = categories
        self.may_use_sensitive = may_use_sensitive
        self.splits = splits
        self.max_rows = max_rows
        self.random_state = random_state
        self.progress = progress

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the target as ``target__p_rule``, so that a search can.

        Parameters
        ----------
        **params
            Parameters of this estimator, or of its target and learner after two underscores.

        Returns
        -------
        self
        """
        for part in ("target", "learner"):  # neither ever changes: others may hold the same one
            mine = [name for name in params if name.startswith(f"{part}__")]
            changes = {name.removeprefix(f"{part}__"): params.pop(name) for name in mine}
            if changes and part == "target":
                self.target = self.target.replace(**changes)
            elif changes:
                self.learner = replace(self.learner, **changes)  # type: ignore[type-var]
        super().set_params(**params)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        seen_by_base: Any = None,
        previous: PatchedModel | None = None,
    ) -> Self:
        """Learn, choose and certify the patch.

        Parameters
        ----------
        X : frame or array, or a table in an engine
            Raw columns: numbers, booleans, strings; gaps are fine. A DuckDB relation, a PySpark or
            Ibis table stays where it is: f is one of its columns, as are y, sensitive_features and
            the decision's key, and only counts and a sample of ``max_rows`` rows are fetched.
        y : array, str or None
            Labels of two classes, or the name of their column. Rows without a label count as the
            others do in every rate; what is expected of them takes the place of their outcome in
            errors and costs (``Roles(outcomes="approved")``). None where there are no outcomes.
        sensitive_features : frame, series, dict, array, or names of columns
            Any number of features and values; gaps are fine.
        sample_weight : array, optional
            What each row weighs in learning alone. The decision's ``weight`` counts everywhere.
        seen_by_base : array of bool, optional
            Rows that f was trained on: nothing is chosen or certified on them.
        previous : PatchedModel, optional
            The model in force until now: of patches that serve equally well, the one whose
            decisions differ least from its own (``Target.max_churn`` is a limit).

        Returns
        -------
        self

        Raises
        ------
        TargetNotReachedError
            Where no patch meets the target; its message says what could be had instead.
        """
        self._check_parameters()
        self._forget()
        with showing(self.progress):
            if is_engine_table(X):
                _not_for_a_table(
                    sample_weight=sample_weight, seen_by_base=seen_by_base, previous=previous
                )
                return self._fit_table(X, y, sensitive_features)
            return self._fit_rows(X, y, sensitive_features, sample_weight, seen_by_base, previous)

    def _check_parameters(self) -> None:
        """Refuse what is wrong before anything is read."""
        if self.target is None:
            raise TypeError("a target is needed: FairPatch(estimator, Target(p_rule=0.8))")
        check.a("target", self.target, Target, "Target(p_rule=0.8)")
        if isinstance(self.learner, type) or not isinstance(self.learner, Learner):
            raise TypeError(
                f"learner must be an object such as Card(max_bins=4); got {self.learner!r}"
            )
        check.a("decision", self.decision, Decision, "Decision(favourable=0)")
        check.a("roles", self.roles, Roles, "Roles(outcomes='approved')")
        check.names("exclude", self.exclude)
        check.names("categories", self.categories)
        if not isinstance(self.splits, list | tuple | np.ndarray | None):
            raise TypeError(f"splits must be three shares, as (0.3, 0.2, 0.5); got {self.splits!r}")
        if self.max_rows is not None:
            check.whole("max_rows", self.max_rows, 1)

    def _fit_rows(
        self, X: Any, y: Any, s: Any, sample_weight: Any, seen: Any, previous: PatchedModel | None
    ) -> Self:
        """Fit to rows in memory."""
        decision, seed = with_thresholds(self._decision, X), seed_of(self.random_state)
        check_key(X, self._roles)
        given, classes = read_given(
            self, X, y, s, decision, self._roles, gaps=True, kept=self._deciding(s)
        )
        label = y if isinstance(y, str) else getattr(y, "name", None)
        check_direction(decision, label, classes[1], self.estimator)
        if given.sensitive is None:
            raise ValueError("sensitive_features must be given to fit: a target compares groups")
        check.same_people(X=X, seen_by_base=seen)
        decision = with_scale(decision, given.X, self.estimator, given.y)
        weight = self._weight(given, sample_weight)
        rows = Rows.of(given.X, given.y, given.sensitive, None, weight)
        rows = replace(
            rows, outcomes=self._roles.outcomes, person=given.person, month=given.month,
            made=None if given.made is None
            else made_of(given.made, self._roles, decision.favourable),
        )  # fmt: skip
        if given.drawn is not None:
            rows = replace(rows, chances=given.drawn.chances, told=given.drawn.known)
        check_locks(self.target.scope, rows.X, rows.s.features)
        inside = in_scope(self.target.scope, rows.X, self._needed_score)
        if inside is not None:
            rows = rows.take(np.flatnonzero(inside))
            seen = None if seen is None else np.asarray(seen)[inside]
        rows = with_batches(rows, self.target.places)
        copies = copies_in(rows)
        if copies is not None:
            rows = rows.take(np.flatnonzero(~copies))
            seen = None if seen is None else np.asarray(seen)[~copies]
        hidden = (*given.hidden, *self._threshold_column, *batch_columns(self.target.places))
        if previous is not None:
            rows = replace(rows, previous=previous.favoured(rows.X))
            hidden = (*hidden, *previous.score_columns)
        rows = rows.numbered((*hidden, *self._roles.exclude))
        known, order = seen_rows(seen, len(rows)), rows.own_order
        rows, known = rows.take(order), None if known is None else known[order]
        splits = in_memory(
            rows, self.splits, self.max_rows, seed, known, for_all=sample_weight is None
        )
        told = (None if copies is None else said_of(copies), self._without_score(given.X))
        said = " ".join(text for text in told if text) or None
        return self._learn(
            splits, decision, classes, hidden, previous, named=given.named, said=said
        )

    def _fit_table(self, X: Any, y: Any, s: Any) -> Self:
        """Fit to a table that stays in its engine."""
        if batch_columns(self.target.places):
            raise ValueError(
                "places of every batch are filled and certified in memory: give the rows as a "
                "frame; apply fills them in any engine"
            )
        X = in_scope_table(self.target.scope, X, self._needed_score)
        table = EngineSplits.of(
            X, y, s, self.estimator, self._decision, self._roles, self.splits,
            seed_of(self.random_state), reads_groups=bool(self._deciding(s)),
        )  # fmt: skip
        ask_table(X, self._roles, table.reserved)
        splits = table.splits(self.max_rows)
        read_features(self, splits.learn.X, reset=True)
        classes = np.array(table.classes)
        check_direction(self._decision, y, classes[1], self.estimator)
        hidden = (*table.reserved, *self._threshold_column)
        return self._learn(splits, table.base.decision, classes, hidden, None, named=True)

    def _deciding(self, s: Any) -> list[str]:
        """The sensitive features that the patch may read, where it may."""
        if not self.may_use_sensitive:
            return []
        names = [s] if isinstance(s, str) else list(s) if isinstance(s, list | tuple) else []
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(
                "may_use_sensitive=True lets the patch read sensitive features as columns of X, "
                "so sensitive_features must be names of columns: sensitive_features=['sex']"
            )
        return names

    @property
    def _needed_score(self) -> str | None:
        """The score column without which a row is left out."""
        leaves_out = isinstance(self.estimator, str) and self._decision.no_score == "left_out"
        return self.estimator if leaves_out else None

    def _without_score(self, X: Any) -> str | None:
        """How many rows are left out because nobody has decided them yet, in words."""
        scored = in_scope((), X, self._needed_score)
        missing = 0.0 if scored is None else 1 - scored.mean()
        return f"{missing:.1%} of the rows have no score: they are in no rate." if missing else None

    @property
    def _threshold_column(self) -> tuple[str, ...]:
        """The column that holds thresholds, where one does: no card reads that."""
        column = self._decision.threshold
        return (column,) if isinstance(column, str) else ()

    def _learn(
        self, splits: Splits, decision: Decision, classes: Any, hidden: Collection[str],
        previous: PatchedModel | None, *, named: bool, said: str | None = None,
    ) -> Self:  # fmt: skip
        check_locks(self.target.locks, splits.learn.X, splits.learn.s.features)
        if self.target.comparisons is not None:
            names = Columns.of(splits.learn.X).names
            self.target.comparisons.check(names, splits.learn.s)
        encoder, base = self._prepared(
            splits.learn,
            decision.named(classes),
            hidden,
            self._roles.categories,
            reads_groups=self.may_use_sensitive,
        )
        scored = splits.scored(base)
        ask_rows(learned_rows(scored), base, self._roles, hidden, learns=True)
        check_outcomes(scored, given_y=self.target.given_y)
        _check_sure(scored.learn.f)
        task = Task(
            scored, encoder, base.decision, self.target, seed_of(self.random_state),
            None if previous is None else previous.patch,
            ask=None if isinstance(base.estimator, str) else base.logits,
            roles=with_reasons(base.roles, splits.learn.s.features, self.may_use_sensitive),
        )  # fmt: skip
        fitted = fit_target(task, self.learner)
        patch = with_probe(fitted.patch, base, splits.learn.X)
        judged = fitted.certificate and fitted.certificate.remarking(said)
        self._remember(replace(fitted, patch=patch, certificate=judged), base, classes, named)
        for text in fitted.doubts:
            warnings.warn(text, FitWarning, stacklevel=4)
        return self

    def _remember(self, fitted: Fitted, base: BaseModel, classes: Any, named: bool) -> None:
        self._keep(fitted, base, classes, named)
        for name in ("frontier", "choice", "preferred", "certificate"):
            setattr(self, f"{name}_", getattr(fitted, name))

    @property
    def menu_(self) -> Menu:
        """The patches to choose from, side by side, and what conditions cost."""
        return self.fitted_.menu

    def pick(self, name: str) -> Self:
        """Another patch of the menu, as a fitted model with its own certificate.

        Parameters
        ----------
        name : str
            As the menu has it: ``"in order"``, ``"fewest changes"``.

        Returns
        -------
        FairPatch
            A new one; this one stays as it is.

        Examples
        --------
        >>> from fairpatch.datasets import Population
        >>> groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
        >>> people = Population(p_rule=0.6, groups=groups).sample(8000).to_pandas()
        >>> X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
        >>> g = FairPatch("score", Target(p_rule=0.8)).fit(X, y, sensitive_features=s)
        >>> kept = g.pick("in order")
        >>> kept.certificate_.target.confidence
        0.975
        """
        picked = self.menu_.named(name)
        other = copy(self)
        own = picked.fit
        with_probes = with_probe(own.patch, self.base_, self.fitted_.learned_rows.X)
        other._remember(replace(own, patch=with_probes), self.base_, self.classes_, self.named_)
        return other

    def certify(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target | None = None,
        seen_by_base: Any = None, if_unlike: IfUnlike = "refuse",
    ) -> Certificate:  # fmt: skip
        """Certify the fitted patch on rows that it has not seen.

        Parameters
        ----------
        X, y, sensitive_features : as in ``fit``
            Rows that neither learning nor choosing has seen.
        target : Target, optional
            Another target than that of the fit.
        seen_by_base : array of bool, optional
            Rows that f was trained on: they are left out.
        if_unlike : {"refuse", "warn", "ignore"}
            Where the scores look like another model's.

        Returns
        -------
        Certificate
        """
        return self.patched_.certify(
            self._with_names(X, y),
            y,
            sensitive_features=sensitive_features,
            target=self.target if target is None else target,
            seen_by_base=seen_by_base,
            if_unlike=if_unlike,
        )


def with_reasons(roles: Roles, features: Collection[str], may: bool) -> Roles:
    """Roles that let the sensitive features be read, where they may be."""
    if not may:
        return roles
    return roles.replace(reasons={**dict.fromkeys(features, DECIDES), **roles.reasons})


def batch_columns(places: Places | None) -> list[str]:
    """The columns that say whose places are shared out together, and how many: no card's."""
    named = () if places is None else (places.by, places.number)
    return [name for name in named if isinstance(name, str)]


def _not_for_a_table(**given: Any) -> None:
    """Refuse what a fit to a table in an engine would leave unread."""
    unread = [name for name, value in given.items() if value is not None]
    if unread:
        raise ValueError(
            f"{unread[0]} is for rows in memory: fetch the rows to learn from, and fit to them"
        )


def _check_sure(f_logit: Floats) -> None:
    """Say where f gives decisions and no probabilities: then nobody is near the threshold."""
    if len(np.unique(f_logit[: check.MANY])) <= 2 and len(np.unique(f_logit)) <= 2:
        warnings.warn(
            "the base model's scores have only two values, as decisions have: a patch cannot tell "
            "the close cases from the clear ones. Give probabilities where there are any",
            UserWarning, stacklevel=4,
        )  # fmt: skip
