"""The dial within strata: one trace for all of them, as they are groups of groups.

In every stratum the groups are compared by themselves: one dial each, cut from the one that knows
every group of every stratum. Standardised, everybody weighs P(z) / P(z | g) in the rates, and
counts once in everything else.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.choose.dial import Dial
from fairpatch.measure.strata import Layers, mix

Traced = Callable[..., Dial]
"""Codes of groups and weights in, a dial out."""


def in_layers(
    layers: Layers, group: Ints, weight: Floats | None, traced: Traced
) -> dict[str, Dial]:
    """The dials of one feature, by what they are called."""
    groups = layers.kept.shape[1]
    inside = (layers.code >= 0) & (group >= 0)
    inside &= layers.kept[layers.code, group]
    if layers.within.how == "standardised":
        (name,) = layers.names
        return {name: _standardised(layers, np.where(inside, group, -1), weight, traced)}
    whole = traced(np.where(inside, layers.code * groups + group, -1))
    dials = {}
    for z, name in enumerate(layers.names):
        here = z * groups + np.flatnonzero(layers.kept[z])
        dials[name] = replace(whole, positive=whole.positive[:, here], size=whole.size[here])
    return dials


def _standardised(layers: Layers, group: Ints, weight: Floats | None, traced: Traced) -> Dial:
    w = np.ones(len(group)) if weight is None else weight
    size = np.zeros((layers.kept.shape[1], layers.number))
    known = group >= 0
    np.add.at(size, (group[known], layers.code[known]), w[known])
    there = size.any(1)
    number = np.where(there, np.cumsum(there) - 1, -1)
    factor = np.zeros(len(group))
    factor[known] = mix(size)[group[known], layers.code[known]]
    codes = np.where(known, number[group], -1)
    plain, weighed = traced(codes), traced(codes, w * factor)
    return replace(plain, positive=weighed.positive, size=weighed.size)
