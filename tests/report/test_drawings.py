"""The review's own pictures: every line and name is there, gaps stay gaps, nothing is markup."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

from fairpatch.report.dial_section import DialLine, DialSection, MetricLine
from fairpatch.report.drawings import LETTER, concepts_svg, dial_svg
from fairpatch.report.patch_section import ConceptSection, IngredientRow

EVIL = "<script>&\"'"


def line(*values):
    return DialLine(at_least=list(values), at_most=list(values))


def dial():
    asked = MetricLine(
        name="p_rule", words="P-Rule", feature=EVIL, highest=1.0,
        at_least=[0.5, None, 0.7, 0.8], at_most=[0.6, None, 0.7, 0.9],
    )  # fmt: skip
    return DialSection(
        strength=[0.0, 0.5, 1.0, 1.5], chosen=1.0, metrics=[asked],
        change_rate=line(0.0, 0.0, 0.1, 0.1), accuracy=line(0.85, 0.85, 0.85, 0.85),
    )  # fmt: skip


def texts(svg):
    return [t.text for t in ET.fromstring(svg).iter("text")]


def test_lines_are_broken_at_gaps_and_name_themselves():
    svg = dial_svg(dial(), {"P-Rule": 0.8})
    assert svg.count("<polyline") == 2 + 1 + 1
    assert [t for t in texts(svg) if "P-Rule" in t] == ["target, P-Rule", f"P-Rule, {EVIL}"]
    assert {"accuracy", "changed decisions", "reviewed"} <= set(texts(svg))
    assert svg == dial_svg(dial(), {"P-Rule": 0.8})


def test_no_name_lies_on_another():
    svg = dial_svg(dial(), {})
    heights = sorted(
        float(t.get("y")) for t in ET.fromstring(svg).iter("text")
        if t.text.startswith(("P-Rule", "accuracy", "changed"))
    )  # fmt: skip
    assert all(b - a >= LETTER for a, b in pairwise(heights))


def test_bars_are_as_long_as_the_effects():
    parts = [IngredientRow(column=EVIL, effect=2.0, towards_change="low"),
             IngredientRow(column="b", effect=1.0, towards_change="is x")]  # fmt: skip
    concept = ConceptSection(
        name="c", plain_name=EVIL * 40, weight=1.0, share_of_changes=1.0, ingredients=parts
    )
    svg = concepts_svg([concept])
    long, short = (float(w) for w in re.findall(r'<rect[^>]*width="([\d.]+)"', svg))
    assert abs(long - 2 * short) < 0.2
    assert texts(svg)[1] == f"low {EVIL}"
    assert texts(svg)[0].endswith("…")
