"""Fill a review's data: count once, protect once, and let every section say its part.

Aggregates only, computed from the protected table (``fairpatch.measure.disclose``) or told by full
tens of people; no row and no value of S of a person is in it, unless reasons are asked for by the
rows' numbers.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from fairpatch._arrays import Bools
from fairpatch._progress import tell
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import fewest
from fairpatch.choose.fit import Fitted
from fairpatch.choose.group_probability import group_probabilities
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.explain import concepts, stability
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.protected import Protected
from fairpatch.measure.reviewed import reviewed
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patched import PatchedModel
from fairpatch.report.alternatives import alternatives
from fairpatch.report.case_section import case_section
from fairpatch.report.coarse import Beside, decided
from fairpatch.report.dial_section import dial_section
from fairpatch.report.explorer import Explorer, explorer_section
from fairpatch.report.figures import Tens, count, words_of
from fairpatch.report.flags import flags_of, is_protected
from fairpatch.report.group_section import group_section, swap_section
from fairpatch.report.headline import headline
from fairpatch.report.identity import About, identity_section
from fairpatch.report.named import renamed_certificate
from fairpatch.report.patch_section import PatchSection, patch_section, reason_section
from fairpatch.report.place_section import (
    Found,
    find,
    left_out_section,
    segment_section,
    tree_section,
)
from fairpatch.report.proxy_section import TELLS, Proxy, proxy_section
from fairpatch.report.score_section import cutoff_section, score_section
from fairpatch.report.stability_section import enough_change, stability_section
from fairpatch.report.summary import Summary
from fairpatch.report.verdict_section import (
    Certified,
    asked_section,
    certificate_section,
    target_reached,
    verdict_section,
)

MOST_EXPLAINED = 50_000
"""People on whom places, proxies and scores are told, at most."""


def summarize(
    model: PatchedModel,
    rows: Rows,
    *,
    target: Target | None,
    fitted: Fitted | None = None,
    exclude: Collection[str] = (),
    refits: int = 5,
    reasons_for: Sequence[int] = (),
    show_small_counts: bool = False,
    about: About,
    judged: Certified | Certificate | None = None,
    retrained: bool = False,
) -> Summary:
    """What a patch does on some rows, best those that nothing else has seen.

    ``judged`` is a certificate that is known already, where the fit is not at hand.
    """
    patch = model.patch
    looked = _look(patch, rows, target, show_small_counts)
    table, there, found, part = looked.table, looked.there, looked.found, looked.part
    counts, then, whole = table.counts, looked.after, len(part) == len(rows)
    before = part.f > 0
    changed = before != then
    tens = Tens(exact=show_small_counts, sized=_sized(there, target))
    beside = Beside(there, tens)
    tell("reviewing", 0.2)
    bounded = target or target_reached(table, patch)
    metric = bounded.metrics[0]
    encoder = fitted.wide_encoder if fitted else _encoder(model, rows, exclude)
    # the groups that are compared: known, and of at least ten people
    large = {f: counts.by(f).known().large(MIN_PEOPLE) for f in counts.features}
    known, blind = fewest(bounded, large, group_probabilities(part, encoder), before)
    views = concepts(patch, part.X, changed, part.f)
    verdict = verdict_section(
        table, target, bounded, None if known is None else known.changes, blind
    )
    own = renamed_certificate(fitted.certificate if fitted else None, about.group_names)
    certificate = (
        judged
        if isinstance(judged, Certified)
        else certificate_section(own if judged is None else judged, table)
    )
    groups = [group_section(table, feature) for feature in counts.features]
    crossing = None
    if len(counts.features) > 1 and (counts.features in table.withheld or _crossed(table)):
        crossing = group_section(table, *counts.features)
    swap = swap_section(table)
    words = words_of(patch.decision)
    proxies = proxy_section(patch, part, changed, there)
    tell("reviewing", 0.4)
    again = None
    if refits and changed.any():
        if fitted is None:
            raise ValueError("learning again needs the fit itself: review with refits=0")
        if enough_change(changed, there):
            first = next(r for r in verdict.requirements if r.metric == metric.name)
            refitted = stability(model, part, fitted, refits=refits)
            again = stability_section(refitted, part, metric, first.after, beside)
    tell("reviewing", 0.7)
    section = patch_section(patch, views, part, then, metric, beside)
    scores = score_section(patch, part, changed, beside)
    flags = flags_of(
        verdict=verdict,
        certificate=certificate,
        swap=swap,
        groups=groups,
        card=section.card,
        columns=section.columns,
        proxies=proxies,
        stability=again,
        inversions=scores.rank_inversions,
        comparison=model.compare_scored(rows.X, rows.f),
        words=words,
        protected=about.protected,
        accuracy_drop=about.accuracy_drop,
    )
    others = None
    if target is not None and rows.sample_weight is None:  # rivals weigh everybody alike
        agreed = None if again is None else again.of_changed
        own_ways = (patch, part, target, encoder, fitted, agreed, beside)
        others = alternatives(*own_ways, retrained=retrained)
    tell("reviewing", 0.9)
    seen = None if certificate is None else certificate.verdicts[0].people
    same = own is not None and own.counts == counts
    return Summary(
        protected=not show_small_counts,
        headline=headline(verdict, certificate, groups, swap, words),
        flags=flags,
        identity=identity_section(patch, about, count(table.people()), seen, same),
        people=count(table.people()),
        features=list(counts.features),
        decision=words,
        cutoff=patch.cutoff,
        above=bool(patch.decision.favourable),
        bar=round(patch.decision.bar, 6),
        asked=asked_section(patch, target, exclude),
        verdict=verdict,
        certificate=certificate,
        patch=section,
        groups=dict(zip(counts.features, groups, strict=True)),
        crossing=crossing,
        swap=swap,
        left_out=left_out_section(found, there),
        segments=segment_section(found, views, there),
        tree=tree_section(found, there),
        cases=case_section(patch, part, then, beside),
        scores=scores,
        cutoffs=cutoff_section(patch, part, metric, beside),
        proxies=proxies,
        sampled=not whole,
        explained_on=count(table.people()) if whole else len(part),
        dial=dial_section(patch, rows, bounded.metrics, table),
        stability=again,
        alternatives=others,
        explorer=_explorer(fitted, _protected_lines(section, proxies, about), tens, about),
        reasons=reason_section(model, rows, reasons_for) if len(reasons_for) else None,
        signed=None,
        provenance=patch.provenance.model_dump(mode="json"),
    )


@dataclass(frozen=True, eq=False)
class _Looked:
    """Who is looked at, and what may be told of them."""

    part: Rows
    """Everybody, or a sample on which places, lines and scores are told."""
    after: Bools
    """The patch's decisions about them."""
    found: Found
    table: Protected
    """Of everybody."""
    there: Protected
    """Of the part."""


