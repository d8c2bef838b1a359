"""Rows as the learner of a scorecard takes them, and scores from rows with S: who is helped.

The push h(x) is worked out from all columns and then said by the columns that come nearest to it
where it matters: near f's threshold. Saying a worked-out push leaves out the noise of S itself,
which would choose other columns every time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.card.aim import CellModel, CellModelOptions, Cells, FactoredModel, Limit, multipliers
from fairpatch.card.bins import CardOptions, Field, fields_of, left_out
from fairpatch.card.confidence import Levels, full_confidence, orders_of
from fairpatch.card.scorecard import Rules, Scores, choose_columns, learn_scores
from fairpatch.card.sense import of_no_group
from fairpatch.choose.learner import Ask, Task
from fairpatch.data.rows import Rows, layers_of
from fairpatch.inputs.base import NO_SCORE, with_scores
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.comparisons import Comparisons, Layers
from fairpatch.measure.places import Places
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.parts import Lock
from fairpatch.patch.terms import locked_rows

BY_CHANCE = 0.01
"""How often a column that says nothing of the groups may be taken all the same."""
NEAR = 0.5
"""How fast people count for less as f gets more confident: exp(-m / NEAR)."""


@dataclass(frozen=True, eq=False)
class ScorecardProblem:
    """The rows to learn from, as arrays."""

    Z: Floats
    """Encoded features, for the push; ``pieces`` is what a scorecard can say of the same rows."""
    fields: Sequence[Field]
    orders: tuple[Levels, ...]
    """By field: f's own order of its pieces."""
    rules: Rules
    pieces: tuple[Ints, ...]
    """By field: each row's piece."""
    groups: Ints
    """Codes of the sensitive features, (rows, features); -1 where missing."""
    y: Ints
    f_logit: Floats
    sure: Floats
    """m: how confident f is, in units of what one in ten exceeds."""
    weight: Floats
    locked: Bools
    """Whose decision is a matter of policy."""
    layers: tuple[Layers, ...] = ()
    """By feature: the strata that its groups are compared in, if any."""
    known: dict[tuple[tuple[Cells, ...], CellModelOptions], list[CellModel | FactoredModel]] = (
        field(default_factory=dict, repr=False)
    )
    """Models of the cells that were learned from these rows already."""
    telling: dict[tuple[Cells, ...], list[int]] = field(default_factory=dict, repr=False)
    """By cells: the fields that go with them, beyond chance."""

    @property
    def near(self) -> Floats:
        """How much each row matters: those near the threshold most, and those locked nothing."""
        return np.asarray(self.weight * np.exp(-self.sure / NEAR) * ~self.locked)

    def take(self, rows: Ints) -> "ScorecardProblem":
        """Some of the rows."""
        arrays = {
            name: getattr(self, name)[rows]
            for name in ("Z", "groups", "y", "f_logit", "sure", "weight", "locked")
        }
        arrays["layers"] = tuple(replace(own, code=own.code[rows]) for own in self.layers)
        return replace(
            self, pieces=tuple(p[rows] for p in self.pieces), known={}, telling={}, **arrays
        )

    def spread(self, k: int, chances: Floats) -> Floats:
        """P(cell | x) of a feature by stratum, where there are any."""
        return self.layers[k].spread(chances) if self.layers else chances

    def cells(self, k: int, *, by_label: bool) -> Cells:
        """The cells of a feature: of its groups, in all strata that there are."""
        groups = int(self.groups[:, k].max(initial=0)) + 1
        if not self.layers:
            return Cells(groups, by_label)
        own = self.layers[k]
        strata = 1 if own.standardised else len(own.kept)
        return Cells(groups, by_label, strata, tuple(which for _, which in own.blocks))


@dataclass(frozen=True, eq=False)
class Aim:
    """What is aimed at: the worth of an approval in every cell of every feature."""

    cells: tuple[Cells, ...]
    alphas: tuple[Floats, ...]
    teacher: CellModelOptions
    """Of the models of the cells."""

    @classmethod
    def each(
        cls, problem: ScorecardProblem, asked: Sequence[Sequence[Limit]], teacher: CellModelOptions,
        places: Places | None = None,
    ) -> list["Aim"]:  # fmt: skip
        """The multipliers of each of several sets of limits on these rows."""
        by_label = any(
            label is not None for limits in asked for limit in limits for label in limit.labels
        )
        features = range(problem.groups.shape[1])
        cells = tuple(problem.cells(k, by_label=by_label) for k in features)
        models = _models(problem, cells, teacher)
        chances = [
            problem.spread(k, model.probabilities(problem.Z, problem.f_logit))
            for k, model in enumerate(models)
        ]
        cost = 1 + np.minimum(problem.sure, 1.0)
        approved = problem.f_logit > 0
        share = float(np.average(approved, weights=problem.weight))
        room = None if places is None else places.within(share)
        rest = (approved, cost, problem.weight, problem.locked, room)
        return [
            cls(cells, tuple(multipliers(chances, cells, limits, *rest)), teacher)
            for limits in asked
        ]

    def push(self, problem: ScorecardProblem) -> Floats:
        """h(x) of the rows, learned from them."""
        total = np.zeros(len(problem.y))
        models = _models(problem, self.cells, self.teacher)
        for k, (alpha, model) in enumerate(zip(self.alphas, models, strict=True)):
            if alpha.any():
                chances = model.probabilities(problem.Z, problem.f_logit)
                total += problem.spread(k, chances) @ alpha
        return total


