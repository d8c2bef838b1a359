"""One display for a whole fit: its stages, how far it is, and about how long it will take.

What works calls ``tell``; whoever wants to see it opens ``showing``. Without one nothing is shown.
tqdm draws it where it is installed; where it is not, a line of text does.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Literal

from fairpatch._tools.extras import need

Stage = Literal["learning", "choosing", "certifying", "reviewing"]
WEIGHTS: dict[Stage, int] = {"learning": 70, "choosing": 10, "certifying": 10, "reviewing": 10}
"""Of a hundred, about how much of a fit each stage is."""


class Display:
    """How far a fit is, on stderr."""

    def __init__(self) -> None:
        self.at = 0.0
        self.stage: Stage | None = None
        self.bar: Any = None
        if find_spec("tqdm") is not None:
            tqdm = need("tqdm.auto", extra="progress").tqdm
            form = "{desc:<10} |{bar:30}| {percentage:3.0f}%, about {remaining} left"
            self.bar = tqdm(total=100, bar_format=form, file=sys.stderr, leave=False)

    def __call__(self, stage: Stage, share: float) -> None:
        """Show a stage and the share of it that is done; never backwards: a review learns, too."""
        names = list(WEIGHTS)
        if self.stage and names.index(stage) < names.index(self.stage):
            return
        before = sum(WEIGHTS[name] for name in names[: names.index(stage)])
        at = max(self.at, before + WEIGHTS[stage] * share)
        if self.bar is not None:
            self.bar.set_description_str(stage, refresh=False)
            self.bar.update(at - self.at)
            if stage != self.stage:
                self.bar.refresh()
        elif int(at) > int(self.at):
            sys.stderr.write(f"\r{stage} {at:.0f}%   ")
            sys.stderr.flush()
        self.at, self.stage = at, stage

    def clear(self) -> None:
        """Leave the line as it was."""
        if self.bar is not None:
            self.bar.clear()
        else:
            sys.stderr.write("\r" + " " * 30 + "\r")

    def close(self) -> None:
        """It is over."""
        self.clear()
        if self.bar is not None:
            self.bar.close()


_DISPLAY: ContextVar[Display | None] = ContextVar("display", default=None)


def tell(stage: Stage, share: float) -> None:
    """Say how far a stage is."""
    display = _DISPLAY.get()
    if display is not None:
        display(stage, share)


def clear() -> None:
    """Take the display off its line, for something else to be written there."""
    display = _DISPLAY.get()
    if display is not None:
        display.clear()


@contextmanager
def showing(wanted: bool = True) -> Iterator[None]:
    """Show what is told inside, on one display however deep."""
    if not wanted or _DISPLAY.get() is not None:
        yield
        return
    display = Display()
    token = _DISPLAY.set(display)
    try:
        yield
    finally:
        _DISPLAY.reset(token)
        display.close()
