"""The annotated edition shows the code that runs, the tests that are there, and true values."""

import html
import re
from collections import defaultdict

import pytest

import transduce
from transduce.errors import FolderError, InputError
from transduce.view.edition import chapters
from transduce.view.edition.typeset import EQUATIONS, render_equation

HERE = "document.getElementById('here').textContent"
SOURCES = {name: chapters.PACKAGE / "paper" / f"{name}.py" for name in chapters.CHAPTERS}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return transduce.read(tmp_path_factory.mktemp("edition") / "edition.html").read_text("utf-8")


def read_row(page, name):
    """The HTML of a definition's row."""
    return page.split(f'id="{name}"')[1].split('<div class="row"')[0]


def plain(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_every_line_of_the_paper_stands_on_the_page_once_as_code_or_as_prose(page):
    shown = defaultdict(list)
    for number, line in re.findall(r"<span data-n=(\d+)>(.*?)</span>", page):
        shown[int(number), plain(line)].append(line)
    for path in SOURCES.values():
        chapter = chapters.Chapter(path.stem, path.read_text("utf-8"))
        assert list(chapter.read_sections()) == list(chapter.read_sections())
        for number, line in enumerate(chapter.lines):
            is_prose = number in chapter.hidden or line.startswith("# ---") or not line
            assert is_prose or shown[number, line], (path.name, number)


def test_the_sections_come_in_the_order_of_the_paper(page):
    numbers = re.findall(r"<h[23]><span>(\d[\d.]*)</span>", page)
    assert numbers == sorted(numbers)
    assert {"3.1", "3.2.1", "3.2.2", "3.3", "3.4", "3.5", "5.3", "5.4", "6.1"} <= {*numbers}


def test_a_statement_opens_what_it_gave(page):
    row = plain(read_row(page, "operations.attention"))
    assert "q[2 × 3 × 7 × 5] float32" in row
    mask = plain(read_row(page, "operations.AttentionMask.compute_allowed"))
    assert "■ □ □ □ □ □ □ □\n■ ■ □ □ □ □ □ □\n■ ■ ■ □" in mask
    assert "sie hat ein kleines Haus gesehen ." in page


def test_a_definition_shows_its_tests_and_their_code(page):
    row = plain(read_row(page, "training.learning_rate"))
    assert "the rate rises linearly to step 4000" in row
    assert "def test_the_rate_rises_linearly_to_step_4000" in row


def test_every_link_leads_to_a_place_in_the_page(page):
    links, places = (set(re.findall(rf'\b{one}="([^"]*)"', page)) for one in ("href", "id"))
    assert len(links) > 50
    assert links <= {f"#{place}" for place in places}


def test_a_test_that_is_not_there_is_refused_and_a_section_without_any():
    with pytest.raises(FolderError, match="test_none is in none of"):
        chapters.read_test(["tests/paper/test_table2.py"], "test_none")
    with pytest.raises(FolderError, match="no test checks the section"):
        chapters.read_paper({})


@pytest.mark.parametrize("is_checkout", [False, True])
def test_a_test_without_a_file_is_refused_everywhere(monkeypatch, is_checkout):
    monkeypatch.setattr(chapters, "IS_CHECKOUT", is_checkout)
    with pytest.raises(FolderError, match="test_none is in none of its files\nhint: name the"):
        chapters.read_test([], "test_none")


def test_equations_are_those_of_the_docstrings():
    text = "".join(path.read_text("utf-8") for path in SOURCES.values())
    assert [one for one in EQUATIONS if one not in text] == []
    root = "<msqrt><msub><mi>d</mi><mrow><mi>k</mi></mrow></msub></msqrt>"
    assert f"</msup></mrow><mrow>{root}</mrow></mfrac>" in render_equation("Q Kᵀ / √d_k")


def test_a_name_with_a_final_slash_is_refused_as_no_file(tmp_path):
    with pytest.raises(InputError, match="ends in a slash, as a folder does"):
        transduce.read(f"{tmp_path}/x/")
    assert not [*tmp_path.iterdir()]


def test_an_unknown_language_is_refused():
    with pytest.raises(InputError, match="no language 'fr'"):
        transduce.read("edition.html", language="fr")


@pytest.mark.browser
def test_in_a_browser_the_contents_follow_and_lines_open(browser, page):
    browser.open_text(page)
    browser.resize(390)
    browser.press("n")
    first = "document.querySelector('nav > ol > li > a').hash"
    assert browser.run(f"return location.hash === {first}")
    browser.press("n", "n")
    browser.wait(f"{HERE} === '3.1 Encoder and decoder stacks'")
    assert browser.run("return document.documentElement.scrollWidth") == 390
    browser.run("scrollTo(0, 0)")  # where the bar stands below the page's head
    browser.click("#contents")
    browser.wait("document.querySelector('nav').getBoundingClientRect().height > 500")
    browser.click("#contents")  # the list leaves the bar free, whose button closes it again
    browser.wait("!document.body.classList.contains('open')")
    browser.type_into("#model\\.build_positions summary", "Enter")
    assert browser.run("return document.querySelector('.code details[open] dl').offsetHeight") > 20
    assert browser.console() == []
    assert [one for one in browser.requests() if not one.startswith("data:")] == []


@pytest.mark.browser
def test_the_contents_show_each_name_whole(browser, page):
    browser.resize(1280)
    browser.open_text(page)
    cut = """
        for (const one of document.querySelectorAll("nav li ol")) one.style.display = "block";
        const list = document.querySelector("nav");
        list.style.borderRightWidth = "16px";  // the line and a scrollbar
        return list.scrollWidth > list.clientWidth;
    """
    assert not browser.run(cut)
    browser.resize(1200)


@pytest.mark.browser
def test_a_name_in_a_line_that_opens_leads_to_its_definition(browser, page):
    """A summary holds no link, which a screen reader could not reach; the mouse can press it."""
    browser.open_text(page)
    named = "document.querySelector('summary b[data-to]')"
    assert browser.run("return document.querySelectorAll('summary a').length") == 0
    browser.run(f"{named}.click()")
    assert browser.run("return location.hash") == "#" + browser.run(f"return {named}.dataset.to")
    assert not browser.run(f"return {named}.closest('details').open")


@pytest.mark.browser
def test_code_that_can_be_scrolled_is_reached_by_the_keyboard(browser, page):
    browser.resize(390)
    browser.open_text(page)
    out_of_reach = """
        return [...document.querySelectorAll(".code, .equation")].filter(one =>
          one.scrollWidth > one.clientWidth && !one.querySelector("summary, a")
          && one.tabIndex < 0).length;
    """
    assert browser.run("return document.querySelectorAll('.code[tabindex]').length") > 0
    assert browser.run(out_of_reach) == 0
