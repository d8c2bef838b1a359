"""What a review is about: a patched model on some rows. Counted once, protected once.

Sections take from it what they need. Everything they publish comes from the protected table, or is
rounded to full tens of people.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.choose.fit import Fitted
from fairpatch.choose.frontier import fewest, group_probabilities
from fairpatch.choose.learner import Ask
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.disclose.protected import Protected, reviewed
from fairpatch.explain import ConceptView, concepts
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE, Metric
from fairpatch.patch import Patch, edit
from fairpatch.patch.columns import Columns
from fairpatch.patch.edit import held_back
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.lines import Line
from fairpatch.patch.terms import activation
from fairpatch.patched import PatchedModel
from fairpatch.report.change_section import ChangeRegions, find
from fairpatch.report.figures import CountRounding, RoundedContext, decided
from fairpatch.report.signed import About
from fairpatch.report.verdict_section import target_reached
from fairpatch.target import Target, judgeable


@dataclass(frozen=True, eq=False)
class LineOf:
    """A line of the card, who of the sample has its points, and what is decided without it."""

    line: Line
    gets: Bools
    without: Bools


MOST_EXPLAINED = 50_000
"""Rows on which regions, proxies and scores are explained, at most."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A patched model, the rows it is reviewed on, and what is known of both."""

    model: PatchedModel
    rows: Rows
    about: About
    target: Target | None = None
    fitted: Fitted | None = None
    exclude: Collection[str] = ()
    show_small: bool = False
    amount: Floats | None = None
    """What is at risk with each person, as the amount of a loan."""

    @property
    def patch(self) -> Patch:
        """The patch."""
        return self.model.patch

    @property
    def asked(self) -> Ask | None:
        """f itself, to be asked about other values; None where it is a column of scores."""
        base = self.model.base
        return None if isinstance(base.estimator, str) else base.logits

    @cached_property
    def sample(self) -> Rows:
        """All rows, or a random sample of very many: what lines, regions and scores are of."""
        if not self.sampled:
            return self.rows
        random = np.random.default_rng(0)
        chosen = random.choice(len(self.rows), MOST_EXPLAINED, replace=False)
        return self.rows.take(np.sort(chosen))

    @property
    def sampled(self) -> bool:
        """Whether the sample is not all rows."""
        return len(self.rows) > MOST_EXPLAINED

    @cached_property
    def after(self) -> Bools:
        """The patch's decisions on the sample."""
        return self.patch.decide(self.sample.X, self.sample.f)

    @cached_property
    def changed(self) -> Bools:
        """Which of them differ from the base model's."""
        return np.asarray((self.sample.f > 0) != self.after)

    @cached_property
    def lines(self) -> tuple[LineOf, ...]:
        """Every line of a card, struck by itself at the same points needed."""
        patch, rows = self.patch, self.sample
        if patch.card is None:
            return ()
        known = {c.name: c for c in patch.columns}
        return tuple(
            LineOf(
                line,
                activation(line.part, [known[c] for c in line.part.columns], rows.X) != 0,
                edit(patch, strike=[line.name]).decide(rows.X, rows.f),
            )
            for line in patch.lines
        )

    @cached_property
    def held_back(self) -> Bools:
        """Who in the sample is denied only because some lines take points."""
        return held_back(self.patch, self.sample.X, self.sample.f)

    @cached_property
    def regions(self) -> ChangeRegions:
        """Where in the sample decisions change."""
        return find(self.patch, self.sample, self.after)

    @cached_property
    def table(self) -> Protected:
        """The counts of all rows, as they may be published."""
        counts = count_rows(self.rows, self.patch)
        return reviewed(counts, self._metrics, show_small=self.show_small)

    @cached_property
    def compared(self) -> dict[str, Counts]:
        """The tables that the target is about, where those are not whole features, by name."""
        if self.target is None:
            return {}
        if self.target.comparisons is not None:
            return self.target.compare(self._in_strata)
        tables, apart = self.target.compare(self.table.counts), self.target.not_compared or {}
        return {
            f"{feature} without {', '.join(apart[feature])}": judgeable(table.known(), MIN_PEOPLE)
            for feature, table in tables.items() if feature in apart
        }  # fmt: skip

    @property
    def cost(self) -> tuple[float, float] | None:
        """What wrong decisions cost, for each person, before and after; None without costs."""
        rows = self.rows
        if self.target is None or self.target.priced_by is None or not len(rows):
            return None
        priced = self.target.priced_by.read(rows.X, rows.good)
        after = self.patch.decide(rows.X, rows.f)
        weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight, float)
        return priced.mean(rows.f > 0, weight), priced.mean(after, weight)

    @property
    def _in_strata(self) -> Counts:
        return count_rows(self.rows, self.patch, self.bounded.comparisons)

    @cached_property
    def sample_table(self) -> Protected:
        """The counts of the sample; it is other people, as far as anybody can tell."""
        if not self.sampled:
            return self.table
        counts = decided(self.sample, self.after)
        return reviewed(counts, self._metrics, show_small=self.show_small)

    @property
    def _metrics(self) -> tuple[Metric, ...]:
        return self.target.metrics if self.target else ()

    @cached_property
    def beside(self) -> RoundedContext:
        """The sample's table, and tens for what is shown beside it."""
        sized = all(
            self.sample_table.number(rate("g").among, feature, group=i).exact
            for feature in self.sample_table.counts.features
            for i in self.sample_table.compared(feature)
            for metric in self._metrics or (P_RULE,)
            for rate in metric.rates
        )
        return RoundedContext(self.sample_table, CountRounding(exact=self.show_small, sized=sized))

    @cached_property
    def bounded(self) -> Target:
        """What bounds are for: the target, or the P-Rule that was reached."""
        return self.target or target_reached(self.table, self.patch)

    @property
    def metric(self) -> Metric:
        """What was asked for first."""
        return self.bounded.metrics[0]

    @cached_property
    def encoder(self) -> Encoder:
        """Of all columns that a patch could have used."""
        if self.fitted is not None:
            return self.fitted.wide_encoder
        score, names = self.model.base.score_column or "", Columns.of(self.rows.X).names
        hidden = {score, *self.exclude, *self.rows.s.features}
        return Encoder.fit(self.rows.X, exclude=hidden & set(names), strict=False)

    @cached_property
    def fewest(self) -> tuple[int | None, float | None]:
        """The fewest changes if everybody's group were known, and the share without using it."""
        strata = self.bounded.comparisons
        counts, sample = self.table.counts if strata is None else self._in_strata, self.sample
        counts = counts.without(self.bounded.not_compared or {})
        large = {f: counts.by(f).known().large(MIN_PEOPLE) for f in counts.features}
        q = group_probabilities(sample, self.encoder)
        known, blind = fewest(self.bounded, large, q, sample.f > 0)
        return None if known is None else known.changes, blind

    @cached_property
    def views(self) -> list[ConceptView]:
        """The patch's concepts, and whom they move."""
        return concepts(self.patch, self.sample.X, self.changed, self.sample.f)
