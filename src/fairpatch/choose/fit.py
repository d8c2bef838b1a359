"""The whole way from splits to a certified patch: train, trace, choose, certify."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairpatch.choose.candidates import Candidates, RatioLoss, train_candidates
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.choice import Choice, choose
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Fresh, Splits
from fairpatch.learn.problem import Fairness, Grid, Settings
from fairpatch.learn.train import Callback
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder


@dataclass(frozen=True)
class Learner:
    """How candidates are trained: the paper's game, over a grid of lambdas."""

    grid: Grid
    n_concepts: int = 3
    n_steps: int = 400
    seed: int = 0
    ratio_loss: RatioLoss = "uniform"
    callbacks: Sequence[Callback] = ()

    def train(
        self,
        rows: Rows,
        encoder: Encoder,
        cutoff: float,
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
            cutoff=cutoff,
            ratio_loss=self.ratio_loss,
            callbacks=self.callbacks,
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit gives: the patch, and with a target how it was chosen and judged."""

    patch: Patch
    encoder: Encoder
    """Of the columns that the patch may read."""
    wide_encoder: Encoder
    """Of all columns that it could have read, where ``max_columns`` left only some."""
    target: Target | None = None
    frontier: Frontier | None = None
    choice: Choice | None = None
    preferred: Choice | None = None
    """What the target prefers on the selection rows; the choice has more room where only that
    could be certified."""
    certificate: Certificate | None = None
    fresh: Fresh | None = None
    """The people who certified it: neither learned from nor chosen on."""
    people: int = 0
    """In all splits together."""

    def fresh_rows(self, most: int | None = None) -> Rows:
        """The people who certified it, or at most so many of them."""
        if self.fresh is None:
            raise ValueError(
                "there are no people who certified this fit: the last of its splits is 0, or it "
                "was stored and read again, which leaves them out"
            )
        return self.fresh.sample(most)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the people: a stored model holds no row and no value of S."""
        return {**vars(self), "fresh": None}


def fit_target(
    splits: Splits, encoder: Encoder, cutoff: float, target: Target, learner: Learner
) -> Fitted:
    """Learn a frontier, choose on other rows, certify on rows that nothing has seen."""
    frontier = train_frontier(splits, encoder, cutoff, target, learner)
    ladder = choose(frontier, target)
    choice, certificate = ladder[-1], None
    if splits.fresh is not None:
        choice, certificate = certify_choice(ladder, frontier.candidates, target, splits.fresh)
    return Fitted(
        _patch(frontier.candidates, choice),
        frontier.candidates.encoder,
        encoder,
        target,
        frontier,
        choice,
        ladder[-1],
        certificate,
        splits.fresh,
        splits.people,
    )


def fit_lambdas(
    rows: Rows,
    encoder: Encoder,
    cutoff: float,
    fairness: Fairness,
    direction: Direction,
    learner: Learner,
) -> Fitted:
    """Learn one patch: the first of the learner's grid, as trained."""
    candidates = learner.train(rows, encoder, cutoff, fairness, direction)
    return Fitted(candidates.patch(0), encoder, encoder, people=len(rows))


def train_frontier(
    splits: Splits, encoder: Encoder, cutoff: float, target: Target, learner: Learner
) -> Frontier:
    """Train every candidate on the first split, and trace its dial on the second."""

    def train(own: Encoder, direction: Direction) -> Candidates:
        return learner.train(splits.learn, own, cutoff, target.fairness, direction)

    if target.max_columns is not None:  # learn with all, keep the strongest, learn again
        moves = train(encoder, target.direction).importance()
        strongest = sorted(moves, key=lambda name: -moves[name])
        encoder = encoder.only(strongest[: target.max_columns])
    # Who allows changes both ways allows one way too, and that is often the cheaper one.
    directions = DIRECTIONS if target.direction == "both" else (target.direction,)
    candidates = Candidates.join([train(encoder, direction) for direction in directions])
    return Frontier.trace(candidates, splits.select, splits.learn, splits.selected, target.metrics)


def certify_choice(
    ladder: Sequence[Choice], candidates: Candidates, target: Target, fresh: Fresh
) -> tuple[Choice, Certificate]:
    """The weakest choice that is certified, and its certificate.

    The ladder was fixed on the selection rows, and is tested from its safest end until one fails
    (fixed-sequence testing): however many are tried, the chance of certifying a patch that violates
    the target stays below 1 - confidence. If not even the safest is certified, the one that is
    preferred on the selection rows stands, with its own verdict.
    """
    counts = fresh.count([_patch(candidates, choice) for choice in ladder])
    certificates = [certify(own, target) for own in counts]
    best = None
    for choice, certificate in zip(ladder, certificates, strict=True):
        if certificate.word != "certified":
            break
        best = choice, certificate
    if best:
        return best
    # The sequence has failed: a further test at full level could not certify any more.
    last = certificates[-1]
    words = [replace(v, word="too few data") if v.word == "certified" else v for v in last.verdicts]
    return ladder[-1], replace(last, verdicts=tuple(words)) if last.word == "certified" else last


def _patch(candidates: Candidates, choice: Choice) -> Patch:
    return candidates.patch(choice.model).with_strength(choice.strength)
