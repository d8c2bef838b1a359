"""Questions about a table (``fairpatch.inputs.notice``), asked wherever rows come in.

A fit asks all of them; an audit and a certificate those that change what is counted.
"""

from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch._fetch import frame_of
from fairpatch.base import AT_THRESHOLD, BaseModel
from fairpatch.data.rows import Rows
from fairpatch.inputs.notice import SEEN, Seen, ask, ask_table
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.sensitive import grouped_table
from fairpatch.measure.groups import Groups


def ask_rows(
    rows: Rows, base: BaseModel, roles: Roles, but: Collection[str] = (), *, learns: bool = False
) -> None:
    """Refuse to go on with rows in memory while something about them has to be said.

    ``learns``: whether a patch will read their columns; ``but`` are those that it must not.
    """
    ask_about(
        rows.X, rows.s, base, roles, but, approved=rows.f > 0, label=rows.labels,
        at_threshold=np.abs(rows.f) <= AT_THRESHOLD if learns else None, learns=learns,
        score=rows.f,
    )  # fmt: skip


def ask_about(
    X: Any, groups: Groups, base: BaseModel, roles: Roles, but: Collection[str] = (), *,
    approved: Bools, label: Floats | None, at_threshold: Bools | None, learns: bool = False,
    score: Floats | None = None,
) -> None:  # fmt: skip
    """The same of what is at hand; ``at_threshold`` where the rule for such scores is open."""
    seen = Seen.of(
        X, groups.columns, {*but, base.score_column or ""}, read_by_f=base.columns or (),
        approved=approved, label=label, at_threshold=at_threshold if _rule_is_open(base) else None,
        score=score,
    )  # fmt: skip
    ask(seen, roles, base.decision, learns=learns)


def ask_engine(
    table: Any, features: Sequence[str], base: BaseModel, roles: Roles, *, rule_is_open: bool = True
) -> None:
    """The same of a table in an engine: of some of its rows, and who has several of all."""
    score, names = base.score_column, nw.from_native(table).collect_schema().names()
    cuts, features = base.decision.cuts, [name for name in features if name in names]
    wanted = [score, *features, *([] if cuts is None else [cuts.by])]
    known = [name for name in dict.fromkeys(wanted) if name is not None and name in names]
    some = frame_of(nw.from_native(grouped_table(table, roles, features)).lazy()
                    .select(*known).head(SEEN)).to_native()  # fmt: skip
    whose = nw.from_native(some, eager_only=True).select(*features).to_native()
    groups = Groups.of(whose).columns if features else {}
    here = None
    if rule_is_open and score in known and len(some):
        p = base.decision.compared(nw.from_native(some)[score].cast(nw.Float64).to_numpy())
        here = p == base.thresholds(some)
    ask(Seen.of(None, groups, at_threshold=here), roles, base.decision)
    ask_table(table, roles, known)


def _rule_is_open(base: BaseModel) -> bool:
    """Whether nothing but the score says what is decided: no model whose own rule was looked at."""
    f = base.estimator
    own = hasattr(f, "predict") and hasattr(f, "predict_proba")
    return not own or (base.decision.has_threshold and not base.decides_for_itself)
