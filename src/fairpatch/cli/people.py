"""The people of a run: its table with every column in its role, its model, and its patch."""

from typing import TYPE_CHECKING, Any

from fairpatch.cli import data as tables
from fairpatch.cli.base_model import base_model
from fairpatch.cli.say import note, refuse

if TYPE_CHECKING:
    from fairpatch.cli.config import Config
    from fairpatch.identity.compare import Comparison
    from fairpatch.patch import Patch
    from fairpatch.patched import PatchedModel


def table_of(options: "Config") -> Any:
    """The table where it lies, without what nobody reads: ignored and index columns."""
    table = tables.relation(options.data, options.csv)
    tables.need_columns(table, options.named, options.data)
    index = [n for n in tables.index_columns(options.data) if n not in options.named]
    wanted = (options.label, *options.sensitive, options.score, *options.categories)
    twice = [n for n in options.ignore if n in wanted]
    if twice:
        refuse(f"column {twice[0]!r} is ignored and used: take it out of one of the two")
    unread = [n for n in (*options.ignore, *index) if n in table.columns]
    return tables.without(table, unread)


def notice(options: "Config", people: Any) -> None:
    """Say of columns what ``init`` would have said, where the configuration says otherwise.

    ``people`` is a frame, or a table where it lies.
    """
    from fairpatch.cli.profile import MANY_CODES, SEEN, profile
    from fairpatch.inputs.names import is_protected

    some = people.head(SEEN) if hasattr(people, "iloc") else tables.in_memory(people.limit(SEEN))
    roles = {*options.named, *columns_read_by(options)}
    found = profile(some, [], score=options.score)
    for name, why in {**found.ignore, **found.exclude}.items():
        if name not in roles and name not in options.columns.columns and not is_protected(name):
            note(f"take care: the patch may read {name!r}, which is {why}. Or else: --exclude")
    for name in found.categories:
        if name not in roles:
            note(f"take care: {name!r} looks like a code, no quantity. If so: --category")
    for name in options.categories:
        values = some[name].nunique()
        if values > MANY_CODES:
            note(
                f"take care: {name!r} is a category of {values:,} values; points for so many are "
                "points for a few people each. If it is a quantity: --no-category"
            )


def columns_read_by(options: "Config") -> list[str]:
    """Columns that a target compares people within, or locks by."""
    within = options.target.model_dump().get("within") or []
    return [within] if isinstance(within, str) else list(within)


def frame_of(options: "Config") -> Any:
    """The same in memory."""
    return tables.in_memory(table_of(options))


def patched_model(options: "Config", patch: "Patch") -> "PatchedModel":
    """The run's base model with a patch."""
    from fairpatch.base import BaseModel
    from fairpatch.patched import PatchedModel

    return PatchedModel(BaseModel(base_model(options), decision=patch.decision), patch)


def heed(comparison: "Comparison", if_unlike: str) -> None:
    """Say how a table differs from the one of the fit, and stop where that is too much."""
    from typing import get_args

    from fairpatch.identity.compare import INSTEAD_SHELL, IfUnlike

    if if_unlike not in get_args(IfUnlike):
        refuse(f"--if-unlike must be one of {', '.join(get_args(IfUnlike))}; got {if_unlike!r}")
    if if_unlike == "ignore" or not comparison.findings:
        return
    if comparison.refused and if_unlike == "refuse":
        refuse(f"{comparison}. {INSTEAD_SHELL}")
    for finding in comparison.findings:
        note(f"take care: {finding}")
