"""What people wait for, fifteen paths: seconds of processor time of each, the best of several.

``watch`` runs this file on two versions of the library in turn. A path that a version does not have
is left out.
"""

import json
import resource
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

LONG, REPEATS = 0.5, 4
"""What takes longer than so many seconds is timed once, the rest so many times more."""
LOANS = Path(__file__).parents[1] / "src" / "fairpatch" / "datasets" / "loans.py"


class Paths:
    """A lender's table, a patch, and what is done with them."""

    @cached_property
    def _load(self) -> Any:
        """Today's people, also for a version that has none."""
        return runpy.run_path(str(LOANS))["load_loans"]

    @cached_property
    def loans(self) -> Any:
        """3,000 people."""
        return self._load(3_000)

    @cached_property
    def many(self) -> Any:
        """100,000 people."""
        return self._load(100_000, 1)

    @cached_property
    def table(self) -> Any:
        """The same in DuckDB."""
        import duckdb

        connection = duckdb.connect()
        connection.register("many", self.many)
        connection.execute("CREATE TABLE held AS SELECT * FROM many")
        return connection.sql("SELECT * FROM held")

    @cached_property
    def g(self) -> Any:
        """A patch."""
        from fairpatch import Decision, FairPatch, Target

        bank = Decision(threshold=0.8)
        g = FairPatch("score", Target(p_rule=0.8), decision=bank, exclude=["age"])
        return g.fit(self.loans, "repaid", sensitive_features=["sex"])

    def fit(self) -> Callable[[], Any]:
        """To learn, choose and certify."""
        from sklearn.base import clone

        return lambda: clone(self.g).fit(self.loans, "repaid", sensitive_features=["sex"])

    def menu(self) -> Callable[[], Any]:
        """The menu, and what conditions cost."""
        return lambda: replace(self.g.fitted_).menu

    def review(self) -> Callable[[], Any]:
        """A review, as a page."""
        people = {"sensitive_features": ["sex"], "refits": 0}
        return lambda: self.g.review(self.loans.head(1_500), "repaid", **people).html()

    def audit_memory(self) -> Callable[[], Any]:
        """An audit of a frame."""
        return self._audit(self.many)

    def audit_duckdb(self) -> Callable[[], Any]:
        """An audit inside the engine."""
        return self._audit(self.table)

    def _audit(self, people: Any) -> Callable[[], Any]:
        from fairpatch import audit

        about: Any = {"sensitive_features": ["sex"], "estimator": "score"}
        return lambda: str(audit(people, "repaid", **about, decision=self.g.decision))

    def predict(self) -> Callable[[], Any]:
        """Decisions of a frame."""
        return lambda: self.g.predict(self.many)

    def apply_memory(self) -> Callable[[], Any]:
        """A frame with decisions and reasons."""
        return lambda: self.g.patched_.apply(self.many, with_reason=True)

    def apply_duckdb(self) -> Callable[[], Any]:
        """The same inside the engine."""
        from fairpatch.patch.apply import apply

        return lambda: apply(self.g.patch_, self.table, "score", with_reason=True).df()

    def certify_duckdb(self) -> Callable[[], Any]:
        """A certificate inside the engine."""
        about = {"sensitive_features": ["sex"], "target": self.g.target}
        return lambda: self.g.patched_.certify(self.table, "repaid", **about)

    def compare(self) -> Callable[[], Any]:
        """Whether a table looks like the one of the fit."""
        from fairpatch.identity.compare import compare

        return lambda: compare(self.g.patch_, self.table, "score")

    def one_person(self) -> Callable[[], Any]:
        """Ten thousand requests, one after the other."""
        from fairpatch.patch.row_scorer import RowScorer

        one, rows = RowScorer(self.g.patch_), self.loans.head(1_000).to_dict("records")
        return lambda: [one.decide(row, row["score"]) for row in rows * 10]

    def sql(self) -> Callable[[], Any]:
        """The text of a view."""
        from fairpatch.engines.sql import sql

        return lambda: sql(self.g.patch_, "score", dialect="postgres")

    def onnx(self) -> Callable[[], Any]:
        """The graph, thirty times."""
        from fairpatch.engines.onnx import patch_graph

        return lambda: [patch_graph(self.g.patch_).SerializeToString() for _ in range(30)]

    def file(self) -> Callable[[], Any]:
        """A hundred patches read."""
        from fairpatch.patch import load, save

        path = save(self.g.patch_, Path(tempfile.mkdtemp()) / "patch.json")
        return lambda: [load(path) for _ in range(100)]

    def start(self) -> Callable[[], Any]:
        """The command line: its help, and what an audit imports."""
        words = "import fairpatch.cli.main, fairpatch.cli.config, fairpatch.report.audit"
        return lambda: subprocess.run([sys.executable, "-c", words], check=True)


PATHS = tuple(name for name, made in vars(Paths).items() if callable(made) and name[0] != "_")


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of this process and of those it starts."""
    begun = _clock()
    work()
    return _clock() - begun


def _clock() -> float:
    own, of_children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + of_children.ru_utime + of_children.ru_stime


def main(only: list[str]) -> None:
    """Print the best time of each path as JSON."""
    paths, found = Paths(), {}
    for name in only or PATHS:
        try:
            work = getattr(paths, name)()
            work()  # with imports and caches
        except (AttributeError, ImportError, TypeError):
            continue  # not in this version
        found[name] = seconds(work)
        for _ in range(0 if found[name] > LONG else REPEATS):
            found[name] = min(found[name], seconds(work))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
