"""What a refit did: the ways that there were, and the one that was taken."""

from fairpatch.report.figures import Figure, Shown


class RefitWay(Shown):
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


class RefitSection(Shown):
    """A refit."""

    ways: list[RefitWay]
    """Those that were possible."""
    not_possible: dict[str, str]
    """The others, and why they were not."""
    base_churn: Figure
    """Share of decisions that the retraining of the base model itself changes."""
    confidence: float
    """At which each way is judged: all together have the target's error."""
