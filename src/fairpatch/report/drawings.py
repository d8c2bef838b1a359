"""The review's two pictures as SVG, in the page's own colours: the same bytes each time.

Lines over the strength, and bars of concepts: so little that a drawing library, which takes a
second to import and 100 MB on disk, is not asked. What people plot themselves is matplotlib's.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from fairpatch.report.dial_section import DialLine, DialSection
from fairpatch.report.patch_section import ConceptSection

WIDE, HIGH = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 36, 180, 10, 34
"""Room for the numbers, for the names of the lines, and below for the axis."""
DASHES = ("none", "6 3", "6 3 2 3", "2 3")
LETTER = 13
"""Height of a label."""
WIDEST = 30
MOST = 6
"""Columns of a concept that are drawn."""
Scale = Callable[[float], float]


def dial_svg(dial: DialSection, limits: Mapping[str, float]) -> str:
    """What is asked, accuracy and changes over the strength; ``limits`` are by their names."""
    highest = max([1.0, *(max(_known(m.at_most), default=0.0) for m in dial.metrics)])
    end = dial.strength[-1] or 1.0

    def x(strength: float) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * strength / end

    def y(value: float) -> float:
        return TOP + (HIGH - TOP - BOTTOM) * (1 - value / highest)

    parts = [_axes(x, y, end, highest)]
    for name, limit in limits.items():
        parts.append(
            f'<line x1="{LEFT}" x2="{x(end):.1f}" y1="{y(limit):.1f}" y2="{y(limit):.1f}" '
            'stroke="var(--a)" stroke-dasharray="6 3"/>'
            + _text(LEFT + 4, y(limit) - 4, f"target, {name}", "var(--a)")
        )
    lines: list[tuple[DialLine, str, str, str]] = [
        (line, f"{line.words}, {line.feature}", "var(--a)", DASHES[i % len(DASHES)])
        for i, line in enumerate(dial.metrics)
    ]
    if dial.accuracy is not None:
        lines.append((dial.accuracy, "accuracy", "var(--soft)", "none"))
    lines.append((dial.change_rate, "changed decisions", "var(--b)", "none"))
    labels = []
    for line, name, colour, dash in lines:
        for piece in _pieces(line):
            middle = [(x(dial.strength[k]), y((low + high) / 2)) for k, low, high in piece]
            band = [(x(dial.strength[k]), y(low)) for k, low, _ in piece]
            band += [(x(dial.strength[k]), y(high)) for k, _, high in reversed(piece)]
            parts.append(f'<polygon points="{_points(band)}" fill="{colour}" fill-opacity=".2"/>')
            parts.append(
                f'<polyline points="{_points(middle)}" fill="none" stroke="{colour}" '
                f'stroke-width="1.6" stroke-dasharray="{dash}"/>'
            )
        if last := [piece[-1] for piece in _pieces(line)][-1:]:
            labels.append((y((last[0][1] + last[0][2]) / 2), name, colour))
    least = float("-inf")
    for at, name, colour in sorted(labels):  # none on another
        least = max(at, least + LETTER)
        parts.append(_text(x(end) + 6, least + 4, name, colour))
    chosen = x(dial.chosen)
    parts.append(
        f'<line x1="{chosen:.1f}" x2="{chosen:.1f}" y1="{TOP}" y2="{HIGH - BOTTOM}" '
        'stroke="var(--ink)" stroke-dasharray="2 3"/>'
        + _text(chosen + 4, TOP + 10, "reviewed", "var(--ink)")
    )
    return _svg(HIGH, parts)


def concepts_svg(concepts: Sequence[ConceptSection]) -> str:
    """How far the strongest columns of each concept move the ratio."""
    rows: list[tuple[str, float | None]] = []
    for concept in concepts:
        rows.append((concept.plain_name, None))
        for i in concept.ingredients[:MOST]:
            side = i.towards_change
            before = side in ("low", "high", "missing")
            rows.append((f"{side} {i.column}" if before else f"{i.column}: {side}", i.effect))
    most = max([abs(effect) for _, effect in rows if effect is not None], default=0.0) or 1.0
    parts, left = [], 240
    for k, (name, effect) in enumerate(rows):
        at = 18 * (k + 1)
        if effect is None:
            parts.append(_text(0, at, name, "var(--ink)", widest=80))
            continue
        wide = (WIDE - left - 50) * abs(effect) / most
        parts.append(_text(12, at, name, "var(--soft)"))
        parts.append(
            f'<rect x="{left}" y="{at - 11}" width="{wide:.1f}" height="12" fill="var(--a)"/>'
        )
        parts.append(_text(left + wide + 6, at, f"{effect:.2f}", "var(--soft)"))
    return _svg(18 * len(rows) + 12, parts)


def _svg(high: int, parts: Sequence[str]) -> str:
    return f'<svg class="plot" viewBox="0 0 {WIDE} {high}">' + "".join(parts) + "</svg>"


def _text(x: float, y: float, text: str, colour: str, widest: int = WIDEST) -> str:
    """Text of the data as it is, not endless."""
    text = text if len(text) <= widest else text[: widest - 1] + "…"
    return f'<text x="{x:.1f}" y="{y:.1f}" style="fill: {colour}">{escape(text)}</text>'


def _axes(x: Scale, y: Scale, end: float, highest: float) -> str:
    """Five numbers at each axis, and what the lower one is."""
    bottom, parts = HIGH - BOTTOM, []
    for k in range(5):
        right, up = end * k / 4, highest * k / 4
        parts.append(_text(x(right) - 8, bottom + 14, f"{right:.2g}", "var(--soft)"))
        parts.append(_text(2, y(up) + 4, f"{up:.2f}", "var(--soft)"))
        parts.append(
            f'<line x1="{LEFT}" x2="{x(end):.1f}" y1="{y(up):.1f}" y2="{y(up):.1f}" '
            'stroke="var(--line)"/>'
        )
    words = _text(LEFT, HIGH - 4, "strength (0 is the base model)", "var(--soft)")
    return "".join(parts) + words


def _pieces(line: DialLine) -> list[list[tuple[int, float, float]]]:
    """The stretches of a line where it is known: steps with both ends."""
    pieces: list[list[tuple[int, float, float]]] = [[]]
    for k, (low, high) in enumerate(zip(line.at_least, line.at_most, strict=True)):
        if low is None or high is None:
            pieces.append([])
        else:
            pieces[-1].append((k, low, high))
    return [piece for piece in pieces if piece]


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]
