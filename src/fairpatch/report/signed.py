"""Who signs what: the model, the patch, who owns them, the people, and how to repeat it."""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from fairpatch._tools.hints import did_you_mean
from fairpatch.patch import Patch
from fairpatch.patch.file import text_of
from fairpatch.patch.parts import Part
from fairpatch.report.figures import OPEN, Count, Figure, Finding, ReviewPart

Role = Literal[
    "learned from", "chosen on", "learned from and chosen on",
    "certified on", "reviewed", "certified on and reviewed",
]  # fmt: skip


RECORD = {
    "legal basis": ("compliance", "which law or policy asks for the target, and whether each proxy "
                    "may be used"),
    "customer notices": ("compliance", "which notices change, and their wording"),
    "credit impact": ("business owner", "whether the cost is accepted, and by whom"),
    "data quality": ("data owner", "where the rows come from, who extracted them, what was "
                     "checked"),
    "base model validation": ("model owner", "the validation report of the base model, and which "
                              "rows it was trained on"),
    "monitoring plan": ("model owner", "how often, who looks, and who may roll back"),
    "out-of-time test": ("validator", "the result on rows of a later period than those learned "
                         "from"),
}  # fmt: skip
"""What a committee asks for: by whom it is said, and what."""


class About(Part):
    """What only the user knows of a model; all of it may stay unsaid.

    Parameters
    ----------
    model, owner, purpose : what the model is called, who answers for it, and what it is for.
    date : when the review was made; the page has none unless it is given.
    data : what the people are, as "applicants of May 2026".
    command : how to make this review again.
    run : where the run lies.
    group_names : by sensitive feature and value, what people call a group: {"sex": {"0": "women"}}.
    protected : words more that mark a column as protected, or near to it.
    accuracy_drop : by how much a group's accuracy may fall before it is a finding.
    record : what a committee asks for and no measurement says, by item: see ``RECORD``.
    business_reasons : by column of the card, why it may be used.
    """

    model: str | None = None
    owner: str | None = None
    purpose: str | None = None
    date: str | None = None
    data: str | None = None
    command: str | None = None
    run: str | None = None
    group_names: dict[str, dict[str, str]] = Field(default_factory=dict)
    protected: tuple[str, ...] = ()
    accuracy_drop: float = 0.02
    record: dict[str, str] = Field(default_factory=dict)
    business_reasons: dict[str, str] = Field(default_factory=dict)

    @field_validator("record")
    @classmethod
    def _known_items(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if name not in RECORD:
                hint = did_you_mean(name, RECORD)
                raise ValueError(f"the record has {', '.join(RECORD)}; got {name!r}{hint}")
        return value


class RowSet(ReviewPart):
    """Some people, and what they were for."""

    role: Role
    """What they were for."""
    people: Count
    """How many."""


class Earlier(ReviewPart):
    """An earlier review of the same patch."""

    date: str | None
    """When it was made, where it says so."""
    people: Count
    """How many people it was of."""
    verdict: str | None
    """What its certificate said."""
    findings: list[Finding]
    """What it left open."""


class Signed(ReviewPart):
    """A signature of the run that the review belongs to."""

    verified: bool
    """Whether it was checked against a public key, and every file is as it was signed."""
    name: str | None = None
    """Who signed, as they said; null where it was not verified."""
    at: str | None = None
    """When, as they said."""
    key_sha256: str | None = None
    """Of the public key."""


class RefitWay(ReviewPart):
    """One way to go on with a retrained model."""

    name: str
    """keep, turn or learn."""
    words: str
    """What that is."""
    verdict: str
    """Of its certificate."""
    changes: Figure
    """Share of the new model's decisions that it changes."""
    churn: Figure
    """Share of decisions that differ from those of the previous patched model."""
    within: bool
    """Whether that is within the budget."""
    taken: bool
    """Whether this patch is it."""


class RefitSection(ReviewPart):
    """A refit."""

    ways: list[RefitWay]
    """Those that were possible."""
    not_possible: dict[str, str]
    """The others, and why they were not."""
    base_churn: Figure
    """Share of decisions that the retraining of the base model itself changes."""
    confidence: float
    """At which each way is judged: all together have the target's error."""


class Identity(ReviewPart):
    """What is signed, and by whom."""

    model: str | None
    """What the model is called."""
    owner: str | None
    """Who answers for it."""
    purpose: str | None
    """What it is for."""
    date: str | None
    """When the review was made."""
    data: str | None
    """What the people are."""
    run: str | None
    """Where the run lies."""
    command: str | None
    """How to make it again."""
    patch_sha256: str
    """Of the patch's file."""
    model_sha256: str | None
    """Of the base model's file, where it was one."""
    rows: list[RowSet]
    """The people, and what they were for."""
    versions: dict[str, str]
    """What it was made with."""
    earlier: list[Earlier]
    """Earlier reviews of the same patch, oldest first."""


def identity_section(
    patch: Patch,
    about: About,
    people: Count,
    certified: Count | None,
    same: bool,
    chosen: int | None = None,
) -> Identity:
    """What the user said, and what the patch says itself."""
    learned = patch.provenance.training_rows
    both: Role = "learned from and chosen on" if learned == chosen else "learned from"
    rows = [] if learned is None else [RowSet(role=both, people=learned)]
    if chosen is not None and chosen != learned:
        rows.append(RowSet(role="chosen on", people=chosen))
    if certified is not None and not same:
        rows.append(RowSet(role="certified on", people=certified))
    rows.append(RowSet(role="certified on and reviewed" if same else "reviewed", people=people))
    filled: dict[str, Any] = {
        name: getattr(about, name)
        for name in ("model", "owner", "purpose", "date", "data", "run", "command")
    }
    return Identity(
        **filled,
        patch_sha256=patch_hash(patch),
        model_sha256=None if patch.fingerprint is None else patch.fingerprint.model_sha256,
        rows=rows,
        versions={**patch.provenance.versions, "reviewed with fairpatch": version("fairpatch")},
        earlier=[],
    )


def history_of(earlier: Any, patch: Patch) -> list[Earlier]:
    """Earlier reviews of the same patch, as the data of the last one tell; nothing of another's."""
    try:
        previous = Identity.model_validate(earlier["identity"])
        if previous.patch_sha256 != patch_hash(patch):
            return []
        last = Earlier(
            date=previous.date,
            people=earlier["people"],
            verdict=(earlier["certificate"] or {}).get("verdict"),
            findings=[Finding.model_validate(f) for f in earlier["findings"] if f["level"] in OPEN],
        )
    except (AttributeError, KeyError, TypeError, ValidationError):
        return []  # no review of ours
    return [*previous.earlier, last]


def earlier_findings(
    earlier: Sequence[Earlier], verdict: str | None, now: Sequence[Finding]
) -> list[Finding]:
    """That the last review came to another verdict, and what it found that is not found now."""
    if not earlier:
        return []
    last, found = earlier[-1], []
    if None not in (last.verdict, verdict) and last.verdict != verdict:
        found.append(
            Finding(
                name="another verdict than before",
                level="look",
                text=f"The review before this one came to another verdict: {last.verdict}; now "
                f"{verdict}",
                todo="Find out whether the people differ, or how many there were.",
            )
        )
    open_now = {finding.name for finding in now if finding.open}
    when = f"On {last.date}" if last.date else "In the review before this one"
    return found + [
        Finding(
            name=f"found before: {finding.name}",
            level="look" if finding.level == "stop" else "note",
            text=f"{when} ({finding.level}): {finding.text}. Not found on these people",
            todo="Decide on it as it was found, or say what has changed.",
        )
        for finding in last.findings
        if finding.name not in open_now and not finding.name.startswith("found before")
    ]


def patch_hash(patch: Patch) -> str:
    """SHA-256 of its file."""
    return hashlib.sha256(f"{text_of(patch)}\n".encode()).hexdigest()


NOT_HERE = "not in this pack"


def annex(identity: Identity) -> list[tuple[str, str]]:
    """Where a reader of the EU AI Act's Annex IV finds its items, or that they are not here."""
    return [
        ("1(a) Intended purpose, provider, version",
         "What is signed" + ("" if identity.purpose else "; purpose not given")),
        ("1(b) to (h) Interaction, hardware, forms, interface, instructions", NOT_HERE),
        ("2(a) Methods and steps of development", "Method, limits, reproduction"),
        ("2(b) Design, logic, key choices, what is optimised",
         "The card; The target, before and after; What else could be signed"),
        ("2(c) Architecture and computing resources", NOT_HERE),
        ("2(d) Data: provenance, scope, selection, labelling",
         "row counts and hashes in What is signed; data quality in The committee's record"),
        ("2(e) Human oversight", "Signatures; the patch can be taken back"),
        ("2(f) Pre-determined changes",
         "What else could be signed, where the fit is at hand"),
        ("2(g) Validation, metrics, discriminatory impact, test logs",
         "Evidence; The committee's record: base model validation"),
        ("2(h) Cybersecurity", NOT_HERE),
        ("3 Capabilities, limits, accuracy for groups, foreseeable risks",
         "Evidence by group; Left out; Proxies; limits in Method"),
        ("4 Appropriateness of the metrics",
         f"The target, before and after; bounds; whether the metric is suitable is {NOT_HERE}"),
        ("5 Risk management system", f"Findings and Stability; the rest is {NOT_HERE}"),
        ("6 Changes through the lifecycle", "the patch file, its edits, and earlier reviews"),
        ("7 Harmonised standards", NOT_HERE),
        ("8 Declaration of conformity", NOT_HERE),
        ("9 Post-market monitoring", "The committee's record: monitoring plan"),
    ]  # fmt: skip