def _models(
    problem: ScorecardProblem, cells: tuple[Cells, ...], teacher: CellModelOptions
) -> list[CellModel | FactoredModel]:
    """P(cell | x) of every feature: the aim and the push ask for the same."""
    if (cells, teacher) not in problem.known:
        problem.known[cells, teacher] = [
            _model(problem, of_feature, s, teacher)
            for of_feature, s in zip(cells, problem.groups.T, strict=True)
        ]
    return problem.known[cells, teacher]


def _model(
    problem: ScorecardProblem, cells: Cells, group: Ints, teacher: CellModelOptions
) -> CellModel | FactoredModel:
    Z, y, weight = problem.Z, problem.y, problem.weight
    told = np.flatnonzero(y != UNKNOWN)
    if teacher.factored and cells.by_label and len(np.unique(y[told])) == 2:
        return FactoredModel.fit(
            Z[told], problem.f_logit[told], group[told], y[told], weight[told], cells.groups,
            teacher.inverse_penalty,
        )  # fmt: skip
    many = cells.groups * (2 if cells.by_label else 1)  # of each stratum alike
    return CellModel.fit(Z, cells.code(group, y), weight, many, teacher.inverse_penalty)


def columns_for(problem: ScorecardProblem, aim: Aim, most: int) -> list[int]:
    """The columns of a scorecard for an aim: of those that tell who is in which cell."""
    args = (problem.fields, problem.rules, problem.pieces, aim.push(problem), problem.near)
    if aim.cells not in problem.telling:  # aims are many, their cells are not
        problem.telling[aim.cells] = _telling(problem, aim)
    return choose_columns(*args, most, problem.telling[aim.cells] or None)


def _telling(problem: ScorecardProblem, aim: Aim) -> list[int]:
    """Fields whose pieces go with the cells beyond chance.

    The push is worked out from all columns together, noise among them; what a column says of it
    alone has to survive. Pearson's chi-squared of pieces and cells, of any sensitive feature.
    """
    codes = [
        replace(cells, strata=1, blocks=()).code(group, problem.y)
        for cells, group in zip(aim.cells, problem.groups.T, strict=True)
    ]
    return [
        j for j, piece in enumerate(problem.pieces)
        if min(_chance(piece, code) for code in codes) < BY_CHANCE
    ]  # fmt: skip


def _chance(piece: Ints, code: Ints) -> float:
    """How often chance gives so much, if pieces and cells have nothing to do with each other."""
    known = code >= 0
    table = np.zeros((int(piece.max(initial=0)) + 1, int(code.max(initial=0)) + 1))
    np.add.at(table, (piece[known], code[known]), 1)
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    if min(table.shape, default=0) < 2:
        return 1.0
    return float(chi2_contingency(table).pvalue)


def scores_for(problem: ScorecardProblem, aim: Aim, used: Sequence[int]) -> Scores:
    """The scores of these columns for an aim, from these rows."""
    args = (problem.fields, problem.rules, problem.pieces, aim.push(problem), problem.near)
    return learn_scores(*args, used)


def parted(problem: ScorecardProblem, folds: Ints) -> list[tuple[Bools, ScorecardProblem]]:
    """Of every fold its rows, and all others; fold -1 is in all."""
    each = np.unique(folds[folds >= 0])
    return [(folds == fold, problem.take(np.flatnonzero(folds != fold))) for fold in each]


def cross_fitted(
    parts: Sequence[tuple[Bools, ScorecardProblem]],
    aim: Aim,
    used: Sequence[int],
    rules: Rules,
    done: Callable[[float], None] = lambda _: None,
) -> list[tuple[Bools, Scores]]:
    """Of every fold its rows, and scores that were learned without them.

    The columns are those of the whole: only how they count is learned again. ``done`` is told the
    share of the folds that is learned.
    """
    learned = []
    for k, (inside, others) in enumerate(parts):
        done(k / len(parts))
        learned.append((inside, scores_for(replace(others, rules=rules), aim, used)))
    return learned


