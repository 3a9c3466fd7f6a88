"""The rules that pairs must keep, each alone and together, and their report."""

import sys

import numpy as np
import pytest

from transduce.cleaning.rules import (
    RuleReport,
    Rules,
    count_repeats,
    find_lowest,
    read_test_lines,
    require_detectable,
)
from transduce.errors import InputError

GERMAN = "<tuv xml:lang='de'><seg>Ein Hund!</seg></tuv>"


@pytest.mark.parametrize(
    ("source", "target", "broken"),
    [
        ("a dog", "", ["empty"]),
        ("a dog", "a dog", ["copy"]),
        ("a dog", "ein Hund und noch ein Hund", ["length"]),
        ("a dog runs home", "ja ja ja ja nein", ["repetition"]),
        ("no no no no yes", "ja ja ja ja nein", []),
        ("a dog runs home", "der Hund der Hund der Hund der Hund", ["repetition"]),
        ("a dog", "ein Hund", []),
        ("The Olympic Committee has decided today.", "国际奥委会今天作出决定。", []),
        ("The Olympic Committee has decided today.", "今天", ["length"]),
        ("국제 올림픽 위원회가 오늘 결정을 내렸다고 발표했습니다", "今日", ["length"]),
    ],
)
def test_a_rule_is_broken(source, target, broken):
    assert Rules().find_broken(source, target) == broken


def test_a_side_in_another_language_is_dropped_where_that_is_asked_for():
    pytest.importorskip("py3langid")
    english, french = "the dog runs home very fast", "le chien court très vite à la maison"
    assert Rules(languages=("", "de")).find_broken(english, french) == ["language"]
    assert Rules(languages=("fr", "")).find_broken(english, french) == ["language"]
    assert Rules(languages=("en-GB", "fr")).find_broken(english, french) == []
    assert Rules(languages=("en", "fr")).find_broken(english, "12:30, 14:15") == []
    assert Rules().find_broken(english, french) == []
    with pytest.raises(InputError, match="does not know the language 'qq'"):
        Rules(languages=("en", "qq"))


@pytest.mark.parametrize(
    ("rules", "source", "target", "broken"),
    [
        (Rules(numbers=True), "1,000 dogs in 2", "2 mal 1000 Hunde", []),
        (Rules(numbers=True), "two dogs", "2 Hunde", ["numbers"]),
        (Rules(urls=True), "see www.a.org.", "siehe www.a.org", []),
        (Rules(urls=True), "see www.a.org", "siehe www.a.de", ["urls"]),
        (Rules(urls=True), "a dog of {0}", "ein Hund von {1}", ["urls"]),
        (Rules(letters=0.5), "ab 12", "ab 12", ["copy"]),
        (Rules(letters=0.5), "ab 123", "so viel", ["letters"]),
        (Rules(letters=0.9), "नमस्ते दुनिया", "hello", []),
        (Rules(), "12:30", "14.30", []),
    ],
)
def test_a_rule_that_is_asked_for_is_broken(rules, source, target, broken):
    assert rules.find_broken(source, target) == broken


def test_lines_of_a_test_set_are_found_whatever_their_case_and_punctuation(tmp_path):
    (tmp_path / "test.en").write_text("A dog runs.\n\n")
    (tmp_path / "test.tsv").write_text("a\tEine Katze\n")
    (tmp_path / "test.csv").write_text('source,target\n"A bird, sings.",c\n')
    files = [tmp_path / f"test.{end}" for end in ("en", "tsv", "csv")]
    rules = Rules(test_lines=read_test_lines(files))
    assert rules.find_broken("a bird sings", "Vogel") == ["leak"]
    assert rules.find_broken("a dog runs !", "Hund") == ["leak"]
    assert rules.find_broken("cat", "»Eine Katze!«") == ["leak"]
    assert rules.find_broken("A dog runs fast.", "…") == []
    (tmp_path / "marks").write_text("Das Cafe\u0301.\nकी\n")
    rules = Rules(test_lines=read_test_lines([tmp_path / "marks"]))
    assert rules.find_broken("a café", "das Café!") == ["leak"]
    assert rules.find_broken("x", "का") == []


