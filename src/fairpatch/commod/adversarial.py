"""Adversarial: the paper's learner for a target, a whole grid of lambdas trained in one stack."""

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.extras import need
from fairpatch._tools.progress import tell
from fairpatch.choose.learner import STRONGEST, Ask, Learned, Relearn, Task
from fairpatch.commod.problem import Grid, Problem, Ratios, Step, Training
from fairpatch.data.rows import Rows
from fairpatch.decision import PLAIN, Decision
from fairpatch.inputs.base import threshold_odds, with_scores
from fairpatch.inputs.roles import PLAIN as ROWS
from fairpatch.inputs.roles import Roles
from fairpatch.measure.cells import DIRECTIONS, Direction
from fairpatch.measure.metric import Fairness
from fairpatch.patch import Patch, Provenance
from fairpatch.patch.decide import decide
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target

# A whole grid of models trained in one stack, each a patch to be.
#
# Rows are encoded, trained on, and the weights folded back onto raw columns. One model is a grid of
# one.


@dataclass(frozen=True, eq=False)
class Candidates:
    """M trained models, as matrices for choosing among them and as patches for using one."""

    encoder: Encoder
    grid: Grid
    ratios: Ratios
    decision: Decision
    provenance: Provenance
    directions: tuple[Direction, ...]
    """Of each model; those of a joined stack may differ."""
    roles: Roles = ROWS

    @classmethod
    def join(cls, parts: Sequence["Candidates"]) -> "Candidates":
        """Stacks that differ in nothing but their models, as one."""
        first = parts[0]
        columns = ("fair", "ratio", "concepts", "seeds")
        grid = Grid(*(tuple(v for p in parts for v in getattr(p.grid, c)) for c in columns))
        ratios = Ratios(
            *(np.concatenate([getattr(p.ratios, k) for p in parts]) for k in ("W", "v", "a"))
        )
        directions = tuple(d for p in parts for d in p.directions)
        return replace(first, grid=grid, ratios=ratios, directions=directions)

    strengths: ClassVar[None] = None
    strongest: ClassVar[float] = STRONGEST

    def __len__(self) -> int:
        return len(self.grid)

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        return {
            "learner": "adversarial",
            "lambda_fair": float(self.grid.fair[m]),
            "lambda_ratio": float(self.grid.ratio[m]),
            "lambda_concepts": float(self.grid.concepts[m]),
            "seed": int(self.grid.seeds[m]),
            "direction": self.directions[m],
        }

    def caution(self, m: int) -> float:  # noqa: ARG002 it does not know f's confidence
        """Nothing to choose between."""
        return 0.0

    def size(self, m: int) -> int:
        """Its concepts."""
        return int((self.ratios.W[m] != 0).any(-1).sum())

    def importance(self) -> dict[str, float]:
        """How much each column moves the ratio, on average over the models."""
        moves = np.abs(np.einsum("mk,mkd->md", self.ratios.v, self.ratios.W)).mean(0)
        by_column: dict[str, float] = {}
        for feature, move in zip(self.encoder.features, moves, strict=True):
            by_column[feature.column.name] = by_column.get(feature.column.name, 0.0) + float(move)
        return by_column

    def ratio(self, X: Any) -> Floats:
        """r of every row by every model: (M, rows)."""
        weights = np.einsum("mk,mkd->md", self.ratios.v, self.ratios.W)
        return np.asarray(1.0 + self.ratios.a + weights @ self.encoder.transform(X).T)

    def decide(self, X: Any, f_logit: Floats) -> Bools:
        """Decisions of every model: (M, rows)."""
        ratios = zip(self.ratio(X), self.directions, strict=True)
        return np.array([decide(f_logit, ratio, direction) for ratio, direction in ratios])

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Model m as a patch: concepts by importance, unused ones and unread columns left out."""
        W, v = self.ratios.W[m], self.ratios.v[m]
        order = sorted(range(len(v)), key=lambda j: -abs(v[j]))
        used = [j for j in order if v[j] and W[j].any()]
        concepts = tuple(
            self.encoder.fold(W[j], float(v[j]), f"concept {i + 1}") for i, j in enumerate(used)
        )
        read = {name for concept in concepts for name in concept.columns}
        columns = {f.column.name: f.column for f in self.encoder.features if f.column.name in read}
        settings = {**self.provenance.settings, **self.about(m)}
        return Patch(
            columns=tuple(columns.values()),
            concepts=concepts,
            offset=float(self.ratios.a[m, 0]),
            strength=strength,
            decision=self.decision,
            roles=self.roles,
            direction=self.directions[m],
            provenance=self.provenance.model_copy(update={"settings": settings}),
        )


def train_candidates(
    rows: Rows,
    grid: Grid,
    training: Training | None = None,
    *,
    encoder: Encoder | None = None,
    decision: Decision = PLAIN,
    roles: Roles = ROWS,
    fairness: Fairness = "demographic_parity",
    direction: Direction = "both",
    seed: int = 0,
) -> Candidates:
    """Train a grid of models on rows that f has been asked about."""
    training, encoder = training or Training(), encoder or Encoder.fit(rows.X)
    f_logit, s = with_scores(rows.f), np.empty((len(rows), 0), np.int64)
    if rows.groups is not None:
        s = rows.groups.comparable().codes
    weight = _positive(rows.sample_weight, len(rows.y), "sample_weight")
    cost = _positive(rows.change_cost, len(rows.y), "change_cost")
    if training.ratio_loss == "fisher":  # the local KL(f || g) of a change of r
        p = 1 / (1 + np.exp(-f_logit - threshold_odds(decision, rows.X)))
        cost = cost * f_logit**2 * p * (1 - p)
    problem = Problem(
        Z=encoder.transform(rows.X),
        f_logit=f_logit,
        y=rows.good,
        s=s,
        weight=weight,
        ratio_weight=cost / max(np.average(cost, weights=weight), 1e-12),
        offset=float(np.mean(threshold_odds(decision, rows.X))),
        fairness=fairness,
        direction=direction,
        seed=seed,
    )
    train = _trainer()
    provenance = Provenance(
        settings={**training.settings, "fairness": fairness, "random_state": seed},
        sensitive_features=() if rows.groups is None else rows.groups.features,
        training_rows=len(rows.y),
        base_scores_sha256=hashlib.sha256(f_logit.astype("<f8").tobytes()).hexdigest(),
        versions={
            "python": platform.python_version(),
            **{package: version(package) for package in ("fairpatch", "numpy", "torch")},
        },
    )
    ratios = train(problem, grid, training)
    return Candidates(encoder, grid, ratios, decision, provenance, (direction,) * len(grid), roles)


def _trainer() -> Any:
    """The paper's training, which needs torch: imported by those who ask for it."""
    need("torch", extra="adversarial")
    from fairpatch.commod.train import train  # noqa: PLC0415 it imports torch

    return train


