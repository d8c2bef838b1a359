"""Files that an attacker, or an accident, has changed: mutations that know the structure."""

import json
import random
from copy import deepcopy

NASTY = [
    0, -0.0, 1, -1, 1e308, -1e308, 5e-324, 1e-99, 1e15, 2**53 + 1, 2**63, 10**29, True, False, None,
    "", "a", "\x00", "\u202e", "аge", "age", "Age", "score", "__x", "\ud800", "=1+1", "<script>",
    [], {}, [[]], "1", "NaN", "inf", 0.5, "0.5", 2, 3, -5, 1.0, "number", "category", "both",
    "promote_only", "^age$", "fairpatch_ratio", "RAW:NaN", "RAW:Infinity", "RAW:1e400",
    "RAW:1E-400",
]  # fmt: skip


def places(data, path=()):
    """Every path into nested data."""
    yield path
    steps = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for step in steps:
        yield from places(data[step], (*path, step))


def at(data, path):
    for step in path:
        data = data[step]
    return data


def mutated(text, seed):
    """One changed file of a valid one, as bytes; the same seed gives the same."""
    pick = random.Random(seed)
    data = json.loads(text)
    for _ in range(pick.choice([1, 1, 1, 2, 3, 5])):
        paths = [p for p in places(data) if p]
        if not paths:
            break
        *above, last = pick.choice(paths)
        parent, chance = at(data, above), pick.random()
        if chance < 0.5:
            parent[last] = deepcopy(pick.choice(NASTY))
        elif chance < 0.6:
            del parent[last]
        elif chance < 0.7:
            own = deepcopy(parent[last])
            if isinstance(parent, list):
                parent.append(own)
            else:
                parent[pick.choice(["x", "name", "weight", "categories", "", f"{last}2"])] = own
        elif chance < 0.8:
            parent[last] = deepcopy(at(data, pick.choice(paths)))
        elif chance < 0.9 and isinstance(parent[last], int | float):
            parent[last] = parent[last] * pick.choice([-1, 1e10, 1e-10, 1e300, 0])
        elif chance < 0.93:
            value = deepcopy(pick.choice(NASTY))
            for _ in range(pick.choice([3, 50, 100])):
                value = [value] if pick.random() < 0.5 else {"a": value}
            parent[last] = value
        else:
            parent[last] = str(parent[last])
    return _bytes(json.dumps(data), pick)


def _bytes(text, pick):
    for raw in ("NaN", "Infinity", "1e400", "1E-400"):
        text = text.replace(f'"RAW:{raw}"', raw)
    found, chance = bytearray(text.encode()), pick.random()
    if chance < 0.08:
        for _ in range(pick.choice([1, 2, 8])):
            where = pick.randrange(len(found) + 1)
            if pick.random() < 0.5:
                del found[where : where + pick.choice([1, 5, 50])]
            else:
                found[where:where] = pick.choice([b",", b"}", b'"', b"\xff", b"[", b"9" * 400])
    elif chance < 0.11:  # a key twice
        key = pick.choice([b'"strength"', b'"weight"', b'"offset"', b'"version"', b'"column"'])
        found = bytearray(bytes(found).replace(key + b": ", key + b": 0.3, " + key + b": ", 1))
    elif chance < 0.12:
        found = found[: pick.randrange(len(found))]
    return bytes(found)
