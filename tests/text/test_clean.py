"""Regular text, and the pairs that stay."""

import json
import unicodedata
from dataclasses import asdict

import pytest

from transduce.settings import Data
from transduce.text.clean import Cleaner, normalise


@pytest.mark.parametrize(
    ("given", "regular"),
    [
        ("a\u0308", "ä"),
        ("  a \t b\n", "a b"),
        ("a\u00a0b\u0085c\u2028d\u2029e\u3000f\u202fg\x0bh\x0ci\x1cj", "a b c d e f g h i j"),
        ("a\x00b\x07c\x7fd\x9fe", "abcde"),
        ("\ufeffa\u200bb\u00adc\u2060d", "abcd"),
        ("\u202eevil\u202c \u2066x\u2069 \u200ey\u200f\u061c", "evil x y"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("a\r", "a"),
        ("a\x00\u0308", "ä"),
        ("</s> &amp; ﬁ Ⅳ ²", "</s> &amp; ﬁ Ⅳ ²"),
        (" \u200b\x00 ", ""),
        ("", ""),
    ],
)
def test_text_becomes_regular(given, regular):
    assert normalise(given) == regular


def test_every_white_space_of_unicode_becomes_a_blank():
    for space in filter(str.isspace, map(chr, range(0x110000))):
        assert normalise(f"a{space}{space}b") == "a b", hex(ord(space))


def test_no_control_character_stays():
    everything = normalise("".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000))
    assert not [c for c in everything if unicodedata.category(c) == "Cc"]


def test_a_storm_of_marks_is_cut_to_thirty():
    storm = normalise("a" + "\u0316\u0301" * 50_000 + "b")
    assert storm.startswith("á\u0316")
    assert len(storm) == 31  # á holds one of the 30 marks
    assert normalise(storm) == storm


def test_long_text_without_blanks_is_no_storm():
    text = "漢字かな交じり文" * 100
    assert normalise(text) == text


def cleaned(pairs, **settings):
    cleaner = Cleaner(Data(**settings))
    return list(cleaner.clean(pairs)), asdict(cleaner.report)


def test_pairs_that_stay_are_regular():
    assert cleaned([("a  b", "c\u00a0d\r")])[0] == [("a b", "c d")]


@pytest.mark.parametrize("pair", [("", "x"), ("x", " \u200b")])
def test_an_empty_side_is_reported_with_its_line(pair):
    kept, report = cleaned([("a", "b"), pair])
    assert kept == [("a", "b")]
    dropped = report["dropped"]["empty side"]
    assert dropped["count"] == 1
    assert dropped["samples"][0]["line"] == 2


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (("a" * 11, "b" * 10), "too many characters"),
        (("b" * 10, "a" * 11), "too many characters"),
        (("ab", "abcdefg"), "unequal lengths"),
        (("abcdefg", "ab"), "unequal lengths"),
        (("same", " same"), "identical sides"),
    ],
)
def test_a_pair_that_teaches_nothing_goes_for_its_reason(pair, reason):
    kept, report = cleaned([pair], max_characters=10, max_length_ratio=3.0)
    assert kept == []
    assert {name: part["count"] for name, part in report["dropped"].items()} == {reason: 1}


def test_pairs_at_the_limits_stay():
    pairs = [("a" * 10, "b" * 10), ("ab", "abcdef")]
    assert cleaned(pairs, max_characters=10, max_length_ratio=3.0)[0] == pairs


def test_a_pair_seen_before_goes_but_a_new_translation_stays():
    pairs = [("a", "b"), ("a", "c"), (" a", "b "), ("d", "b"), ("a", "c")]
    kept, report = cleaned(pairs)
    assert kept == [("a", "b"), ("a", "c"), ("d", "b")]
    assert [sample["line"] for sample in report["dropped"]["duplicate"]["samples"]] == [3, 5]


def test_identical_sides_and_duplicates_stay_on_request():
    pairs = [("a", "a"), ("a", "a")]
    assert cleaned(pairs, drop_identical=False, drop_duplicates=False)[0] == pairs


def test_the_report_counts_everything_and_shows_three_short_samples():
    pairs = [(f"{i} " + "x" * 200, "") for i in range(5)] + [("a", "b")]
    _, report = cleaned(pairs)
    assert (report["read"], report["kept"]) == (6, 1)
    dropped = report["dropped"]["empty side"]
    assert (dropped["count"], len(dropped["samples"])) == (5, 3)
    assert dropped["samples"][0] == {"line": 1, "source": "0 " + "x" * 77 + "…", "target": ""}
    assert json.loads(json.dumps(report)) == report


def test_a_further_text_is_counted_with_the_first_and_has_no_pair_of_it():
    cleaner = Cleaner(Data())
    assert list(cleaner.clean([("a", "b"), ("a", "b")])) == [("a", "b")]
    assert list(cleaner.clean([("a", "b"), ("c", "d")])) == [("c", "d")]
    assert (cleaner.report.read, cleaner.report.kept) == (4, 2)
