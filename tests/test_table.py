"""Tables as text and HTML: same cells, nothing of the data obeyed."""

from fairpatch._tools.tables import Table

TABLE = Table("Rates", ["group", "rate"], [["a\x1b[31m", "0.5"], ["<b>", "0.25"]], ["few & far"])


def test_text():
    assert TABLE.text().splitlines() == [
        "Rates",
        "  group   rate",
        "  a�[31m   0.5",
        "  <b>     0.25",
        "  few & far",
    ]


def test_html():
    html = TABLE.html()
    assert html.startswith('<div style="overflow-x:auto"><strong>Rates</strong><table style=')
    first = '<tr><td style="text-align:left;white-space:pre-wrap;padding:.15em .6em">a�[31m</td>'
    second = '<td style="text-align:right;white-space:nowrap;padding:.15em .6em">0.5</td></tr>'
    assert f"<tbody>{first}{second}<tr>" in html
    assert '<th style="text-align:left;white-space:pre-wrap;padding:.15em .6em">group</th>' in html
    assert "&lt;b&gt;" in html
    assert html.endswith("</tbody></table><div><small>few &amp; far</small></div></div>")


def test_what_is_very_long_is_cut():
    def cell(n):
        return Table("t", ["x"], [["a" * n]]).text().splitlines()[-1].strip()

    assert cell(72) == "a" * 72
    assert cell(73) == "a" * 71 + "…"
    assert Table("t" * 201, ["x"], []).text().startswith("t" * 199 + "…")
    assert Table("t" * 200, ["x"], []).text().startswith("t" * 200)
    note = Table("t", ["x"], [], ["n" * 401]).text().splitlines()[-1]
    assert note.strip() == "n" * 399 + "…"
