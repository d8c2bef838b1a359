"""Adversarial: the paper's learner for a target, over a grid of lambdas."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch._progress import tell
from fairpatch.choose.learner import Ask, Learned, Relearn, Task
from fairpatch.choose.target import Target
from fairpatch.commod.candidates import Candidates, train_candidates
from fairpatch.commod.problem import Grid, Step, Training
from fairpatch.data.rows import Rows
from fairpatch.measure.direction import DIRECTIONS
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder


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
