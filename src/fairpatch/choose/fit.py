"""The whole way from splits to a certified patch: train, trace, choose, certify."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairpatch._progress import tell
from fairpatch.base import scores_of
from fairpatch.choose.certificate import Certificate, certify
from fairpatch.choose.choice import Choice, choose
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Learner, Task
from fairpatch.choose.pool import Pool
from fairpatch.choose.struck import Struck, struck_lines
from fairpatch.choose.suspicion import MOST as MOST_ASKED
from fairpatch.choose.suspicion import check_points_right, looks_known
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Fresh
from fairpatch.identity.fingerprint import fingerprint_of
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch
from fairpatch.patch.decide import decide
from fairpatch.patch.encoding import Encoder
from fairpatch.verdict import Verdict


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
    learner: Learner | None = None
    """How it was learned, so that it can be learned again."""
    struck: tuple[Struck, ...] = ()
    """The chosen card without one line each, for whoever thinks of striking one."""

    def fresh_rows(self, most: int | None = None) -> Rows:
        """The people who certified it, or at most so many of them."""
        if self.fresh is None:
            raise ValueError(
                "this fit has no certification set: the last of its splits is 0, or it "
                "was saved and loaded, which drops those rows"
            )
        return self.fresh.sample(most)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the people: a stored model holds no row and no value of S."""
        return {**vars(self), "fresh": None}


def fit_target(task: Task, learner: Learner) -> Fitted:
    """Learn a frontier, choose on other rows, certify on rows that nothing has seen."""
    splits, target = task.splits, task.target
    check_points_right(splits.learn, task.decision)
    frontier, encoder, rows = train_frontier(task, learner)
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
        patch=with_fingerprint(patch, splits.learn if splits.both is None else splits.both.rows),
        encoder=encoder,
        wide_encoder=task.encoder,
        target=target,
        frontier=frontier,
        choice=_with_expected(choice, frontier, target, rows),
        preferred=_with_expected(ladder[-1], frontier, target, rows),
        certificate=certificate,
        fresh=splits.fresh,
        people=splits.people,
        learner=learner,
        struck=struck_lines(frontier.candidates, choice, rows),
    )


def train_frontier(task: Task, learner: Learner) -> tuple[Frontier, Encoder, Rows]:
    """All candidates at all strengths; the columns they may read; the rows they are judged on."""
    if task.target.max_columns is not None:  # learn with all, keep the strongest, learn again
        importance = learner.learn(task).importance
        strongest = sorted(importance, key=lambda name: -importance[name])
        task = replace(task, encoder=task.encoder.only(strongest[: task.target.max_columns]))
    learned = learner.learn(task)
    return Frontier.trace(learned, task.encoder, task.target.metrics), task.encoder, learned.rows


def _with_expected(choice: Choice, frontier: Frontier, target: Target, rows: Rows) -> Choice:
    """What the choice reached on people who were not learned from, with intervals."""
    r = 1 + choice.strength * (frontier.ratios[choice.model] - 1)
    counts = Counts.from_arrays(
        decision=rows.f > 0,
        new_decision=decide(rows.f, r, frontier.candidates.directions[choice.model]),
        y=rows.y,
        sensitive_features=rows.s.comparable(),
        sample_weight=rows.sample_weight,
    )
    estimates = {
        feature: {metric.name: metric.of(counts.by(feature)) for metric in target.metrics}
        for feature in counts.features
    }
    return replace(choice, expected=estimates)


def with_fingerprint(patch: Patch, rows: Rows) -> Patch:
    """The patch with what f's scores and its columns look like on the rows it was learned from."""
    scores = scores_of(rows.f, patch.decision)
    fingerprint = fingerprint_of(rows.X, scores, patch.columns, rows.stands_for)
    return patch.model_copy(update={"fingerprint": fingerprint})


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
    certificates = [certify(table, target) for table in counts]
    best = None
    for choice, certificate in zip(ladder, certificates, strict=True):
        if certificate.verdict is not Verdict.CERTIFIED:
            break
        best = choice, certificate
    if best:
        return best
    # The sequence has failed: a further test at full level could not certify any more.
    last = certificates[-1]
    if last.verdict is Verdict.CERTIFIED:
        open_ = tuple(replace(result, verdict=Verdict.INCONCLUSIVE) for result in last.results)
        last = replace(last, results=open_)
    return ladder[-1], last
