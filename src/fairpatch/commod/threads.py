"""How many threads torch should use: one for small tensors, and the process's own setting after."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL = 2_000_000
"""Numbers in the largest tensor of a step below which more threads cost more than they bring."""


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Choose the threads for tensors of ``size`` numbers, and restore what was set before."""
    before = torch.get_num_threads()
    wanted = 1 if size < SMALL else min(before, os.cpu_count() or 1)
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)
