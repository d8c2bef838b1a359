"""The review that the landing page links to: the README's patch, reviewed as a bank would."""

from pathlib import Path

from fairpatch import About, Decision, FairPatch, Target
from fairpatch.datasets import load_loans

ABOUT = About(
    model="Repayment of consumer loans",
    owner="fairpatch developers",
    purpose="a sample, to show what a review looks like",
)
BANK = Decision(
    threshold=0.8, approved="approved", denied="declined", positive_words="repaid",
    negative_words="not repaid",
)  # fmt: skip


def write(path: Path) -> None:
    """Fit, review, write the page."""
    loans = load_loans()
    known, later = loans[:14_000], loans[14_000:]
    g = FairPatch("score", Target(p_rule=0.8), decision=BANK, exclude=["age"])
    g = g.fit(known, "repaid", sensitive_features=["sex"])
    found = g.review(later, "repaid", sensitive_features=["sex"], refits=5, about=ABOUT)
    path.parent.mkdir(parents=True, exist_ok=True)
    found.to_html(path)
