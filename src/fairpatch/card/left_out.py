"""Columns that no scorecard reads, whatever they could say: copies of the score, names of people.

A copy of f's score is f's confidence once more, under another name. An identifier or a free text
tells people apart one by one: points for it are points for a person. And what is protected by its
name is not read unless somebody has given a reason.
"""

import re
from collections.abc import Sequence

import numpy as np

from fairpatch._arrays import Floats
from fairpatch._hints import hint
from fairpatch.inputs.names import is_protected
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.measure.telling import is_copy
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column

IDENTIFIER = re.compile(
    r"(^|_|\b)(id|uuid|key|number|nummer|no|nr|ref|reference|account|konto)s?$", re.IGNORECASE
)
WEIGHING = re.compile(
    r"(^|_|\b)((sample|sampling|survey|person|case|row)_?weights?|exposure|exposition"
    r"|hochrechnungsfaktor|gewichtung)$", re.IGNORECASE,
)  # fmt: skip
NUMBERS = 100
"""Different whole numbers in a column called id or number: more of them are no quantity."""
DISTINCT = 0.5
"""Of a text's rows: with more different values than this, it names people."""
WORDS = 4
"""Words of a text on average: with so many it is prose."""
MEETINGS = 10
"""Of people with the same whole number, by chance: where so many are expected and none are found,
somebody handed the numbers out."""
MOST = 5_000
FEWEST = 30


def left_out(
    held: Columns, columns: Sequence[Column], f_logit: Floats, roles: Roles = PLAIN
) -> dict[str, str]:
    """By column: why it is no column of a scorecard, for people to read."""
    protected = {
        column.name: "protected by its name, or as good as that: to use it, give a reason, "
        + hint(f"Roles(reasons={{{column.name!r}: '...'}})", f"reasons: {{{column.name}: ...}}")
        for column in columns
        if is_protected(column.name) and column.name not in roles.reasons
    }
    return {**_by_values(held, columns, f_logit), **protected}


def _by_values(held: Columns, columns: Sequence[Column], f_logit: Floats) -> dict[str, str]:
    rows = np.arange(held.rows)
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
    if len(rows) < FEWEST:
        return {}
    why = {}
    for column in columns:
        values = held.values(column)[rows]
        reason = (
            _number(column.name, values, f_logit[rows])
            if column.kind == "number"
            else _text([v for v in values if isinstance(v, str)], len(values))
        )
        if reason:
            why[column.name] = reason
    return why


def _number(name: str, values: Floats, f_logit: Floats) -> str | None:
    known = np.isfinite(values)
    x, f = values[known], f_logit[known]
    if len(x) < FEWEST or len(np.unique(x)) < 2 or len(np.unique(f)) < 2:
        return None
    if is_copy(x, f):
        return "a copy of the base model's score"
    whole, many = bool(np.all(x == np.rint(x))), len(np.unique(x))
    # n people on so few numbers meet n^2 / 2 range times by chance: a number that nobody shares
    numbered = len(x) ** 2 / (2.0 * max(1.0, float(np.ptp(x)))) > MEETINGS
    named = IDENTIFIER.search(name.rstrip(" ._-"))
    if whole and many == len(x) and (numbered or named):
        return "an identifier: no two people have the same"
    if whole and named and many > NUMBERS:
        return "a number that names somebody or something, and no quantity, by its name"
    if WEIGHING.search(name):
        return "what a row weighs, by its name: say so, Roles(weight=...), or call it otherwise"
    return None


def _text(texts: Sequence[str], people: int) -> str | None:
    if len(texts) < FEWEST:
        return None
    if np.mean([len(text.split()) for text in texts]) >= WORDS and len(set(texts)) > 0.2 * people:
        return "free text"
    if len(set(texts)) > DISTINCT * people:
        return "an identifier: hardly two people have the same"
    return None
