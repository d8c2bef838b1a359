"""The whole way from splits to a certified patch: train, trace, choose, certify."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, ndtri

from fairpatch._tools.hints import did_you_mean
from fairpatch._tools.progress import tell
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import Certificate, about_rows, certify
from fairpatch.choose.choice import MORE, Choice, choose, options
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Learned, Learner, Pool, Task
from fairpatch.choose.menu import Menu, Search, menu_of
from fairpatch.choose.objections import MOST as MOST_ASKED
from fairpatch.choose.objections import TargetNotReachedError, check_points_right, looks_known
from fairpatch.choose.small_groups import check_small_groups, handfuls, said_of_handful
from fairpatch.data.outcomes import (
    Expected,
    expected_of,
    fine,
    learned_rows,
    odds_of,
    outlook_of,
    splits_expecting,
)
from fairpatch.data.rows import Rows, rows_hash
from fairpatch.data.splits import CertificationRows, CertificationSample, Splits, count_rows
from fairpatch.data.used_rows import UsedRows
from fairpatch.identity.fingerprint import fingerprint_of, scores_alike
from fairpatch.inputs.base import NO_SCORE, threshold_odds, thresholds_of
from fairpatch.inputs.probable import assumed, without_assumption
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import changed_rate
from fairpatch.measure.scores import displacement
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
from fairpatch.target import Target, check_scores

MOST_ROWS = 100_000
"""Fresh rows that are looked at by period, at most."""
STRICTER = (0.03, 0.06, 0.1, 0.15)
"""How much inside the target choices are tried where places are filled in batches."""
ALIKE = 0.5
"""Of the people whom one of two patches changes, those whom both change: fewer are others."""


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
    preferred_certificate: Certificate | None = None
    """What the preferred choice itself certifies, on the same rows."""
    fresh: CertificationRows | None = None
    """The people who certified it: neither learned from nor chosen on."""
    people: int = 0
    """In all splits together."""
    learner: Learner | None = None
    """How it was learned, so that it can be learned again."""
    search: Search | None = None
    """What was found, to search again with another condition."""

    @cached_property
    def menu(self) -> Menu:
        """The patches to choose from, and what conditions cost: learned when somebody asks.

        It takes as long as the fit. A fit that was saved before anybody asked has none.
        """
        if self.search is None:
            raise ValueError("this fit has no menu: it was saved and loaded before it was made")
        return menu_of(self.search, self, _certified)

    @property
    def doubts(self) -> Iterator[str]:
        """Why somebody should look at it before it is used, in sentences."""
        judged, choice = self.certificate, self.choice
        if judged is not None and judged.verdict is Verdict.CONDITIONAL:
            yield "the patch holds under an assumption that no data can show: see certificate_"
        elif judged is not None and judged.verdict is not Verdict.CERTIFIED:
            yield f"the patch is not certified ({judged.verdict}): certificate_ says what lacks"
        if judged is not None and judged.warning is not None:
            yield judged.warning
        if choice is not None and choice.handful is not None:
            yield choice.handful
        for stop in () if choice is None else choice.stops:
            yield f"a review will stop this patch: {stop}"

    @property
    def learned_rows(self) -> Rows:
        """The rows that it was learned from."""
        if self.search is None:
            raise ValueError("a fit that was saved and loaded has no rows")
        return self.search.task.splits.learn

    def used(self, but: Collection[str]) -> UsedRows | None:
        """The rows that learned and chose, told without f's score column."""
        if self.search is None:
            return None
        splits = self.search.task.splits
        rows = [splits.learn, splits.select] if splits.both is None else [splits.both.rows]
        fresh = None if self.fresh is None else self.fresh.sample(MOST_ROWS)
        return UsedRows.of(rows, fresh, but)

    def fresh_rows(self, most: int | None = None) -> Rows:
        """The people who certified it, or at most so many of them."""
        if self.fresh is None:
            raise ValueError(
                "this fit has no certification set: the last of its splits is 0, or it "
                "was saved and loaded, which drops those rows"
            )
        return self.fresh.sample(most)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the people: a stored model holds no row, no score and no P(S|x)."""
        return {**vars(self), "fresh": None, "search": None, "frontier": None}


def fit_target(task: Task, learner: Learner) -> Fitted:
    """Learn a frontier, choose on other rows, certify on rows that nothing has seen."""
    task = replace(task, splits=splits_expecting(task.splits, task.decision, task.roles.doubt))
    fresh = 0 if task.splits.fresh is None else task.splits.people - _seen(task.splits)
    check_small_groups(learned_rows(task.splits), task.target, task.splits.people, fresh)
    task = replace(task, splits=task.splits.compared(task.target.not_compared or {}))
    splits, target = task.splits, task.target
    check_scores(target.only_between, task.decision)
    check_points_right(splits.learn, task.decision)
    frontier, encoder, learned = train_frontier(task, learner)
    _check_locked(frontier.candidates.patch(0), target)
    tell("choosing", 0.0)
    ladder = choose(frontier, target)
    if learned.rows.batch is not None:
        ladder = when_filled(ladder, frontier, learned.rows, target)
    if not frontier.observed:
        swings = _swings(ladder[-1], frontier, learned, task, encoder)
        ladder = [replace(rung, swings=swings) for rung in ladder]
    return _certified(Search(task, learner, frontier, learned), ladder, target.confidence, encoder)


def _certified(
    search: Search, ladder: list[Choice], confidence: float, encoder: Encoder | None = None
) -> Fitted:
    """A ladder tested at a level: the certified patch, with all that is to be known of it."""
    task, frontier, learned = search.task, search.frontier, search.learned
    splits, target, pool = task.splits, task.target, frontier.candidates
    choice = preferred = ladder[-1]
    certificate = certificate_of_preferred = None
    tell("certifying", 0.0)
    if splits.fresh is not None:
        asked = target.replace(confidence=confidence)
        ladder = with_chances(ladder, frontier, asked, splits.people - _seen(splits))
        best_chance = max(rung.chance or 0.0 for rung in ladder)
        ladder = [replace(rung, chance=best_chance) for rung in ladder]
        rungs = certify_in_sequence(ladder, pool, asked, splits.fresh)
        patch = pool.patch(rungs.choice.model, rungs.choice.strength)
        if "known" not in task.memory:
            task.memory["known"] = looks_known(splits.fresh.sample(MOST_ASKED))
        certificate = replace(rungs.certificate, warning=task.memory["known"]).resting_on(
            *assumption_of(
                splits.fresh.rows if isinstance(splits.fresh, CertificationSample) else None, patch
            )
        )
        certificate = about_rows(
            certificate, [learned.rows, splits.fresh.sample(MOST_ROWS)], patch, asked
        )
        if isinstance(splits.fresh, CertificationSample):
            certificate = replace(certificate, rows_sha256=rows_hash(splits.fresh.rows))
        certificate_of_preferred = rungs.of_preferred
        choice, preferred = (
            _with_expected(c, counts, target, "certification rows")
            for c, counts in ((rungs.choice, rungs.counts), (preferred, rungs.preferred_counts))
        )
        handful = _handful(search, choice, asked, task.encoder if encoder is None else encoder)
        choice = replace(choice, handful=handful)
    else:
        patch = pool.patch(choice.model, choice.strength)
        counts = count_rows(learned.rows, patch, target.comparisons)
        choice = preferred = _with_expected(choice, counts, target, "selection rows")
    outlook = outlook_of(learned_rows(splits), task.decision, patch, task.roles.doubt)
    patch = type(patch).model_validate({**dict(patch), "action": target.action, "outlook": outlook})
    moved = _displacement(patch, learned.rows)
    choice = replace(choice, outlook=_outlook(patch, learned.rows), displacement=moved)
    return Fitted(
        patch=with_fingerprint(patch, learned_rows(splits)),
        encoder=task.encoder if encoder is None else encoder,
        wide_encoder=task.encoder,
        target=target,
        frontier=frontier,
        choice=replace(choice, left_out=dict(learned.left_out)),
        preferred=preferred,
        certificate=certificate,
        preferred_certificate=certificate_of_preferred,
        fresh=splits.fresh,
        people=splits.people,
        learner=search.learner,
        search=search,
    )


def _seen(splits: Splits) -> int:
    """How many rows learned and chose."""
    if splits.both is not None:
        return len(splits.both.rows)
    return len(splits.learn) + len(splits.select)


def _handful(search: Search, choice: Choice, asked: Target, encoder: Encoder) -> str | None:
    """Whether a few people decide for everybody: the same choice and certificate without them."""
    learned, old, fresh = search.learned, search.frontier, search.task.splits.fresh
    if not isinstance(fresh, CertificationSample) or learned.rows.batch is not None:
        return None
    for feature, group, share in handfuls(learned.rows, asked):
        out = {f: tuple(g) for f, g in (asked.not_compared or {}).items()}
        target = asked.replace(not_compared={**out, feature: (*out.get(feature, ()), group)})
        rows = replace(learned.rows, groups=learned.rows.s.without({feature: (group,)}))
        frontier = Frontier.trace(
            replace(learned, rows=rows), encoder, target.metrics, old.q, target.comparisons,
            target.priced_by,
        )  # fmt: skip
        try:
            ladder = choose(frontier, target)
        except TargetNotReachedError:
            continue
        rungs = certify_in_sequence(ladder, frontier.candidates, target, fresh)
        text = said_of_handful(feature, group, share, choice.change_rate, rungs.choice.change_rate)
        if text is not None:
            return text
    return None


def when_filled(
    ladder: Sequence[Choice], frontier: Frontier, rows: Rows, target: Target
) -> list[Choice]:
    """Choices by what is left of them when every batch has filled its places.

    That takes some of the fairness back, so stricter targets are tried too; the fewest changes that
    meet the target are preferred, and tested last.
    """
    tried = {(c.model, c.strength): c for c in ladder}
    for of_target in options(frontier, [target, *(target.inside(m) for m in STRICTER)]):
        for c in of_target:
            whole = replace(
                c, bound=ladder[-1].bound, blind=ladder[-1].blind,
                displacement=frontier.displacement(c.model, c.strength),
            )  # fmt: skip
            tried.setdefault((c.model, c.strength), whole)
    found: list[tuple[float, float, Choice]] = []
    best = -np.inf
    for choice in tried.values():
        patch = frontier.candidates.patch(choice.model, choice.strength)
        counts = count_rows(rows, patch, target.comparisons)
        room = min(
            (1 if metric.at_least else -1) * (float(metric.of(table).value or 0.0) - r.limit)
            for r in target.fairness_requirements
            if isinstance(metric := r.metric, Metric)
            for table in target.compare(counts, least=MIN_PEOPLE).values()
        )
        best = max(best, room)
        if room >= 0:
            changed = float(changed_rate().of(counts).value or 0.0)
            found.append((room, changed, choice))
    if not found:
        raise TargetNotReachedError(
            f"when every {target.places.by if target.places else 'batch'} has filled its places, "
            f"no patch meets the target: the best is {-best:.3f} short of it. Ask for less, or for "
            "more places"
        )
    fewest = min(changed for _, changed, _ in found)
    preferred = next(c for _, changed, c in found if changed == fewest)
    safest = sorted((f for f in found if f[2] is not preferred), key=lambda f: -f[0])
    return [*(c for _, _, c in safest), preferred]


def _swings(
    preferred: Choice, frontier: Frontier, learned: Learned, task: Task, encoder: Encoder
) -> str | None:
    """Whether another patch would be preferred if outcomes were as bad, or as good, as they may be.

    What rests on outcomes that nobody has seen must not decide between patches unnoticed.
    """
    rows, pool, target = learned.rows, frontier.candidates, task.target
    outlook = outlook_of(rows, task.decision, doubt=task.roles.doubt)
    ends = outlook.ends(odds_of(rows, task.decision))
    chosen = pool.patch(preferred.model, preferred.strength).decide(rows.X, rows.f) != (rows.f > 0)
    for words, end in zip(("badly", "well"), ends, strict=True):
        other = replace(learned, rows=replace(rows, expected=fine(end)))
        traced = Frontier.trace(
            other, encoder, target.metrics, frontier.q, target.comparisons, target.priced_by
        )
        best = choose(traced, target)[-1]
        changed = pool.patch(best.model, best.strength).decide(rows.X, rows.f) != (rows.f > 0)
        both = int((chosen & changed).sum())
        if both < ALIKE * int((chosen | changed).sum()):
            return (
                f"If people without an outcome turned out as {words} as they may, a patch that "
                f"changes {best.change_rate:.1%} of decisions would be preferred, mostly others"
            )
    return None


def _displacement(patch: Patch, rows: Rows) -> float:
    """How far probabilities move, by the points that are printed; the dial has others."""
    t, f = threshold_odds(patch.decision, rows.X), rows.f
    weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, np.float64)
    return displacement(expit(f + t), expit(patch.logits(rows.X, f) + t), weight)


def _outlook(patch: Patch, rows: Rows) -> tuple[Expected, Expected] | None:
    """What is expected of the promoted and of those left denied; None if all outcomes are known."""
    if (rows.y != UNKNOWN).all():
        return None
    denied, approved = rows.f <= 0, patch.decide(rows.X, rows.f)
    promoted, left = (
        expected_of(rows, patch, who) for who in (denied & approved, denied & ~approved)
    )
    return None if promoted is None or left is None else (promoted, left)


def certify_rows(rows: Rows, patch: Patch, target: Target) -> Certificate:
    """Judge a target on rows in memory that neither learning nor choosing has seen."""
    certificate = certify(count_rows(rows, patch, target.comparisons), target)
    certificate = certificate.resting_on(*assumption_of(rows, patch)).warned(looks_known(rows))
    certificate = replace(certificate, rows_sha256=rows_hash(rows))
    return about_rows(certificate, [rows], patch, target)


def assumption_of(rows: Rows | None, patch: Patch) -> tuple[str | None, str | None, float]:
    """What a certificate rests on, where the groups of some of these people were drawn.

    Of which feature, and the least that its P-Rule can be without it. Of people in an engine, None,
    no more is said than that.
    """
    if not patch.roles.probable:
        return None, None, 0.0
    (feature,) = patch.roles.probable
    if rows is None:
        return assumed(feature), feature, 0.0
    if rows.chances is None or rows.told is None:
        return None, None, 0.0
    approved = patch.decide(rows.X, rows.f)
    found = without_assumption(feature, rows.chances, rows.told, approved, rows.sample_weight)
    return (None, None, 0.0) if found is None else (str(found), feature, found.low)


def _check_locked(patch: Patch, target: Target) -> None:
    """Refuse a learner that does not know of locks: its patches would change what is policy."""
    if target.locks and (patch.card is None or patch.card.locked != target.locks):
        raise ValueError("only a scorecard locks rows: leave out locked, or use learner=Card()")


def train_frontier(task: Task, learner: Learner) -> tuple[Frontier, Encoder, Learned]:
    """All candidates at all strengths; the columns they may read; what was learned."""
    if task.target.reads is not None:
        task = replace(task, encoder=_only_reads(task))
    most, learned = task.target.max_columns, learner.learn(task)
    if most is not None and len(learned.importance) > most:  # keep the strongest, learn again
        strongest = sorted(learned.importance, key=lambda name: -learned.importance[name])
        task = replace(task, encoder=task.encoder.only(strongest[:most]))
        learned = learner.learn(task)
    for ratios in (learned.ratios, learned.final):
        if ratios is not None:  # nothing changes a denial without a score
            ratios[:, learned.rows.f == NO_SCORE] = 1.0
    frontier = Frontier.trace(
        learned, task.encoder, task.target.metrics, comparisons=task.target.comparisons,
        costs=task.target.priced_by,
    )  # fmt: skip
    return frontier, task.encoder, learned


def _only_reads(task: Task) -> Encoder:
    known = list(dict.fromkeys(f.column.name for f in task.encoder.features))
    for name in task.target.reads or ():
        if name not in known:
            raise ValueError(
                f"reads names {name!r}, which is no column that the patch may read"
                + did_you_mean(name, known)
            )
    return task.encoder.only(task.target.reads or ())


def _with_expected(choice: Choice, counts: Counts, target: Target, rows: str) -> Choice:
    """What the choice reaches on some people, with intervals."""
    estimates = {
        name: {metric.name: metric.of(table) for metric in target.metrics}
        for name, table in target.compare(counts, least=MIN_PEOPLE).items()
    }
    return replace(choice, expected=estimates, expected_from=rows)


def with_fingerprint(patch: Patch, rows: Rows) -> Patch:
    """The patch with what f's scores and its columns look like on some rows."""
    rows = rows.with_score
    alike = scores_alike(rows.f, patch.decision, thresholds_of(patch.decision, rows.X))
    fingerprint = fingerprint_of(rows.X, alike, patch.columns, rows.stands_for)
    return patch.model_copy(update={"fingerprint": fingerprint})


