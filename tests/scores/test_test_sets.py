import gzip

import pytest

from transduce.scores.paper_bleu import build_moses_tokenizer, split_compounds
from transduce.scores.scoring import compute_score
from transduce.scores.test_sets import (
    GERMAN_2014_ALL,
    KNOWN,
    OTHER_FORM,
    UNKNOWN,
    find_current_name,
    identify_test_set,
)
from transduce.text.clean import normalise


def read_gzip_lines(path):
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("wmt-newstest/newstest2013.en-de.de.gz", "newstest2013, German"),
        ("wmt-newstest/newstest2014.en-de.de.gz", "newstest2014 en-de, all 3,003, German"),
        ("multi30k/test_2017_flickr.fr.gz", "Multi30k test 2017, French"),
        (
            "multi30k/tok/test_2016_flickr.lc.norm.tok.de.gz",
            "Multi30k test 2016, German, lower-cased and tokenised",
        ),
    ],
)
def test_public_test_sets_are_known_by_their_lines(shared, file, name):
    lines = read_gzip_lines(shared / "data" / file)
    assert identify_test_set(lines) == name
    assert identify_test_set(lines[:-1]).startswith("test set of sha256")


def test_a_split_of_sentences_is_known_by_each_side(shared):
    pairs = [
        line.split("\t") for line in read_gzip_lines(shared / "data/tatoeba-en-de/test.tsv.gz")
    ]
    assert [identify_test_set(list(side)) for side in zip(*pairs, strict=True)] == [
        "Tatoeba en-de of 2018, test, English",
        "Tatoeba en-de of 2018, test, German",
    ]


def test_the_two_editions_of_newstest2014_are_distinguished(shared):
    folder = shared / "data/wmt-newstest"
    lines = read_gzip_lines(folder / "newstest2014.en-de.de.gz")
    numbers = map(int, (folder / "newstest2014.en-de.filtered-2737.txt").read_text().split())
    short = [lines[number - 1] for number in numbers]
    assert identify_test_set(short) == "newstest2014 en-de, the filtered 2,737, German"


def test_an_edition_is_known_after_a_tokeniser_and_in_another_order(shared):
    lines = read_gzip_lines(shared / "data/wmt-newstest/newstest2014.en-de.de.gz")
    words = build_moses_tokenizer()
    others = [split_compounds(words(line)) for line in reversed(lines)]
    assert identify_test_set(others) == GERMAN_2014_ALL + OTHER_FORM
    assert identify_test_set(others[1:]).startswith("test set of sha256")
    assert identify_test_set([line.lower() for line in others]).startswith("test set of sha256")


def test_an_unknown_test_set_is_named_by_its_hash():
    digest = "7e18f737311b"  # printf 'a\nb' | sha256sum
    assert identify_test_set(["a", "b"]) == f"test set of sha256 {digest}"
    assert compute_score("bleu", ["a"], ["a"], ["b"]).test_set == (
        "test set of sha256 ca978112ca1b + test set of sha256 3e23e8160039"
    )


def test_a_test_set_that_was_unknown_once_has_the_name_that_it_got_since():
    for unknown in ("unknown (sha256 {})", "not a known test set (sha256 {})", UNKNOWN):
        found = find_current_name(unknown.format("e4a42d2b6885"))
        assert found == "Multi30k val, German, as it is stored"
        found = find_current_name(unknown.format("e4a42d2b6880"))
        assert found == "test set of sha256 e4a42d2b6880"
    assert find_current_name("newstest2013, German") == "newstest2013, German"


def test_a_development_set_is_known_as_it_is_stored(shared):
    lines = read_gzip_lines(shared / "data/multi30k/val.de.gz")
    assert (
        identify_test_set([normalise(line) for line in lines])
        == "Multi30k val, German, as it is stored"
    )


def test_no_two_test_sets_share_a_name():
    assert len(set(KNOWN.values())) == len(KNOWN)
