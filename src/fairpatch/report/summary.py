"""Everything a review says, as typed data: computed once, then drawn, printed or stored.

``schema`` documents every name. ``summarize`` fills it.
"""

import json
from typing import Any, Literal

from fairpatch.report.committee_section import Committee
from fairpatch.report.figures import Count, Shown, Words
from fairpatch.report.findings.finding import Finding
from fairpatch.report.group_section import GroupsSection, SwapSection
from fairpatch.report.headline import Headline
from fairpatch.report.identity import Identity, RefitSection, Signed
from fairpatch.report.menu_section import MenuSection
from fairpatch.report.others_section import OtherSection
from fairpatch.report.outcome_section import OutcomeSection
from fairpatch.report.patch_section import PatchSection, ReasonRow
from fairpatch.report.place_section import LeftOut, SegmentPlace
from fairpatch.report.proxy_section import Proxy
from fairpatch.report.score_section import ScoreSection
from fairpatch.report.stability_section import StabilitySection
from fairpatch.report.verdict_section import Asked, CertificateSection, Effect
from fairpatch.report.worked_section import WorkedCase


class Summary(Shown):
    """A review as data."""

    format: Literal["fairpatch.review"] = "fairpatch.review"
    """What this is."""
    version: Literal[10] = 10
    """Of this format."""
    protected: bool
    """Whether small counts are hidden."""
    headline: Headline
    """What a reader should know who reads nothing else."""
    findings: list[Finding]
    """What to look at before signing, the gravest first."""
    identity: Identity
    """Who signs what."""
    people: Count
    """How many were reviewed."""
    persons: int | None = None
    """How many people there are where some have several rows; ``people`` are rows then."""
    features: list[str]
    """The sensitive features."""
    decision: Words
    """What the decisions and outcomes are called."""
    threshold: str
    """Decision 1 is a score above this; of several thresholds, whose is which."""
    scale: str | None
    """How points go with odds, where the score is in points."""
    above: bool
    """Whether that is the favourable decision; otherwise the other one is."""
    asked: Asked
    """What the patch was learned for."""
    effect: Effect
    """What changes, and what it gains."""
    outcomes: OutcomeSection
    """Whose outcomes are known, and what is expected of the others."""
    certificate: CertificateSection | None
    """Whether it holds on people whom nothing else has seen."""
    patch: PatchSection
    """The patch itself."""
    groups: dict[str, GroupsSection]
    """By feature: every group before and after."""
    others: list[OtherSection]
    """Groups that nobody named: by columns that look protected."""
    crossing: GroupsSection | None
    """The groups of all features together, where there are several."""
    marks: dict[str, float | None]
    """By feature: the rate that every group needs, where the target is a ratio of rates."""
    swap: list[SwapSection]
    """Who comes in, who goes out and who stays, and how they turned out."""
    left_out: dict[str, LeftOut]
    """By feature: people of the lowest group for whom the patch does little."""
    segments: list[SegmentPlace]
    """Where each concept is most active; a card has none."""
    worked: list[WorkedCase]
    """Of each group, somebody who changes and somebody who does not, line by line."""
    scores: ScoreSection
    """How far scores move."""
    proxies: list[Proxy]
    """What tells a sensitive feature, and how well."""
    sampled: bool
    """Whether places, lines, proxies and scores are told on a sample of the people."""
    explained_on: Count
    """On how many."""
    stability: StabilitySection | None
    """Whether the same people would change if it were learned again."""
    menu: MenuSection | None
    """The patches to choose from, and what conditions cost."""
    reasons: list[ReasonRow] | None
    """Of rows that were asked for, why their decision changes or stays."""
    committee: Committee
    """What a model-risk committee asks for."""
    refit: RefitSection | None
    """How it follows from the patch before it; null where it is the first."""
    signed: Signed | None
    """Who signed the run; null without a signature."""
    provenance: dict[str, Any]
    """Where the patch comes from: its settings, rows and versions."""


def schema() -> str:
    """The JSON schema of a review's data: what every name means."""
    return json.dumps(Summary.model_json_schema(), indent=2, sort_keys=True) + "\n"