def _look(patch: Patch, rows: Rows, target: Target | None, show_small: bool) -> _Looked:
    """Count everybody; find where changes lie, on a sample where there are very many."""
    some = np.arange(len(rows))
    if len(rows) > MOST_EXPLAINED:
        some = np.sort(np.random.default_rng(0).choice(len(rows), MOST_EXPLAINED, replace=False))
    part, whole = rows.take(some), len(some) == len(rows)
    after = patch.decide(part.X, part.f)
    found, counts = find(patch, part, after), count_rows(rows, patch)
    metrics = target.metrics if target else ()
    table = reviewed(counts, metrics, places=found.places if whole else (), show_small=show_small)
    if whole:
        return _Looked(part, after, found, table, table)
    # a sample is other people, as far as anybody can tell
    sample = decided(part, after)
    there = reviewed(sample, metrics, places=found.places, show_small=show_small)
    return _Looked(part, after, found, table, there)


def _explorer(
    fitted: Fitted | None, protected: Sequence[str], tens: Tens, about: About
) -> Explorer | None:
    """Where the search is at hand."""
    if fitted is None or fitted.frontier is None or fitted.target is None:
        return None
    choice = fitted.choice
    chosen = None if choice is None else (choice.model, choice.strength)
    own = (fitted.struck, chosen, protected, tens, about.group_names)
    return explorer_section(fitted.frontier, fitted.target, *own)


def _encoder(model: PatchedModel, rows: Rows, exclude: Collection[str]) -> Encoder:
    """Of all columns that a patch could have read, where the fit itself is not at hand."""
    hidden = {model.base.score_column or "", *exclude, *rows.s.features}
    return Encoder.fit(rows.X, exclude=hidden & set(Columns.of(rows.X).names), strict=False)


def _crossed(table: Protected) -> bool:
    """Whether the crossing of all features is among what may be shown."""
    return any(margin == table.counts.features for margin, *_ in table.told)


def _sized(table: Protected, target: Target | None) -> bool:
    """Whether it is told exactly how many people the compared groups have, of each label asked."""
    metrics = target.metrics if target else (P_RULE,)
    return all(
        table.number(rate("g").among, feature, group=i).exact
        for feature in table.counts.features
        for i in table.compared(feature)
        for metric in metrics
        for rate in metric.rates
    )


def _protected_lines(section: PatchSection, proxies: Sequence[Proxy], about: About) -> list[str]:
    """Lines that a validator has to decide on."""
    if section.card is None:
        return []
    telling = {p.what for p in proxies if p.auc >= TELLS}
    return [
        line.who
        for line in section.card.lines
        if line.column in telling
        or is_protected(line.column)
        or (about.protected and is_protected(line.column, about.protected))
    ]
