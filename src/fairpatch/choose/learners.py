"""Who learns the candidates: the push of a card, or the paper's game."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fairpatch._progress import tell
from fairpatch.choose.candidates import Candidates, RatioLoss, train_candidates
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.learn.adversarial.problem import Callback, Grid, Settings, Step
from fairpatch.learn.push.rules import CardRules
from fairpatch.measure.direction import Direction
from fairpatch.measure.fairness import Fairness
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder


@dataclass(frozen=True)
class Game:
    """How the paper's candidates are trained: against an adversary, over a grid of lambdas."""

    grid: Grid = field(default_factory=lambda: Grid.of(ratio=(0.3, 1.0)))
    n_concepts: int = 3
    n_steps: int = 400
    seed: int = 0
    ratio_loss: RatioLoss = "uniform"
    callbacks: Sequence[Callback] = ()

    def train(
        self,
        rows: Rows,
        encoder: Encoder,
        decision: Decision,
        fairness: Fairness,
        direction: Direction,
    ) -> Candidates:
        """Train the grid on rows that f has been asked about."""
        settings = Settings(
            fairness=fairness,
            direction=direction,
            n_concepts=self.n_concepts,
            n_steps=self.n_steps,
            random_state=self.seed,
        )
        return train_candidates(
            rows,
            self.grid,
            settings,
            encoder=encoder,
            decision=decision,
            ratio_loss=self.ratio_loss,
            callbacks=self.callbacks,
        )


@dataclass(frozen=True)
class Push:
    """How cards are learned: without a game."""

    rules: CardRules = field(default_factory=CardRules)
    seed: int = 0
    nearest_to: Patch | None = None
    """The card in force until now: a candidate beside the new ones."""


def learner_of(model: Any, seed: int) -> Push | Game:
    """The learner of a target that an estimator's parameters ask for."""
    if model.learner == "push":
        return Push(model.card or CardRules(), seed)
    return game_of(model, model.grid or Grid.of(ratio=(0.3, 1.0), seeds=(seed,)), seed)


def game_of(model: Any, grid: Grid, seed: int) -> Game:
    """The paper's learner with an estimator's parameters."""
    own = (model.n_concepts, model.n_steps, seed, model.ratio_loss, [*model.callbacks, _told])
    return Game(grid, *own)


def _told(step: Step) -> None:
    tell("learning", step.step / step.of)
