"""S or labels that are known of some people only: each of them stands for others decided alike.

Whom one asks, and whose label comes, may depend on the decision: of people with the same decisions
(f's and g's) those who are known stand for all, with the weight N / n. That is inverse-probability
weighting with the probabilities that were realized. It rests on nothing else deciding who is known;
where of some decision hardly anybody is known, as the labels of the denied often are, no weight
mends that, and the question is refused.
"""

import numpy as np

from fairpatch.measure.counts import UNKNOWN, Counts
from fairpatch.measure.floor import MIN_PEOPLE

KNOWN_OF_ALL = 0.9
"""Labels of everybody are in when so many are: the others are not waited for."""
LEAST = 0.01
"""People with some decision who are fewer than this share may be left out."""


class NotKnownError(ValueError):
    """Too little is known of some people: an estimate would mislead."""


def standing_for_all(counts: Counts, *, with_label: bool) -> Counts:
    """Counts of one feature in which everybody whose S (and label) is known stands for others.

    >>> counts = Counts.from_arrays(decision=[1] * 40 + [0] * 60,
    ...     sensitive_features=["a"] * 10 + ["b"] * 10 + [None] * 20 + ["a"] * 40 + ["b"] * 20)
    >>> standing_for_all(counts, with_label=False).weight.sum((1, 2, 3))
    array([60., 40.])
    """
    known = np.array([None not in group for group in counts.groups])
    here = np.zeros((len(known), 3), bool)
    here[known] = True
    if with_label:
        here[:, UNKNOWN] = False
    inside = here[:, :, None, None]
    all_n, all_w = counts.n.sum((0, 1)), counts.weight.sum((0, 1))
    some_n, some_w = ((x * inside).sum((0, 1)) for x in (counts.n, counts.weight))
    if (some_n == all_n).all():
        return counts.where(known)
    share = all_n / max(all_n.sum(), 1)
    lacking = (some_n < np.minimum(MIN_PEOPLE, all_n)) & (share > LEAST)
    if lacking.any():
        f, g = (int(i) for i in np.argwhere(lacking)[0])
        what = "label" if with_label else "group"
        raise NotKnownError(
            f"of the {share[f, g]:.0%} of people with decision {f} before and {g} after the patch, "
            f"hardly anybody's {what} is known: what is known of others does not tell"
        )
    factor = np.divide(all_w, some_w, out=np.zeros_like(all_w), where=some_w > 0)
    tables = (counts.n * inside, counts.weight * inside * factor,
              counts.weight_sq * inside * factor**2)  # fmt: skip
    return Counts(counts.features, counts.groups, *tables).where(known)