def with_chances(
    ladder: Sequence[Choice], frontier: Frontier, target: Target, people: int
) -> list[Choice]:
    """Each rung with its chance of being certified by so many people, before they are looked at.

    With v and e what the selection rows say and its error, e' the error there will be,
    P(v' - z e' > limit) for v' about v with the errors of both; of several limits the least.
    """
    rungs, z = [], float(ndtri(target.confidence))
    for rung in ladder:
        chance = 1.0
        for dial in frontier.dials[rung.model].values():
            at = dial.only(int(dial.at(rung.strength)))
            for r in target.fairness_requirements:
                if not isinstance(r.metric, Metric):
                    continue
                error = float(r.metric.error_along(at)[0]) or 1e-12
                then = error * float(np.sqrt(dial.people / max(people, 1)))
                room = float(r.along(at)[0] - r.limit) * (1 if r.metric.at_least else -1)
                chance = min(chance, float(ndtr((room - z * then) / np.hypot(error, then))))
        rungs.append(replace(rung, chance=chance))
    return rungs


@dataclass(frozen=True, eq=False)
class CertificationSequence:
    """The ladder, tested: the weakest choice that is certified, and what the preferred one is."""

    choice: Choice
    certificate: Certificate
    counts: Counts
    of_preferred: Certificate
    preferred_counts: Counts


