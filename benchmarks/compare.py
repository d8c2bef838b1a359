"""Every method on your own rows, at equal fairness: what ``beyond`` does, for a split of yours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.beyond import FAIRNESS, OURS, bounds, figures, limits_of, reached
from benchmarks.beyond_table import gain
from benchmarks.methods import BASELINES
from benchmarks.problems import Parts
from benchmarks.sample import Sample
from fairpatch._tools.arrays import Ints
from fairpatch._tools.extras import need
from fairpatch._tools.hints import did_you_mean
from fairpatch._tools.tables import Table
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.measure.groups import Groups
from fairpatch.measure.metric import Fairness

Rows = tuple[Any, Any, Any]
"""X, y and s."""


def compare(
    f: Estimator,
    train: Rows,
    test: Rows,
    *,
    level: float = 0.8,
    fairness: Fairness = "demographic_parity",
    methods: Sequence[str] | None = None,
    seeds: int = 3,
    progress: bool = False,
) -> Table:
    """Changes and accuracy of all methods where they first reach a level of fairness.

    Parameters
    ----------
    f : fitted classifier or callable
        The base model; it should not read S.
    train, test : (X, y, s)
        Columns as a pandas frame, labels 0 and 1, and one sensitive feature of two values. Methods
        learn from the first and are compared on the second; what chooses among models does so on a
        third of the first. The dial of every method is set on the test rows, to exactly the level.
    level : float
        The P-Rule; for equalized odds, the share of f's DM that has to go.
    fairness : {"demographic_parity", "equalized_odds"}
        What is made equal.
    methods : sequence of str, optional
        All by default: "fairpatch", "COMMOD" and those of ``benchmarks.methods.BASELINES``.
    seeds : int
        Seeds of methods and of what they choose on; the spread over them is shown. That over other
        test rows is larger.
    progress : bool
        Show a progress bar.
    """
    metric = FAIRNESS[fairness]
    able = [m for m, kind in BASELINES.items() if fairness in kind.notions]
    known = [*OURS, "COMMOD", *able]
    chosen = list(methods or ["fairpatch", "COMMOD", *able])
    for method in chosen:
        if method not in known:
            hint = did_you_mean(method, known)
            raise ValueError(f"there is no method {method!r}{hint}; there are {', '.join(known)}")
    parts = [_parts(BaseModel(f), train, test, seed) for seed in range(seeds)]
    limits = limits_of(parts[0].test, metric, [level])
    (least,) = bounds(parts[0].test, metric, limits)
    todo = [(method, seed) for method in chosen for seed in range(seeds)]
    shown = need("tqdm.auto", extra="bench").tqdm(todo) if progress else todo
    found: dict[str, list[dict[str, float]]] = {method: [] for method in chosen}
    for method, seed in shown:
        run = {"method": method, "fairness": fairness, "seed": seed}
        (changes,) = reached(run, parts[seed], metric, limits)
        found[method] += [] if changes is None else [figures(parts[seed].test, changes)]
    fewest = f"{least['changes']:.4f}" if least["reached"] else "-"
    lines = sorted(_row(method, records, seeds) for method, records in found.items())
    rows = [["fewest possible, S known", "", fewest, "", ""], *(row for _, row in lines)]
    what = "P-Rule of" if metric.how == "ratio" else "share of f's DM gone of"
    notes = [
        f"Mean and standard deviation over {seeds} seeds, between the two models on either side of "
        "the level.",
        "outcome: y = 1 among the promoted less among those left denied, within groups.",
    ]
    title = f"At a {what} {level:g} on the test rows"
    return Table(title, ["method", "reached", "changes", "accuracy", "outcome"], rows, notes)


def _parts(f: BaseModel, train: Rows, test: Rows, seed: int) -> Parts:
    """Rows to learn from, to choose on, and to compare on; groups as 0 and 1."""
    n = len(train[1])
    groups = Groups.of(np.concatenate([np.asarray(train[2]), np.asarray(test[2])]))
    codes = groups.codes[:, 0]
    if len(groups.values[0]) != 2 or (codes < 0).any():
        raise ValueError(f"two groups without gaps are compared; got {list(groups.values[0])}")

    def some(given: Rows, s: Ints, rows: Any) -> Sample:
        X, y = given[0].iloc[rows].reset_index(drop=True), np.asarray(given[1])[rows]
        if not np.isin(y, (0, 1)).all():
            raise ValueError("labels must be 0 and 1")
        return Sample(X, y.astype(np.int64), s[rows], f)

    first, second = train_test_split(np.arange(n), test_size=1 / 3, random_state=seed)
    return Parts(
        some(train, codes[:n], first),
        some(train, codes[:n], second),
        some(test, codes[n:], np.arange(len(test[1]))),
    )


def _row(method: str, records: list[dict[str, float]], seeds: int) -> tuple[float, list[str]]:
    """What to sort by, and a line of the table."""
    times = f"{len(records)} of {seeds}"
    if not records:
        return np.inf, [method, times, "", "", ""]
    frame = need("pandas", extra="bench").DataFrame(records)
    better = gain(frame, "promoted", "denied")
    cells = [
        f"{frame[name].mean():.4f}" + (f" ± {frame[name].std():.4f}" if len(records) > 1 else "")
        for name in ("changes", "accuracy")
    ]
    outcome = "" if np.isnan(better) else f"{better:+.3f}"
    return float(frame["changes"].mean()), [method, times, *cells, outcome]