def test_the_reason_why_a_unit_of_a_memory_is_no_pair_is_no_line_of_a_test_set(tmp_path):
    units = ("<tuv xml:lang='en'><seg>{}</seg></tuv>" + pair for pair in (GERMAN, ""))
    body = "".join(f"<tu>{one.format('A dog.')}</tu>" for one in units)
    text = f"<tmx><header srclang='en'/><body>{body}</body></tmx>"
    (tmp_path / "test.tmx").write_text(text)
    assert read_test_lines([tmp_path / "test.tmx"]) == {"adog", "einhund"}


@pytest.mark.parametrize("code", ["no", "pt_BR", "sr_Latn"])
def test_codes_of_languages_have_every_form_that_a_model_takes(code):
    pytest.importorskip("py3langid")
    broken = Rules(languages=("en", code)).find_broken("A dog runs here.", "The cat sleeps there.")
    assert broken == ["language"]


def test_a_report_tells_what_a_rule_dropped_alone():
    report = RuleReport()
    pairs = [("a dog", "ein Hund"), ("x", "x"), ("1 1 1 1", "1 1 1 1"), ("", "x"), ("12", "zwölf")]
    assert [*report.filter(pairs, Rules(numbers=True, letters=0.5))] == pairs[:1]
    assert report.broken == {"copy": 2, "letters": 2, "empty": 1, "numbers": 1}
    assert report.alone == {"copy": 1, "letters": 0, "empty": 1, "numbers": 0}
    assert report.examples["letters"] == [["1 1 1 1", "1 1 1 1"], ["12", "zwölf"]]


def test_examples_of_a_rule_are_rather_pairs_that_break_no_other():
    report = RuleReport()
    for number, rules in enumerate([["copy", "length"]] * 6 + [["copy"], ["length"], ["copy"]]):
        report.add((str(number), ""), rules)
    shown = {name: "".join(pair[0] for pair in report.examples[name]) for name in report.examples}
    assert shown == {"copy": "68012", "length": "70123"}


def test_repeats_are_those_of_brute_force():
    def brute(words):
        return max(
            [
                count
                for size in range(1, 21)
                for start in range(len(words))
                for count in range(1, len(words) + 1)
                if words[start : start + size * count] == words[start : start + size] * count
                and len(words[start : start + size]) == size
            ],
            default=1,
        )

    for text in (
        "",
        "a",
        "a a",
        "a b a b a",
        "b a a b a a b",
        "a b c a b c a b c x x",
        "a b a a b",
        "a a a a",
        "b a b a b a b a b a c",
        "one two three four five six seven eight " * 4,
    ):
        found, expected = count_repeats(text), brute(text.split())
        assert found == expected or (found < 4 and expected < 4), text


def test_a_report_says_which_rule_dropped_over_half_of_a_text_and_cuts_long_examples():
    report = RuleReport(read=4, kept=1)
    for source in ("a", "b" * 500, "c"):
        report.add((source, source), ["copy"])
    first, hint, *_ = report.describe()
    assert first == "1 of 4 pairs kept"
    assert hint == "  over half were dropped, most by copy: do the options fit this text?"
    assert report.examples["copy"][1][0].endswith("b…")
    assert "over half" not in "".join(RuleReport(read=4, kept=2).describe())


def test_the_lowest_share_is_found():
    assert find_lowest(np.array([0.5, -3.0, 2.0, -3.0, 1.0]), 0.4) == {1, 3}
    assert find_lowest(np.array([1.0, 2.0]), 0.4) == set()


@pytest.mark.parametrize("fault", ["ImportError('numpy')", "AttributeError('numpy')"])
def test_a_detector_of_languages_that_does_not_load_is_refused(tmp_path, monkeypatch, fault):
    (tmp_path / "py3langid").mkdir()
    (tmp_path / "py3langid" / "__init__.py").write_text(f"raise {fault}\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [one for one in sys.modules if one.partition(".")[0] == "py3langid"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(InputError, match="py3langid is not installed, or does not load"):
        require_detectable("de")