def certify_in_sequence(
    ladder: Sequence[Choice], candidates: Pool, target: Target, fresh: CertificationRows
) -> CertificationSequence:
    """The certified choice with the fewest changes, and its certificate.

    The ladder was fixed on the selection rows, and is tested from its safest end until one fails
    (fixed-sequence testing): however many are tried, the chance of certifying a patch that violates
    the target stays below 1 - confidence. If not even the safest is certified, the one that is
    preferred on the selection rows stands, with its own verdict.
    """
    patches = [candidates.patch(c.model, c.strength) for c in ladder]
    counts = fresh.count(patches, target.comparisons)
    certificates = [certify(table, target) for table in counts]
    certified = list(takewhile(lambda k: certificates[k].verdict.holds, range(len(ladder))))
    end = len(ladder) - 1
    # where nobody is certified, a patch that changes nothing is no answer
    fallback = end - 1 if end and not ladder[end].change_rate else end
    chosen = min(reversed(certified), key=lambda k: ladder[k].change_rate, default=fallback)
    # what needs no assumption, where that costs hardly more
    enough = ladder[chosen].change_rate * (1 + MORE)
    sure = [k for k in certified if certificates[k].verdict is Verdict.CERTIFIED]
    cheap = [k for k in reversed(sure) if ladder[k].change_rate <= enough]
    chosen = min(cheap, key=lambda k: ladder[k].change_rate, default=chosen)
    judged = [c if k in certified else _open(c) for k, c in enumerate(certificates)]
    return CertificationSequence(
        ladder[chosen], judged[chosen], counts[chosen], judged[end], counts[end]
    )


def _open(certificate: Certificate) -> Certificate:
    """After the sequence has failed, a further test at full level cannot certify any more."""
    if not certificate.verdict.holds:
        return certificate
    open_ = tuple(replace(result, verdict=Verdict.INCONCLUSIVE) for result in certificate.results)
    stale = {result.about_untold for result in certificate.results}  # they say that it holds
    remarks = [result.about_untold for result in open_] + [
        text for text in certificate.remarks if text not in stale
    ]
    return replace(certificate, results=open_, remarks=tuple(text for text in remarks if text))
