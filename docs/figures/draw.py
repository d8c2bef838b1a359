"""Charts, short tables and CSV files of what output.md has: ``python docs/figures/draw.py``.

One source: the text that the commands printed. Nothing is typed in twice.
"""

import csv
import re
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OURS, THEIRS, BOUND = "#b2182b", "#4d6f91", "#8a8a8a"
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110}
LEVEL = 0.8
"""The P-Rule that charts and short tables are about; the files have all."""
TITLE = re.compile(
    r"^(?:(\w+): )?(P-Rule|DM, share of f's gone) (0\.\d) on the test rows, (\w+) f, (\d+) splits$"
)
NOTES = ("Means over", "outcome:", "agreement:", "s:", "Differences of", "The bound")


def tables() -> list[tuple[str, str, float, str, list[dict[str, str]]]]:
    """Kind, fairness, level, kind of f, and rows of every table of the comparison."""
    found, lines = [], (HERE / "output.md").read_text(encoding="utf-8").splitlines()
    for i, line in enumerate(lines):
        title = TITLE.match(line)
        if not title or title[1] == "Outcomes":
            continue
        names = re.split(r"\s{2,}", lines[i + 1].strip())
        ends = [m.end() for m in re.finditer(r"\S+(?: \S+)*", lines[i + 1])]
        rows = []
        for row in lines[i + 2 :]:
            if not row.startswith("  ") or row.strip().startswith(NOTES):
                break
            method = re.match(r"  (.+?)(?:\s{2,}|$)", row)[1]
            edges = [2 + len(method), *ends[1:-1]]
            cells = [row[a:b].strip() for a, b in zip(edges, ends[1:], strict=True)]
            rows.append(dict(zip(names, [method, *cells], strict=True)))
        found.append((title[1] or "Summary", title[2], float(title[3]), title[4], rows))
    return found


def number(text: str) -> float | None:
    """The number of a cell; None where there is none."""
    told = re.match(r"[+-]?[\d.]+", text)
    return float(told[0]) if told else None


def write_csv(name: str, head: list[str], rows: list[list[object]]) -> None:
    """A file for people who compute on."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def comparison(all_tables: list[tuple[str, str, float, str, list[dict[str, str]]]]) -> None:
    """All methods at all levels: two CSV files, charts and a short table."""
    summary, by_problem = [], []
    for kind, fairness, level, base, rows in all_tables:
        for row in rows:
            own = [base, fairness, level, row["method"]]
            if kind == "Summary":
                changes, _, error = row["changes"].partition(" ± ")
                accuracy, _, more = row["accuracy"].partition(" ± ")
                cells = [row["reached"], changes, error, accuracy, more,
                         *(row[c] for c in ("outcome", "agreement", "s", "rank"))]  # fmt: skip
                summary.append([*own, *("" if c in ("-", "nan") else c for c in cells)])
            elif row["method"] != "splits":
                by_problem += [
                    [*own, kind.lower(), problem, "" if number(value) is None else value]
                    for problem, value in row.items()
                    if problem != "method"
                ]
    head = ["f", "fairness", "level", "method"]
    write_csv(
        "comparison.csv",
        [*head, "reached", "changes", "changes_error", "accuracy", "accuracy_error", "outcome",
         "agreement", "seconds", "rank"],
        summary,
    )  # fmt: skip
    write_csv("by_problem.csv", [*head, "figure", "problem", "value"], by_problem)

    shown = [r for r in summary if r[1:3] == ["P-Rule", LEVEL]]
    draw_methods(shown)
    draw_problems([r for r in by_problem if r[1:3] == ["P-Rule", LEVEL]])
    short = [r for r in shown if r[0] == "logistic"]
    fewest = next(float(r[5]) for r in short if r[3].startswith("bound"))
    lines = [
        "| Method | Reached the target | Decisions that change | Times the fewest possible "
        "| Accuracy | Outcome of the promoted | Agreement of two fits |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r[3]} | {float(r[4]):.0%} | {float(r[5]):.1%} | {float(r[5]) / fewest:.2f} "
        f"| {r[7] or '–'} | {r[9] or '–'} | {r[10] or '–'} |"
        for r in sorted((r for r in short if r[5]), key=lambda r: float(r[5]))
    ]
    lines += [f"| {r[3]} | {float(r[4]):.0%} | too seldom | | | | |" for r in short if not r[5]]
    (HERE / "comparison.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw_methods(summary: list[list[object]]) -> None:
    """How many decisions each method changes, mean over problems and splits."""
    rows = {(r[0], r[3]): r for r in summary if r[5]}
    logistic = [r for r in rows.values() if r[0] == "logistic"]
    order = [r[3] for r in sorted(logistic, key=lambda r: -float(r[5]))]
    titles = {"logistic": "logistic regression as f", "boosted": "boosted trees as f"}
    for base, title in titles.items():
        if not any(kind == base for kind, _ in rows):
            continue
        fig, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
        for i, method in enumerate(order):
            if (base, method) in rows:
                changes, error = rows[base, method][5:7]
                ax.errorbar(
                    float(changes), i, xerr=float(error or 0), fmt="o", color=colour(method),
                    capsize=2, markersize=5,
                )  # fmt: skip
        ax.set_yticks(range(len(order)), order)
        ax.set(xlabel="share of decisions that change", title=title, xlim=(0, None))
        ax.grid(axis="x", alpha=0.25)
        save(fig, f"comparison-{base}.svg")


def draw_problems(by_problem: list[list[object]]) -> None:
    """On each problem: ours, the paper's, and the fewest possible."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    problems = list(dict.fromkeys(r[5] for r in by_problem))
    for method, marker in (("bound, S known", "|"), ("COMMOD", "o"), ("fairpatch", "o")):
        at = [method, "changes"]
        own = {
            r[5]: float(r[6]) for r in by_problem if r[0] == "logistic" and r[3:5] == at and r[6]
        }
        here = [(own[p], i) for i, p in enumerate(problems) if p in own]
        size = {"markersize": 11, "markeredgewidth": 2} if marker == "|" else {"markersize": 6}
        ax.plot(*zip(*here, strict=True), marker, color=colour(method), label=method, **size)
    ax.set_yticks(range(len(problems)), problems)
    ax.set(xlabel=f"share of decisions that change, at a P-Rule of {LEVEL}", xlim=(0, None))
    ax.grid(axis="x", alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    save(fig, "by_problem.svg")


def colour(method: str) -> str:
    """Ours, a bound, or another's."""
    if method.startswith("fairpatch"):
        return OURS
    return BOUND if method.startswith("bound") else THEIRS


def save(fig: plt.Figure, name: str) -> None:
    """Without the day it was drawn, so that the same figures are the same file."""
    fig.savefig(HERE / name, metadata={"Date": None})
    plt.close(fig)


def main() -> None:
    """Write all of them."""
    with plt.rc_context({**STYLE, "svg.hashsalt": "fairpatch"}):
        comparison(tables())


if __name__ == "__main__":
    main()
