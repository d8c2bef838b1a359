"""A progress bar: one callback among others."""

from typing import Any

from fairpatch._extras import need
from fairpatch.learn.adversarial.problem import Step


class ProgressBar:
    """Show the steps of a training as they pass; needs tqdm."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, step: Step) -> None:
        """Move the bar by one step, and close it after the last."""
        if self._bar is None:
            self._bar = need("tqdm.auto", extra="progress").tqdm(total=step.of, desc="training")
        self._bar.update(1)
        if step.step == step.of:
            self._bar.close()
            self._bar = None
