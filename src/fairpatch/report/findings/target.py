"""Whether what was asked for holds, here and where it was certified."""

from collections.abc import Iterator, Sequence

import numpy as np

from fairpatch.choose.findings import SURE
from fairpatch.report.figures import Figure, ends, figure_text
from fairpatch.report.findings.finding import Finding
from fairpatch.report.verdict_section import CertificateSection, Effect, Met
from fairpatch.verdict import Verdict

TWO_SIDED = 1.96
"""Standard errors beyond which two figures differ by more than chance."""


def target(
    effect: Effect, certificate: CertificateSection | None, *, own_rows: bool = True
) -> Iterator[Finding]:
    """Whether it is met on these people, and certified on others."""
    missed = [r for r in effect.requirements if r.met is False]
    for r in missed:
        # certified on others: these people speak against it where chance does not explain them
        chance = not own_rows and _could_be_chance(r) and _certified(certificate)
        yield Finding(
            name="target",
            level="look" if chance else "stop",
            text=f"{r.name} by {r.feature} is not met on these people: {figure_text(r.after)}"
            f"{r.after.groups}, target {r.limit:g}"
            + ("; chance alone could explain that" if chance else ""),
            todo="Look again on more people."
            if chance
            else "Set a safety margin (safety_margin=1), or fit on more rows.",
        )
    asked = [r for r in effect.requirements if r.limit is not None]
    if asked and not missed and all(r.met for r in asked):
        yield _met([] if own_rows else [r for r in asked if _could_be_chance(r)])
    for r in asked:
        if r.met is None:
            yield Finding(
                name="target",
                level="not judged",
                text=f"Whether {r.name} by {r.feature} is met on these people is withheld to "
                f"protect small groups: it is {figure_text(r.after)}",
            )
    for v in certificate.results if certificate is not None else ():
        known = v.feature in {r.feature for r in missed}
        if v.verdict.fails and not known:
            yield Finding(
                name="target",
                level="stop",
                text=f"{v.requirement}, {v.feature}: {v.verdict} on the certification set",
                todo="Set a safety margin (safety_margin=1), or fit on more rows.",
            )
    for v in certificate.results if certificate is not None else ():
        here = [m for m in asked if m.feature == v.feature and v.requirement.startswith(m.name)]
        for m in here:
            if not _apart(v.estimate, m.after):
                continue
            yield Finding(
                name="certificate and review disagree",
                level="look",
                text=f"{m.name} by {m.feature} was {figure_text(v.estimate)} where it was "
                f"certified and is {figure_text(m.after)} here: more than chance explains",
                todo="Find out how the people differ before you rely on the certificate.",
            )
    if certificate is not None and certificate.verdict is Verdict.INCONCLUSIVE:
        yield Finding(
            name="certificate",
            level="look",
            text="Inconclusive: the target is met, but on too few people to show that it holds",
            todo="The certificate says how many are needed.",
        )
    if asked and certificate is None:
        yield Finding(
            name="certificate",
            level="look",
            text="There is no certificate: nothing was tested on a certification set",
            todo="Hold out rows when fitting, or certify on new ones.",
        )


def _met(doubtful: Sequence[Met]) -> Finding:
    """That the target is met here, and whether these people alone would show it."""
    if not doubtful:
        return Finding(name="target", level="fine", text="The target is met on these people")
    first = doubtful[0]
    return Finding(
        name="target",
        level="note",
        text="The target is met on these people, but chance alone could explain that: "
        f"{first.name} by {first.feature} {figure_text(first.after)} ({first.after.low:.3f} to "
        f"{first.after.high:.3f})",
        todo="The certificate rests on other people.",
    )


def _could_be_chance(asked: Met) -> bool:
    """Whether the limit lies within the interval of what was measured."""
    low, high = asked.after.low, asked.after.high
    return (
        asked.limit is not None
        and low is not None
        and high is not None
        and (low < asked.limit < high)
    )


def _certified(certificate: CertificateSection | None) -> bool:
    return certificate is not None and certificate.verdict is Verdict.CERTIFIED


def _apart(one: Figure, other: Figure) -> bool:
    """Whether two figures differ by more than chance explains, where both are told in full."""
    if other.low is None or other.high is None:
        return False
    if one.value is None or other.value is None or one.low is None or one.high is None:
        low, high = ends(one) if one.middle is not None else (0.0, 1.0)
        return low > other.high or high < other.low
    # both have limits of one test, one-sided: half their distance is SURE standard errors
    error = np.hypot(one.high - one.low, other.high - other.low) / (2 * SURE)
    return bool(abs(one.value - other.value) > TWO_SIDED * error)
