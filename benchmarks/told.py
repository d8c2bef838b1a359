"""Groups that are known of some people only: how often a limit that is just missed is certified.

Draws of people whose true P-Rule is exactly the limit. Who tells their group goes with nothing, the
group, the decision, both, or what is decided in a group; certified and *holds under an assumption*
are counted, and what the plain test among those who tell would have certified.
"""

from typing import Any

import numpy as np

from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import certify
from fairpatch.measure.counts import Counts
from fairpatch.target import Target

LIMIT, HIGH = 0.8, 0.5
SHARES = (0.6, 0.4)
TELLING: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "everybody tells": ((1.0, 1.0), (1.0, 1.0)),
    "all but one in a hundred": ((0.99, 0.99), (0.99, 0.99)),
    "by chance": ((0.6, 0.6), (0.6, 0.6)),
    "with the group": ((0.8, 0.8), (0.4, 0.4)),
    "with the decision": ((0.3, 0.85), (0.3, 0.85)),
    "with both": ((0.6, 0.5), (0.4, 0.6)),
}
"""Of each group, the chance to tell of those denied and of those approved."""
ROWS = (3_000, 12_000)


def run(draws: int = 2_000, rows: tuple[int, ...] = ROWS) -> dict[str, Any]:
    """Every way of telling at the edge, and where the truth is .88, for power."""
    found = []
    for truth in (LIMIT, 0.88):
        for name, told in TELLING.items():
            for n in rows:
                counted = [one(n, told, truth, seed) for seed in range(draws)]
                found.append(
                    {"truth": truth, "told": name, "rows": n}
                    | {word: float(np.mean([c[word] for c in counted])) for word in counted[0]}
                )
    return {"draws": draws, "limit": LIMIT, "rows": found}


def one(n: int, told: Any, truth: float, seed: int) -> dict[str, bool]:
    """A draw: what is said of it."""
    random = np.random.default_rng([seed, n, int(1000 * truth)])
    group = (random.random(n) < SHARES[1]).astype(int)
    decided = (random.random(n) < np.where(group == 1, truth * HIGH, HIGH)).astype(int)
    tells = random.random(n) < np.array(told)[group, decided]
    s = np.array(["a", "b"], object)[group]
    s[~tells] = None
    target = Target(p_rule=LIMIT)
    verdict = certify(of(decided, s), target).verdict
    plain = certify(of(decided[tells], s[tells]), target).verdict
    return {
        "certified": verdict is Verdict.CERTIFIED,
        "assumed": verdict is Verdict.CONDITIONAL,
        "among those who tell": plain is Verdict.CERTIFIED,
    }


def of(decided: Any, s: Any) -> Counts:
    """Counts of some people."""
    return Counts.from_arrays(decision=decided, sensitive_features={"s": s})


def show(result: dict[str, Any]) -> str:
    """A line each."""
    lines = [
        f"{result['draws']} draws, limit {result['limit']:g}",
        f"{'truth':>6} {'rows':>7}  {'who tells':26} {'certified':>9} {'assumed':>8} {'plain':>6}",
    ]
    lines += [
        f"{r['truth']:6.2f} {r['rows']:7,}  {r['told']:26} {r['certified']:9.3f} "
        f"{r['assumed']:8.3f} {r['among those who tell']:6.3f}"
        for r in result["rows"]
    ]
    return "\n".join(lines)
