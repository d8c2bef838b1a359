"""The history of a patch in use: one line a period, appended, counts only.

A period may come twice: first without labels, later with them. What was counted once stays, so that
nobody's verdict rests on people who were looked at twice; a correction says that it is one.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from fairpatch._hints import hint
from fairpatch.files.append import append_line, lines_of
from fairpatch.files.strict_json import loads_strictly
from fairpatch.life.period import Period, kind_of
from fairpatch.measure.counts import Counts

ENOUGH = 200
"""People from whom on two tables do not agree by chance."""


class History:
    """The periods of a file, in the order in which they came."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[Period]:
        return (_read(line, self.path) for line in lines_of(self.path))

    def append(self, period: Period) -> None:
        """Add a period; refused where it is there already and this is no correction."""

        def line_after(lines: list[bytes]) -> bytes:
            earlier = [_read(line, self.path) for line in lines]
            same = [p for p in earlier if _key(p) == _key(period)]
            if period.before and any(p.patch == period.patch for p in earlier):
                raise ValueError(
                    f"{self.path} has periods of this patch already: what to look at is said "
                    "before the first of them, or not at all"
                )
            if period.replaces and not same:
                raise ValueError(f"there is no period {period.period} in {self.path} to replace")
            if same and not period.replaces and (same[-1].labelled or not period.labelled):
                raise ValueError(
                    f"period {period.period} of this patch is in {self.path} already"
                    + ("" if same[-1].labelled else ", and fewer than nine of ten labels have come")
                    + ". A look at the same people again proves nothing; a correction must say "
                    "that it is one: " + hint("replace=True", "--replace")
                )
            others = [p for p in earlier if p.patch == period.patch and not p.before]
            kinds = {kind_of(p.period) for p in others} - {kind_of(period.period)}
            if kinds:
                raise ValueError(
                    f"{self.path} counts by {kinds.pop()}, and {period.period} is a "
                    f"{kind_of(period.period)}: the same people would count twice"
                )
            twin = [p.period for p in others if p.period != period.period and _twins(p, period)]
            if twin and not period.before:
                raise ValueError(
                    f"the people of {period.period} are counted exactly as those of {twin[0]}: is "
                    "it the same table?"
                )
            return period.model_dump_json().encode()

        append_line(self.path, line_after)

    def of(self, patch: str, *, labelled: bool = False) -> list[Period]:
        """The periods of a patch as they came, each once; or as their labels came."""
        return once(self, patch, labelled=labelled)


def once(periods: Iterable[Period], patch: str, *, labelled: bool = False) -> list[Period]:
    """The periods of a patch as they came, each once; or as their labels came.

    A correction takes the place of everything that was there of its period.
    """
    latest: dict[str, Period] = {}
    for period in periods:
        if period.patch != patch or period.before:
            continue
        known = period.period in latest
        if labelled and not period.labelled:
            if period.replaces:
                latest.pop(period.period, None)
        elif not known or period.replaces:
            latest[period.period] = period
    return list(latest.values())


def before_first(periods: Iterable[Period], patch: str) -> Counts | None:
    """Counts of earlier people, where there are any."""
    return next((p.counts for p in periods if p.patch == patch and p.before), None)


def _twins(one: Period, two: Period) -> bool:
    """Whether two periods have the very same counts by group and decision, and not by chance."""
    if one.groups != two.groups or sum(map(sum, one.n)) < ENOUGH:
        return False
    a, b = (p.counts.along("group", "before", "after") for p in (one, two))
    return bool((a == b).all())


def _key(period: Period) -> tuple[str, str, bool]:
    return period.patch, period.period, period.before


def _read(line: bytes, path: Path) -> Period:
    try:
        return Period.model_validate(loads_strictly(line))
    except (ValidationError, ValueError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise ValueError(f"{path} has a line that is no period ({what})") from None
