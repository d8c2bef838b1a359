"""The history of a patch in use: one line a period, appended, counts only.

A period may come twice: first without labels, later with them. What was counted once stays, so that
nobody's verdict rests on people who were looked at twice; a correction says that it is one.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from fairpatch.life.period import Period
from fairpatch.measure.counts import Counts
from fairpatch.patch.appended import append_line, lines_of
from fairpatch.patch.strict import loads_strictly


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
            if same and not period.replaces and (same[-1].labelled or not period.labelled):
                raise ValueError(
                    f"period {period.period} of this patch is in {self.path} already; a look at "
                    "the same people again proves nothing. Labels that have come are added by "
                    "themselves; a correction must say that it is one (replace)"
                )
            if period.replaces and not same:
                raise ValueError(f"there is no period {period.period} in {self.path} to replace")
            return period.model_dump_json(exclude_defaults=False).encode()

        append_line(self.path, line_after)

    def of(self, patch: str, *, labelled: bool = False) -> list[Period]:
        """The periods of a patch as they came, each once; or as their labels came."""
        found: dict[str, Period] = {}
        for period in self:
            if period.patch != patch or period.before or (labelled and not period.labelled):
                continue
            if period.period not in found or period.replaces:
                found[period.period] = period
        return list(found.values())

    def before(self, patch: str) -> Counts | None:
        """Counts of earlier people, where there are any."""
        return next((p.counts for p in self if p.patch == patch and p.before), None)

    @property
    def names(self) -> list[str]:
        """Every period that is there, in order of time."""
        return sorted({period.period for period in self if not period.before})


def _key(period: Period) -> tuple[str, str, bool]:
    return period.patch, period.period, period.before


def _read(line: bytes, path: Path) -> Period:
    try:
        return Period.model_validate(loads_strictly(line))
    except (ValidationError, ValueError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise ValueError(f"{path} has a line that is no period ({what})") from None