def folds_of(strata: Any, n: int, seed: int, person: Ints | None = None) -> Ints:
    """Each row's fold, every stratum spread over all of them; rows of a person in one."""
    if person is not None:
        _, first, whose = np.unique(person, return_index=True, return_inverse=True)
        return np.asarray(folds_of(strata[first], n, seed)[whose])
    random, folds = np.random.default_rng(seed), np.empty(len(strata), np.int64)
    for value in np.unique(strata):
        rows = np.flatnonzero(strata == value)
        folds[random.permutation(rows)] = np.arange(len(rows)) % n
    return folds


# Rows as the learner of a scorecard takes them: columns in pieces, f's order, locks and strata.


def scorecard_problem(
    rows: Rows,
    encoder: Encoder,
    options: CardOptions,
    *,
    weight: Floats | None = None,
    ask: Ask | None = None,
    locked: Sequence[Lock] = (),
    comparisons: Comparisons | None = None,
    roles: Roles = PLAIN,
) -> tuple[ScorecardProblem, dict[str, str]]:
    """The rows as the learner of a scorecard takes them, and the columns it does not take."""
    held, f_logit = Columns.of(rows.X), with_scores(rows.f)
    columns = list({f.column.name: f.column for f in encoder.features}.values())
    options.check_columns([column.name for column in columns])
    why = left_out(held, columns, f_logit, roles)
    why |= {lock.column: "it locks decisions" for lock in locked}
    fields = fields_of(held, [c for c in columns if c.name not in why], options, roles)
    fields, stand = of_no_group(
        fields,
        [field.read(held) for field in fields],
        rows.s.comparable().codes,
        rows.person,
        meant=set(roles.reasons) & set(rows.s.features),  # the group itself, where the law allows
    )
    why |= stand
    if not fields:
        named = "; ".join(f"{name}, {reason}" for name, reason in why.items())
        raise ValueError(
            f"no column is left for a scorecard of {held.rows:,} people: all are alike, or have "
            f"too few people for two bins{', or ' * bool(why)}{named}"
        )
    pieces = tuple(field.read(held) for field in fields)
    orders = orders_of(ask, rows.X, f_logit, fields, pieces)
    problem = ScorecardProblem(
        _encoded(encoder.only([field.column.name for field in fields]), fields, rows.X),
        fields,
        tuple(orders),
        Rules.of(fields, orders, options),
        pieces,
        rows.s.comparable().codes,
        rows.y,
        f_logit,
        np.abs(f_logit) / full_confidence(f_logit),
        np.ones(len(rows)) if weight is None else weight,
        locked_rows(locked, rows.X) | (rows.f == NO_SCORE),
        layers_of(rows, comparisons),
    )
    return problem, why


def _encoded(encoder: Encoder, fields: Sequence[Field], X: Any) -> Floats:
    """The encoded columns; a code is a column of its own, and of its number no value."""
    Z, held = encoder.transform(X), Columns.of(X)
    coded = {field.column.name: field for field in fields if field.codes}
    more = []
    for j, feature in enumerate(encoder.features):
        field = coded.get(feature.column.name)
        if field is None or feature.what != "value":
            continue
        values = np.asarray(held.values(feature.column), np.float64)
        codes = [code for code, _ in field.codes]
        known = np.isfinite(values) & ~np.isin(values, codes)
        spread = float(values[known].std()) or 1.0
        Z[:, j] = np.where(known, (values - values[known].mean()) / spread, 0.0)
        for code in codes:
            here = (values == code).astype(np.float64)
            more.append((here - here.mean()) / (float(here.std()) or 1.0))
    return np.column_stack([Z, *more]) if more else Z


def cached_problem(
    rows: Rows, weight: Floats | None, task: Task, options: CardOptions
) -> tuple[ScorecardProblem, dict[str, str]]:
    """The problem of these rows; where only wishes changed, f is not asked again."""
    if "problem" not in task.memory:
        task.memory["problem"] = scorecard_problem(
            rows, task.encoder, options, weight=weight, ask=task.ask, locked=task.target.locks,
            comparisons=task.target.comparisons, roles=task.roles,
        )  # fmt: skip
    problem, why = task.memory["problem"]
    return ordered(problem, options), why


def ordered(problem: ScorecardProblem, options: CardOptions) -> ScorecardProblem:
    """The same with the order that is to be kept."""
    return replace(problem, rules=Rules.of(problem.fields, problem.orders, options))
