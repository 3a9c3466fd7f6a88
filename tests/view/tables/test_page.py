"""The page of a measured table: the paper's figure beside ours, and a bar for the difference."""

import re

import pytest

from transduce.view.tables.page import build_tables_page

CELLS = [
    ["row", "PPL", "BLEU", "PPL printed"],
    ["base", "6.55 ± 0.04", "32.7", "4.92"],
    ["A-h1", "4.49", "33.0", "5.29"],
    ["own", "7.00", "30.1", ""],
]


def test_the_papers_figure_stands_beside_ours_and_the_difference_is_a_bar():
    page = build_tables_page("Table 3", ["scale toy"], [("Rows", "A remark.", CELLS)])
    assert re.findall(r"<th [^>]*>([^<]*)", page) == [
        *("row", "PPL", "PPL printed", "ours − paper", "BLEU")
    ]
    assert re.findall(r"</svg> ([^<]*)", page) == ["+1.63", "-0.80"]
    bars = re.findall(r'<rect x="([\d.]+)" y="2" width="([\d.]+)"', page)
    assert [tuple(map(float, bar)) for bar in bars] == [(30, 30), (15.3, 14.7)]
    assert "<td>7.00</td><td></td><td></td>" in page
    assert "A bar to the right: our figure is larger" in page


def test_differences_of_one_measure_have_one_scale():
    claims = [
        ["claim", "measure", "paper", "ours", "here"],
        ["a", "BLEU", "+2.00", "+1.00", ""],
        ["b", "PPL", "+0.20", "+0.30", ""],
        ["c", "PPL", "+0.20", "+0.25", ""],
    ]
    page = build_tables_page("Claims", [], [("Claims", "", claims)])
    assert re.findall(r'width="([\d.]+)" height="10"', page) == ["30.0", "30.0", "15.0"]


def test_words_of_a_report_are_text():
    page = build_tables_page("<b>", ["<i>"], [("<u>", "<s>", [["<a>"], ["<script>x"]])])
    assert "<b>" not in page
    assert "<script>x" not in page


def test_words_between_backticks_are_code():
    page = build_tables_page("T", ["BLEU: `nrefs:1|<case>`"], [("H", "`--rows base`.", [["a"]])])
    assert "<li>BLEU: <code>nrefs:1|&lt;case&gt;</code></li>" in page
    assert "<p><code>--rows base</code>.</p>" in page


@pytest.mark.browser
def test_a_narrow_window_scrolls_a_wide_table_and_never_the_page(browser):
    signature = "BLEU: `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`"
    wide = [[f"column {n}" for n in range(30)], ["123.45"] * 30]
    page = build_tables_page("T", [signature, "/a" * 60], [("H", "", wide)])
    browser.open_text(page)
    browser.resize(390)
    box = "document.querySelector('.scroll')"
    width = "document.documentElement.scrollWidth"
    assert browser.run(f"return [{width}, {box}.scrollWidth > {box}.clientWidth]") == [390, True]
