"""The dial where not everybody is compared with everybody: in strata, or with a reference.

One trace for all comparisons, as they are of groups of groups: one dial each, cut from the one that
knows every group of every stratum. Standardised, everybody weighs P(z) / P(z | g) in the rates, and
counts once in everything else.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.choose.dial import Dial
from fairpatch.measure.comparisons import Layers, mix

Traced = Callable[..., Dial]
"""Codes of groups and weights in, a dial out."""


def in_layers(
    layers: Layers, group: Ints, weight: Floats | None, traced: Traced
) -> dict[str, Dial]:
    """The dials of one feature, by what they are called."""
    strata, groups = layers.kept.shape
    inside = (layers.code >= 0) & (group >= 0)
    inside &= layers.kept[layers.code, group]
    shift = 0 if layers.standardised else layers.code * groups
    codes = np.where(inside, shift + group, -1)
    whole = traced(codes)
    if layers.standardised:
        w = np.ones(len(group)) if weight is None else weight
        size = np.zeros((groups, strata))
        np.add.at(size, (group[inside], layers.code[inside]), w[inside])
        factor = np.zeros(len(group))
        factor[inside] = mix(size)[group[inside], layers.code[inside]]
        weighed = traced(codes, w * factor)
        whole = replace(whole, positive=weighed.positive, size=weighed.size)
    return {name: whole.of_groups(which) for name, which in layers.blocks}
