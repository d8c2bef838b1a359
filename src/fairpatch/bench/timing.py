"""Seconds of several jobs in one run, taking turns: the machine is shared, so best of several."""

import time
from collections.abc import Callable, Mapping
from typing import Any

Job = Callable[[], Any]


def seconds(job: Job) -> float:
    """Of one call."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def best_of(jobs: Mapping[Any, Job], repeats: int) -> dict[Any, float]:
    """The best of each."""
    turns = [{name: seconds(job) for name, job in jobs.items()} for _ in range(repeats)]
    return {name: min(turn[name] for turn in turns) for name in jobs}
