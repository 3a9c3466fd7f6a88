"""Each page speaks German wherever it speaks English, and its table has no text that it lost."""

import re

import pytest

from transduce.view.attention import page as attention
from transduce.view.attention.survey import survey
from transduce.view.curves import page as curves
from transduce.view.edition import edition
from transduce.view.page.document import PageParts, read_part, read_texts
from transduce.view.translation import page as translation

PAGES = {
    "attention": attention.PARTS,
    "attention/survey": survey.PARTS,
    "curves": curves.PARTS,
    "edition": edition.PARTS,
    "translation": translation.PARTS,
}
WORD = re.compile(r"[A-Za-z]{2}")
NAMES = {"SVG", "PNG", "CSV", "Home End", "PageUp PageDown"}  # of files and keys
CALLS = r'gettext\(\s*"([^"]+)"(?:, |\))'
# What is not called by gettext directly: a choice of two texts, and the values of a table.
CHOICES = r'gettext\(.+? \? "([^"]+)" : "([^"]+)"\)'
PANELS = r'title: "([^"]+)", unit: "([^"]+)"'
TABLES = r'^(?: \w+: |  const scale = .*)("[^"]{20,}".*)$'


def find_texts(parts: PageParts) -> set[str]:
    """Return the texts of a page's markup and scripts."""
    markup = re.sub(r"<!--.*?-->|<(noscript|kbd)>.*?</\1>", "<br>", read_part(parts.markup))
    named = re.findall(r'(?:title|aria-label|placeholder)="([^"]+)"', markup)
    found = [*named, *re.findall(r">([^<>]+)<", markup)]
    for script in map(read_part, parts.scripts):
        found += re.findall(CALLS, script)
        found += [one for both in re.findall(PANELS, script) for one in both]
        found += [one for both in re.findall(CHOICES, script) for one in both]
        for line in re.findall(TABLES, script, re.MULTILINE):
            found += re.findall(r'"([^"]{5,})"', line)
    texts = {" ".join(text.split()).replace("&lt;", "<") for text in found}
    return {text for text in texts if WORD.search(text)} - NAMES


@pytest.mark.parametrize("name", PAGES)
def test_every_text_of_a_page_is_in_the_table_of_its_languages(name):
    german, shown = read_texts(name)["de"], find_texts(PAGES[name])
    assert shown - german.keys() == set()


@pytest.mark.parametrize("name", PAGES)
def test_no_table_has_a_text_that_its_page_does_not_show(name):
    sources = [read_part(PAGES[name].markup), *map(read_part, PAGES[name].scripts)]
    shown = " ".join(" ".join(sources).split())
    labels = set(attention_labels())
    assert [
        text for text in read_texts(name)["de"] if text not in shown and text not in labels
    ] == []


def attention_labels() -> tuple[str, ...]:
    """Return the labels of heads, which come with the data of a page."""
    from transduce.view.attention.tendencies import TENDENCIES

    return (*TENDENCIES, "mixed", "broad")
