"""Models sorted into the paper's cells of fairness and accuracy: Table 1 and who is lowest."""

from typing import Any

import numpy as np

from benchmarks.methods import METHODS, PUBLISHED_BLIND
from benchmarks.quartiles import CELLS, PAPER, quartiles
from fairpatch._table import Table


def with_cells(frame: Any, dataset: str, fairness: Any, definition: str = "definition 1") -> Any:
    """The sweep's records of one data set and fairness, with their quartiles."""
    here = frame[(frame["dataset"] == dataset) & (frame["fairness"] == fairness)]
    metric = "p_rule" if fairness == "demographic_parity" else "dm"
    here = here[here[metric].notna()]
    q_fair, q_acc = quartiles(
        dataset, fairness, here[metric].to_numpy(), here["accuracy"].to_numpy(), definition
    )
    return here.assign(q_fair=q_fair, q_acc=q_acc)


def means(frame: Any) -> Any:
    """Mean share of changed decisions by method and cell."""
    return frame.groupby(["method", "q_fair", "q_acc"])["change_rate"].mean()


def lowest(frame: Any, *, at_least: int = 1) -> tuple[int, int]:
    """Cells in which COMMOD is the lowest of the published methods that do not read S.

    Out of those that at least so many methods reach, COMMOD or not; it loses where it is absent.
    """
    by_cell = means(frame)
    won = total = 0
    for cell in sorted({index[1:] for index in by_cell.index}):
        baselines = [v for m in PUBLISHED_BLIND if (v := by_cell.get((m, *cell))) is not None]
        ours = by_cell.get(("COMMOD", *cell))
        if len(baselines) + (ours is not None) >= at_least:
            total += 1
            won += ours is not None and all(ours <= v for v in baselines)
    return won, total


def table(frame: Any, dataset: str) -> str:
    """Table 1: the paper's figure and ours, method by method."""
    by_cell = means(frame)
    counts = frame.groupby(["method", "q_fair", "q_acc"]).size()
    rows = []
    for method in METHODS:
        row = [method]
        for i, cell in enumerate(CELLS):
            printed = PAPER[dataset].get(method, (None,) * len(CELLS))[i]
            ours = by_cell.get((method, *cell))
            size = counts.get((method, *cell), 0)
            row += [
                "-" if printed is None else f"{printed:.2f}",
                "-" if ours is None else f"{ours:.3f} ({size})",
            ]
        rows.append(row)
    blind = [*PUBLISHED_BLIND, "COMMOD"]
    won = sum(_best(by_cell, blind, cell) == "COMMOD" for cell in CELLS)
    header = ["method", *(h for f, a in CELLS for h in (f"Q{f}Q{a} paper", "ours (models)"))]
    return Table(
        f"{dataset}, demographic parity: mean share of changed decisions, test set",
        header,
        rows,
        [
            "COMMOD is the lowest of the published methods that do not read S in "
            f"{won} of {len(CELLS)} cells"
        ],
    ).text()


def _best(by_cell: Any, methods: list[str], cell: tuple[int, int]) -> str | None:
    found = {m: v for m in methods if (v := by_cell.get((m, *cell))) is not None}
    return min(found, key=lambda m: found[m]) if found else None


def figure(
    frame: Any, axes: Any, marks: dict[str, tuple[str, str]], least: dict[int, float]
) -> None:
    """Changes against accuracy, one panel a fairness quartile, with the fewest that reach it."""
    for ax, quartile in zip(axes, (1, 2, 3, 4), strict=True):
        for method, (marker, colour) in marks.items():
            own = frame[(frame["q_fair"] == quartile) & (frame["method"] == method)]
            ax.scatter(
                own["accuracy"], own["change_rate"], marker=marker, s=14, color=colour, alpha=0.6,
                label=method, linewidths=0.8,
            )  # fmt: skip
        if quartile in least:
            ax.axhline(
                least[quartile], color="k", linestyle="--", linewidth=0.8,
                label="fewest to reach the quartile, S known",
            )  # fmt: skip
        ax.set_title(f"fairness Q{quartile}", fontsize=9)
        ax.set_xlabel("accuracy", fontsize=8)
        ax.tick_params(labelsize=7)
    axes[0].set_ylabel("changed decisions", fontsize=8)
    top = max((ax.get_ylim()[1] for ax in axes), default=1.0)
    for ax in axes:
        ax.set_ylim(-0.01, min(top, np.nextafter(1, 2)))
