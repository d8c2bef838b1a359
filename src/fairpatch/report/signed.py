"""Who signed a run, as a review says it."""

from fairpatch.report.figures import Shown


class Signed(Shown):
    """A signature of the run that the review belongs to."""

    verified: bool
    """Whether it was checked against a public key, and every file is as it was signed."""
    name: str | None = None
    """Who signed, as they said; null where it was not verified."""
    at: str | None = None
    """When, as they said."""
    key_sha256: str | None = None
    """Of the public key."""