def _positive(values: Any, n: int, name: str) -> Floats:
    array = np.ones(n) if values is None else np.asarray(values, np.float64)
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise ValueError(f"{name} must be {n} finite numbers, at least 0 and not all 0")
    return array


# Adversarial: the paper's learner for a target, over a grid of lambdas.


@dataclass(frozen=True)
class Adversarial:
    """Train against an adversary, as the paper does, over a grid of lambdas.

    Parameters
    ----------
    grid : Grid, optional
        Lambdas and seeds to train; 80 models by default, for each direction the target allows.
    training : Training
        How each of them is trained.

    Notes
    -----
    Needs ``fairpatch[adversarial]``. ``Commod`` is the paper's estimator with one choice of
    lambdas, and no target.
    """

    name: ClassVar[str] = "adversarial"

    grid: Grid | None = None
    training: Training = field(default_factory=Training)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 scikit-learn's
        """Everything that can be set, as scikit-learn asks for it."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def learn(self, task: Task) -> Learned:
        """Train the grid on the rows to learn from; the candidates are compared on others."""
        splits, target = task.splits, task.target
        grid = self.grid or Grid.of(ratio=(0.3, 1.0), seeds=(task.seed,))
        # Who allows changes both ways allows one way too, and that is often the cheaper one.
        directions = DIRECTIONS if target.direction == "both" else (target.direction,)
        candidates = Candidates.join(
            [
                train_candidates(
                    splits.learn,
                    grid,
                    self.observed,
                    encoder=task.encoder,
                    decision=task.decision,
                    fairness=target.fairness,
                    direction=direction,
                    seed=task.seed,
                    roles=task.roles,
                )
                for direction in directions
            ]
        )
        return Learned(
            candidates,
            splits.select,
            candidates.ratio(splits.select.X),
            counts=splits.selected,
            learned_from=splits.learn,
            importance=candidates.importance(),
        )

    @property
    def observed(self) -> Training:
        """The same training, which also says how far it is."""
        return replace(self.training, callbacks=(*self.training.callbacks, _progress))

    def relearn(
        self,
        patch: Patch,
        rows: Rows,
        encoder: Encoder,
        target: Target | None,  # noqa: ARG002 the lambdas were chosen already
        ask: Ask | None = None,  # noqa: ARG002 its order is not kept
    ) -> Relearn:
        """Train again with the patch's own lambdas."""
        settings = patch.provenance.settings
        names = ("lambda_fair", "lambda_ratio", "lambda_concepts")
        fair, ratio, concepts = ((float(settings[name]),) for name in names)

        def again(drawn: Ints, seed: int) -> Floats:
            candidates = train_candidates(
                rows.take(drawn),
                Grid.of(fair, ratio, concepts, seeds=(seed,)),
                replace(self.training, callbacks=()),
                encoder=encoder,
                decision=patch.decision,
                fairness=settings["fairness"],
                direction=patch.direction,
                seed=seed,
            )
            return np.asarray(candidates.ratio(rows.X)[0])

        return again


def _progress(step: Step) -> None:
    tell("learning", step.step / step.of)
