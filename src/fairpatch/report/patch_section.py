"""The patch itself: the card, or the paper's concepts and what they are made of; and reasons."""

from collections.abc import Sequence

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.explain import reasons
from fairpatch.explain.concepts import ConceptView
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch
from fairpatch.patched import PatchedModel
from fairpatch.report.card_section import CardSection, card_section
from fairpatch.report.coarse import Beside
from fairpatch.report.figures import Shown
from fairpatch.report.subject import LineOf


class IngredientRow(Shown):
    """A column of a concept."""

    column: str
    """Its name."""
    effect: float
    """By how much one standard deviation of it moves the ratio."""
    towards_change: str
    """Which side of it pushes towards a change."""


class ConceptSection(Shown):
    """A few columns that belong together."""

    name: str
    """Its name."""
    plain_name: str
    """What it is made of, in words."""
    weight: float
    """By how much one standard deviation of it moves the ratio."""
    share_of_changes: float
    """Of those who change, at least this share are pushed hardest by it."""
    ingredients: list[IngredientRow]
    """Its columns, strongest first."""


class PatchSection(Shown):
    """The patch."""

    strength: float
    """How far it is turned; 0 is the base model."""
    direction: str
    """both, promote_only or demote_only."""
    offset: float
    """What everybody has to begin with."""
    columns: list[str]
    """What it reads."""
    card: CardSection | None
    """Its lines, where it is a card of points."""
    concepts: list[ConceptSection]
    """What it is made of."""


class ReasonRow(Shown):
    """Why a row's decision changes, or does not."""

    row: int
    """Its number among the rows."""
    text: str
    """In words."""
    ratio: float
    """Below 0 the decision changes."""
    direction: str
    """promoted, demoted or unchanged."""
    contributions: list[tuple[str, float]]
    """What each part adds."""


def patch_section(
    patch: Patch,
    views: Sequence[ConceptView],
    lines: Sequence[LineOf],
    rows: Rows,
    after: Bools,
    metric: Metric,
    beside: Beside,
) -> PatchSection:
    """What the patch is, and whom each of its lines moves."""
    changed = int(((rows.f > 0) != after).sum())
    ten = MIN_PEOPLE / changed if changed else 1.0  # ten people, as a share of those who change
    return PatchSection(
        strength=patch.strength,
        direction=patch.direction,
        offset=patch.offset,
        columns=[column.name for column in patch.columns],
        card=None
        if patch.card is None
        else card_section(patch, lines, rows, after, metric, beside),
        concepts=[
            ConceptSection(
                name=view.name,
                plain_name=view.plain_name,
                weight=view.weight,
                share_of_changes=round(float(view.share_of_changes // ten * ten), 2),
                ingredients=[
                    IngredientRow(column=i.column, effect=i.effect, towards_change=i.towards_change)
                    for i in view.ingredients
                ],
            )
            for view in views
        ],
    )


def reason_section(model: PatchedModel, rows: Rows, wanted: Sequence[int]) -> list[ReasonRow]:
    """Of some rows, as asked for."""
    return [
        ReasonRow(
            row=r.row,
            text=str(r),
            ratio=r.ratio,
            direction=r.direction,
            contributions=list(r.contributions),
        )
        for r in reasons(model, rows.X, rows=wanted)
    ]
