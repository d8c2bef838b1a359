"""The whole way from splits to a certified patch: train, trace, choose, certify."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch._progress import tell
from fairpatch.base import scores_of
from fairpatch.choose.candidates import Candidates
from fairpatch.choose.cards import Cards, learn_cards
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.choice import Choice, choose
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learners import Game, Push
from fairpatch.choose.old_card import beside_old
from fairpatch.choose.pool import Pool
from fairpatch.choose.struck import Struck, struck_lines
from fairpatch.choose.suspicion import MOST as MOST_ASKED
from fairpatch.choose.suspicion import check_points_right, looks_known
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Crossed, Fresh, Splits
from fairpatch.decision import Decision
from fairpatch.measure.counts import Counts
from fairpatch.measure.direction import DIRECTIONS, Direction, untouched
from fairpatch.measure.fairness import Fairness
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.fingerprint import fingerprint_of


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
    learner: Push | Game | None = None
    """How it was learned, so that it can be learned again."""
    struck: tuple[Struck, ...] = ()
    """The chosen card without one line each, for whoever thinks of striking one."""

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
    splits: Splits, encoder: Encoder, decision: Decision, target: Target, learner: Push | Game
) -> Fitted:
    """Learn a frontier, choose on other rows, certify on rows that nothing has seen."""
    check_points_right(splits.learn, decision)
    frontier, own, rows = train_frontier(splits, encoder, decision, target, learner)
    tell("choosing", 0.0)
    ladder = choose(frontier, target)
    choice, certificate = ladder[-1], None
    tell("certifying", 0.0)
    if splits.fresh is not None:
        choice, certificate = certify_choice(ladder, frontier.candidates, target, splits.fresh)
        known = looks_known(splits.fresh.sample(MOST_ASKED))
        certificate = replace(certificate, warning=known)
    patch = frontier.candidates.patch(choice.model, choice.strength)
    return Fitted(
        with_fingerprint(patch, splits.learn if splits.both is None else splits.both.rows),
        own,
        encoder,
        target,
        frontier,
        _with_expected(choice, frontier, target, rows),
        _with_expected(ladder[-1], frontier, target, rows),
        certificate,
        splits.fresh,
        splits.people,
        learner,
        struck_lines(frontier.candidates, choice, rows),
    )


def _with_expected(choice: Choice, frontier: Frontier, target: Target, rows: Rows) -> Choice:
    """What the choice reached on people who were not learned from, with intervals."""
    f, m = rows.f, choice.model
    r = 1 + choice.strength * (frontier.ratios[m] - 1)
    approved = f > 0
    patched = np.where(approved, r > 0, (f < 0) & (r < 0))
    after = np.where(untouched(frontier.candidates.directions[m], approved), approved, patched)
    counts = Counts.from_arrays(
        decision=approved,
        new_decision=after,
        y=rows.y,
        sensitive_features=rows.s.comparable(),
        sample_weight=rows.sample_weight,
    )
    found = {
        feature: {metric.name: metric.of(counts.by(feature)) for metric in target.metrics}
        for feature in counts.features
    }
    return replace(choice, expected=found)


def fit_lambdas(
    rows: Rows,
    encoder: Encoder,
    decision: Decision,
    fairness: Fairness,
    direction: Direction,
    learner: Game,
) -> Fitted:
    """Learn one patch: the first of the learner's grid, as trained."""
    candidates = learner.train(rows, encoder, decision, fairness, direction)
    patch = with_fingerprint(candidates.patch(0), rows)
    return Fitted(patch, encoder, encoder, people=len(rows), learner=learner)


def with_fingerprint(patch: Patch, rows: Rows) -> Patch:
    """The patch with what f's scores and its columns look like on the rows it was learned from."""
    scores = scores_of(rows.f, patch.decision)
    found = fingerprint_of(rows.X, scores, patch.columns, rows.stands_for)
    return patch.model_copy(update={"fingerprint": found})


def train_frontier(
    splits: Splits, encoder: Encoder, decision: Decision, target: Target, learner: Push | Game
) -> tuple[Frontier, Encoder, Rows]:
    """All candidates with their dials; the columns they may read; the people they are judged on."""
    if target.max_columns is not None:  # learn with all, keep the strongest, learn again
        every = _learn(splits, encoder, decision, target, learner)[0]
        moves = every.importance()
        strongest = sorted(moves, key=lambda name: -moves[name])
        encoder = encoder.only(strongest[: target.max_columns])
    candidates, rows, ratios, counts = _learn(splits, encoder, decision, target, learner)
    learned = splits.learn if isinstance(learner, Game) else None
    settled = candidates.own_ratios if isinstance(candidates, Cards) else None
    pool: Pool = candidates
    if isinstance(candidates, Cards) and isinstance(learner, Push) and learner.nearest_to:
        joined = beside_old(candidates, learner.nearest_to, rows, target.direction)
        pool, ratios, settled = joined, joined.ratios, joined.own_ratios
    own = (rows, ratios, encoder, learned, counts, target.metrics, settled)
    return Frontier.trace(pool, *own), encoder, rows


def _learn(
    splits: Splits, encoder: Encoder, decision: Decision, target: Target, learner: Push | Game
) -> tuple[Candidates | Cards, Rows, Floats, Counts | None]:
    """Candidates, the people they are judged on, their ratios, and counts of f's decisions."""
    if isinstance(learner, Push):
        both = splits.both or Crossed(splits.learn)
        cards = learn_cards(both, encoder, decision, target, learner.rules, learner.seed)
        rows = both.rows
        if both.known_to_f is not None:
            rows = rows.take(np.flatnonzero(~both.known_to_f))
        return cards, rows, cards.ratios, both.counts
    # Who allows changes both ways allows one way too, and that is often the cheaper one.
    directions = DIRECTIONS if target.direction == "both" else (target.direction,)
    own = (encoder, decision, target.fairness)
    trained = [learner.train(splits.learn, *own, direction) for direction in directions]
    candidates = Candidates.join(trained)
    return candidates, splits.select, candidates.ratio(splits.select.X), splits.selected


def certify_choice(
    ladder: Sequence[Choice], candidates: Pool, target: Target, fresh: Fresh
) -> tuple[Choice, Certificate]:
    """The weakest choice that is certified, and its certificate.

    The ladder was fixed on the selection rows, and is tested from its safest end until one fails
    (fixed-sequence testing): however many are tried, the chance of certifying a patch that violates
    the target stays below 1 - confidence. If not even the safest is certified, the one that is
    preferred on the selection rows stands, with its own verdict.
    """
    patches = [candidates.patch(choice.model, choice.strength) for choice in ladder]
    counts = fresh.count(patches)
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
