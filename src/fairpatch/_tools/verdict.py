"""The verdicts, once: what each is called, and what it means to a person and to a machine."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

Tone = Literal["good", "warn", "bad"]


class Verdict(StrEnum):
    """What data say of a requirement, from the best to the worst.

    >>> print(Verdict.NOT_MET, Verdict.NOT_MET.exit_code, Verdict.NOT_MET.fails)
    not met 3 True
    """

    CERTIFIED = "certified"
    """Shown to hold, at the confidence asked for."""
    CONDITIONAL = "holds under an assumption"
    """Shown to hold under an assumption that the data cannot verify: a sentence says which."""
    INCONCLUSIVE = "inconclusive"
    """Met by what was measured, but on too few people to show that it holds."""
    WATCH = "watch"
    """Not shown to fail over all periods, but the last ones by themselves miss it."""
    NOT_MET = "not met"
    """Not met by what was measured, though chance alone might have done it."""
    OTHER_MODEL = "another model"
    """The scores look like another model's: nothing can be said."""
    GROUP_GONE = "a group is gone"
    """A group that was there before is missing, or nearly: who is left cannot stand for it."""
    REFUTED = "shown not to hold"
    """Shown not to hold, at the confidence asked for."""

    @property
    def exit_code(self) -> int:
        """Of a command that ends with this verdict, and its gauge for Prometheus."""
        return _EXIT_CODES[self]

    @property
    def fails(self) -> bool:
        """Whether it is a failure, as JUnit has it."""
        return self not in (Verdict.CERTIFIED, *Verdict.open_ones())

    @classmethod
    def open_ones(cls) -> "tuple[Verdict, ...]":
        """Those that speak neither for it nor, for sure, against it."""
        return (cls.CONDITIONAL, cls.INCONCLUSIVE, cls.WATCH)

    @property
    def holds(self) -> bool:
        """Whether it is shown to hold, be it under an assumption."""
        return self in (Verdict.CERTIFIED, Verdict.CONDITIONAL)

    @property
    def annotation(self) -> str | None:
        """The kind of a workflow's annotation; None where there is nothing to say."""
        return _ANNOTATIONS.get(self)

    @property
    def tone(self) -> Tone:
        """The colour of a page's light."""
        if self is Verdict.CERTIFIED:
            return "good"
        return "warn" if self in Verdict.open_ones() else "bad"


class FitWarning(UserWarning):
    """A fit gives a patch that somebody should look at before it is used; it says why."""


_EXIT_CODES = {
    Verdict.CERTIFIED: 0,
    Verdict.NOT_MET: 3,
    Verdict.REFUTED: 4,
    Verdict.INCONCLUSIVE: 5,
    Verdict.OTHER_MODEL: 6,
    Verdict.GROUP_GONE: 8,  # 7: a finding of the review, by --fail-on
    Verdict.WATCH: 9,
    Verdict.CONDITIONAL: 10,
}
_ANNOTATIONS = {
    Verdict.CONDITIONAL: "notice",
    Verdict.INCONCLUSIVE: "notice",
    Verdict.WATCH: "warning",
    Verdict.NOT_MET: "warning",
    Verdict.REFUTED: "error",
    Verdict.OTHER_MODEL: "error",
    Verdict.GROUP_GONE: "error",
}


def worst(verdicts: Iterable[Verdict], default: Verdict = Verdict.CERTIFIED) -> Verdict:
    """The worst of some.

    >>> worst([Verdict.CERTIFIED, Verdict.NOT_MET, Verdict.INCONCLUSIVE]).name
    'NOT_MET'
    """
    return max(verdicts, key=list(Verdict).index, default=default)


def exit_codes() -> str:
    """Every verdict with its exit code, for help texts.

    >>> exit_codes().split(", ")[4:]
    ['6 another model', '8 a group is gone', '9 watch', '10 holds under an assumption']
    """
    codes = sorted(_EXIT_CODES.items(), key=lambda item: item[1])
    return ", ".join(f"{code} {verdict}" for verdict, code in codes)
