"""A patch as a person would want to read it."""

from fairpatch.measure.show import Table
from fairpatch.patch.parts import Concept


def tables(
    concepts: tuple[Concept, ...], offset: float, strength: float, direction: str
) -> list[Table]:
    """The formula, then one table a concept: columns, values and what each adds to the ratio."""
    terms = "".join(f" {c.weight:+.3g} x ({c.name})" for c in concepts)
    found = [
        Table(
            f"r = 1 + {strength:.3g} x ({offset:.3g}{terms}); direction {direction}",
            ["A decision changes where r is below 0."],
            [],
        )
    ]
    for concept in concepts:
        rows = [["everybody", "", f"{concept.intercept:+.3g}"]]
        for number in concept.numbers:
            rows.append([number.column, "each unit", f"{number.coefficient:+.3g}"])
            if number.missing:
                rows.append(["", "missing", f"{number.missing:+.3g}"])
        for category in concept.categories:
            levels = sorted(category.levels, key=lambda e: e.weight)
            rows += [[category.column, str(e.level), f"{e.weight:+.3g}"] for e in levels]
            if category.missing:
                rows.append([category.column, "missing", f"{category.missing:+.3g}"])
        found.append(Table(f"{concept.name} adds", ["column", "value", "adds"], rows))
    return found
