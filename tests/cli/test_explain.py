"""transduce explain: the page of a model, and what is refused."""

from pathlib import Path

import pytest

from transduce.view.page.document import VIEW

TEXT = "the dog sees a cat."


def test_a_page_of_a_model_and_the_sentences_that_it_offers(call, babbler, tmp_path):
    ended = call("explain", babbler, TEXT, "a cat.", "-o", tmp_path / "page.html")
    assert (ended.code, ended.stdout) == (0, "")
    assert ended.stderr.startswith(f"the page: {tmp_path / 'page.html'} (")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert f'"texts":["{TEXT}","a cat."]' in page


def test_weights_in_32_bits_make_a_larger_page(call, babbler, tmp_path):
    call("explain", babbler, TEXT, "-o", tmp_path / "a.html")
    ended = call("explain", babbler, TEXT, "-o", tmp_path / "b.html", "--exact", "--quiet")
    assert ended.stderr == ""
    sizes = [(tmp_path / f"{name}.html").stat().st_size for name in "ab"]
    assert sizes[0] < sizes[1]


def test_a_page_in_german_and_one_with_words_of_a_file(call, babbler, tmp_path):
    page, german = tmp_path / "page.html", VIEW / "explainer/texts/de.json"
    call("explain", babbler, TEXT, "-o", page, "--language", "de")
    assert '<html lang="de">' in page.read_text(encoding="utf-8")
    (tmp_path / "nl.json").write_bytes(Path(german).read_bytes())
    ended = call("explain", babbler, TEXT, "-o", page, "--texts", tmp_path / "nl.json")
    assert ended.code == 0
    assert '<html lang="nl">' in page.read_text(encoding="utf-8")
    (tmp_path / "nl.json").write_text('{"Keys": "Toetsen"}')
    ended = call("explain", babbler, TEXT, "-o", page, "--texts", tmp_path / "nl.json")
    assert ended.code == 2
    assert "nl.json: lacks '" in ended.stderr
    assert "de.json has each text of the page" in ended.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing says where the page goes"),
        (("-o", "page.svg"), "page.svg is not .html"),
        (("-o", "nowhere/page.html"), "no such folder"),
        (("-o", "page.html", "--language", "fr"), "the page has no language 'fr'"),
        (("-o", "page.html", "--max-weights", "100"), "the explainer runs at most 100"),
    ],
)
def test_what_cannot_be_written_is_refused(call, babbler, options, message):
    ended = call("explain", babbler, TEXT, *options)
    assert ended.code == 2
    assert message in ended.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("-o", "page.html", "--film", "f.md", "--film-text", "f.md"),
        ("-o", "t.html", "--tour", "t.html"),
    ],
)
def test_a_film_or_tour_of_ones_own_is_not_overwritten(call, babbler, tmp_path, options):
    own = tmp_path / options[-1]
    own.write_text("[]")
    ended = call("explain", babbler, TEXT, *options)
    assert ended.code == 2
    assert own.read_text() == "[]"
