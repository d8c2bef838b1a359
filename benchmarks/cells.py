"""Models sorted into the paper's cells of fairness and accuracy: Table 1 and who is lowest."""

from typing import Any

import numpy as np
from scipy.stats import t

from benchmarks.methods import METHODS, PUBLISHED_BLIND
from benchmarks.quartiles import CELLS, PAPER, quartiles
from fairpatch._tools.tables import Table

ROUNDED = 0.005
"""The paper prints two digits."""


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
    """Mean share of changed decisions by method and cell; every split counts the same."""
    by_split = frame.groupby(["method", "q_fair", "q_acc", "split"])["change_rate"].mean()
    return by_split.groupby(["method", "q_fair", "q_acc"]).mean()


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
    """Table 1, method by method: the paper's figure, and ours over some splits."""
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
    header = ["method", *(h for f, a in CELLS for h in (f"Q{f}Q{a} paper", "ours (models)"))]
    splits = frame["split"].nunique()
    on = "the paper's split" if not frame["split"].any() else f"mean of {splits} other splits"
    title = f"{dataset}, demographic parity: mean share of changed decisions, test set, {on}"
    return Table(title, header, rows).text()


def verdicts(frame: Any, dataset: str) -> str:
    """Cell by cell over many splits: COMMOD against the paper's, and against the best baseline."""
    rows = []
    for i, (fair, acc) in enumerate(CELLS):
        here = frame[(frame["q_fair"] == fair) & (frame["q_acc"] == acc)]
        by_split = here.groupby(["method", "split"])["change_rate"].mean()
        ours = by_split.get("COMMOD", None)
        printed = PAPER[dataset]["COMMOD"][i] or 0.0  # it prints one for every cell
        rivals = {m: by_split[m] for m in PUBLISHED_BLIND if m in by_split.index}
        best = min(rivals, key=lambda m: rivals[m].mean()) if rivals else None
        rows.append(
            [
                f"Q{fair}Q{acc}",
                f"{printed:.2f}",
                "-" if ours is None else _interval(ours),
                "0" if ours is None else str(len(ours)),
                str(int((here["method"] == "COMMOD").sum())),
                "-" if ours is None else against(ours, printed),
                "-" if best is None else f"{best} {_interval(rivals[best])}",
                "-" if best is None else str(len(rivals[best])),
            ]
        )
    header = ["cell", "paper", "ours", "splits", "models", "ours is", "best published blind method",
              "its splits"]  # fmt: skip
    notes = [
        "Mean over splits with its 95 % interval (t); a split counts where it has a model in the "
        "cell. Ours is lower or higher where the interval leaves out what the paper rounds to."
    ]
    title = f"{dataset}, demographic parity: COMMOD over {frame['split'].nunique()} splits"
    return Table(title, header, rows, notes).text()


def against(values: Any, printed: float) -> str:
    """Lower, equal or higher than a figure of two digits, by the interval over splits."""
    half = half_interval(values)
    if half is None:
        return "one split"
    if values.mean() + half < printed - ROUNDED:
        return "lower"
    return "higher" if values.mean() - half > printed + ROUNDED else "equal"


def half_interval(values: Any) -> float | None:
    """Half of the 95 % interval of a mean."""
    n = len(values)
    return float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / n**0.5) if n > 1 else None


def _interval(values: Any) -> str:
    half = half_interval(values)
    return f"{values.mean():.3f}" + ("" if half is None else f" ± {half:.3f}")


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
